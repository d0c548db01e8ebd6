// What a request names: networks and connectors, by the registry of what was loaded.
import { withTimeout } from '../base/async.ts'
import { maskUrls } from '../config/mask.ts'
import { didYouMean } from '../config/problems.ts'
import type { Bridge, Chain, Connector, ConnectorConfig, NetworkNames, Trading, TradingType } from '../contracts/index.ts'
import type { MaybeAsync, PluginKind } from '../contracts/plugin.ts'
import { SluiceError } from '../base/errors.ts'
import type { FollowPrice, HostedBooks } from './isolate/remote-connector.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'
import type { Step } from './refusal.ts'
import type { RecentQuotes } from '../live-state/recent-quotes.ts'
import type { TokenBook } from '../live-state/token-book.ts'
import { withoutStop } from '../base/printable.ts'

/** A network of a chain that this server serves. */
export interface NetworkEntry {
  chain: string
  network: string
  impl: Chain
  tokens: TokenBook
  required: boolean
  /** When a client's request was last about it, by the steady clock. */
  usedAtMs?: number
  /** Why nobody answers there, where the server itself runs it. */
  whyAway?(): string | undefined
  /** Undefined if ready, else the reason. Starts nothing. */
  notReady(): string | undefined
  /** Where it is not ready because its nodes cannot be used: the error for callers. */
  trouble(): 'NETWORK' | 'RATE_LIMIT' | undefined
  /** Starts a network that starts on demand. Settles after the attempt; never rejects. */
  wake(): Promise<void>
}

const inUseMs = 24 * 3_600_000

/** Whether the operator requires it, or a client's request was about it within a day. */
export const isInUse = ({ required, usedAtMs }: Pick<NetworkEntry, 'required' | 'usedAtMs'>): boolean =>
  required || (usedAtMs !== undefined && performance.now() - usedAtMs < inUseMs)

/** Trading types may be in another process. */
type ServedTrading = { readonly [T in TradingType]: MaybeAsync<Trading[T]> }
type ServedConnector = Partial<Omit<Connector, TradingType> & ServedTrading>

/** A connector on one network. */
export interface VenueEntry {
  connector: string
  /** Of this release. The plans of others are simulated before they are signed. */
  builtIn: boolean
  /**
   * Allowed, but neither of this release nor trusted: its quotes alone bound no trade, and its word on a fill is not taken. Absent for one that
   * was not allowed and runs because this server only tries.
   */
  contained?: true
  /** Its code runs in the server, because the operator trusts it. */
  trusted?: true
  /** Nobody has allowed it: it runs because this server only tries. */
  tried?: true
  /** Which version of its plugin it is of, where the operator allowed it: the beginning of its hash. */
  plugin?: string
  impl: ServedConnector
  /** It runs in a process of its own. */
  hosted?: { readonly followPrice?: FollowPrice; readonly books?: HostedBooks }
  config: ConnectorConfig
  /** The exchange's own rail, if it takes signed actions itself: it carries out plans that are `via` the venue. */
  actions?: TransactionTarget
  /** The addresses that its plans may call on this network. */
  contracts: readonly string[]
  /** Bridges for deposits from other chains, by chain. */
  bridges: Readonly<Record<string, Bridge>>
  recentQuotes: RecentQuotes
  /** How many requests that name it are under way; counted of plugins of third parties alone, which are replaced. */
  requests: number
  notReady(): string | undefined
  trouble(): 'NETWORK' | 'RATE_LIMIT' | undefined
  wake(): Promise<void>
}

