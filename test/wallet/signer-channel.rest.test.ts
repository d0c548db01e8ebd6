import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { Interface } from 'ethers'
import { wellKnownAddresses } from '../../core/keys/curves.ts'
import type { SignRequest } from '../../core/wallet/signer-messages.ts'
import { forkModule } from '../../core/wallet/supervisor.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { startSigner } from '../../core/wallet/signer.ts'
import { exampleFiles } from './example-files.ts'
import { examplePolicy, requestOf, router, stranger, token, transaction, wrapper } from './example-policy.ts'
import { until } from './processes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const erc20 = new Interface(['function approve(address,uint256)'])
const [wallet = ''] = wellKnownAddresses
const approval = (spender: string) =>
  requestOf(wallet, transaction({ to: token, data: erc20.encodeFunctionData('approve', [spender, 1n]), value: 0n }))
/** No network takes this of a contract that no connector declares; an approval of any spender is taken on a devnet. */
const callOf = (to: string) => requestOf(wallet, transaction({ to, value: 0n }))
const widest = examplePolicy.networks.map((each) => ({ ...each, contracts: [stranger], spenders: [stranger], feeCapRaw: '9'.repeat(30) }))

/** Speaks to the keeper as whoever holds its channel. */
describe('whoever holds the channel of the signer', () => {
  const dataDir = temporaryFolder()
  let keeper: ChildProcess
  let lastId = 0
  let ready = 0
  let files: Awaited<ReturnType<typeof exampleFiles>>
  const answers = new Map<number, { type: string; message?: string }>()

  const open = (more: object = {}) => ({ type: 'open', keySources: [{ kind: 'devnet' }, { kind: 'keystore' }], dataDir, files, ...more })
  async function answerTo(message: object): Promise<{ type: string; message?: string }> {
    const id = ++lastId
    keeper.send({ id, ...message })
    await until(() => answers.has(id))
    return answers.get(id) ?? { type: 'none' }
  }
  const isSigned = async (request: SignRequest) => (await answerTo({ type: 'sign', request })).type === 'signed'

  beforeEach(async () => {
    files = await exampleFiles(dataDir)
    ready = 0
    keeper = forkModule('signer-keeper')
    keeper.on('message', (message: { type: string; id?: number; processId?: number }) => {
      if (message.type === 'ready') ready = message.processId ?? 0
      if (message.id !== undefined) answers.set(message.id, message)
    })
    keeper.send(open())
    await until(() => ready > 0)
  })
  afterEach(async () => {
    const ended = once(keeper, 'exit')
    keeper.disconnect()
    await ended
  })

  it('has of the environment what its sources of keys declare, and so has the signer', async function () {
    if (process.platform !== 'linux') this.skip()
    const given = { VAULT_TOKEN: 'declared', DATABASE_PASSWORD: 'another' }
    Object.assign(process.env, given)
    const other = forkModule('signer-keeper', ['VAULT_TOKEN'])
    try {
      let signer = 0
      other.on('message', (message: { type: string; processId?: number }) => {
        if (message.type === 'ready') signer = message.processId ?? 0
      })
      other.send(open())
      await until(() => signer > 0)
      for (const processId of [other.pid, signer]) {
        const environment = await readFile(`/proc/${processId}/environ`, 'latin1')
        expect(environment).to.contain('VAULT_TOKEN=declared').and.not.contain('DATABASE_PASSWORD')
      }
      for (const processId of [keeper.pid, ready])
        expect(await readFile(`/proc/${processId}/environ`, 'latin1')).not.to.match(/VAULT_TOKEN|DATABASE_PASSWORD/)
    } finally {
      for (const name of Object.keys(given)) Reflect.deleteProperty(process.env, name)
      const ended = once(other, 'exit')
      other.disconnect()
      await ended
    }
  })

  /** What it signs by the files, and nothing more. */
  async function expectTheFilesToHold(): Promise<void> {
    expect(await isSigned(requestOf(wallet, transaction()))).to.equal(true)
    expect(await isSigned(approval(router))).to.equal(true)
    expect(await isSigned(callOf(stranger))).to.equal(false)
    expect(await isSigned(requestOf(wallet, transaction({ maxFeePerGas: 10n ** 20n })))).to.equal(false)
  }

  it('gives it no policy', async () => {
    for (const policy of [examplePolicy, { networks: widest, allowedSpenders: [stranger] }]) {
      keeper.send({ type: 'policy', id: ++lastId, policy })
      keeper.send({ type: 'read', policy })
    }
    await expectTheFilesToHold()
  })

  it('opens it no second time, with other files or with a policy that it says was read', async () => {
    const other = await exampleFiles(path.join(dataDir, 'other'), { conf: { 'chains/ethereum.yml': { local: { feeCap: 1_000_000 } } } })
    keeper.send(open({ files: { ...other, allowedSpenders: [stranger] } }))
    keeper.send(open({ read: { networks: widest, allowedSpenders: [stranger] } }))
    await expectTheFilesToHold()
  })

  it('gets no call of any contract by saying that the caller is an admin', async () => {
    for (const more of [{ admin: true }, { tries: true }]) expect(await isSigned({ ...callOf(stranger), ...more })).to.equal(false)
  })

  it('gets nothing by ending it after changing conf and what is trusted: these count at the next start of the server', async () => {
    const before = ready
    await writeFile(path.join(dataDir, 'conf', 'server.yml'), `wallet: { allowedSpenders: ["${stranger}"] }\n`)
    await exampleFiles(dataDir, { records: { thief: { ...bookFor(stranger) }, book: bookFor(stranger) } })
    process.kill(before, 'SIGKILL')
    await until(() => ready !== before)
    await expectTheFilesToHold()
  })
})

