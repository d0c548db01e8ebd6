import { withTimeout } from '../async.ts'
import { SluiceError } from '../api/index.ts'
import type { Bridge, Chain, Connector, ConnectorConfig, NetworkNames, Quote } from '../contracts/index.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'
import { didYouMean, type TokenBook } from './tokens.ts'

/** What is not there by then is still starting. */
const firstStartMs = 3_000

/** One network of a chain, as it runs. */
export interface NetworkEntry {
  chain: string
  network: string
  impl: Chain
  tokens: TokenBook
  required: boolean
  /** Undefined when ready; else why not. Starts nothing. */
  notReady(): string | undefined
  /** Settles when what starts on demand has tried to; never rejects. */
  wake(): Promise<void>
}

/** A connector on one network, as it runs. */
export interface VenueEntry {
  connector: string
  impl: Partial<Connector>
  config: ConnectorConfig
  /** The exchange's own rail, where it takes signed actions by itself: what plans that are `via` the venue go by. */
  actions?: TransactionTarget
  /** What its plans may call on this network. */
  contracts: readonly string[]
  /** What deposits come by from other chains, by chain. */
  bridges: Readonly<Record<string, Bridge>>
  /** Of the moment. */
  recentQuotes: RecentQuotes
  notReady(): string | undefined
  wake(): Promise<void>
}

export interface PluginEntry {
  name: string
  kind: 'chain' | 'connector' | 'unknown'
  version: string
  trading_type: readonly string[]
  available_networks: readonly NetworkNames[]
  state: 'loaded' | 'refused'
  /** Its networks that are not ready yet. */
  starting?(): string[]
  /** Where it was found. */
  folder: string
  reason?: string
  /** The effective configuration with secrets masked. */
  maskedConfig?: Readonly<Record<string, unknown>>
  /** Networks that its manifest names and that it does not serve here. */
  unserved?: readonly { chain: string; network: string; reason: string; cure: string }[]
}

export interface Registry {
  readonly plugins: readonly PluginEntry[]
  readonly networks: readonly NetworkEntry[]
  /**
   * Waits a moment for a network, and a connector on it, that start when they are first asked for; undefined where both are there. Unknown
   * names are passed over.
   */
  wake(chain: string, network: string, connector?: string): Promise<void> | undefined
  /** @throws SluiceError UNKNOWN_CHAIN_ERROR or SERVICE_UNINITIALIZED */
  network(chain: string, network: string): NetworkEntry
  /** @throws SluiceError UNKNOWN_CONNECTOR, UNKNOWN_CHAIN_ERROR or SERVICE_UNINITIALIZED */
  venue(connector: string, chain: string, network: string): VenueEntry
  /** The venues of a network, by connector name. */
  venuesOn(chain: string, network: string): readonly VenueEntry[]
  /** The loaded ones. */
  readonly connectors: readonly PluginEntry[]
  /** @throws SluiceError UNKNOWN_CONNECTOR */
  connector(name: string): PluginEntry
  hasConnector(name: string): boolean
}

export function createRegistry(
  plugins: readonly PluginEntry[],
  networks: readonly NetworkEntry[],
  venues: readonly (VenueEntry & { chain: string; network: string })[],
): Registry {
  const networkAt = table(networks)
  const venueAt = new Map(connectorsOf(venues).map((name) => [name, table(venues.filter(({ connector }) => connector === name))]))
  const chains = [...new Set(networks.map(({ chain }) => chain))]
  const connectors = plugins.filter(({ kind, state }) => kind === 'connector' && state === 'loaded')
  const connectorNames = connectors.map(({ name }) => name)

  const findNetwork = (chain: string, network: string): NetworkEntry => {
    const entry = networkAt(chain, network)
    if (entry) return entry
    if (!chains.includes(chain)) throw unknown('chain', chain, chains)
    throw unknown(
      `network of ${chain}`,
      network,
      networks.filter((each) => each.chain === chain).map((each) => each.network),
    )
  }

  const findConnector = (name: string): PluginEntry => {
    const entry = connectors.find((each) => each.name === name)
    if (entry) return entry
    throw new SluiceError(
      'UNKNOWN_CONNECTOR',
      `There is no connector "${name}"${didYouMean(name, connectorNames)}; GET /connectors lists them.`,
    )
  }

  return {
    plugins,
    networks,
    connectors,
    connector: findConnector,
    hasConnector: (name) => connectorNames.includes(name),
    venuesOn: (chain, network) => venues.filter((each) => each.chain === chain && each.network === network),
    wake(chain, network, connector) {
      const asked = [networkAt(chain, network), connector === undefined ? undefined : venueAt.get(connector)?.(chain, network)]
      const asleep = asked.flatMap((entry) => (entry && entry.notReady() !== undefined ? [entry] : []))
      return asleep.length === 0 ? undefined : woken(asleep)
    },
    network: (chain, network) => ready(findNetwork(chain, network), () => `The network ${chain}/${network}`),
    venue(connector, chain, network) {
      const entry = venueAt.get(connector)?.(chain, network)
      if (entry) return ready(entry, () => `The connector ${connector} on ${chain}/${network}`)
      findConnector(connector)
      findNetwork(chain, network)
      throw new SluiceError(
        'UNKNOWN_CHAIN_ERROR',
        `The connector ${connector} does not serve ${chain}/${network}; GET /connectors lists what it serves.`,
      )
    },
  }
}