export interface PluginEntry {
  name: string
  kind: PluginKind | 'unknown'
  version: string
  trading_type: readonly string[]
  available_networks: readonly NetworkNames[]
  /**
   * `pending`: its process has not been started yet, so that nobody knows whether it can be loaded. `leaving`: it was removed or is being
   * replaced while the server runs: it takes no request any more, and reads what its open transactions bring.
   */
  state: 'loaded' | 'refused' | 'pending' | 'leaving'
  /** Of a loaded one: where it runs, who allowed that, and the hash that was allowed. */
  tier?: 'built in' | 'trusted' | 'contained' | 'data'
  allowedBy?: 'release' | 'operator' | 'nobody'
  sha256?: string
  /** Its networks that are not ready yet, as `chain/network`. */
  starting?(): string[]
  folder: string
  /** How often the process that it runs in has ended; absent where it runs in the server. */
  deaths?(): number
  /** Why that process is down now. */
  whyDown?(): string | undefined
  reason?: string
  /** Of a refused one. */
  refusedAt?: Step
  /** Why a change of it in sluice.lock is not in force, and what to do about it. */
  notTakenUp?: string
  /** The effective configuration with secrets masked. */
  maskedConfig?: Readonly<Record<string, unknown>>
  /** Networks of its manifest that it does not serve here. */
  unserved?: readonly { chain: string; network: string; reason: string; remedy: string; isWrong?: true }[]
  /** What it still has of an earlier interface, and what to use. */
  deprecated?: readonly string[]
  /** Nothing is signed for it, because one of its transactions did more to a wallet than it was allowed. */
  quarantine?: ShownQuarantine
}

/** A plugin for which nothing is signed, as `/plugins` shows it. */
export interface ShownQuarantine {
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly chain: string
  readonly network: string
  readonly lost: readonly ShownLoss[]
  /** Transactions that did more than they were allowed, since the operator last lifted it. The others are about the first of them. */
  readonly breaches: number
  /** Of the first. Only for who may use the wallet. */
  readonly txHash: string
  readonly address: string
}

export interface ShownLoss {
  /** Its address. */
  readonly token: string
  readonly symbol?: string
  /** What the wallet lost beyond what the plan was allowed, or did not get of what it had to bring. In smallest units where nobody knows the decimals. */
  readonly amount: string
  readonly how: 'taken' | 'not brought'
}

/** A connector's implementation of a trading type. @throws SluiceError UNSUPPORTED */
export function tradingOf<T extends TradingType>(type: T, { impl, connector }: Pick<VenueEntry, 'impl' | 'connector'>): ServedTrading[T] {
  const trading: Partial<ServedTrading> = impl
  const implementation = trading[type]
  if (implementation) return implementation
  throw new SluiceError('UNSUPPORTED', `The connector ${connector} has no trading type ${type}; GET /plugins shows what it has.`)
}

/** The plugins that are loaded and the networks and connectors that run. */
export interface Registry {
  readonly plugins: readonly PluginEntry[]
  readonly networks: readonly NetworkEntry[]
  /**
   * Starts a network, and a connector on it, if they start on demand, and waits for up to three seconds; as long for a connector that is being
   * replaced. Undefined if both are ready. Ignores unknown names.
   */
  wake(chain: string, network: string, connector?: string): Promise<void> | undefined
  /** A client's request is about it: for a day the network is in use. */
  use(chain: string, network: string): void
  /** @throws SluiceError UNKNOWN_CHAIN_ERROR, SERVICE_UNINITIALIZED, NETWORK or RATE_LIMIT */
  network(chain: string, network: string): NetworkEntry
  /**
   * The network for requests to a connector there. Where the exchange takes signed actions itself it need not be ready: they go by no node of the
   * chain. @throws SluiceError as `network`
   */
  networkOf(venue: VenueEntry, chain: string, network: string): NetworkEntry
  /** @throws SluiceError UNKNOWN_CONNECTOR, UNKNOWN_CHAIN_ERROR, SERVICE_UNINITIALIZED, NETWORK or RATE_LIMIT */
  venue(connector: string, chain: string, network: string): VenueEntry
  venuesOn(chain: string, network: string): readonly VenueEntry[]
  /** Those that are loaded. */
  readonly connectors: readonly PluginEntry[]
  /** @throws SluiceError UNKNOWN_CONNECTOR, or SERVICE_UNINITIALIZED while it is pending or being replaced */
  connector(name: string): PluginEntry
  hasConnector(name: string): boolean
  /** The plugin of this name that is being started. */
  pending(name: string): PluginEntry | undefined
  /** The connector that planned a transaction, in the version that planned it, which alone reads its memo; undefined where that does not run. */
  plannedBy(of: { connector?: string; plugin?: string }, on: { chain: string; network: string }): VenueEntry | undefined
  /** The same, in whichever version is there. */
  venueOf(of: { connector?: string; plugin?: string }, on: { chain: string; network: string }): VenueEntry | undefined
  /** Why nothing is signed for a connector: as this server last read it from the store. */
  quarantined(connector: string): ShownQuarantine | undefined
  /** Whether it was removed or is being replaced, and reads what its transactions bring. */
  isLeaving(connector: string): boolean
  /** Calls back after each change of `plugins`, until the returned function is called. */
  onChange(listener: () => void): () => void
}

