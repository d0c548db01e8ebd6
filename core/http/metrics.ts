import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Registry as Directory, NetworkEntry } from '../handlers/registry.ts'
import type { LiveState } from '../live-state/live-state.ts'
import type { LiveStateCounters } from '../live-state/telemetry.ts'
import type { Store } from '../store/store.ts'
import { transactionMetrics, withinDeadline } from './transaction-metrics.ts'

/** What the server counts about itself, as Prometheus reads it. Process and event loop figures are prom-client's own. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    registry,
    requests: new Histogram({
      name: 'sluice_request_seconds',
      help: 'Time to answer a request.',
      labelNames: ['route', 'method', 'status', 'connector'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    errors: new Counter({
      name: 'sluice_errors_total',
      help: 'Errors answered, as in the error table.',
      labelNames: ['code', 'name'],
      registers,
    }),
    rpcCalls: new Counter({
      name: 'sluice_rpc_calls_total',
      help: 'Calls to RPC nodes.',
      labelNames: ['chain', 'network', 'method', 'outcome'],
      registers,
    }),
    pluginFaults: new Counter({
      name: 'sluice_plugin_faults_total',
      help: 'What plugins threw or rejected in the background, where no request waits for it.',
      labelNames: ['plugin'],
      registers,
    }),
    ...transactionMetrics(registry),
    ...liveStateMetrics(registry),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

/** Plugin states are read when they are asked for. */
export function measureDirectory({ registry }: Pick<Metrics, 'registry'>, directory: Pick<Directory, 'plugins'>): void {
  const gauge = new Gauge({
    name: 'sluice_plugin_state',
    help: '1 for the state that each plugin is in.',
    labelNames: ['plugin', 'kind', 'state'],
    registers: [],
    collect() {
      this.reset()
      for (const { name, kind, state, starting } of directory.plugins) {
        const shown = state === 'loaded' && starting && starting().length > 0 ? 'starting' : state
        this.set({ plugin: name, kind, state: shown }, 1)
      }
    },
  })
  registry.registerMetric(gauge)
}

/** Whether the store can be written is tried when it is asked for. */
export function measureStore({ registry }: Pick<Metrics, 'registry'>, store: Pick<Store, 'failing'>): void {
  const gauge = new Gauge({
    name: 'sluice_store_up',
    help: '1 while the store can be written; 0 while it cannot, and no transaction is made.',
    registers: [],
    async collect() {
      const failing = await withinDeadline(store.failing()).catch(() => 'it failed to say')
      this.set(failing === undefined ? 1 : 0)
    },
  })
  registry.registerMetric(gauge)
}

type NodeState = ReturnType<NonNullable<NetworkEntry['impl']['nodes']>>[number]

const labelNames = ['chain', 'network', 'node'] as const

/** What is known of each RPC node, by its URL without secrets: read when it is asked for, and no node is asked. */
export function measureNodes({ registry }: Pick<Metrics, 'registry'>, directory: Pick<Directory, 'networks'>): void {
  const gauge = (name: string, help: string, of: (node: NodeState) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset()
        for (const { node, ...labels } of nodesOf(directory)) {
          const value = of(node)
          if (Number.isFinite(value)) this.set({ ...labels, node: node.url }, Number(value))
        }
      },
    })
  const states = new Gauge({
    name: 'sluice_node_state',
    help: '1 for the state that each node is in: good, or why another is preferred.',
    labelNames: [...labelNames, 'state'],
    registers: [],
    collect() {
      this.reset()
      for (const { node, ...labels } of nodesOf(directory)) this.set({ ...labels, node: node.url, state: node.state }, 1)
    },
  })
  for (const each of [
    states,
    gauge('sluice_node_in_use', '1 for the node that is asked now.', ({ inUse }) => Number(inUse)),
    gauge('sluice_node_lag_blocks', 'How far a node is behind the best of the others.', ({ lagBlocks }) => lagBlocks),
    gauge('sluice_node_latency_seconds', 'How long a node takes to answer, over the last requests.', ({ latencyMs }) =>
      latencyMs === undefined ? undefined : latencyMs / 1000,
    ),
    gauge('sluice_node_error_ratio', 'Share of the last requests that a node failed, from 0 to 1.', ({ errorRate }) => errorRate),
  ])
    registry.registerMetric(each)
}

