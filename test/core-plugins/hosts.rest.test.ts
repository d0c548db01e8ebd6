import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import type { Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { tryAll, type Target } from '../fixtures/plugins/contained/spy/tries.ts'
import { follow } from '../events/client.ts'
import { local, mined, oneChain, traders } from '../http/shared-server.ts'
import { until } from '../transactions/site.ts'
import { fixtures } from './fixtures.ts'

/** Amounts of DAI by which the fixture does what it does; see its `harms`. */
const [looksAround, exits, asksMuch] = [1, 2, 3].map((raw) => `0.00000000000000000${raw}`)

describe('a plugin of a third party in its host', function () {
  this.timeout(400_000)
  let folder: string
  let target: Target
  let listeners: Server[]
  let server: TestServer
  let client: Client

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "sluice hosts'#\\-"))
    const plugins = path.join(folder, 'plugins')
    await cp(path.join(fixtures, 'contained'), plugins, { recursive: true })
    const unixSocket = path.join(folder, 'socket')
    const tcp = createServer().listen(0, '127.0.0.1')
    const unix = createServer().listen(unixSocket)
    listeners = [tcp, unix]
    await Promise.all(listeners.map((each) => once(each, 'listening')))
    const address = tcp.address()
    const tcpPort = typeof address === 'object' && address ? address.port : 0
    target = { file: path.join(folder, 'secret'), folder, pid: process.pid, tcpPort, unixSocket }
    await writeFile(target.file, 'a private key')
    await writeFile(path.join(plugins, 'spy', 'target.json'), JSON.stringify(target))
    const slow = path.join(plugins, 'slow-swap')
    await cp(path.join(plugins, 'plain-swap'), slow, { recursive: true })
    const code = await readFile(path.join(slow, 'index.ts'), 'utf8')
    const later = 'await new Promise((done) => setTimeout(done, 5_000)); return AMM.quote(...args)'
    await writeFile(
      path.join(slow, 'index.ts'),
      code
        .replace('plain-swap', 'slow-swap')
        .replace('{ AMM,', `{ AMM: { ...AMM, followed: undefined, async quote(...args) { ${later} } },`),
    )
    server = await startServer({
      plugins: [plugins],
      settings: { ...oneChain.settings, 'limits.pluginStallSeconds': 3 },
      conf: { 'alerts.yml': { rules: { pluginRefused: { seconds: 1 } } } },
    })
    client = server.client
  })
  after(async () => {
    await server?.stop()
    for (const each of listeners ?? []) each.close()
    await rm(folder, { recursive: true, force: true })
  })

  const price = (connector: string, amount: string, more = {}) =>
    client.get('/amm/price', { ...local, connector, base: 'DAI', quote: 'WETH', amount, side: 'SELL', ...more })
  const entryOf = async (name: string) => (await client.get('/plugins')).body.find((each: { name: string }) => each.name === name)

  it('appears with its host', async () => {
    expect(await entryOf('plain-swap')).to.deep.include({ state: 'loaded', host: { deaths: 0 } })
    expect(await entryOf('uniswap')).to.not.have.property('host')
  })

  it('quotes from memory what the same exchange quotes in the server', async () => {
    expect((await price('plain-swap', '99')).body.source, 'that of the first').to.equal('rpc')
    const [theirs, ours] = [await price('plain-swap', '100'), await price('uniswap', '100', { version: 'v2' })]
    expect(theirs.status, theirs.text).to.equal(200)
    expect(theirs.body).to.include({ source: 'memory', expectedAmount: ours.body.expectedAmount })
  })

  it('ends the requests that it has before it makes way for what its folder has now', async () => {
    let isDone = false
    const first = price('slow-swap', '100').then((answer) => ({ answer, wasDone: isDone }))
    const reloaded = server.kernel.reloadPlugin('slow-swap').then((refusal) => {
      isDone = true
      return refusal
    })
    const { answer, wasDone } = await first
    expect([answer.status, wasDone], answer.text).to.deep.equal([200, false])
    expect(await reloaded).to.equal(undefined)
    expect(await entryOf('slow-swap')).to.deep.include({ state: 'loaded', host: { deaths: 0 } })
  })

  /** Its router is that of the built-in Uniswap, too: no more than a trade needs. */
  async function approve(): Promise<void> {
    const fields = { ...local, address: traders, spender: 'plain-swap', token: 'WETH', amount: '0.1' }
    const approval = await client.post('/evm/approve', fields)
    expect(approval.status, approval.text).to.equal(200)
    await mined(client, approval.body.txHash)
  }

  it('trades, and says what the trade gave', async () => {
    await approve()
    const swap = { connector: 'plain-swap', base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
    const quote = await client.get('/amm/price', { ...local, ...swap })
    const trade = await client.post('/amm/trade', { ...local, address: traders, ...swap })
    expect(trade.status, trade.text).to.equal(200)
    const { body } = await mined(client, trade.body.txHash)
    expect(body.fill).to.include({ amountIn: quote.body.amount, amountOut: quote.body.expectedAmount })
  })

  it('has its prices followed: a block that changes one is told', async () => {
    const door = { url: server.kernel.url, certsDir: server.settings.ssl.certsDir, name: 'client' }
    await approve()
    const swap = { connector: 'plain-swap', base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' }
    const follower = await follow(door, { topics: 'price', ...local, ...swap })
    try {
      const { data } = await follower.hears('a price', () => true)
      const now = await client.get('/amm/price', { ...local, ...swap })
      expect(data).to.include({ connector: 'plain-swap', source: 'memory', expectedAmount: now.body.expectedAmount })
      const trade = await client.post('/amm/trade', { ...local, address: traders, ...swap })
      expect(trade.status, trade.text).to.equal(200)
      const { body } = await mined(client, trade.body.txHash)
      const next = await follower.hears('the next price', (each) => each.data.blockNumber >= body.txBlock)
      expect(Number(next.data.expectedAmount)).to.be.below(Number(data.expectedAmount))
    } finally {
      await follower.close()
    }
  })

  it('sees and reaches nothing of the machine, where the same code in the server gets everything', async () => {
    const inServer = await tryAll(target)
    for (const [what, got] of Object.entries(inServer)) expect(got, what).to.match(/^got /)
    const { body } = await price('spy', looksAround ?? '')
    expect(body.name, JSON.stringify(body)).to.equal('PRICE_FAILED')
    const inHost: Record<string, string> = body.details
    expect(Object.keys(inHost)).to.deep.equal(Object.keys(inServer))
    for (const [what, got] of Object.entries(inHost)) expect(got, what).to.match(/^error: /)
    expect(await readFile(path.join(folder, 'spy'), 'utf8')).to.equal('was here')
  })

  it('goes on where it asks the chain many questions at once', async () => {
    const { deaths } = (await entryOf('spy')).host
    // So little is worth nothing.
    expect((await price('spy', asksMuch ?? '')).body).to.include({ name: 'PRICE_FAILED' })
    expect((await price('spy', '100')).status).to.equal(200)
    expect((await entryOf('spy')).host.deaths).to.equal(deaths)
  })

  it('goes on where it logs bigints, or quotes one that is too large', async () => {
    const { deaths } = (await entryOf('spy')).host
    await price('spy', '0.000000000000000007')
    expect((await price('spy', '7')).body).to.include({ name: 'UNKNOWN_ERROR' })
    const { status, text } = await price('spy', '100')
    expect(status, text).to.equal(200)
    expect((await entryOf('spy')).host.deaths).to.equal(deaths)
  })

  // Other ways to end are in the table of hostile plugins (hostile-hosts.rest.test.ts).
  it('starts again alone where it ends its process: its venue answers 1010 meanwhile, and others are not disturbed', async () => {
    const { deaths } = (await entryOf('spy')).host
    const harmed = price('spy', exits ?? '')
    const others = await Promise.all([price('uniswap', '100'), price('plain-swap', '100')])
    expect(others.map(({ status }) => status)).to.deep.equal([200, 200])
    // On a busy machine the request's own time may end first.
    expect((await harmed).body.errorCode).to.be.oneOf([1010, 1026])
    while ((await entryOf('spy')).host.deaths === deaths) await setTimeout(100)
    // It is back after a pause.
    for (;;) {
      const { status, body } = await price('spy', '100')
      if (status === 200) break
      expect(body.errorCode).to.be.oneOf([1010, 1026])
      await setTimeout(100)
    }
    expect((await entryOf('plain-swap')).host.deaths).to.equal(0)
  })

  it('stays down after its process ended five times, says so, and is told to people', async () => {
    for (let deaths = (await entryOf('spy')).host.deaths; deaths < 5;) {
      await price('spy', exits ?? '')
      ;({ deaths } = (await entryOf('spy')).host)
      await setTimeout(100)
    }
    const { body } = await price('spy', '100')
    expect(body).to.include({ errorCode: 1010 })
    expect(body.message).to.match(/ended 5 times within 10 minutes, and is not started again/)
    expect((await price('plain-swap', '100')).status).to.equal(200)
    const told = async () =>
      (await client.get('/alerts')).body.alerts.find(
        (each: { rule: string; subject: string }) => each.rule === 'pluginRefused' && each.subject === 'spy',
      )
    await until('it is told', async () => (await told()) !== undefined)
    expect(await told()).to.include({ severity: 'warning' })
    expect((await told()).words).to.match(/^spy: its process ended /)
  })
})
