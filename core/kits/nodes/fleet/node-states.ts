import type { NodeState } from '../../../contracts/index.ts'
import type { Fleet } from '../../../../kits/nodes/node-ranking.ts'
import type { RpcNode } from '../../../../kits/nodes/node.ts'

/** What is known of each node now, for people and metrics; asks nobody. */
export function nodeStates(fleet: Fleet, nodes: readonly RpcNode[], readers: readonly RpcNode[]): readonly NodeState[] {
  const inUse = fleet.ready()[0]
  return nodes.map((node) => {
    const failure = node.failure()
    const head = fleet.heads.head(node)
    const latencyMs = node.record.latencyMs()
    const reads = readers.includes(node)
    return {
      url: node.label,
      state: node.ready() ? fleet.standing(node) : (failure?.kind ?? 'unchecked'),
      inUse: node === inUse,
      reads,
      errorRate: node.record.errorRate(),
      ...(failure && { trouble: failure.message }),
      ...(latencyMs !== undefined && { latencyMs }),
      ...(head && { headNumber: head.number, lagBlocks: fleet.heads.lag(node).blocks }),
    }
  })
}