/** What stands in the journal for the version of a plugin: as much of its hash as tells versions of one plugin apart. */
export const pluginVersionOf = (sha256: string): string => sha256.slice(0, 16)

/** What is loaded, or was refused. */
export interface RegistryEntries {
  plugins: readonly PluginEntry[]
  networks: readonly NetworkEntry[]
  venues: readonly (VenueEntry & { chain: string; network: string })[]
}

/** A registry to which plugins are added that could not be loaded at first. Its lists grow in place: many hold on to them. */
export interface GrowingRegistry extends Registry {
  /** Puts plugins in place of what was known of their folders, and of connectors of their names that were leaving. */
  add(entries: RegistryEntries): void
  /**
   * Takes a connector out: requests do not find it any more, or wait for what takes its place. `venueOf` still finds it.
   * @param isReplaced whether another version comes
   */
  leave(connector: string, isReplaced: boolean): void
  /** Whether requests are under way that found a connector before it left. */
  isAsked(connector: string): boolean
  /** Forgets a connector that left. */
  forget(connector: string): void
  /** Takes plugins out that were refused. */
  dropRefused(folders: readonly string[]): void
  /** Says which connectors are quarantined: all of them, by name. */
  setQuarantined(all: ReadonlyMap<string, ShownQuarantine>): void
  /** Says why a change of a plugin is not in force; nothing where it is. @returns whether that is new */
  note(plugin: string, notTakenUp: string | undefined): boolean
}

