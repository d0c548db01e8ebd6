// What plugins need while they are loaded, and the plugins while the server runs.
import { withTimeout } from '../base/async.ts'
import { command } from '../base/layout.ts'
import { toQuoteVenue } from '../handlers/amm/quote.ts'
import { isReadByPlugin } from '../handlers/fills.ts'
import {
  allowedPlugins,
  blockProcessExit,
  buildRegistry,
  createHosts,
  createHotReload,
  createRunningPlugins,
  handleUncaught,
  hostOptions,
  loadLater,
  loadPlugins,
  logWarnings,
  pluginOptions,
  startVenues,
  startWatchdog,
  type AllowedPlugins,
  type GrowingRegistry,
  type Hosts,
  type LateLoad,
  type LoadResult,
  type HotReload,
  type Refusal,
  type RunningPlugins,
  type Venues,
} from '../plugins/index.ts'
import { railName } from '../transactions/entry.ts'
import { shortestStallSeconds, type WatchOrder } from '../wallet/server-watch.ts'
import type { ServerParts } from './server-parts.ts'

/** What is built in is ready before hosts start, unless its nodes are away. */
const maxHostsWaitMs = 5_000

/** What goes wrong in plugins is told of them, and does not end the server. */
export function guardProcess({ log, metrics, pluginsNow }: ServerParts): { stop(): void } {
  const parts = { log, plugins: () => pluginsNow.known.loaded }
  const ends = [
    blockProcessExit(parts.plugins),
    handleUncaught({ ...parts, onPluginFault: (plugin) => metrics.pluginFaults.inc({ plugin }) }),
    logWarnings(parts),
  ]
  return { stop: () => void ends.toReversed().map((end) => end()) }
}

export async function findAllowed({ settings, log }: ServerParts): Promise<AllowedPlugins> {
  const allowed = await allowedPlugins(settings)
  for (const text of notAllowedYet(allowed.tried)) log.warn({ plugins: allowed.tried }, text)
  return allowed
}

/** One line, however many there are. */
export function notAllowedYet(plugins: readonly string[]): string[] {
  if (plugins.length === 0) return []
  const [who, each] =
    plugins.length === 1
      ? [`plugin ${plugins[0]} runs without having been allowed`, 'it has']
      : [`plugins ${plugins.join(', ')} run without having been allowed`, 'each has']
  return [
    `The ${who}, because this server only tries. With a key or a real network ${each} to be: ${command} plugin allow ${plugins.length === 1 ? plugins[0] : '<name>'}`,
  ]
}

/** What is said where the event loop of this process is blocked. */
function runningHere({ found }: AllowedPlugins): string {
  const trusted = found.filter(({ tier }) => tier === 'trusted').map(({ name }) => name)
  return trusted.length === 0
    ? 'only code of this release runs in the process'
    : `beside this release, trusted plugins run in the process: ${trusted.join(', ')}`
}

/** What the signer's keeper is told to watch for; undefined where a thread does it: only Linux tells a process of another one that is stopped. */
export function keeperWatch({ settings: { limits, signer }, allowed }: Pick<ServerParts, 'settings' | 'allowed'>): WatchOrder | undefined {
  const { pluginStallSeconds: stallSeconds } = limits
  const hasKeeper = signer.socket === undefined && process.platform === 'linux' && stallSeconds >= shortestStallSeconds
  return hasKeeper ? { stallSeconds, running: runningHere(allowed) } : undefined
}

/** Before plugins run in this thread. */
export function watchLoops({ settings, allowed }: ServerParts): { stop(): unknown } {
  if (keeperWatch({ settings, allowed })) return { stop: () => {} }
  return startWatchdog({ stallSeconds: settings.limits.pluginStallSeconds, running: runningHere(allowed) })
}

export const openHosts = ({ settings, log, metrics }: ServerParts): Hosts =>
  createHosts({
    ...hostOptions(settings, log),
    onFault: (plugin) => metrics.pluginFaults.inc({ plugin }),
    onDeath: (plugin) => metrics.hostDeaths.inc({ plugin }),
  })

