import type { Logger } from 'pino'
import { Counter, Gauge, type Registry as MetricsRegistry } from 'prom-client'
import { withTimeout } from '../base/async.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Rail } from '../contracts/index.ts'
import type { NetworkEntry, Registry } from '../plugins/index.ts'
import type { LiveState } from '../live-state/live-state.ts'
import type { Signer } from '../wallet/signer.ts'
import type { Store } from '../store/store.ts'
import { railName, railOf, signerOf, type Entry } from '../transactions/entry.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import type { Approvals } from '../limits/approvals.ts'
import type { Stops } from '../transactions/stops.ts'
import { addressKey } from '../base/addresses.ts'

// Metrics that are read when Prometheus asks. Those that are counted where something happens stand in metrics.ts.

interface Target {
  readonly registry: MetricsRegistry
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/** Registers a gauge whose samples are collected at every scrape. Samples with the same labels add up. */
function gauge(
  { registry }: Target,
  name: string,
  help: string,
  labelNames: readonly string[],
  collect: () => readonly Sample[] | Promise<readonly Sample[]>,
): void {
  registry.registerMetric(
    new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      async collect() {
        const samples = await collect()
        // Nothing is awaited from here on: two scrapes at the same time must not add up.
        this.reset()
        for (const [labels, value] of samples) this.inc(labels, value)
      },
    }),
  )
}

export function measurePlugins(target: Target, { plugins }: Pick<Registry, 'plugins'>): void {
  gauge(
    target,
    'sluice_plugin_quarantined',
    '1 for each plugin for which nothing is signed, because a mined transaction of it did more to a wallet than its plan was allowed; 0 for other third parties. All servers of a store show it within seconds.',
    ['plugin'],
    () =>
      plugins
        .filter(({ tier, quarantine }) => quarantine !== undefined || (tier !== undefined && tier !== 'built in'))
        .map(({ name, quarantine }) => [{ plugin: name }, Number(quarantine !== undefined)]),
  )
  gauge(
    target,
    'sluice_plugin_state',
    '1 for the state that each plugin is in: loaded, starting, refused, pending (its host is started after the server is ready) or leaving (it was removed or is being replaced, and takes no request).',
    ['plugin', 'kind', 'state'],
    () =>
      plugins.map(({ name, kind, state, starting }) => {
        const shown = state === 'loaded' && starting && starting().length > 0 ? 'starting' : state
        return [{ plugin: name, kind, state: shown }, 1]
      }),
  )
}

/** A scrape must not wait for a store that hangs. */
const storeTimeoutMs = 2_000

const inTime = <T>(work: Promise<T>): Promise<T> =>
  withTimeout(work, storeTimeoutMs, () => {
    throw new Error('The store did not answer in time.')
  })

export function measureStore(target: Target, store: Pick<Store, 'failing'>): void {
  gauge(target, 'sluice_store_up', '1 while the store can be written; 0 while it cannot, and no transaction is made.', [], async () => {
    const failing = await inTime(store.failing()).catch(() => 'it did not say')
    return [[{}, failing === undefined ? 1 : 0]]
  })
}

export function measureStops(target: Target, stops: Pick<Stops, 'list'>): void {
  gauge(
    target,
    'sluice_stops',
    'Stops in force, by mode (stop, reduce-only) and what they hold (all, wallet, client); those of files in the data folder, too. No sample while nothing is stopped, or while the store does not say.',
    ['mode', 'of'],
    async () => {
      const inForce = await inTime(stops.list()).catch(() => [])
      return inForce.map(({ mode, scope }) => [{ mode, of: scope.of }, 1])
    },
  )
}

export function measureClientsFile(target: Target, clients: Pick<LiveClients, 'isWrong'>): void {
  gauge(
    target,
    'sluice_clients_file_wrong',
    '1 while conf/clients.yml is wrong or gone: nothing that was changed in it since holds. The log says what is wrong each minute.',
    [],
    () => [[{}, Number(clients.isWrong())]],
  )
}

export function measureSignerCount(target: Target, signer: Pick<Signer, 'countProblem'>): void {
  gauge(
    target,
    'sluice_signer_count_unusable',
    "1 while nothing is signed for wallets with limits, because the signer's count of what it signed cannot be used: its disk is full, or the count is gone or damaged. `/health/ready` says which.",
    [],
    () => [[{}, Number(signer.countProblem() !== undefined)]],
  )
}

export function measureApprovals(target: Target, approvals: Pick<Approvals, 'count'>): void {
  gauge(
    target,
    'sluice_approvals',
    'Requests of the last day that wait, or waited, for a second person, by their state now: waiting, approved (being carried out), done, refused, denied, withdrawn, expired. All servers of a store show the same. No sample where there were none, or while the store does not say.',
    ['state'],
    async () => {
      const counts = await inTime(approvals.count()).catch(() => new Map<string, number>())
      return [...counts].map(([state, count]) => [{ state }, count])
    },
  )
}