export function createRegistry(first: RegistryEntries): GrowingRegistry {
  const plugins: PluginEntry[] = []
  const networks: NetworkEntry[] = []
  const venues: RegistryEntries['venues'][number][] = []
  const connectors: PluginEntry[] = []
  const leaving = new Map<string, LeavingConnector>()
  const countOn = createQuoteCounts()
  const listeners = new Set<() => void>()
  const lists = createVenueLists(venues)
  let quarantines: ReadonlyMap<string, ShownQuarantine> = new Map()
  let networkAt = table(networks)
  let venueAt = new Map<string, ReturnType<typeof table<RegistryEntries['venues'][number]>>>()

  function add(more: RegistryEntries): void {
    lists.clear()
    for (const entry of more.plugins) {
      if (entry.state === 'loaded' && entry.kind === 'connector') dropLeaving(entry.name)
      const known = plugins.findIndex(({ folder }) => folder === entry.folder)
      plugins.splice(known < 0 ? plugins.length : known, known < 0 ? 0 : 1, entry)
    }
    networks.push(...more.networks)
    for (const venue of more.venues) venues.push(countOn(venue))
    showQuarantined()
    connectors.splice(0, Infinity, ...plugins.filter(({ kind, state }) => kind === 'connector' && state === 'loaded'))
    networkAt = table(networks)
    const venueNames = new Set(venues.map(({ connector }) => connector))
    venueAt = new Map([...venueNames].map((name) => [name, table(venues.filter(({ connector }) => connector === name))]))
    for (const listener of listeners) listener()
  }
  add(first)

  function showQuarantined(): void {
    for (const entry of plugins) {
      const quarantine = entry.kind === 'chain' ? undefined : quarantines.get(entry.name)
      if (quarantine) entry.quarantine = quarantine
      else delete entry.quarantine
    }
  }

  function leave(connector: string, isReplaced: boolean): void {
    const out = leaving.get(connector)?.venues ?? removeFrom(venues, (each) => each.connector === connector)
    leaving.set(connector, leavingWith(out, isReplaced))
    for (const entry of plugins)
      if (entry.kind === 'connector' && entry.name === connector && entry.state === 'loaded') entry.state = 'leaving'
    add(nothing)
  }

  function dropLeaving(connector: string): void {
    removeFrom(plugins, ({ name, kind, state }) => state === 'leaving' && kind === 'connector' && name === connector)
    leaving.get(connector)?.end()
    leaving.delete(connector)
  }

  /** The one that runs now, or the one that is leaving. */
  function versionOf(
    { connector }: { connector?: string },
    { chain, network }: { chain: string; network: string },
  ): VenueEntry | undefined {
    if (connector === undefined) return undefined
    const now = venueAt.get(connector)?.(chain, network)
    return now ?? leaving.get(connector)?.venues.find((each) => each.chain === chain && each.network === network)
  }

  function wake(chain: string, network: string, connector?: string): Promise<void> | undefined {
    const replaced = connector === undefined ? undefined : leaving.get(connector)?.replaced
    if (replaced) return withTimeout(replaced, firstStartMs, () => {}).then(() => wakeNow(chain, network, connector))
    return wakeNow(chain, network, connector)
  }

  function wakeNow(chain: string, network: string, connector?: string): Promise<void> | undefined {
    const venue = connector === undefined ? undefined : venueAt.get(connector)?.(chain, network)
    return wakeBoth(networkAt(chain, network), venue)
  }

  const findNetwork = (chain: string, network: string): NetworkEntry =>
    networkAt(chain, network) ?? refuseNetwork({ plugins, networks }, chain, network)

  function findConnector(name: string): PluginEntry {
    if (leaving.get(name)?.replaced) throw notYet(name)
    return connectors.find((each) => each.name === name) ?? refuseConnector({ plugins, connectors }, name)
  }

  return {
    plugins,
    networks,
    connectors,
    add,
    leave,
    isAsked: (connector) => leaving.get(connector)?.venues.some(({ requests }) => requests > 0) === true,
    forget(connector) {
      dropLeaving(connector)
      add(nothing)
    },
    dropRefused(folders) {
      removeFrom(plugins, ({ folder, state }) => state === 'refused' && folders.includes(folder))
      add(nothing)
    },
    quarantined: (connector) => quarantines.get(connector),
    setQuarantined(all) {
      quarantines = all
      showQuarantined()
      for (const listener of listeners) listener()
    },
    note(plugin, notTakenUp) {
      const entry = plugins.find(({ name }) => name === plugin)
      if (!entry || entry.notTakenUp === notTakenUp) return false
      if (notTakenUp === undefined) delete entry.notTakenUp
      else entry.notTakenUp = notTakenUp
      for (const listener of listeners) listener()
      return true
    },
    // The journal of older servers, and that of plugins that nobody allowed, says no version.
    plannedBy(of, on) {
      const version = versionOf(of, on)
      return of.plugin === undefined || version?.plugin === of.plugin ? version : undefined
    },
    venueOf: versionOf,
    isLeaving: (connector) => leaving.has(connector),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    connector: findConnector,
    hasConnector: (name) => connectors.some((each) => each.name === name),
    pending: (name) => pendingIn(plugins, name),
    venuesOn: lists.on,
    use(chain, network) {
      const on = networkAt(chain, network)
      if (on) on.usedAtMs = performance.now()
    },
    wake,
    network: (chain, network) => requireReady(findNetwork(chain, network), () => `The network ${chain}/${network}`),
    networkOf({ actions }, chain, network) {
      const entry = findNetwork(chain, network)
      // Of a network that the server itself runs, the exchange is away with it.
      return actions && entry.whyAway?.() === undefined ? entry : requireReady(entry, () => `The network ${chain}/${network}`)
    },
    venue(connector, chain, network) {
      const entry = venueAt.get(connector)?.(chain, network)
      if (entry) return requireReady(entry, () => `The connector ${connector} on ${chain}/${network}`)
      findConnector(connector)
      findNetwork(chain, network)
      throw new SluiceError(
        'UNKNOWN_CHAIN_ERROR',
        `The connector ${connector} does not serve ${chain}/${network}; GET /connectors lists what it serves.`,
      )
    },
  }
}

