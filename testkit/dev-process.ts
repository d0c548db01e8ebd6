// The process of `sluice plugin dev` that holds the devnet and the server, and runs the cards on them. It ends with the command, however that ends.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import Mocha, { type Runner, type Test } from 'mocha'
import type { DevNews } from '../core/cli/dev-report.ts'
import type { DevRequest } from '../core/cli/plugin-dev.ts'
import { withTimeout } from '../core/base/async.ts'
import { command } from '../core/base/layout.ts'
import { authorsStack, placeInStack, whyNotContained, type LoadedPlugin, type Refusal } from '../core/plugins/index.ts'
import { examplesOf, targetOf, watchInterface } from './cards/interface-fixture.ts'
import { chainCards } from './chain-contract.ts'
import { connectorCards, localNetworkOf } from './connector-contract.ts'
import { confOf, interfaceSuite, watchedPlugins } from './interface-contract.ts'
import { devnetConf, startServer, type TestServer } from './server.ts'

const { DEV_FOLDER: folder = '', DEV_HOME: home = '', DEV_PORT: port = '0', DEV_TRUSTED: trusted, DEV_NETWORK: network } = process.env
/** Of an interface: where it listens. */
const interfacePort = Number(process.env['DEV_INTERFACE_PORT'] ?? 0)
const name = path.basename(folder)
/** What a process that hangs gets to stop. */
const stopMs = 3_000

const commandPid = process.ppid
/** That it is alive is told so often: a start and a hook may take long without other news. */
const beatMs = 5_000
/** For finding a request to show. */
const exampleMs = 10_000

const tell = (news: DevNews): void => {
  if (process.connected) process.send?.(news)
}

/** Cards that send no transaction, of those that run first. */
const quickCards = /^(PLUGIN|CONFIG|ADDRESS|CHAIN)-|^AMM-0[1-5] |^IFC-0[1-6] /

/** The devnet stays up, so what cannot be undone on it is left to `sluice plugin test`. */
const lastingCards = /closed for good/

/** The command shows the cards. */
function SilentReporter(): void {}

/** Where the plugin is an interface. */
const watched = watchInterface()
let stopping = false
let run: Runner | undefined
let isBusy: Promise<void> = Promise.resolve()

/** By what its files import: it is loaded after the configuration is read. What has a port is loaded before the devnet has its contracts. */
const isInterface = (): boolean =>
  readdirSync(folder).some(
    (file) => /\.[cm]?[jt]s$/.test(file) && readFileSync(path.join(folder, file), 'utf8').includes('sluice/interface'),
  )

async function start(): Promise<TestServer> {
  const server = await startServer(
    {
      plugins: [folder],
      conf: { ...devnetConf, ...(isInterface() && confOf(name, {}, interfacePort)) },
      ...(trusted !== undefined && { trusted: [name] }),
      settings: {
        'server.port': Number(port),
        'log.level': 'warn',
        // It is the author's own code, with keys that everybody knows.
        'plugins.weakContainment': true,
        // Of processor time: an endless loop is told soon.
        'limits.pluginStallSeconds': 5,
        'limits.pluginLoadSeconds': 5,
      },
    },
    home,
    watchedPlugins((each) => (each === name ? watched : undefined)),
  )
  void server.kernel.devnet?.ended.then(() => {
    if (!stopping) tell({ is: 'devnet ended' })
  })
  return server
}

async function work(server: TestServer, { reload }: { reload: boolean }): Promise<void> {
  const before = process.cpuUsage()
  const refusal = reload ? await server.kernel.reloadPlugin(name) : server.kernel.plugins.refused.find((each) => each.name === name)
  // Listeners are opened at the start.
  if (refusal?.kind === 'interface' && reload) return tell({ is: 'needs a start' })
  const plugin = pluginOf(server)
  const devnetRefusal = server.kernel.devnet?.refused.find(({ file }) => path.basename(path.dirname(file)) === name)
  let isUsedUp = false
  if (refusal) tell({ is: 'refused', ...shown(refusal) })
  else if (devnetRefusal) tell({ is: 'refused', step: 'devnet', reason: devnetRefusal.reason, remedy: 'Correct its devnet.' })
  else if (!plugin) tell({ is: 'refused', step: 'find', reason: 'It was not found', remedy: 'See the lines above.' })
  else isUsedUp = await runCards(server, plugin)
  const { user, system } = process.cpuUsage(before)
  const example = plugin && (await withTimeout(exampleFor(server, plugin), exampleMs, () => undefined))
  tell({
    is: 'done',
    processorMs: Math.round((user + system) / 1000),
    isUsedUp,
    ...(example !== undefined && { example }),
  })
}

/** Of the server: a plugin, or an interface that listens. */
function pluginOf({ kernel: { plugins }, interfaceUrls }: TestServer): AuthorsPlugin | undefined {
  if (interfaceUrls[name] !== undefined) return { kind: 'interface', tier: trusted === undefined ? 'contained' : 'trusted' }
  return plugins.loaded.find((each) => each.origin === folder || each.name === name)
}

type AuthorsPlugin = LoadedPlugin | { readonly kind: 'interface'; readonly tier: LoadedPlugin['tier'] }