type NodeState = ReturnType<NonNullable<NetworkEntry['impl']['nodes']>>[number]

/** What is known of each RPC node, by its URL without secrets. No node is asked. */
export function measureNodes(target: Target, { networks }: Pick<Registry, 'networks'>): void {
  const nodes = (): { node: NodeState; labels: Labels }[] =>
    networks.flatMap(({ chain, network, impl }) => {
      try {
        return (impl.nodes?.() ?? []).map((node) => ({ node, labels: { chain, network, node: node.url } }))
      } catch {
        // One plugin's failure must not remove all other metrics.
        return []
      }
    })
  const labelNames = ['chain', 'network', 'node']
  const nodeGauge = (name: string, help: string, valueOf: (node: NodeState) => number | undefined) =>
    gauge(target, name, help, labelNames, () =>
      nodes().flatMap(({ node, labels }): Sample[] => {
        const value = valueOf(node)
        return value !== undefined && Number.isFinite(value) ? [[labels, value]] : []
      }),
    )
  gauge(
    target,
    'sluice_node_state',
    '1 for the state that each node is in: good, or why another is preferred.',
    [...labelNames, 'state'],
    () => nodes().map(({ node, labels }) => [{ ...labels, state: node.state }, 1]),
  )
  gauge(
    target,
    'sluice_node_limit',
    'What a node was found to take at most: calls of a batch (batch), blocks of eth_getLogs, characters of the calldata of eth_call. Tried upward after an hour, or after a second where the node took as much within the last hour.',
    [...labelNames, 'of'],
    () => nodes().flatMap(({ node, labels }) => Object.entries(node.limits ?? {}).map(([of, max]): Sample => [{ ...labels, of }, max])),
  )
  nodeGauge('sluice_node_in_use', '1 for the node that requests are sent to now.', ({ inUse }) => Number(inUse))
  nodeGauge('sluice_node_lag_blocks', 'How many blocks a node is behind the best of the others.', ({ lagBlocks }) => lagBlocks)
  nodeGauge('sluice_node_latency_seconds', 'Latency of a node over its last requests.', ({ latencyMs }) => latencyMs && latencyMs / 1000)
  nodeGauge('sluice_node_error_ratio', 'Share of the last requests that a node failed, from 0 to 1.', ({ errorRate }) => errorRate)
}

interface MeasuredLiveState {
  books: Pick<LiveState['books'], 'size'>
  quotes: Pick<LiveState['quotes'], 'size'>
  following: Pick<LiveState['following'], 'all'>
}

export function measureLiveState(target: Target, { books, quotes, following }: MeasuredLiveState): void {
  type Network = ReturnType<LiveState['following']['all']>[number]
  const networkGauge = (name: string, help: string, valueOf: (synchroniser: Network['synchroniser']) => number | undefined) =>
    gauge(target, name, help, ['chain', 'network'], () =>
      following.all().flatMap(({ chain, network, synchroniser }): Sample[] => {
        const value = valueOf(synchroniser)
        return value === undefined ? [] : [[{ chain, network }, value]]
      }),
    )
  gauge(target, 'sluice_market_books', 'Order books kept in memory.', [], () => [[{}, books.size]])
  gauge(
    target,
    'sluice_market_quotes',
    'Quotes kept in memory because they were asked for twice in a block, of all pairs: at most market.cachedQuotes.',
    [],
    () => [[{}, quotes.size]],
  )
  networkGauge('sluice_market_followed', 'States of a chain that are kept in memory.', ({ size }) => size)
  networkGauge('sluice_market_block', 'The newest block that the states in memory include.', ({ tip }) => tip && Number(tip.number))
  networkGauge(
    'sluice_market_block_age_seconds',
    'Age of that block, by its timestamp.',
    ({ tip }) => tip && Date.now() / 1000 - tip.timestamp,
  )
  networkGauge(
    'sluice_market_cut_off',
    '1 while the changes of blocks cannot be read: then the chain is asked for every quote.',
    ({ isCutOff }) => Number(isCutOff),
  )
}

/** Counted by the connectors: a counter with labels would be too slow for every quote. */
export function measureQuotes({ registry }: Target, { networks, venuesOn }: Pick<Registry, 'networks' | 'venuesOn'>): void {
  registry.registerMetric(
    new Counter({
      name: 'sluice_quotes_total',
      help: 'Quotes of pools, by their source: memory or the chain (rpc).',
      labelNames: ['chain', 'network', 'connector', 'source'],
      registers: [],
      collect() {
        this.reset()
        for (const { chain, network } of networks)
          for (const { connector, recentQuotes } of venuesOn(chain, network))
            for (const [source, count] of Object.entries(recentQuotes.counts))
              if (count > 0) this.inc({ chain, network, connector, source }, count)
      },
    }),
  )
}

interface MeasuredTransactions {
  journal: Pick<Journal, 'openQueues' | 'unfinished'>
  /** Loaded networks, and the rails of exchanges on them; the list may grow. They are shown with 0 even if nothing is open. */
  networks: readonly { chain: string; network: string; connector?: string; impl: { rail: Pick<Rail, 'sequences'> } }[]
  log: Pick<Logger, 'warn'>
  nowMs?: () => number
}