/** Undefined where both are ready: of every request, so it makes nothing then. */
function wakeBoth(on: NetworkEntry | undefined, venue: VenueEntry | undefined): Promise<void> | undefined {
  // Nobody waits for nodes that their exchange does not need; what goes by the chain looks again.
  const isAside = venue?.actions !== undefined
  if (isAside && on?.notReady() !== undefined) void on.wake()
  const isOnReady = isAside || on === undefined || on.notReady() === undefined
  const isVenueReady = venue === undefined || venue.notReady() === undefined
  if (isOnReady && isVenueReady) return undefined
  return wakeAll([...(on && !isOnReady ? [on] : []), ...(venue && !isVenueReady ? [venue] : [])])
}

/** The connectors of each network, which every request to all of them asks for. */
function createVenueLists(venues: RegistryEntries['venues']) {
  const known = new Map<string, readonly VenueEntry[]>()
  return {
    on(chain: string, network: string): readonly VenueEntry[] {
      const key = `${chain}/${network}`
      const found = known.get(key) ?? venues.filter((each) => each.chain === chain && each.network === network)
      if (found.length > 0) known.set(key, found)
      return found
    },
    /** To be called where any was added or removed. */
    clear: () => known.clear(),
  }
}

const pendingIn = (plugins: readonly PluginEntry[], name: string): PluginEntry | undefined =>
  plugins.find((each) => each.state === 'pending' && each.name === name)

/** @throws SluiceError UNKNOWN_CHAIN_ERROR, or SERVICE_UNINITIALIZED where the plugin of the chain is pending */
function refuseNetwork({ plugins, networks }: Pick<Registry, 'plugins' | 'networks'>, chain: string, network: string): never {
  const chains = [...new Set(networks.map((each) => each.chain))]
  const pending = chains.includes(chain) ? undefined : (pendingIn(plugins, chain) ?? pendingIn(plugins, `${chain}-chain`))
  if (pending) throw notYet(pending.name)
  if (!chains.includes(chain)) throw unknownError('chain', chain, chains)
  refuseWrong(plugins, chain, network)
  throw unknownError(
    `network of ${chain}`,
    network,
    networks.filter((each) => each.chain === chain).map((each) => each.network),
  )
}

/** @throws SluiceError UNKNOWN_CONNECTOR, or SERVICE_UNINITIALIZED where it is pending */
function refuseConnector({ plugins, connectors }: Pick<Registry, 'plugins' | 'connectors'>, name: string): never {
  if (pendingIn(plugins, name)) throw notYet(name)
  const names = connectors.map((each) => each.name)
  throw new SluiceError('UNKNOWN_CONNECTOR', `There is no connector "${name}"${didYouMean(name, names)}; GET /connectors lists them.`)
}

/** What was removed or is being replaced, and is still asked about what it planned. */
interface LeavingConnector {
  readonly venues: RegistryEntries['venues']
  /** Settles when another one took its place, or none does. */
  readonly replaced?: Promise<void>
  end(): void
}

function leavingWith(venues: LeavingConnector['venues'], isReplaced: boolean): LeavingConnector {
  let end = () => {}
  const replaced = isReplaced ? new Promise<void>((resolve) => (end = resolve)) : undefined
  return { venues, end, ...(replaced && { replaced }) }
}

/** Counters of each connector on each network are those of all its versions: they never fall. */
function createQuoteCounts() {
  const all = new Map<string, RecentQuotes['counts']>()
  return (venue: RegistryEntries['venues'][number]): RegistryEntries['venues'][number] => {
    const key = `${venue.connector} ${venue.chain}/${venue.network}`
    const counts = all.get(key) ?? venue.recentQuotes.counts
    all.set(key, counts)
    venue.recentQuotes.counts = counts
    return venue
  }
}

