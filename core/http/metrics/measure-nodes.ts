import { Gauge } from 'prom-client'
import type { Directory, NetworkEntry } from '../../handlers/registry.ts'
import type { Metrics } from '../metrics.ts'

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