const connectorsOf = (venues: readonly VenueEntry[]) => [...new Set(venues.map(({ connector }) => connector))]

/** By chain and network. Each request looks several up: no text is put together for that. */
function table<T extends { chain: string; network: string }>(entries: readonly T[]) {
  const byChain = new Map<string, Map<string, T>>()
  for (const entry of entries) {
    const byNetwork = byChain.get(entry.chain) ?? new Map<string, T>()
    byChain.set(entry.chain, byNetwork.set(entry.network, entry))
  }
  return (chain: string, network: string): T | undefined => byChain.get(chain)?.get(network)
}

async function woken(asleep: readonly Pick<NetworkEntry, 'wake'>[]): Promise<void> {
  await withTimeout(Promise.all(asleep.map((entry) => entry.wake())), firstStartMs, () => {})
}

const unknown = (what: string, name: string, known: readonly string[]) =>
  new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no ${what} called "${name}"${didYouMean(name, known)}; known: ${known.join(', ') || 'none'}.`,
  )

function ready<T extends { notReady(): string | undefined }>(entry: T, what: () => string): T {
  const reason = entry.notReady()
  if (reason === undefined) return entry
  throw new SluiceError('SERVICE_UNINITIALIZED', `${what()} is still starting; try again shortly. It says: ${reason}`, {
    retryAfterSeconds: 2,
  })
}

const keptMs = 10_000
const mostKept = 1_000

/** The last quote for each question that was asked of an exchange a moment ago: a bot asks for the price, and then it trades. */
interface RecentQuotes {
  put(question: string, quote: Quote): void
  /** Never to be traded on as it is: prices move. */
  get(question: string): Quote | undefined
  /** How many the exchange has given since the start: from memory, and those that the chain was asked for. */
  readonly counts: { memory: number; rpc: number }
}

export function createRecentQuotes(nowMs: () => number = () => performance.now()): RecentQuotes {
  const kept = new Map<string, { quote: Quote; at: number }>()
  return {
    counts: { memory: 0, rpc: 0 },
    put(question, quote) {
      // Put again, it is the youngest: the oldest is always the first.
      kept.delete(question)
      kept.set(question, { quote, at: nowMs() })
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    },
    get(question) {
      const found = kept.get(question)
      return found && nowMs() - found.at < keptMs ? found.quote : undefined
    },
  }
}

interface Names {
  chain?: string
  network?: string
}

/** The networks of a chain, those of a name, or all of them. @throws SluiceError UNKNOWN_CHAIN_ERROR for a name that none has */
export function findNetworks({ networks }: Pick<Registry, 'networks'>, { chain, network }: Names): readonly NetworkEntry[] {
  const wanted = networks.filter((each) => (chain ?? each.chain) === each.chain && (network ?? each.network) === each.network)
  if (wanted.length > 0 || (chain === undefined && network === undefined)) return wanted
  const names = networks.map((each) =>
    chain === undefined ? each.network : network === undefined ? each.chain : `${each.chain}/${each.network}`,
  )
  const name = [chain, network].filter((each) => each !== undefined).join('/')
  throw new SluiceError(
    'UNKNOWN_CHAIN_ERROR',
    `There is no network "${name}"${didYouMean(name, names)}; known: ${[...new Set(names)].join(', ')}.`,
  )
}