const nothing: RegistryEntries = { plugins: [], networks: [], venues: [] }

/** @returns what was taken out */
function removeFrom<T>(list: T[], isOut: (each: T) => boolean): T[] {
  const out = list.filter(isOut)
  list.splice(0, Infinity, ...list.filter((each) => !isOut(each)))
  return out
}

/** A lookup by chain and network that builds no text: every request looks up several. */
function table<T extends { chain: string; network: string }>(entries: readonly T[]) {
  const byChain = new Map<string, Map<string, T>>()
  for (const entry of entries) {
    const byNetwork = byChain.get(entry.chain) ?? new Map<string, T>()
    byChain.set(entry.chain, byNetwork.set(entry.network, entry))
  }
  return (chain: string, network: string): T | undefined => byChain.get(chain)?.get(network)
}

/** A network or connector that needs longer for its first start is reported as still starting. */
const firstStartMs = 3_000

async function wakeAll(entries: readonly Pick<NetworkEntry, 'wake'>[]): Promise<void> {
  await withTimeout(Promise.all(entries.map((entry) => entry.wake())), firstStartMs, () => {})
}

/** For what needs a plugin that is pending. */
export const notYet = (plugin: string, what = 'It can be used in a moment'): SluiceError =>
  new SluiceError('SERVICE_UNINITIALIZED', `The plugin ${plugin} is being started. ${what}; GET /plugins shows its state.`, {
    retryAfterSeconds: 2,
  })

/** Callers are not shown where the files of an operator lie. */
const withoutFolders = (text: string): string => text.replaceAll(/(?<=^|\s)\/[^\s:]*\//g, '')

const leftOutError = ({ chain, network, reason }: { chain: string; network: string; reason: string }) =>
  new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `The network ${chain}/${network} is not served, because its settings are wrong: ${withoutStop(maskUrls(withoutFolders(reason)))}. An operator corrects them and restarts the server.`,
  )

/** @throws SluiceError UNKNOWN_CHAIN_ERROR where the network is left out because its settings are wrong */
function refuseWrong(plugins: readonly PluginEntry[], chain: string, network: string): void {
  const wrong = plugins
    .flatMap(({ kind, unserved = [] }) => (kind === 'chain' ? unserved : []))
    .find((each) => each.isWrong && each.chain === chain && each.network === network)
  if (wrong) throw leftOutError(wrong)
}

const unknownError = (what: string, name: string, known: readonly string[]) =>
  new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no ${what} called "${name}"${didYouMean(name, known)}; known: ${known.join(', ') || 'none'}.`,
  )

function requireReady<T extends Pick<NetworkEntry, 'notReady' | 'trouble'>>(entry: T, what: () => string): T {
  const reason = entry.notReady()
  if (reason === undefined) return entry
  const trouble = entry.trouble()
  const message =
    trouble === undefined ? 'is still starting; try again shortly' : 'cannot be used now, and is tried again with each request'
  throw new SluiceError(trouble ?? 'SERVICE_UNINITIALIZED', `${what()} ${message}. The reason is: ${reason}`, { retryAfterSeconds: 2 })
}

/** The networks of a chain, or with a name, or all. @throws SluiceError UNKNOWN_CHAIN_ERROR if there is none */
export function findNetworks(
  { networks, plugins }: Pick<Registry, 'networks' | 'plugins'>,
  { chain, network }: { chain?: string; network?: string },
): readonly NetworkEntry[] {
  const found = networks.filter((each) => (chain ?? each.chain) === each.chain && (network ?? each.network) === each.network)
  if (found.length > 0 || (chain === undefined && network === undefined)) return found
  if (chain !== undefined && network !== undefined) refuseWrong(plugins, chain, network)
  const names = networks.map((each) =>
    chain === undefined ? each.network : network === undefined ? each.chain : `${each.chain}/${each.network}`,
  )
  const name = [chain, network].filter((each) => each !== undefined).join('/')
  throw new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no network "${name}"${didYouMean(name, names)}; known: ${[...new Set(names)].join(', ')}.`,
  )
}
