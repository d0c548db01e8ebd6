import type { Logger } from 'pino'
import { createFairTurns } from './base/fair-turns.ts'
import { createCheckpoints } from './books/checkpoints.ts'
import type { Settings } from './config/settings.ts'
import type { Devnet } from './devnet/start-devnet.ts'
import { createEvents } from './events/events.ts'
import type { Services } from './handlers/context.ts'
import { createDispatch, type Dispatch } from './handlers/dispatch.ts'
import { handlers } from './handlers/handlers.ts'
import { createLimits } from './http/limits.ts'
import { createMetrics } from './http/metrics.ts'
import * as alerts from './parts/alerts.ts'
import { watchClientNames } from './parts/client-names.ts'
import { openParts, type PartsOf } from './parts/container.ts'
import { closeListener, openGauges, openInterfaces, openKeyIntake, openListener, openServices } from './parts/interface.ts'
import * as plugin from './parts/plugins.ts'
import type { ServerParts, StartOptions } from './parts/server-parts.ts'
import { doubtfulWalletLimits, openLog, startWarnings } from './parts/start-log.ts'
import * as storage from './parts/storage.ts'
import * as trading from './parts/trading.ts'
import { lockOfStart, type LoadResult, type HotReload } from './plugins/index.ts'
import { createPreferences } from './store/preferences.ts'
import { createRefusedPositions } from './transactions/refused-positions.ts'
import { createUnkeyedRequests } from './transactions/unkeyed-requests.ts'
import { closeWrongAddresses } from './config/wrong-addresses.ts'

export interface Kernel {
  /** Where the server listens. */
  url: string
  /** Where the interfaces of plugins listen, by their names. */
  interfaceUrls: Readonly<Record<string, string>>
  /** When the start began, by the steady clock. */
  startedAt: number
  log: Logger
  services: Services
  /** Calls endpoints without HTTP. */
  dispatch: Dispatch
  devnet: Devnet | undefined
  /** Simulated exchanges beside the devnet. */
  sites: readonly string[]
  /** Where these listen, by the hosts that stand for them in the defaults of plugins. */
  localHosts: ReadonlyMap<string, string>
  /** Grows while plugins in hosts are being loaded. */
  plugins: Pick<LoadResult, 'loaded' | 'refused'>
  /** Settles when no plugin is pending any more. Never rejects. */
  pluginsLoaded: Promise<void>
  /** Loads a plugin again while its author writes it. */
  reloadPlugin: HotReload['reload']
  /** For the operator; none of them stopped the start. */
  warnings: readonly string[]
  /** Lets requests under way end, then stops every part. */
  stop(): Promise<void>
}