/** Scrapes within this time share one query of the journal. */
const journalCacheMs = 5_000

const minuteMs = 60_000
const ages = [
  { label: 'below 1m', belowMs: minuteMs },
  { label: '1m to 10m', belowMs: 10 * minuteMs },
  { label: '10m to 1h', belowMs: 60 * minuteMs },
  { label: 'over 1h', belowMs: Infinity },
]

/** What is open in the journal, of all servers on it. Left out while the store does not answer. */
export function measureTransactions(target: Target, { journal, networks, log, nowMs = Date.now }: MeasuredTransactions): void {
  let cached: { atMs: number; entries: Promise<readonly Entry[] | undefined> } | undefined
  function readOpen(): Promise<readonly Entry[] | undefined> {
    if (!cached || performance.now() - cached.atMs >= journalCacheMs) {
      const entries = inTime(readOpenEntries(journal)).catch((error: unknown) => {
        log.warn({ err: error }, 'metrics of open transactions left out: the journal cannot be read')
        return undefined
      })
      cached = { atMs: performance.now(), entries }
    }
    return cached.entries
  }

  /** Every network with the value 0, and the given samples. */
  const withZeros = (samples: readonly Sample[]): Sample[] => [
    ...networks.map(({ chain, network }): Sample => [{ chain, network }, 0]),
    ...samples,
  ]

  gauge(
    target,
    'sluice_transactions_open',
    'Transactions that are not final, in the whole journal, by state and by time since the request.',
    ['chain', 'network', 'state', 'age'],
    async () =>
      ((await readOpen()) ?? []).map(({ chain, network, state, createdAt }) => {
        const ageMs = nowMs() - createdAt
        return [{ chain, network, state, age: ages.find(({ belowMs }) => ageMs < belowMs)?.label ?? '' }, 1]
      }),
  )
  gauge(
    target,
    'sluice_transactions_oldest_open_seconds',
    'Time since the request of the oldest transaction that is not final; 0 if there is none.',
    ['chain', 'network'],
    async () => {
      const entries = await readOpen()
      if (!entries) return []
      const oldest = new Map<string, Entry>()
      for (const entry of entries.toReversed()) oldest.set(`${entry.chain}/${entry.network}`, entry)
      return withZeros(
        [...oldest.values()].map(({ chain, network, createdAt }) => [{ chain, network }, Math.max(0, (nowMs() - createdAt) / 1000)]),
      )
    },
  )
  gauge(
    target,
    'sluice_transactions_unwatched',
    'Open transactions that this server does not watch, because their network or plugin is not loaded.',
    ['chain', 'network'],
    async () => {
      const entries = await readOpen()
      if (!entries) return []
      const watched = new Set(networks.map(railName))
      const unwatched = entries.filter((entry) => !watched.has(railName(railOf(entry))))
      return withZeros(unwatched.map(({ chain, network }) => [{ chain, network }, 1]))
    },
  )
  // On other rails a missing nonce is no gap.
  const withoutOrder = () => new Set(networks.filter(({ impl }) => impl.rail.sequences !== 'ordered').map(railName))
  gauge(target, 'sluice_nonce_gap_wallets', 'Wallets with a nonce gap below pending transactions.', ['chain', 'network'], async () => {
    const entries = await readOpen()
    if (!entries) return []
    const unordered = withoutOrder()
    const ordered = entries.filter((entry) => !unordered.has(railName(railOf(entry))))
    return withZeros(walletsWithGap(ordered).map((labels) => [labels, 1]))
  })
}

/** Oldest first. */
async function readOpenEntries(journal: MeasuredTransactions['journal']): Promise<readonly Entry[]> {
  const queues = await journal.openQueues()
  const rails = new Map(
    queues.map(({ chain, network, connector }) => [railName({ chain, network, connector }), { chain, network, connector }]),
  )
  const open = (await Promise.all([...rails.values()].map((rail) => journal.unfinished(rail)))).flat()
  return open.toSorted((a, b) => a.createdAt - b.createdAt)
}

function walletsWithGap(open: readonly Entry[]): { chain: string; network: string }[] {
  const wallets = new Map<string, { chain: string; network: string; nonces: Set<number> }>()
  for (const entry of open) {
    const { chain, network, nonce, state } = entry
    // Below a mined nonce there is no gap: whatever used the lower ones is mined too.
    if (state === 'MINED') continue
    const key = `${railName(railOf(entry))}/${addressKey(signerOf(entry))}`
    const wallet = wallets.get(key) ?? { chain, network, nonces: new Set() }
    wallets.set(key, wallet)
    wallet.nonces.add(nonce)
  }
  return [...wallets.values()]
    .filter(({ nonces }) => Math.max(...nonces) - Math.min(...nonces) >= nonces.size)
    .map(({ chain, network }) => ({ chain, network }))
}