export async function loadServerPlugins({
  settings,
  allowed,
  log,
  devnet,
  sites,
  metrics,
  hosts,
  pluginsNow,
}: ServerParts): Promise<LoadResult> {
  const meterOf = (chain: string, network: string) => ({
    rpc: (method: string, outcome: 'ok' | 'error') => metrics.rpcCalls.inc({ chain, network, method, outcome }),
  })
  const localHosts = sites && { localHosts: sites.addresses }
  const plugins = await loadPlugins(
    pluginOptions({ settings, plugins: allowed, log, devnetUrl: devnet?.rpcUrl, ...localHosts, meterOf, hosts, hostsLater: true }),
  )
  pluginsNow.known = plugins
  logRefused(log, plugins.refused)
  return plugins
}

function logRefused(log: ServerParts['log'], refused: readonly Refusal[]): void {
  for (const { name, step, reason, remedy, folder } of refused)
    log.error({ plugin: name, folder, step, remedy }, `plugin refused: ${reason}`)
}

export const openVenues = ({ plugins }: ServerParts): Venues => startVenues(plugins.loaded)

export const openRegistry = ({ plugins, venues, sites }: ServerParts): GrowingRegistry =>
  buildRegistry({ ...plugins, running: venues.running, ...(sites && { whyAway: sites.whyAway }) })

export function runPlugins({ plugins, venues, registry, hosts, targets, transactions, events, pluginsNow }: ServerParts): RunningPlugins {
  const running = createRunningPlugins({
    ...plugins,
    venues,
    registry,
    hosts,
    onTarget(target) {
      if (targets.some((each) => railName(each) === railName(target))) return
      targets.push(target)
      transactions.watch(target)
    },
    onLeft: (connector) => events.endOf(connector),
  })
  pluginsNow.known = running
  return running
}

export function loadInHosts({ plugins, services, venues, running, registry, devnet, log }: ServerParts): LateLoad {
  const settled = [...venues.running.values()].map((each) => each.settled)
  return loadLater({
    plugins,
    after: withTimeout(Promise.all([warmUpQuotes(services), ...settled]), maxHostsWaitMs, () => {}),
    log,
    // Its venues read their contracts when they start. Nothing of a plugin is deployed that is refused.
    deploy: async (plugin) => devnet?.deployAdded(plugin),
    async onResult(more) {
      const known = new Set(running.refused.map(({ folder }) => folder))
      logRefused(
        log,
        more.refused.filter(({ folder }) => !known.has(folder)),
      )
      running.add(more)
      for (const plugin of more.loaded) {
        const why = await devnet?.whyNotDeployed(plugin)
        if (why !== undefined && registry.note(plugin.name, why)) log.warn({ plugin: plugin.name }, `plugin is loaded, but: ${why}`)
      }
    },
  })
}

/** Loads the pools of the networks that must be there, so that the first request finds them. */
async function warmUpQuotes({ registry, quotes }: Pick<ServerParts['services'], 'registry' | 'quotes'>): Promise<void> {
  const warm: Promise<unknown>[] = []
  for (const network of registry.networks) {
    if (!network.required) continue
    for (const venue of registry.venuesOn(network.chain, network.network)) {
      const followed = toQuoteVenue(network, venue)
      if (followed) warm.push(venue.wake().then(() => (venue.notReady() === undefined ? quotes.warmUp(followed) : undefined)))
    }
  }
  await Promise.all(warm)
}

export const takeUpChanges = ({ settings, lock, running, plugins, registry, journal, devnet, late, log }: ServerParts): HotReload =>
  createHotReload({
    settings,
    lock,
    plugins: running,
    loader: plugins,
    registry,
    journal,
    isReadByPlugin,
    ...(devnet && { devnet }),
    after: late.done,
    log,
  })