/** Everything that happens at start, in its order. Parts stop in the opposite order. */
const serverParts = (settings: Settings, options: StartOptions): PartsOf<ServerParts> => ({
  settings: { open: () => settings },
  options: { open: () => options },
  handlers: { open: () => handlers },
  log: { open: openLog },
  metrics: { open: createMetrics },
  turns: { open: createFairTurns },
  drain: { open: storage.createDrain },

  certificates: { open: storage.makeCertificates },
  identity: { open: storage.newIdentity },
  store: { open: storage.openServerStore, stop: (store) => store.close() },
  clients: { open: storage.openClients, stop: (clients) => clients.stop() },
  limits: { open: createLimits },
  stopFiles: { open: storage.openStopFiles },
  serverLimits: { open: storage.openServerLimits, stop: (limits) => limits.stop() },
  clientLimits: { open: storage.openClientLimits },
  allowLists: { open: storage.openAllowLists },
  spendingLimits: { open: storage.openSpendingLimits },
  approvals: { open: storage.openApprovals, stop: (approvals) => approvals.stop() },
  unkeyedRequests: { open: createUnkeyedRequests },
  journal: { open: storage.openJournal },
  leases: { open: storage.openLeases },
  idempotency: { open: storage.openIdempotency, stop: (idempotency) => idempotency.stop() },
  deliveries: { open: storage.openDeliveries, stop: (deliveries) => deliveries.stop() },
  refusedPositions: { open: ({ store, log }) => createRefusedPositions(store, log) },
  preferences: { open: ({ store }) => createPreferences(store) },

  pluginsNow: { open: () => ({ known: { loaded: [], refused: [] } }) },
  guards: { open: plugin.guardProcess, stop: (guards) => guards.stop() },
  lock: { open: () => lockOfStart(settings) },
  allowed: { open: plugin.findAllowed },
  unlocking: { open: trading.beginUnlocking, stop: async ({ signer }) => (await signer.catch(() => undefined))?.stop() },
  devnet: { open: trading.openDevnet, stop: (devnet) => (devnet === options.devnet ? undefined : devnet?.stop()) },
  devnetBefore: { open: trading.forgetEarlierDevnet },
  sites: { open: trading.openSites, stop: (sites) => sites?.stop() },
  watchdog: { open: plugin.watchLoops, stop: (watchdog) => watchdog.stop() },
  hosts: { open: plugin.openHosts, stop: (hosts) => hosts.stop() },
  plugins: { open: plugin.loadServerPlugins },
  signer: { open: ({ unlocking }) => unlocking.signer },
  venues: { open: plugin.openVenues, stop: (venues) => venues.stop() },
  registry: { open: plugin.openRegistry },
  clientNames: { open: watchClientNames },
  walletLimits: { open: doubtfulWalletLimits },

  liveState: { open: trading.openLiveState, stop: (liveState) => liveState.stop() },
  following: { open: trading.followBlocks },
  market: { open: (parts) => trading.openMarket(parts), stop: (market) => market.stop() },
  holdings: { open: (parts) => trading.openHoldings(parts), stop: (holdings) => holdings.stop() },
  quarantine: { open: trading.openQuarantine, stop: (quarantine) => quarantine.stop() },
  quarantines: { open: ({ quarantine }) => quarantine.refresh() },
  stops: { open: trading.openStops, stop: (stops) => stops.stop() },
  stopsHeld: { open: ({ stops }) => stops.refresh() },
  targets: { open: trading.listTargets },
  transactions: { open: trading.openTransactions, stop: (transactions, { drain }) => transactions.stop(drain.remainingMs()) },
  expiries: { open: trading.followAllowances, stop: (expiries) => expiries.stop() },
  archiver: { open: trading.openArchiver, stop: (archiver) => archiver.stop() },
  checkpoints: { open: ({ store }) => createCheckpoints(store) },
  dailyChecks: { open: trading.openDailyChecks, stop: (checks) => checks?.stop() },
  orderFills: { open: trading.openOrderFills, stop: (fills) => fills.stop() },
  gauges: { open: openGauges },
  recovery: { open: ({ transactions }) => transactions.recovered },

  alertDesk: { open: alerts.openAlertDesk },
  services: { open: openServices },
  dispatch: { open: createDispatch },
  events: { open: createEvents },
  keyIntake: { open: openKeyIntake },
  interfaces: { open: openInterfaces },
  listener: { open: openListener, stop: closeListener },
  alertWatch: { open: alerts.watchForAlerts, stop: (watch) => watch?.stop() },
  running: { open: plugin.runPlugins },
  late: { open: plugin.loadInHosts, stop: (late) => late.stop() },
  changes: { open: plugin.takeUpChanges, stop: (changes) => changes.stop() },
})

/** @param instead parts in place of those of the server, by name @throws StartError, ConfigError */
export async function startKernel(asRead: Settings, options: StartOptions, instead: Partial<PartsOf<ServerParts>> = {}): Promise<Kernel> {
  const startedAt = performance.now()
  const settings = closeWrongAddresses(asRead)
  const container = await openParts({ ...serverParts(settings, options), ...instead })
  const parts = container.cradle
  return {
    url: parts.listener.url,
    interfaceUrls: parts.listener.urls,
    startedAt,
    log: parts.log,
    services: parts.services,
    dispatch: parts.dispatch,
    devnet: parts.devnet,
    sites: parts.sites?.names ?? [],
    localHosts: parts.sites?.addresses ?? new Map(),
    plugins: parts.running,
    pluginsLoaded: parts.late.done,
    reloadPlugin: parts.changes.reload,
    warnings: startWarnings(parts),
    stop: () => container.dispose(),
  }
}