const shown = ({ step, reason, remedy }: Refusal) => ({ step, reason, remedy })

/** Whether the cards left the devnet such that they cannot run on it again. */
async function runCards(server: TestServer, { kind }: AuthorsPlugin): Promise<boolean> {
  const mocha = new Mocha({ timeout: 60_000, grep: lastingCards, invert: true, reporter: SilentReporter as never })
  mocha.suite.emit('pre-require', globalThis, '', mocha)
  if (kind === 'chain') chainCards({ folder, ...(network !== undefined && { network }) }, server)
  else if (kind === 'interface') interfaceSuite({ folder }, { server, watched })
  else connectorCards({ folder, trusted: trusted !== undefined }, server)
  let isUsedUp = false
  await new Promise<void>((resolve) => {
    run = mocha.run(() => resolve())
    run.on('test', ({ title }: Test) => tell({ is: 'begins', title, isQuick: quickCards.test(title) }))
    run.on('pass', (test: Test) => card(test, 'passed'))
    run.on('pending', (test: Test) => card(test, 'not run'))
    run.on('fail', (test: Test, error: unknown) => {
      // What the cards changed could not be put back.
      isUsedUp ||= test.title.startsWith('"after all"')
      card(test, 'failed', error)
    })
  })
  run = undefined
  mocha.suite.eachTest((test: Test) => {
    if (lastingCards.test(test.title)) card(test, 'not run', `It changes the devnet for good: ${command} plugin test runs it.`)
  })
  return isUsedUp
}

function card({ title, duration = 0 }: Test, state: 'passed' | 'failed' | 'not run', error?: unknown): void {
  tell({ is: 'card', title, state, ms: duration, ...(error !== undefined && { error: wordsOf(error) }) })
}

/** With the line of the author's own files, where the stack has one. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const place = placeInStack(authorsStack(error.stack ?? ''), folder)
  return place === undefined ? error.message : `${error.message}\nat ${place}`
}

/** The path of a request that works as it is. */
async function exampleFor({ client }: TestServer, plugin: AuthorsPlugin): Promise<string | undefined> {
  if (plugin.kind === 'interface') {
    const path = watched.served()?.paths.find((each) => each.method === 'GET' && examplesOf(each).length > 0)
    return path ? targetOf(path, examplesOf(path)[0] ?? {}) : '/openapi.json'
  }
  if (plugin.kind === 'chain') return `/network/status?chain=${name}`
  const venue = { ...localNetworkOf(plugin), connector: name }
  const [base, quote] = plugin.manifest.trading_type.includes('AMM') ? await quotedPair() : []
  if (base === undefined || quote === undefined) return `/connector/config?connector=${name}`
  return pathOf({ ...venue, base, quote, amount: '0.01', side: 'SELL' })

  async function quotedPair(): Promise<readonly string[]> {
    const { body } = await client.get('/network/tokens', { chain: venue.chain, network: venue.network })
    const symbols: readonly string[] = Array.isArray(body) ? body.map(({ symbol }: { symbol: string }) => symbol) : []
    for (const base of symbols)
      for (const quote of symbols) {
        if (base === quote) continue
        const { status } = await client.get('/amm/price', { ...venue, base, quote, amount: '0.01', side: 'SELL' })
        if (status === 200) return [base, quote]
      }
    return []
  }
}

const pathOf = (query: Record<string, string>): string => `/amm/price?${new URLSearchParams(query).toString()}`

async function end(server: Promise<TestServer>): Promise<void> {
  if (stopping) return
  stopping = true
  setTimeout(() => leave(1), stopMs).unref()
  await (await server.catch(() => undefined))?.stop()
  leave(0)
}

/** No other process of the command follows this one. */
let isLast = false

/** Removes the home at the end, and where the command was killed, even while this stopped: then nobody else does. */
function leave(code: number): never {
  if (isLast || process.ppid !== commandPid) rmSync(home, { recursive: true, force: true })
  process.exit(code)
}

// Ctrl-C at the terminal is the command's, which says when to stop.
process.on('SIGINT', () => {})
const starting = start()
setInterval(() => tell({ is: 'alive' }), beatMs).unref()
process.on('SIGTERM', () => void end(starting))
process.on('disconnect', () => void end(starting))
process.on('message', (request: DevRequest) => {
  if (request.do === 'stop') {
    isLast ||= request.isLast
    return void end(starting)
  }
  run?.abort()
  isBusy = isBusy.then(async () => work(await starting, request)).catch((error: unknown) => tell({ is: 'failed', why: wordsOf(error) }))
})
starting.then(
  async (server) => {
    const { url, settings, interfaceUrls } = server
    const { kind, tier } = pluginOf(server) ?? {}
    const fault = tier === 'contained' ? await whyNotContained(settings) : undefined
    const own = kind === 'interface' ? interfaceUrls[name] : undefined
    tell({
      is: 'ready',
      url,
      ...(own !== undefined && { interfaceUrl: own }),
      certsDir: settings.ssl.certsDir,
      ...(fault && { notContained: fault.message }),
    })
  },
  (error: unknown) => {
    tell({ is: 'failed', why: wordsOf(error) })
    process.exitCode = 1
    process.disconnect?.()
  },
)
