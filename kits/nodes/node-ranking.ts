import type { Log } from '../../core/contracts/index.ts'
import type { Dialect } from './dialect.ts'
import { otherForks } from '../../core/kits/nodes/fleet/forks.ts'
import { createHeadsSeen } from '../../core/kits/nodes/fleet/heads-seen.ts'
import type { HeadsSeen } from '../../core/kits/nodes/fleet/heads-seen.ts'
import type { HealthPolicy } from '../../core/kits/nodes/fleet/health-policy.ts'
import type { RpcNode } from './node.ts'

export type Standing = 'good' | 'slow' | 'shaky' | 'lagging' | 'forked'

/** From the one to ask to the one that is better than none. */
const order: readonly Standing[] = ['good', 'slow', 'shaky', 'lagging', 'forked']

/** The nodes that a network is read from, compared with one another. */
export interface Fleet {
  readonly heads: HeadsSeen<RpcNode>
  standing(node: RpcNode): Standing
  /** Those that can be asked, best first; of equally good ones the operator's order holds. */
  ready(): readonly RpcNode[]
  /** Whether one that was not tried yet can be asked and stands better, or, after a failover, has newer blocks. */
  isBeaten(node: RpcNode, tried: ReadonlySet<RpcNode>): boolean
  /** Compares the nodes in the background where that was not done for a while. With one node there is nothing to compare. */
  compare(): void
}

export function createFleet(nodes: readonly RpcNode[], { headCall, headIn, fork }: Dialect, policy: HealthPolicy, log: Log): Fleet {
  const heads = createHeadsSeen<RpcNode>(policy)
  const known = new Map<RpcNode, Standing>()
  let forked: ReadonlySet<RpcNode> = new Set()
  let comparedAtMs = Number.NEGATIVE_INFINITY
  let comparing = false

  function standing(node: RpcNode): Standing {
    if (forked.has(node)) return 'forked'
    if (heads.isLagging(node)) return 'lagging'
    if (node.record.isShaky()) return 'shaky'
    return isSlow(node) ? 'slow' : 'good'
  }

  function isSlow(node: RpcNode): boolean {
    const mine = node.record.probeMs()
    if (mine === undefined || mine <= policy.slowMs) return false
    return nodes.some(
      (other) => other !== node && other.ready() && mine > (other.record.probeMs() ?? Number.POSITIVE_INFINITY) * policy.slowFactor,
    )
  }

  const rank = (node: RpcNode) => order.indexOf(standing(node))

  /** The newest block that is far enough below the heads of all nodes that keep up. */
  function anchor(): number | undefined {
    const newest = nodes.flatMap((node) => (node.ready() && !heads.isLagging(node) ? (heads.head(node)?.number ?? []) : []))
    return newest.length < 2 ? undefined : Math.max(0, Math.min(...newest) - policy.forkDepth)
  }

  async function probe(node: RpcNode, anchorNumber: number | undefined): Promise<string | undefined> {
    if (node.due()) await node.check()
    if (!node.ready()) return undefined
    const calls = [headCall, ...(anchorNumber === undefined || !fork ? [] : [fork.call(anchorNumber)])]
    const askedMs = performance.now()
    // Nobody's own signal: bounded by the node's timeout.
    const at = { signal: new AbortController().signal }
    const answers = await node.post(calls, true, at)
    const answeredMs = performance.now()
    node.record.probed(answeredMs - askedMs)
    const head = headIn(calls, answers)
    if (head) heads.saw(node, head, { askedMs, answeredMs, told: false })
    return calls.length < 2 ? undefined : fork?.read(answers[1]?.result)
  }

  async function compareNow(): Promise<void> {
    const anchorNumber = anchor()
    const hashes = await Promise.all(nodes.map(async (node) => [node, await probe(node, anchorNumber).catch(() => undefined)] as const))
    if (anchorNumber !== undefined) forked = otherForks(new Map(hashes))
    for (const node of nodes) tell(node)
  }

  function tell(node: RpcNode): void {
    const now = standing(node)
    const before = known.get(node) ?? 'good'
    known.set(node, now)
    if (now === before) return
    if (now === 'good') log.info({ node: node.label, was: before }, 'RPC node is as good as the others again')
    else log.warn({ node: node.label, is: now, ...heads.lag(node) }, 'RPC node is asked only where there is no better one')
  }

  return {
    heads,
    standing,
    ready: () => nodes.filter((node) => node.ready()).toSorted((a, b) => rank(a) - rank(b)),
    isBeaten(node, tried) {
      const head = heads.head(node)
      const isOld = tried.size > 1 && head !== undefined && heads.behind(head.number) > 0
      const isNewer = (other: RpcNode) => isOld && (heads.head(other)?.number ?? 0) > head.number && rank(other) <= rank(node)
      return nodes.some((other) => other.ready() && !tried.has(other) && (rank(other) < rank(node) || isNewer(other)))
    },
    compare() {
      if (nodes.length < 2 || comparing || performance.now() - comparedAtMs < policy.probeMs) return
      comparing = true
      void compareNow().finally(() => {
        comparing = false
        comparedAtMs = performance.now()
      })
    },
  }
}
