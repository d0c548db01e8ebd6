import type { Log, NodeState } from '../../core/contracts/index.ts'
import type { Dialect, ReportedHead } from './dialect.ts'
import type { RpcNode } from './node.ts'
import type { HealthPolicy } from './settings.ts'

type NodeStatus = 'good' | 'slow' | 'shaky' | 'lagging' | 'forked'

/** From best to worst. */
const order: readonly NodeStatus[] = ['good', 'slow', 'shaky', 'lagging', 'forked']

/** The nodes of a network, compared with one another. */
interface NodeRanking {
  readonly heads: HeadTracker<RpcNode>
  status(node: RpcNode): NodeStatus
  /** The nodes that can be asked, best first. Among equals the operator's order holds. */
  ready(): readonly RpcNode[]
  /** Whether a node that was not tried yet is better or, after a failover, has newer blocks. */
  hasBetter(node: RpcNode, tried: ReadonlySet<RpcNode>): boolean
  /** Compares the nodes in the background, unless that was done recently. A single node is not compared. */
  compare(): void
}

export function createNodeRanking(
  nodes: readonly RpcNode[],
  { headCall, headIn, fork }: Dialect,
  policy: HealthPolicy,
  log: Log,
): NodeRanking {
  const heads = createHeadTracker<RpcNode>(policy)
  const lastStatus = new Map<RpcNode, NodeStatus>()
  let forked: ReadonlySet<RpcNode> = new Set()
  let comparedAtMs = Number.NEGATIVE_INFINITY
  let comparing = false

  function statusOf(node: RpcNode): NodeStatus {
    if (forked.has(node)) return 'forked'
    if (heads.isLagging(node)) return 'lagging'
    if (node.stats.isShaky()) return 'shaky'
    return isSlow(node) ? 'slow' : 'good'
  }

  function isSlow(node: RpcNode): boolean {
    const ownMs = node.stats.probeMs()
    if (ownMs === undefined || ownMs <= policy.slowMs) return false
    return nodes.some(
      (other) => other !== node && other.ready() && ownMs > (other.stats.probeMs() ?? Number.POSITIVE_INFINITY) * policy.slowFactor,
    )
  }

  const rank = (node: RpcNode) => order.indexOf(statusOf(node))

  /** A block that every node which does not lag must have, deep enough to compare forks. */
  function anchor(): number | undefined {
    const newest = nodes.flatMap((node) => (node.ready() && !heads.isLagging(node) ? (heads.head(node)?.number ?? []) : []))
    return newest.length < 2 ? undefined : Math.max(0, Math.min(...newest) - policy.forkDepth)
  }

  async function probe(node: RpcNode, anchorNumber: number | undefined): Promise<string | undefined> {
    if (node.due()) await node.check()
    if (!node.ready()) return undefined
    const calls = [headCall, ...(anchorNumber === undefined || !fork ? [] : [fork.call(anchorNumber)])]
    const askedMs = performance.now()
    // Not the signal of a caller. The node's timeout bounds it.
    const at = { signal: new AbortController().signal }
    const answers = await node.post(calls, true, at)
    const answeredMs = performance.now()
    node.stats.probed(answeredMs - askedMs)
    const head = headIn(calls, answers)
    if (head) heads.record(node, head, { askedMs, answeredMs, givenOut: false })
    return calls.length < 2 ? undefined : fork?.read(answers[1]?.result)
  }

  async function compareNow(): Promise<void> {
    const anchorNumber = anchor()
    const hashes = await Promise.all(nodes.map(async (node) => [node, await probe(node, anchorNumber).catch(() => undefined)] as const))
    if (anchorNumber !== undefined) forked = nodesOnMinorityForks(new Map(hashes))
    for (const node of nodes) logChange(node)
  }

  function logChange(node: RpcNode): void {
    const now = statusOf(node)
    const before = lastStatus.get(node) ?? 'good'
    lastStatus.set(node, now)
    if (now === before) return
    if (now === 'good') log.info({ node: node.label, was: before }, 'RPC node is healthy again')
    else log.warn({ node: node.label, is: now, ...heads.lag(node) }, 'RPC node is degraded: others are preferred')
  }

  return {
    heads,
    status: statusOf,
    ready: () => nodes.filter((node) => node.ready()).toSorted((a, b) => rank(a) - rank(b)),
    hasBetter(node, tried) {
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

interface Lag {
  blocks: number
  seconds: number
}

/** What a node reported last, and when. */
interface HeadReport extends ReportedHead {
  atMs: number
}

const maxHashes = 128
const noLag: Lag = { blocks: 0, seconds: 0 }

/**
 * Tracks the heads that the nodes of a network report: which nodes lag, and whether an answer is older than what was given out before.
 * A node is compared only with what others had reported when it was asked, so that a block in between counts against nobody.
 * It keeps state but reads no clock: times are arguments.
 */
export function createHeadTracker<N>({
  maxLagBlocks,
  maxLagSeconds,
  reportTtlMs,
  rollbackAfterMs,
}: Pick<HealthPolicy, 'maxLagBlocks' | 'maxLagSeconds' | 'reportTtlMs' | 'rollbackAfterMs'>) {
  const reports = new Map<N, HeadReport>()
  const lags = new Map<N, Lag>()
  const hashes = new Map<number, string>()
  let newest: { number: number; atMs: number } | undefined

  function updateLag(node: N, block: ReportedHead, askedAtMs: number): void {
    const others = [...reports].flatMap(([other, report]) =>
      other !== node && report.atMs <= askedAtMs && askedAtMs - report.atMs < reportTtlMs ? report : [],
    )
    const best = others.toSorted((a, b) => b.number - a.number)[0]
    const behind = best !== undefined && best.number > block.number
    lags.set(node, behind ? { blocks: best.number - block.number, seconds: Math.max(0, best.timestamp - block.timestamp) } : noLag)
  }

  const lag = (node: N): Lag => lags.get(node) ?? noLag
  const isLagging = (node: N): boolean => lag(node).blocks > maxLagBlocks && lag(node).seconds > maxLagSeconds

  return {
    /** @param at `givenOut`: whether a caller gets the answer, which is not so for a probe */
    record(node: N, block: ReportedHead, at: { askedMs: number; answeredMs: number; givenOut: boolean }): void {
      updateLag(node, block, at.askedMs)
      reports.set(node, { ...block, atMs: at.answeredMs })
      if (!at.givenOut) return
      const { hash } = block
      const known = hashes.get(block.number)
      const reorganised = known !== undefined && hash !== undefined && known !== hash && !isLagging(node)
      if (reorganised) for (const number of hashes.keys()) if (number > block.number) hashes.delete(number)
      if (hash !== undefined && (known === undefined || reorganised)) hashes.set(block.number, hash)
      if (hashes.size > maxHashes) hashes.delete(Math.min(...hashes.keys()))
      const isRollback = reorganised || (newest && at.answeredMs - newest.atMs >= rollbackAfterMs && !isLagging(node))
      if (!newest || block.number >= newest.number || isRollback) newest = { number: block.number, atMs: at.answeredMs }
    },
    lag,
    isLagging,
    head: (node: N): ReportedHead | undefined => reports.get(node),
    /** How many blocks a head is older than the newest that was given out. 0 after a reorganisation, which makes heads lower. */
    behind: (number: number): number => Math.max(0, (newest?.number ?? number) - number),
  }
}

type HeadTracker<N> = ReturnType<typeof createHeadTracker<N>>

/**
 * The nodes that are on another fork than most, by the hash that each has for one block far below the head. Of two forks with equally
 * many nodes, the fork of the first node counts.
 * @param hashes in order of preference; undefined where a node did not tell
 */
export function nodesOnMinorityForks<N>(hashes: ReadonlyMap<N, string | undefined>): ReadonlySet<N> {
  const votes = new Map<string, number>()
  for (const hash of hashes.values()) if (hash !== undefined) votes.set(hash, (votes.get(hash) ?? 0) + 1)
  const maxVotes = Math.max(...votes.values())
  const majority = [...votes].find(([, count]) => count === maxVotes)?.[0]
  return new Set([...hashes].flatMap(([node, hash]) => (hash === undefined || hash === majority ? [] : node)))
}

/** What is known of each node now, for people and metrics. Asks no node. */
export function nodeStates(ranking: NodeRanking, nodes: readonly RpcNode[], readers: readonly RpcNode[]): readonly NodeState[] {
  const inUse = ranking.ready()[0]
  return nodes.map((node) => {
    const failure = node.failure()
    const head = ranking.heads.head(node)
    const latencyMs = node.stats.latencyMs()
    const reads = readers.includes(node)
    const limits = node.limits.learned()
    return {
      url: node.label,
      state: node.ready() ? ranking.status(node) : (failure?.kind ?? 'unchecked'),
      inUse: node === inUse,
      reads,
      errorRate: node.stats.errorRate(),
      ...(failure && { trouble: failure.message }),
      ...(Object.keys(limits).length > 0 && { limits }),
      ...(latencyMs !== undefined && { latencyMs }),
      ...(head && { headNumber: head.number, lagBlocks: ranking.heads.lag(node).blocks }),
    }
  })
}
