import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createClient, type Client } from '../../testkit/client.ts'
import { keepDevnet } from '../start/command.ts'
import { descendants, stillRunning } from '../devnet/run-server.ts'
import { Checkout } from './checkout.ts'
import { compilePlugin, writeOutsidePlugin, writeTellingPlugin } from './outside-plugin.ts'

const pair = { chain: 'ethereum', network: 'local', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const twoDaysAgo = new Date(Date.now() - 48 * 3_600_000)

describe('the bundled server', function () {
  this.timeout(400_000)
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluice-build-')))
  const installed = path.join(folder, 'installed', 'node_modules')
  const home = path.join(folder, 'home')
  const servers: { child: ChildProcess; ended: Promise<unknown> }[] = []
  let checkout: Checkout
  /** The chunks of the server that ran while it was built anew. */
  let running: string[]

  before(async () => {
    checkout = new Checkout(path.join(folder, 'checkout'))
    await checkout.build()
    await checkout.install(installed)
    cpSync(path.join(checkout.folder, 'conf'), path.join(home, 'conf'), { recursive: true })
    await keepDevnet(home)
  })
  afterEach(async () => {
    for (const { child, ended } of servers.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** `sluice start` as an operator runs it, in a home of its own. */
  async function start(program: string, environment: Record<string, string> = {}) {
    const { PATH, HOME } = process.env
    const child = spawn(process.execPath, [program, 'start'], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, HOME, SLUICE_SERVER_PORT: '0', SLUICE_DEVNET_PORT: '0', SLUICE_LOG_LEVEL: 'fatal', ...environment },
    })
    // With the last of what it printed.
    const ended = once(child, 'close')
    servers.push({ child, ended })
    let output = ''
    const url = await new Promise<string>((resolve, reject) => {
      const take = (text: string) => {
        output += text
        const said = /is ready at .*?(https:\/\/localhost:\d+)/.exec(output)?.[1]
        if (said !== undefined) resolve(said)
      }
      child.stdout.setEncoding('utf8').on('data', take)
      child.stderr.setEncoding('utf8').on('data', take)
      child.once('exit', () => reject(new Error(`The server ended:\n${output}`)))
    })
    return { child, ended, client: createClient(url, path.join(home, 'certs')), output: () => output }
  }
  const command = path.join(installed, 'sluice', 'bin', 'sluice')

  it('has every file that package.json names, declarations of every entry point, and the built-in plugins', () => {
    const { bin, exports } = JSON.parse(readFileSync(path.join(checkout.folder, 'package.json'), 'utf8'))
    const { './package.json': manifest, ...entryPoints } = exports
    const named = [
      manifest,
      ...Object.values<string>(bin),
      ...Object.values<Record<string, string>>(entryPoints).flatMap((each) => Object.values(each)),
    ]
    expect(named.filter((file) => !existsSync(path.join(checkout.folder, file)))).to.deep.equal([])
    expect(Object.keys(entryPoints).every((subpath) => 'types' in entryPoints[subpath] && 'default' in entryPoints[subpath])).to.equal(true)
    const plugins = readdirSync(path.join(checkout.folder, 'plugins'))
    expect(plugins.filter((name) => !existsSync(path.join(checkout.dist, 'plugins', name, 'index.js')))).to.deep.equal([])
  })

  it('has no source, and what only a devnet needs is in a package of its own', () => {
    const files = readdirSync(checkout.dist, { recursive: true }).map(String)
    // What `sluice plugin new` writes is no source of Sluice.
    const sources = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('templates'))
    expect(sources).to.deep.equal([])
    expect(files).to.include.members(['templates/ferryswap/amm.ts', 'templates/common/README.md'])
    const ofPlugins = (file: string) => file.startsWith('plugins') && path.basename(file) === 'devnet.js'
    const server = files.filter((file) => !file.startsWith('sluice-devnet'))
    expect(server.filter((file) => file.includes('artifacts') || ofPlugins(file))).to.deep.equal([])
    // The one command is bin/sluice.
    expect(files.filter((file) => path.basename(file) === 'sluice')).to.deep.equal([])
    expect(files).to.include.members(['sluice-devnet/plugins/uniswap/devnet.js', 'sluice-devnet/kits/amm/v2/devnet.js'])
    expect(files).to.include.members(['plugins/ethereum/tokens.json', 'plugins/ethereum/defaults.yml', 'plugins/uniswap/defaults.yml'])
  })

  it('is built when sources changed, by one of the processes that ask at once, and not again', async () => {
    expect((await checkout.sluice(['--version'])).output).to.match(/^\d+\.\d+\.\d+\n$/)
    const { child, client, ended } = await start(path.join(checkout.folder, 'bin', 'sluice'), { SLUICE_DEVNET_ENABLED: 'false' })
    running = checkout.chunksBuilt()
    // The server may have been built long ago.
    checkout.chunksAreFrom(twoDaysAgo)
    checkout.changeSources()
    // Left by a build that was killed.
    writeFileSync(path.join(checkout.dist, '.building'), '999999999')
    const outputs = await Promise.all(Array.from({ length: 3 }, () => checkout.sluice(['--version'])))
    expect(outputs.map(({ status }) => status)).to.deep.equal([0, 0, 0])
    expect(outputs.filter(({ output }) => output.startsWith('Built dist/'))).to.have.length(1)
    expect((await checkout.sluice(['--version'])).output).to.match(/^\d+\.\d+\.\d+\n$/)

    // The server that runs goes on: what was replaced stays for a day.
    expect(checkout.chunksThere()).to.include.members(running)
    expect(checkout.chunksBuilt()).to.not.include.members(running)
    // By chunks that are loaded with the first request for them.
    for (const each of ['/connectors', '/openapi.json']) expect((await client.get(each)).status, each).to.equal(200)
    client.close()
    child.kill('SIGTERM')
    expect(await ended).to.deep.equal([0, null])
  })

  it('has the plugins built in that git knows, as long as it does, and tries those that somebody put beside them, broken ones too', async () => {
    const plugins = path.join(checkout.folder, 'plugins')
    writeTellingPlugin(plugins, 'of-the-release')
    checkout.git('add', 'plugins/of-the-release')
    writeTellingPlugin(plugins, 'dropped-in')
    mkdirSync(path.join(plugins, 'broken'))
    writeFileSync(path.join(plugins, 'broken', 'index.ts'), 'export default {\n')
    const loads = path.join(folder, 'loads')
    const listed = () =>
      checkout.sluice(['plugin', 'list'], { SLUICE_DEVNET_ENABLED: 'true', SLUICE_PLUGINS_WEAK_CONTAINMENT: 'true', LOADS: loads })
    checkout.chunksAreFrom(twoDaysAgo)
    const { output } = await listed()
    expect(output)
      .to.match(/^of-the-release +connector +built in /m)
      .and.match(/^dropped-in +connector +contained /m)
    expect(output)
      .to.match(/^broken .*refused /m)
      .and.include('index.ts:2')
    // The sources of the others are not taken for plugins beside them.
    expect(output.match(/^[\w-]+ +\S+ +refused /gm)).to.have.length(1)
    const built = readdirSync(path.join(checkout.dist, 'plugins'))
    expect(built.filter((name) => ['of-the-release', 'dropped-in', 'broken'].includes(name))).to.deep.equal(['of-the-release'])
    const loaded = readFileSync(loads, 'utf8').trim().split('\n')
    expect(loaded.filter((line) => line.startsWith('of-the-release'))).to.deep.equal(['of-the-release in the process'])
    // In a process of its own, which has no variable that names the file.
    expect(loaded.filter((line) => line.startsWith('dropped-in'))).to.deep.equal([])

    // No source changes.
    checkout.git('rm', '--cached', '-r', '--quiet', 'plugins/of-the-release')
    expect((await listed()).output).to.match(/^of-the-release +connector +contained /m)
  })

  it('has no chunks any more that were replaced before the day of its latest build', () => {
    const needed = checkout.chunksBuilt()
    expect(running).to.have.length.above(0)
    expect(checkout.chunksThere().filter((name) => running.includes(name) && !needed.includes(name))).to.deep.equal([])
  })

  it('runs the cards of a built-in plugin by `plugin test`, also of one that the settings disable', async () => {
    const { status, output } = await checkout.sluice(['plugin', 'test', 'plugins/celo'], { SLUICE_PLUGINS_DISABLED: 'celo' })
    expect(output)
      .to.contain('CHAIN-01')
      .and.to.match(/^ +\d+ passing/m)
    expect(status).to.equal(0)
  })

  it('runs with the few packages that it depends on, loads plugins of TypeScript and JavaScript, shares its core with them, and ends in order', async () => {
    writeOutsidePlugin(path.join(home, 'plugins'), 'at-home')
    const elsewhere = path.join(folder, 'elsewhere')
    const refusing = `(swap, ...more) => {
      if (swap.amountRaw === 7n) throw new SluiceError('PRICE_FAILED', 'This is what the plugin says.')
      return AMM.quote(swap, ...more)
    }`
    writeOutsidePlugin(elsewhere, 'of-typescript', { quote: refusing })
    await compilePlugin(writeOutsidePlugin(elsewhere, 'of-javascript', { quote: refusing }))
    const { child, ended, client, output } = await start(command, { SLUICE_PLUGINS_FOLDERS: `plugins,${elsewhere}` })
    const algebra = ['quickswap-v3', 'quickswap-v4', 'camelot-v4']
    const own = ['uniswap', 'sushiswap', 'pancakeswap', 'quickswap', ...algebra, 'traderjoe', 'pangolin', 'balancer', 'curve']
    const outside = ['of-typescript', 'of-javascript']
    const swapping = [...own, 'at-home', ...outside]
    // They run in hosts, which start when all else is ready.
    while ((await client.get('/plugins')).body.some(({ state }: { state: string }) => state === 'pending')) await sleep(100)
    expect(Object.keys((await client.get('/connectors')).body), output()).to.have.members([
      ...swapping,
      'perp',
      'oasis',
      'hyperliquid',
      'poolswap',
      'raydium',
      'meteora',
    ])
    for (const connector of swapping) {
      // Curve's coins are worth the same.
      const quote = await client.get('/amm/price', { ...pair, ...(connector === 'curve' && { base: 'DAI' }), connector })
      expect(quote.status, `${connector}: ${quote.text}`).to.equal(200)
    }
    for (const connector of outside) {
      const { body } = await client.get('/amm/price', { ...pair, amount: '0.000000000000000007', connector })
      const message = `The plugin ${connector} says: "This is what the plugin says."`
      expect(body, connector).to.include({ name: 'PRICE_FAILED', message })
    }
    const { chain, network } = pair
    const perpetual = await client.get('/perp/price', {
      chain,
      network,
      connector: 'perp',
      base: 'ETH',
      quote: 'USD',
      amount: '1',
      side: 'LONG',
    })
    expect(perpetual.status, perpetual.text).to.equal(200)
    const trade = await client.post('/amm/trade', { ...pair, base: 'ETH', connector: 'of-javascript', address })
    expect(trade.status, trade.text).to.equal(200)
    expect(await settled(client, trade.body.txHash)).to.equal(1)

    const below = descendants(child.pid ?? 0).map(({ pid }) => pid)
    client.close()
    child.kill('SIGTERM')
    expect(await ended).to.deep.equal([0, null])
    expect(await stillRunning(below)).to.deep.equal([])
  })

  it('is ended by its watchdog when a trusted plugin from outside holds it up', async () => {
    writeOutsidePlugin(path.join(folder, 'looping'), 'looping', { quote: 'function spin() { for (;;); }' })
    const folders = { SLUICE_PLUGINS_FOLDERS: `plugins,${path.join(folder, 'looping')}` }
    // In a host it would hold up itself alone.
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...folders }
    execFileSync(process.execPath, [command, 'plugin', 'trust', 'looping', '--yes', '--trusted'], { cwd: home, env, stdio: 'pipe' })
    const { ended, client, output } = await start(command, {
      ...folders,
      SLUICE_LIMITS_PLUGIN_STALL_SECONDS: '10',
    })
    await client.get('/amm/price', { ...pair, connector: 'looping' }).catch(() => {})
    client.close()
    expect(await ended).to.deep.equal([null, 'SIGKILL'])
    expect(output()).to.match(/event loop blocked for 10 s: beside this release, trusted plugins run in the process: looping\./)
  })
})

/** The status of a transaction once it is no longer pending. */
async function settled(client: Client, txHash: string): Promise<number> {
  for (let tries = 0; ; tries++) {
    const { body } = await client.get('/network/poll', { chain: pair.chain, network: pair.network, txHash })
    if (body.txStatus === 1 || tries === 400) return body.txStatus
    await sleep(100)
  }
}