const bookFor = (address: string) => ({
  sha256: 'cd'.repeat(32),
  tier: 'trusted' as const,
  kind: 'connector' as const,
  networks: { 'ethereum/local': { contracts: { router: address }, spenders: [address] } },
  signs: [],
  hosts: [],
})

describe('a signer whose sluice.lock changes', () => {
  const dataDir = temporaryFolder()
  const passphrase = 'correct horse'
  const contained = (address: string) => ({ ...bookFor(address), tier: 'contained' as const, allowedAt: new Date().toISOString() })

  it('goes by what the passphrase sealed, and by it again when it was ended and started; and by nothing else', async () => {
    await saveKey({ dataDir, chain: 'ethereum', privateKey: `0x${'a1b2c3d4'.repeat(8)}`, passphrase, scryptN: 1024 })
    const files = await exampleFiles(dataDir, { passphrase, records: {} })
    const logged: string[] = []
    const lines = () => logged.splice(0).join('; ')
    const log = (_: object, message = '') => void logged.push(message)
    const signer = await startSigner({ dataDir, passphrase, devnet: true, files, log: { info: log, warn: log, error: log } })
    const signs = (to: string, more: Partial<SignRequest> = {}) =>
      signer.sign({ ...callOf(to), ...more }).then(
        () => true,
        () => false,
      )
    async function restart(): Promise<void> {
      const before = signer.processId()
      process.kill(before ?? 0, 'SIGKILL')
      await until(() => signer.processId() !== undefined && signer.processId() !== before)
    }
    try {
      expect(await signs(stranger)).to.equal(false)
      await exampleFiles(dataDir, { records: { book: contained(stranger) } })
      expect(await signs(stranger), 'without a seal').to.equal(false)
      expect(lines()).to.contain('does not sign for the plugin book: its record has no seal')
      const first = contained(stranger)
      await exampleFiles(dataDir, { passphrase, records: { book: first } })
      expect(await signs(stranger), lines()).to.equal(true)
      await restart()
      expect(await signs(stranger), 'of a signer that was started again').to.equal(true)
      await exampleFiles(dataDir, { records: { book: contained(router) } })
      expect([await signs(router), await signs(stranger)], 'with a wrong record').to.deep.equal([false, true])

      const second = { ...contained(router), sha256: 'ef'.repeat(32), since: first.allowedAt }
      await exampleFiles(dataDir, { passphrase, records: { book: second } })
      const earlier = { plugin: first.sha256.slice(0, 16) }
      const both = async () => [await signs(router), await signs(stranger), await signs(stranger, earlier), await signs(wrapper, earlier)]
      expect(await both(), 'of an update').to.deep.equal([true, false, true, false])
      await restart()
      expect(await both(), 'of an update, after a restart').to.deep.equal([true, false, true, false])
      lines()
      const unknown = await signer.sign({ ...callOf(stranger), plugin: 'ab'.repeat(8) }).catch(String)
      expect(unknown, 'of a version that nobody sealed').to.match(
        /no connector declares .+ the version (ab){8} of its plugin is not in sluice\.lock/,
      )

      lines()
      await writeFile(path.join(dataDir, 'sluice.lock'), 'plugins: [')
      expect([await signs(router), await signs(router)], 'while it cannot be read').to.deep.equal([true, true])
      expect(lines().match(/does not take up sluice\.lock/g), 'said once').to.have.length(1)
      await exampleFiles(dataDir, { passphrase, records: {} })
      expect([await signs(stranger), await signs(stranger, earlier)], 'once it is gone').to.deep.equal([false, false])
    } finally {
      await signer.stop()
    }
  })
})

describe('an open that says what was read', () => {
  const dataDir = temporaryFolder()
  it('follows the files all the same, also the first time', async () => {
    const files = await exampleFiles(dataDir)
    const keeper = forkModule('signer-keeper')
    const answers: { type: string }[] = []
    keeper.on('message', (message: { type: string }) => void answers.push(message))
    const read = { networks: widest, allowedSpenders: [stranger] }
    keeper.send({ type: 'open', keySources: [{ kind: 'devnet' }], dataDir, files, read })
    await until(() => answers.some(({ type }) => type === 'ready'))
    keeper.send({ type: 'sign', id: 1, request: callOf(stranger) })
    await until(() => answers.some(({ type }) => type === 'failed' || type === 'signed'))
    expect(answers.map(({ type }) => type)).not.to.include('signed')
    const ended = once(keeper, 'exit')
    keeper.disconnect()
    await ended
  })
})
