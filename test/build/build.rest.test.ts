import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { createClient, type Client } from '../../testkit/client.ts'
import { descendants, stillRunning } from '../devnet/run-server.ts'
import { writeOutsidePlugin } from './outside-plugin.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pair = { chain: 'ethereum', network: 'local', base: 'WETH', quote: 'USDC', amount: '1', side: 'SELL' }
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

describe('the compiled tree', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-build-'))
  const dist = path.join(folder, 'dist')
  const certs = path.join(dist, 'certs')
  const children = new Set<ChildProcess>()

  before(() => {
    build(dist)
    linkProductionPackages(path.join(folder, 'node_modules'))
    writeOutsidePlugin(path.join(dist, 'plugins'), 'inside-typescript')
    writeOutsidePlugin(path.join(folder, 'elsewhere'), 'outside-typescript')
    writeOutsidePlugin(path.join(folder, 'looping'), 'looping', { quote: 'function spin() { for (;;); }' })
    const javascript = path.join(folder, 'elsewhere', 'sushiswap')
    cpSync(path.join(dist, 'plugins', 'sushiswap'), javascript, { recursive: true })
    rmSync(path.join(dist, 'plugins', 'sushiswap'), { recursive: true })
  })
  after(() => {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  /** `sluice start` as an operator runs it, from another folder. */
  async function start(environment: Record<string, string> = {}) {
    const child = spawn(process.execPath, [path.join(dist, 'bin', 'sluice'), 'start'], {
      cwd: tmpdir(),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        SLUICE_CONF: path.join(dist, 'conf'),
        SLUICE_SERVER_PORT: '0',
        SLUICE_DEVNET_PORT: '0',
        SLUICE_LOG_LEVEL: 'fatal',
        ...environment,
      },
    })
    children.add(child)
    // With the last of what it printed.
    const ended = once(child, 'close')
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
    return { child, ended, client: createClient(url, certs), output: () => output }
  }

  it('is complete: package.json names only what is there, and no source is left', () => {
    const manifest = JSON.parse(readFileSync(path.join(dist, 'package.json'), 'utf8'))
    for (const file of [...Object.values<string>(manifest.exports), ...Object.values<string>(manifest.bin)])
      expect(existsSync(path.join(dist, file)), file).to.equal(true)
    expect(manifest).not.to.have.property('devDependencies')
    expect(readdirSync(path.join(dist, 'core'), { recursive: true }).filter((name) => String(name).endsWith('.ts'))).to.deep.equal([])
  })

  it('leaves out the devnet where it is not wanted, and keeps what the code of exchanges reads', () => {
    const production = path.join(folder, 'production')
    build(production, '--no-devnet')
    const names = readdirSync(production, { recursive: true }).map(String)
    expect(names.filter((name) => path.basename(name).startsWith('devnet.') && name.startsWith('plugins'))).to.deep.equal([])
    expect(names.filter((name) => name.includes('artifacts/'))).to.have.members([
      'kits/evm/artifacts/Batch.json',
      'kits/oasis/artifacts/OfferLens.json',
      'kits/perp/artifacts/PerpTrial.json',
      'kits/amm/artifacts/TransferProbe.json',
      'kits/amm/stable/artifacts/StableRouter.json',
      'kits/amm/v3/artifacts/PoolLens.json',
      'kits/amm/weighted/artifacts/WeightedLens.json',
    ])
    expect(names).to.include.members(['plugins/ethereum/tokens.json', 'plugins/ethereum/defaults.yml', 'plugins/uniswap/defaults.yml'])
  })

  it('keeps the configuration, the certificates and the data that lie in it when it is built again', () => {
    const again = path.join(folder, 'again')
    for (const name of ['conf', 'certs', 'data', 'core']) mkdirSync(path.join(again, name), { recursive: true })
    cpSync(path.join(root, 'conf', 'ssl.yml'), path.join(again, 'certs', 'mine'))
    cpSync(path.join(root, 'conf', 'ssl.yml'), path.join(again, 'core', 'old.js'))
    build(again)
    expect(existsSync(path.join(again, 'certs', 'mine'))).to.equal(true)
    expect(readdirSync(path.join(again, 'conf'))).to.deep.equal([])
    expect(existsSync(path.join(again, 'core', 'old.js'))).to.equal(false)
  })

  it('serves with production packages only, plugins of TypeScript and JavaScript inside and outside of it, and ends in order', async () => {
    const { child, ended, client, output } = await start({ SLUICE_PLUGINS_FOLDERS: `plugins,${path.join(folder, 'elsewhere')}` })
    const own = ['uniswap', 'sushiswap', 'pancakeswap', 'quickswap', 'traderjoe', 'pangolin', 'balancer', 'curve']
    const swapping = [...own, 'inside-typescript', 'outside-typescript']
    const connectors = [...swapping, 'perp', 'oasis', 'hyperliquid']
    expect(Object.keys((await client.get('/connectors')).body), output()).to.have.members(connectors)
    for (const connector of swapping) {
      // Curve's coins are worth the same.
      const quote = await client.get('/amm/price', { ...pair, ...(connector === 'curve' && { base: 'DAI' }), connector })
      expect(quote.status, `${connector}: ${quote.text}`).to.equal(200)
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
    const trade = await client.post('/amm/trade', { ...pair, base: 'ETH', connector: 'outside-typescript', address })
    expect(trade.status, trade.text).to.equal(200)
    expect(await settled(client, trade.body.txHash)).to.equal(1)

    const below = descendants(child.pid ?? 0).map(({ pid }) => pid)
    client.close()
    child.kill('SIGTERM')
    expect(await ended).to.deep.equal([0, null])
    expect(await stillRunning(below)).to.deep.equal([])
  })

  it('is ended by its watchdog when a plugin holds it up', async () => {
    const { ended, client, output } = await start({
      SLUICE_PLUGINS_FOLDERS: `plugins,${path.join(folder, 'looping')}`,
      SLUICE_LIMITS_PLUGIN_STALL_SECONDS: '5',
    })
    await client.get('/amm/price', { ...pair, connector: 'looping' }).catch(() => {})
    client.close()
    expect(await ended).to.deep.equal([null, 'SIGKILL'])
    expect(output()).to.include("the plugin 'looping' was running").and.to.include('spin')
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

function build(out: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(root, 'tools', 'build.mjs'), '--out', out, ...args], {
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).to.equal(0)
}

/** What `npm install --omit=dev` would put there, by the lockfile, and the devnet's chain. */
function linkProductionPackages(modules: string) {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const names = Object.entries(lock.packages)
    .filter(([name, { dev }]) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) && (!dev || name === 'node_modules/@foundry-rs/anvil'))
    .map(([name]) => name.slice('node_modules/'.length))
  for (const name of names) {
    const from = path.join(root, 'node_modules', name)
    if (!existsSync(from)) continue
    mkdirSync(path.dirname(path.join(modules, name)), { recursive: true })
    symlinkSync(from, path.join(modules, name))
  }
}
