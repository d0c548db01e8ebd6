// A whole server, whose signer is the service.
import { createServer } from 'node:net'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { frameOf } from '../../../core/wallet/service/protocol.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { local, mined, oneChain, outcome, swap, traders } from '../../http/shared-server.ts'
import { startReceiver, type Receiver } from '../../alerts/receiver.ts'
import { until } from '../processes.ts'
import { signerHome, type SignerHome, type SignerProgram } from './signer-home.ts'

describe('a server with a signer of its own', function () {
  this.timeout(400_000)
  let home: SignerHome
  let program: SignerProgram
  let server: TestServer
  let receiver: Receiver
  before(async () => {
    home = await signerHome(undefined, true)
    program = await home.start()
    receiver = await startReceiver()
    const alerts = { channels: { ops: { kind: 'webhook', url: receiver.url, allowPrivate: true } }, rules: { notReady: { seconds: 1 } } }
    server = await startServer({
      settings: { ...oneChain.settings, 'signer.socket': home.socket },
      conf: { ...oneChain.conf, 'alerts.yml': alerts },
    })
  })
  after(async () => {
    await server?.stop()
    await receiver?.close()
    await program?.stop()
    home?.remove()
  })

  const send = (index: number) =>
    server.client.post(
      '/evm/wrap',
      { ...local, address: traders, amount: `0.00${index + 1}` },
      { headers: { 'Idempotency-Key': `wrap-${index}` } },
    )
  const isReady = async () => (await server.client.get('/health/ready')).status === 200
  const untilReady = async () => {
    for (let tries = 0; !(await isReady()); tries += 1) {
      if (tries === 600) throw new Error('it is not ready within a minute')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('trades, and holds no key', async () => {
    const approved = await server.client.post('/evm/approve', { ...local, address: traders, spender: 'uniswap', token: 'WETH' })
    await mined(server.client, approved.body.txHash)
    const trade = await server.client.post('/amm/trade', { ...swap, address: traders })
    expect(outcome(trade)).to.equal('200')
    await mined(server.client, trade.body.txHash)
    expect(existsSync(path.join(server.settings.data.dir, 'keystore'))).to.equal(false)
  })

  it('gives each transaction one outcome where the signer is killed in the midst, and goes on when it is back', async () => {
    const asked = Array.from({ length: 24 }, (_, index) => send(index))
    await Promise.race(asked)
    await program.kill()
    const answers = await Promise.all(asked)
    const outcomes = answers.map(outcome)
    expect(new Set(outcomes)).to.satisfy((all: Set<string>) => [...all].every((each) => ['200', '503 OVERLOADED'].includes(each)))
    await until(() => server.kernel.services.wallets.all().length > 0)
    expect(await isReady()).to.equal(false)
    expect((await server.client.get('/health/ready')).text).to.match(/signer/)
    const told = await receiver.message(({ rule, status }) => rule === 'notReady' && status === 'raised')
    expect(told).to.include({ severity: 'critical' })
    expect(JSON.stringify(told['items'])).to.match(/"subject":"signer"/)
    expect(outcome(await send(24))).to.equal('503 OVERLOADED')

    program = await home.start()
    await untilReady()
    // The same requests again: what was sent is answered as before, the others are made now.
    const again = await Promise.all(answers.map((_, index) => send(index)))
    expect(new Set(again.map(outcome))).to.deep.equal(new Set(['200']))
    for (const [index, { status, body }] of answers.entries()) if (status === 200) expect(again[index]?.body.txHash).to.equal(body.txHash)
    const hashes = again.map(({ body }) => body.txHash)
    expect(new Set(hashes).size).to.equal(answers.length)
    await Promise.all(hashes.map((hash) => mined(server.client, hash)))
    const { transactions } = (await server.client.get('/transactions', { ...local, address: traders, limit: '100' })).body
    expect(transactions.filter(({ state }: { state: string }) => ['QUEUED', 'SIGNED'].includes(state))).to.deep.equal([])
  })

  it('stops by the file of the signer alone, which the server does not have', async () => {
    writeFileSync(path.join(home.dataDir, 'STOP'), '')
    expect(outcome(await send(50))).to.equal('403 STOPPED')
    rmSync(path.join(home.dataDir, 'STOP'))
    expect(outcome(await send(51))).to.equal('200')
  })

  it('refuses to start with a signer of another release, in words', async () => {
    const socket = path.join(home.folder, 'run', 'other')
    const other = createServer((connection) =>
      connection.end(
        frameOf({ type: 'welcome', protocol: 2, version: '9.9.9', wallets: [], locked: [], limits: 0, changers: [], isReady: true }),
      ),
    ).listen(socket)
    try {
      const settings = { ...oneChain.settings, 'devnet.enabled': false, 'signer.socket': socket }
      const error = await startServer({ settings, conf: oneChain.conf }).catch((thrown: unknown) => thrown)
      expect(String(error)).to.match(
        /refuses this server: the signer is of Sluice 9\.9\.9 \(protocol 2\), this server of .* \(protocol 1\)/,
      )
    } finally {
      other.close()
    }
  })
})
