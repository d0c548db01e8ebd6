import type { Logger } from 'pino'
import type { AlertDesk } from '../alerts/index.ts'
import type { FairTurns } from '../base/fair-turns.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Settings } from '../config/settings.ts'
import type { LocalSites } from '../devnet/local-sites.ts'
import type { Devnet } from '../devnet/start-devnet.ts'
import type { Events } from '../events/events.ts'
import type { Handlers, Services } from '../handlers/context.ts'
import type { OrderFills } from '../handlers/clob/order-fills.ts'
import type { Dispatch } from '../handlers/dispatch.ts'
import type { Limits } from '../http/limits.ts'
import type { Listeners, ServedApp } from '../http/server.ts'
import type { Metrics } from '../http/metrics.ts'
import type { AllowLists } from '../limits/allow-lists.ts'
import type { Approvals } from '../limits/approvals.ts'
import type { ServerLimits } from '../limits/server-limits.ts'
import type { ClientLimitsBook } from '../limits/client-limits.ts'
import type { ExpiredAllowances } from '../limits/expired-allowances.ts'
import type { HoldingsReader } from '../limits/holdings.ts'
import type { SpendingLimits } from '../limits/spending-limits.ts'
import type { LiveState } from '../live-state/live-state.ts'
import type { Market } from '../market/market.ts'
import type {
  AllowedPlugins,
  GrowingRegistry,
  HotReload,
  Hosts,
  LateLoad,
  LoadResult,
  LockOfStart,
  RunningPlugins,
  Venues,
} from '../plugins/index.ts'
import type { ServerIdentity, Store } from '../store/store.ts'
import type { Checkpoints } from '../books/checkpoints.ts'
import type { DailyChecks } from '../books/daily-checks.ts'
import type { Archiver } from '../transactions/archiver.ts'
import type { Preferences } from '../store/preferences.ts'
import type { Deliveries } from '../transactions/deliveries.ts'
import type { RefusedPositions } from '../transactions/refused-positions.ts'
import type { UnkeyedRequests } from '../transactions/unkeyed-requests.ts'
import type { Idempotency } from '../transactions/idempotency.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import type { Leases } from '../transactions/leases.ts'
import type { Quarantine } from '../transactions/quarantine.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'
import type { StopFiles } from '../transactions/stop-files.ts'
import type { Stops } from '../transactions/stops.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { KeyIntake } from '../wallet/key-intake.ts'
import type { Signer } from '../wallet/signer.ts'

export interface StartOptions {
  /** Shows a line about the progress to the operator. */
  print(line: string): void
  /** A devnet that runs already and outlives the server. */
  devnet?: Devnet
}

/** What the container has, by name: each part gets those before it. The order is that of `kernel.ts`. */
export interface ServerParts {
  settings: Settings
  options: StartOptions
  handlers: Handlers
  log: Logger
  metrics: Metrics
  limits: Limits
  turns: FairTurns
  drain: Drain
  certificates: void
  identity: Pick<ServerIdentity, 'serverId' | 'serverName'>
  store: Store
  /** Of conf/clients.yml, with what they keep from before. */
  clients: LiveClients
  stopFiles: StopFiles
  serverLimits: ServerLimits
  clientLimits: ClientLimitsBook
  allowLists: AllowLists
  spendingLimits: SpendingLimits
  approvals: Approvals
  unkeyedRequests: UnkeyedRequests
  journal: Journal
  leases: Leases
  idempotency: Idempotency
  deliveries: Deliveries
  refusedPositions: RefusedPositions
  preferences: Preferences
  pluginsNow: PluginsNow
  guards: { stop(): void }
  lock: LockOfStart
  allowed: AllowedPlugins
  unlocking: PendingSigner
  devnet: Devnet | undefined
  devnetBefore: void
  sites: LocalSites | undefined
  watchdog: { stop(): unknown }
  hosts: Hosts
  plugins: LoadResult
  signer: Signer
  venues: Venues
  registry: GrowingRegistry
  /** What conf/clients.yml names and nobody knows, at the start. */
  clientNames: readonly string[]
  /** What is doubtful in conf/limits.yml, at the start. */
  walletLimits: readonly string[]
  liveState: LiveState
  following: Services['following']
  market: Market
  holdings: HoldingsReader
  expiries: ExpiredAllowances
  quarantine: Quarantine
  quarantines: void
  targets: TransactionTarget[]
  stops: Stops
  stopsHeld: void
  transactions: Transactions
  archiver: Archiver
  checkpoints: Checkpoints
  /** Absent where `books.verifyDaily` is false. */
  dailyChecks: DailyChecks | undefined
  orderFills: OrderFills
  gauges: void
  recovery: void
  /** Absent without conf/alerts.yml. */
  alertDesk: AlertDesk | undefined
  services: Services
  dispatch: Dispatch
  events: Events
  keyIntake: KeyIntake
  /** The first is Sluice's own. */
  interfaces: readonly [ServedApp, ...ServedApp[]]
  listener: Listeners
  alertWatch: { stop(): Promise<void> } | undefined
  running: RunningPlugins
  late: LateLoad
  changes: HotReload
}

/** The time that requests under way have once a stop has begun. */
export interface Drain {
  /** What is left of `server.drainSeconds`. The first call begins it. */
  remainingMs(): number
}

/** The plugins as they are known while they are loaded, and from then on: for what goes wrong in them. */
export interface PluginsNow {
  known: Pick<RunningPlugins, 'loaded' | 'refused'>
}

/** The signer while it unlocks its keys: that takes as long as scrypt does, and goes on beside the devnet and the plugins. */
export interface PendingSigner {
  readonly signer: Promise<Signer>
  /** Interfaces whose clients may send keys. */
  readonly keysFrom: readonly string[]
  /** Simulated exchanges beside a devnet of the server's own: its wallets sign there. */
  readonly siteNames: readonly string[]
}
