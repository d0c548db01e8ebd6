import type { Log, NodeState } from '../../core/contracts/index.ts'
import type { Dialect, ReportedHead } from './dialect.ts'
import type { RpcNode } from './node.ts'
import type { HealthPolicy } from './settings.ts'

type NodeStatus = 'good' | 'slow' | 'shaky' | 'lagging' | 'forked'

/** From the one to ask to the one that is better than none. */
const order: readonly NodeStatus[] = ['good', 'slow', 'shaky', 'lagging', 'forked']

/** The nodes that a network is read from, compared with one another. */
interface NodeRanking {
  readonly heads: HeadTracker<RpcNode>
  status(node: RpcNode): NodeStatus
  /** Those that can be asked, best first; of equally good ones the operator's order holds. */
  ready(): readonly RpcNode[]
  /** Whether one that was not tried yet can be asked and stands better, or, after a failover, has newer blocks. */
  hasBetter(node: RpcNode, tried: ReadonlySet<RpcNode>): boolean
  /** Compares the nodes in the background where that was not done for a while. With one node there is nothing to compare. */
  compare(): void
}

export function createNodeRanking(
  nodes: readonly RpcNode[],
  { headCall, headIn, fork }: Dialect,
  policy: HealthPolicy,
  log: Log,
): NodeRanking {
  const heads = createHeadTracker<RpcNode>(policy)
  const known = new Map<RpcNode, NodeStatus>()
  let forked: ReadonlySet<RpcNode> = new Set()
  let comparedAtMs = Number.NEGATIVE_INFINITY
  let comparing = false

  function standing(node: RpcNode): NodeStatus {
    if (forked.has(node)) return 'forked'
    if (heads.isLagging(node)) return 'lagging'
    if (node.stats.isShaky()) return 'shaky'
    return isSlow(node) ? 'slow' : 'good'
  }

  function isSlow(node: RpcNode): boolean {
    const mine = node.stats.probeMs()
    if (mine === undefined || mine <= policy.slowMs) return false
    return nodes.some(
      (other) => other !== node && other.ready() && mine > (other.stats.probeMs() ?? Number.POSITIVE_INFINITY) * policy.slowFactor,
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
    node.stats.probed(answeredMs - askedMs)
    const head = headIn(calls, answers)
    if (head) heads.saw(node, head, { askedMs, answeredMs, told: false })
    return calls.length < 2 ? undefined : fork?.read(answers[1]?.result)
  }

  async function compareNow(): Promise<void> {
    const anchorNumber = anchor()
    const hashes = await Promise.all(nodes.map(async (node) => [node, await probe(node, anchorNumber).catch(() => undefined)] as const))
    if (anchorNumber !== undefined) forked = nodesOnMinorityForks(new Map(hashes))
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
    status: standing,
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

/** A node's word on the chain's head. */
interface Word extends ReportedHead {
  atMs: number
}

const remembered = 128
const noLag: Lag = { blocks: 0, seconds: 0 }

/**
 * What the nodes of a network said of its head: which of them lag, and whether an answer is older than what was told before.
 * A node is held only against what another one had already said when it was asked, so that a block that comes in between counts
 * for nobody. Pure but for its memory: the time is the caller's.
 */
export function createHeadTracker<N>({
  maxLagBlocks,
  maxLagSeconds,
  reportTtlMs: memoryMs,
  rollbackAfterMs: patienceMs,
}: Pick<HealthPolicy, 'maxLagBlocks' | 'maxLagSeconds' | 'reportTtlMs' | 'rollbackAfterMs'>) {
  const words = new Map<N, Word>()
  const lags = new Map<N, Lag>()
  const hashes = new Map<number, string>()
  let told: { number: number; atMs: number } | undefined

  function judge(node: N, block: ReportedHead, askedAtMs: number): void {
    const others = [...words].flatMap(([other, word]) =>
      other !== node && word.atMs <= askedAtMs && askedAtMs - word.atMs < memoryMs ? word : [],
    )
    const best = others.toSorted((a, b) => b.number - a.number)[0]
    const behind = best !== undefined && best.number > block.number
    lags.set(node, behind ? { blocks: best.number - block.number, seconds: Math.max(0, best.timestamp - block.timestamp) } : noLag)
  }

  const lag = (node: N): Lag => lags.get(node) ?? noLag
  const isLagging = (node: N): boolean => lag(node).blocks > maxLagBlocks && lag(node).seconds > maxLagSeconds

  return {
    /** @param told whether somebody gets the answer that it was in; what only a probe saw was told to nobody */
    saw(node: N, block: ReportedHead, at: { askedMs: number; answeredMs: number; told: boolean }): void {
      judge(node, block, at.askedMs)
      words.set(node, { ...block, atMs: at.answeredMs })
      if (!at.told) return
      const { hash } = block
      const known = hashes.get(block.number)
      const reorganised = known !== undefined && hash !== undefined && known !== hash && !isLagging(node)
      if (reorganised) for (const number of hashes.keys()) if (number > block.number) hashes.delete(number)
      if (hash !== undefined && (known === undefined || reorganised)) hashes.set(block.number, hash)
      if (hashes.size > remembered) hashes.delete(Math.min(...hashes.keys()))
      const wentBack = reorganised || (told && at.answeredMs - told.atMs >= patienceMs && !isLagging(node))
      if (!told || block.number >= told.number || wentBack) told = { number: block.number, atMs: at.answeredMs }
    },
    lag,
    isLagging,
    head: (node: N): ReportedHead | undefined => words.get(node),
    /** How many blocks a head is older than the newest that was told; 0 after a reorganisation, which makes heads lower. */
    behind: (number: number): number => Math.max(0, (told?.number ?? number) - number),
  }
}

type HeadTracker<N> = ReturnType<typeof createHeadTracker<N>>

/**
 * Which nodes are on another fork than most, by the hash that each has for one block far below the head. Where two forks have
 * equally many, the one of the node that comes first is taken: nobody can know better.
 * @param hashes in order of preference; undefined where a node did not say
 */
export function nodesOnMinorityForks<N>(hashes: ReadonlyMap<N, string | undefined>): ReadonlySet<N> {
  const votes = new Map<string, number>()
  for (const hash of hashes.values()) if (hash !== undefined) votes.set(hash, (votes.get(hash) ?? 0) + 1)
  const most = Math.max(...votes.values())
  const chosen = [...votes].find(([, count]) => count === most)?.[0]
  return new Set([...hashes].flatMap(([node, hash]) => (hash === undefined || hash === chosen ? [] : node)))
}

/** What is known of each node now, for people and metrics; asks nobody. */
export function nodeStates(fleet: NodeRanking, nodes: readonly RpcNode[], readers: readonly RpcNode[]): readonly NodeState[] {
  const inUse = fleet.ready()[0]
  return nodes.map((node) => {
    const failure = node.failure()
    const head = fleet.heads.head(node)
    const latencyMs = node.stats.latencyMs()
    const reads = readers.includes(node)
    return {
      url: node.label,
      state: node.ready() ? fleet.status(node) : (failure?.kind ?? 'unchecked'),
      inUse: node === inUse,
      reads,
      errorRate: node.stats.errorRate(),
      ...(failure && { trouble: failure.message }),
      ...(latencyMs !== undefined && { latencyMs }),
      ...(head && { headNumber: head.number, lagBlocks: fleet.heads.lag(node).blocks }),
    }
  })
}