function nodesOf({ networks }: Pick<Directory, 'networks'>): { chain: string; network: string; node: NodeState }[] {
  return networks.flatMap(({ chain, network, impl }) => {
    try {
      return (impl.nodes?.() ?? []).map((node) => ({ chain, network, node }))
    } catch {
      // A plugin that cannot tell its nodes must not take all the other figures away.
      return []
    }
  })
}

const site = ['chain', 'network', 'connector'] as const

/** What is counted of the state in memory where it happens. */
export function liveStateMetrics(registry: Registry) {
  const registers = [registry]
  return {
    marketUpdates: new Counter({
      name: 'sluice_market_updates_total',
      help: 'Changes of states in memory: pools and books.',
      labelNames: site,
      registers,
    }),
    marketTroubles: new Counter({
      name: 'sluice_market_troubles_total',
      help: 'What went wrong with state in memory: a gap, a loss, a reload, a reorganisation, a defect of the connector.',
      labelNames: [...site, 'trouble'],
      registers,
    }),
    marketChecks: new Counter({
      name: 'sluice_market_checks_total',
      help: 'Samples of the state in memory that were compared with the chain or the exchange. A different one is a defect.',
      labelNames: [...site, 'outcome'],
      registers,
    }),
  }
}

/** What a network is as a whole belongs to no connector. */
export function liveStateCounters({ marketUpdates, marketTroubles, marketChecks, pluginFaults }: Metrics): LiveStateCounters {
  const labels = ({ chain, network, connector = '' }: { chain: string; network: string; connector?: string }) => ({
    chain,
    network,
    connector,
  })
  return {
    update: (place, count) => marketUpdates.inc(labels(place), count),
    check: (place, outcome) => marketChecks.inc({ ...labels(place), outcome }),
    trouble(place, trouble) {
      marketTroubles.inc({ ...labels(place), trouble })
      if (trouble === 'defect' && place.connector !== undefined) pluginFaults.inc({ plugin: place.connector })
    },
  }
}

interface MeasuredLiveState {
  books: Pick<LiveState['books'], 'size'>
  following: Pick<LiveState['following'], 'all'>
}

/** How much is kept, and how far it is: read when it is asked for. */
export function measureLiveState({ registry }: Pick<Metrics, 'registry'>, { books, following }: MeasuredLiveState): void {
  const gauge = (name: string, help: string, labelNames: readonly string[], collect: (gauge: Gauge) => void) =>
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset()
          collect(this)
        },
      }),
    )
  gauge('sluice_market_books', 'Order books that are kept in memory.', [], (each) => each.set(books.size))
  gauge('sluice_market_followed', 'States of a chain that are kept in memory.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all()) each.set({ chain, network }, synchroniser.size)
  })
  gauge('sluice_market_block', 'The block that what is kept of a chain is after.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all())
      if (synchroniser.tip) each.set({ chain, network }, Number(synchroniser.tip.number))
  })
  gauge('sluice_market_block_age_seconds', 'How long ago that block was made, by its own time.', ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all())
      if (synchroniser.tip) each.set({ chain, network }, Date.now() / 1000 - synchroniser.tip.timestamp)
  })
  const cutOff = '1 while the nodes do not say what happened in blocks: the chain is asked for every quote.'
  gauge('sluice_market_cut_off', cutOff, ['chain', 'network'], (each) => {
    for (const { chain, network, synchroniser } of following.all()) each.set({ chain, network }, synchroniser.isCutOff ? 1 : 0)
  })
}

/** Counted where they are given, which is too often for a counter with labels. */
export function measureQuotes({ registry }: Pick<Metrics, 'registry'>, directory: Pick<Directory, 'networks' | 'venuesOn'>): void {
  const quotes = new Counter({
    name: 'sluice_quotes_total',
    help: 'Quotes of pools, from memory and asked of the chain.',
    labelNames: [...site, 'source'],
    registers: [],
    collect() {
      this.reset()
      for (const { chain, network } of directory.networks)
        for (const {
          connector,
          recentQuotes: { counts: given },
        } of directory.venuesOn(chain, network))
          for (const [source, count] of Object.entries(given)) if (count > 0) this.inc({ chain, network, connector, source }, count)
    },
  })
  registry.registerMetric(quotes)
}
