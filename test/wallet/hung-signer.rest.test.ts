import { expect } from 'chai'
import { hexlify, recoverAddress, Signature, Wallet } from 'ethers'
import { SluiceError } from '../../core/base/errors.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { startSigner, type Signer } from '../../core/wallet/signer.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, oneChain, swap, traders } from '../http/shared-server.ts'
import { eventually } from '../start/command.ts'
import { exampleFiles } from './example-files.ts'
import { requestOf, transaction } from './example-policy.ts'
import { isAlive, isStopped, parentOf, signerOf, until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const passphrase = 'correct horse'
const wallet = new Wallet(`0x${'a1b2c3d4'.repeat(8)}`)

const failure = (promise: Promise<unknown>): Promise<SluiceError | undefined> =>
  promise.then(
    () => undefined,
    (reason: unknown) => {
      if (reason instanceof SluiceError) return reason
      throw reason
    },
  )

describe('a signer that hangs', function () {
  this.timeout(400_000)
  const dataDir = temporaryFolder()
  const logged: string[] = []
  const keep = (fields: object, message = '') => void logged.push(`${message} ${JSON.stringify(fields)}`)
  let signer: Signer

  before(() => saveKey({ dataDir, chain: 'ethereum', privateKey: wallet.privateKey, passphrase, scryptN: 1024 }))
  beforeEach(async () => {
    logged.length = 0
    signer = await startSigner({
      dataDir,
      passphrase,
      devnet: false,
      files: await exampleFiles(dataDir, { passphrase }),
      log: { info: keep, warn: keep, error: keep },
    })
  })
  afterEach(() => signer.stop())

  async function signs(): Promise<void> {
    const tx = transaction()
    const signature = await signer.sign(requestOf(wallet.address, tx))
    expect(recoverAddress(tx.unsignedHash, Signature.from(hexlify(signature)))).to.equal(wallet.address)
  }

  it('gets killed and replaced; what waited for it is refused with a promise that nothing was signed', async () => {
    const stopped = signer.processId() ?? 0
    process.kill(stopped, 'SIGSTOP')
    const refused = await failure(signer.sign(requestOf(wallet.address, transaction())))
    expect(refused).to.include({ name: 'OVERLOADED', retryAfterSeconds: 1 })
    expect(refused?.message).to.match(/nothing was signed that could be sent/)
    expect(signer.isReady()).to.equal(false)
    expect((await failure(signer.sign(requestOf(wallet.address, transaction()))))?.name).to.equal('OVERLOADED')
    await until(() => signer.isReady())
    expect(isAlive(stopped)).to.equal(false)
    expect(signer.processId()).to.not.equal(stopped)
    await signs()
    expect(logged.join('\n')).to.match(/signer.*gave no answer/i)
  })

  it('stays while it is merely slow and goes on in time', async () => {
    const slow = signer.processId() ?? 0
    for (let times = 0; times < 6; times++) {
      process.kill(slow, 'SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, 600))
      process.kill(slow, 'SIGCONT')
      // A sign of life: what it is stopped for next does not add to this.
      await signs()
    }
    expect(signer.processId()).to.equal(slow)
  })

  it('and its keeper: a keeper that was stopped is continued, since only it has the passphrase', async () => {
    const before = signer.processId() ?? 0
    const keeper = parentOf(before)
    process.kill(keeper, 'SIGSTOP')
    await until(() => isStopped(keeper))
    await until(() => !isStopped(keeper))
    await until(() => signer.isReady())
    await signs()
    expect([signer.processId(), parentOf(before)]).to.deep.equal([before, keeper])
  })

  it('leaves no stopped process behind when its keeper is killed', async () => {
    const stopped = signer.processId() ?? 0
    process.kill(stopped, 'SIGSTOP')
    process.kill(parentOf(stopped), 'SIGKILL')
    await until(() => !isAlive(stopped))
  })
})

describe('a server whose signer hangs', function () {
  this.timeout(300_000)
  let server: TestServer
  before(async () => {
    server = await startServer(oneChain)
  })
  after(() => server.stop())

  const signerProcess = (): number => signerOf(process.pid).signer
  const trade = (key: string) =>
    server.client.post('/amm/trade', { ...swap, base: 'ETH', address: traders }, { headers: { 'idempotency-key': key } })

  it('reports not ready meanwhile, refuses trades so that they can be repeated, and makes each of them once', async () => {
    expect((await trade('warm')).status).to.equal(200)
    const stopped = signerProcess()
    process.kill(stopped, 'SIGSTOP')
    const keys = Array.from({ length: 5 }, (_, index) => `hung-${index}`)
    const refused = await Promise.all(keys.map(trade))
    const ready = await server.client.get('/health/ready')
    expect(refused.map(({ status, body }) => `${status} ${body.name}`)).to.deep.equal(keys.map(() => '503 OVERLOADED'))
    expect(refused.every(({ headers }) => Number(headers['retry-after']) > 0)).to.equal(true)
    expect(ready.status).to.equal(503)
    expect(ready.text).to.include('signer')

    await eventually(async () => (await server.client.get('/health/ready')).status === 200, 'the server is ready again')
    expect(signerProcess()).to.not.equal(stopped)
    const made = await Promise.all(keys.map(trade))
    expect(made.map(({ status }) => status)).to.deep.equal(keys.map(() => 200))
    for (const [index, key] of keys.entries()) {
      const { body } = await server.client.get('/transactions', { ...local, idempotencyKey: key })
      const signed = body.transactions.filter(({ txHash }: { txHash?: string }) => txHash)
      expect(signed.map(({ txHash }: { txHash: string }) => txHash)).to.deep.equal([made[index]?.body.txHash])
    }
  })
})
