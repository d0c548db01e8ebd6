import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { startKernel, type Kernel } from '../../core/kernel.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, oneChain, traders } from '../http/shared-server.ts'
import { eventually } from '../start/command.ts'
import { fixtures } from './fixtures.ts'

const program = fileURLToPath(new URL('../../tools/chaos/servers/server.ts', import.meta.url))
const swap = { ...local, connector: 'held-swap', base: 'ETH', quote: 'USDC', amount: '0.1', side: 'SELL' }

describe('plugins in hosts, at a start', function () {
  this.timeout(400_000)
  let folder: string
  let server: TestServer
  let kernel: Kernel | undefined
  let client: Client
  let rpc: Rpc
  let txHash: string
  /** While this file is there, the plugin is loaded. */
  const gate = () => path.join(folder, 'held-swap', 'open')

  /** The same for the copy of it that runs. */
  async function openCopies(): Promise<void> {
    const copies = path.join(server.settings.data.dir, 'plugins')
    for (const sha256 of await readdir(copies))
      if (existsSync(path.join(copies, sha256, 'held-swap'))) await writeFile(path.join(copies, sha256, 'held-swap', 'open'), '')
  }

  /** A connector of a third party, with this before its own code. */
  async function plant(name: string, code: string): Promise<void> {
    await cp(path.join(fixtures, 'contained', 'plain-swap'), path.join(folder, name), { recursive: true })
    const entry = path.join(folder, name, 'index.ts')
    await writeFile(entry, code + (await readFile(entry, 'utf8')).replaceAll('plain-swap', name))
  }

  /** Another server on the same home and chain makes a trade that is not mined, and is killed. */
  async function killedAfterTrade(): Promise<string> {
    const { confDir, plugins, data } = server.settings
    const flags = {
      'server.port': 0,
      'devnet.enabled': true,
      'log.level': 'silent',
      'plugins.folders': plugins.folders,
      'plugins.disabled': plugins.disabled,
      'data.dir': data.dir,
    }
    const options = JSON.stringify({ confDir, devnetUrl: server.rpcUrl, env: {}, flags })
    const child = spawn(process.execPath, ['--import', 'tsx', program, options], { stdio: ['pipe', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    try {
      const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line')
      const bot = createClient(String(JSON.parse(String(line)).url), server.settings.ssl.certsDir)
      await eventually(async () => (await bot.get('/connectors')).body['held-swap'] !== undefined, 'the plugin is loaded')
      await rpc('evm_setAutomine', false)
      await rpc('evm_setIntervalMining', 0)
      const trade = await bot.post('/amm/trade', { ...swap, address: traders })
      expect(trade.status, trade.text).to.equal(200)
      bot.close()
      return trade.body.txHash
    } finally {
      child.kill('SIGKILL')
      await exited
    }
  }

  const poll = () => client.get('/network/poll', { ...local, txHash })
  const journaled = async () => (await client.get('/transactions', local)).body.transactions[0]
  const entryOf = async (name: string) => (await client.get('/plugins')).body.find((each: { name: string }) => each.name === name)

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-later-'))
    await plant(
      'held-swap',
      `import { existsSync } from 'node:fs'
       while (!existsSync(new URL('./open', import.meta.url))) await new Promise((done) => setTimeout(done, 50))
      `,
    )
    await plant('broken-swap', `if (Date.now() > 0) throw new Error('broken on purpose')\n`)
    await writeFile(gate(), '')
    server = await startServer({
      plugins: [folder],
      settings: oneChain.settings,
      conf: { 'chains/ethereum.yml': { local: { required: true } } },
      between: async (url) => url,
    })
    rpc = rpcTo(server.rpcUrl)
    await server.kernel.stop()
    txHash = await killedAfterTrade()
    await rm(gate())
    kernel = await startKernel(server.settings, { print: () => {}, devnet: server.kernel.devnet! })
    client = createClient(kernel.url, server.settings.ssl.certsDir)
  })
  after(async () => {
    client?.close()
    await kernel?.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('have their transactions from before the restart followed before they are there', async () => {
    expect(await journaled()).to.include({ txHash, connector: 'held-swap', final: false })
    const open = await poll()
    expect(open.body, open.text).to.include({ txStatus: 2, txBlock: -1 })
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    await eventually(async () => (await journaled()).txState === 'CONFIRMED', 'it is confirmed')
    expect(await entryOf('held-swap')).to.include({ state: 'pending' })
    // Without what it brought a bot would take it that nothing was traded.
    const asked = await poll()
    expect(asked.body, asked.text).to.include({ errorCode: 1010 })
    expect(asked.body.message).to.match(/reads what this transaction brought/)
  })

  it('do not delay what is built in: the server is ready, and trades', async () => {
    await eventually(async () => (await client.get('/health/ready')).status === 200, 'it is ready')
    const price = await client.get('/amm/price', { ...swap, connector: 'uniswap' })
    expect(price.status, price.text).to.equal(200)
    expect(await entryOf('held-swap')).to.deep.include({ state: 'pending', tier: 'contained', allowedBy: 'nobody', kind: 'unknown' })
    expect(await entryOf('uniswap')).to.include({ state: 'loaded' })
  })

  it('answer 1010 while they are being started, where a name that nobody has is unknown', async () => {
    for (const answer of [
      await client.get('/amm/price', swap),
      await client.post('/amm/trade', { ...swap, address: traders }),
      await client.post('/evm/approve', { ...local, address: traders, spender: 'held-swap', token: 'WETH' }),
      await client.get('/connector/config', { connector: 'held-swap' }),
    ]) {
      expect(answer.body, answer.text).to.include({ errorCode: 1010 })
      expect(answer.body.message).to.match(/^The plugin held-swap is being started/)
      expect(answer.headers['retry-after']).to.equal('2')
    }
    expect((await client.get('/amm/price', { ...swap, connector: 'no-swap' })).body).to.include({ name: 'UNKNOWN_CONNECTOR' })
  })

  it('wait for no other one: one that is refused is shown so at once, with step, reason and remedy', async () => {
    await eventually(async () => (await entryOf('broken-swap')).state === 'refused', 'the broken one is refused')
    expect((await entryOf('broken-swap')).reason).to.match(/^import: The plugin broken-swap says: \Windex\.ts:1: broken on purpose\W+\w/)
    expect(await entryOf('held-swap')).to.include({ state: 'pending' })
    expect((await client.get('/amm/price', { ...swap, connector: 'broken-swap' })).body).to.include({ name: 'UNKNOWN_CONNECTOR' })
  })

  it('can be used, and say what their transactions brought, once they are there', async () => {
    await openCopies()
    await eventually(async () => (await entryOf('held-swap')).state === 'loaded', 'the plugin is loaded')
    const { body } = await poll()
    expect(body).to.include({ txStatus: 1, txState: 'CONFIRMED' })
    expect(Number(body.fill.amountIn)).to.equal(0.1)
    await eventually(async () => (await client.get('/amm/price', swap)).status === 200, 'it quotes')
    const trade = await client.post('/amm/trade', { ...swap, address: traders })
    expect(trade.status, trade.text).to.equal(200)
    await kernel?.pluginsLoaded
    expect(kernel?.plugins.loaded.map(({ name }) => name)).to.include('held-swap')
    expect(kernel?.plugins.refused.map(({ name }) => name)).to.deep.equal(['broken-swap'])
  })
})
