import { type At, type Log, SluiceError, type Reception, type RefusalMeaning } from '../../core/contracts/index.ts'
import {
  type Dialect,
  NodeFailure,
  noNodeLeft,
  RpcError,
  type Ask,
  type Meter,
  type Rpc,
  type RpcAnswer,
  type RpcCall,
  withSignal,
  type BroadcastAnswer,
  type SignedBytes,
} from './dialect.ts'
import { createNodeRanking, nodeStates } from './node-ranking.ts'
import { maskUrl, createNode, type RpcNode } from './node.ts'
import { defaultHealthPolicy, type HealthPolicy } from './settings.ts'

export interface RpcOptions {
  rpcUrls: readonly string[]
  /** Where transactions go; empty or absent: to every node of `rpcUrls`. */
  sendUrls?: readonly string[] | undefined
  dialect: Dialect
  meter: Meter
  log: Log
  /** For one try at one node, so that a slow one leaves time for the next. */
  timeoutMs: number
  /** How errors name the network: "ethereum/sepolia". */
  network?: string
  health?: Partial<HealthPolicy>
}

/** A node cannot; why is kept with it. */
class Unanswered extends Error {}

/**
 * JSON-RPC over several nodes: the first healthy one answers, the others take over within the same call. A node that failed
 * is checked again in the background after a backoff, and the first is gone back to. Connects on first use.
 */
export function createRpc({ rpcUrls, sendUrls = [], network = 'the network', health, ...options }: RpcOptions): Rpc {
  const policy = { ...defaultHealthPolicy, ...health }
  const { firstBackoffMs } = policy
  const { dialect } = options
  const nodes = new Map([...new Set([...rpcUrls, ...sendUrls])].map((url) => [url, createNode({ url, firstBackoffMs, ...options })]))
  const pick = (urls: readonly string[]) => [...new Set(urls)].flatMap((url) => nodes.get(url) ?? [])
  const readers = pick(rpcUrls)
  const senders = sendUrls.length === 0 ? readers : pick(sendUrls)
  const fleet = createNodeRanking(readers, dialect, policy, options.log)

  async function exchange(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    at.signal.throwIfAborted()
    fleet.compare()
    const due = readers.filter((node) => node.due())
    // In the background, while a healthy node answers; waited for only when there is none.
    const ready = fleet.ready()
    if (ready.length > 0) for (const node of due) node.check().catch(() => {})
    const tried = new Set<RpcNode>()
    let stale: readonly RpcAnswer[] | undefined
    for (const node of [...ready, ...due]) {
      tried.add(node)
      const answers = await attempt(node, calls, batched, at)
      if (!answers) continue
      // It was good until this very answer showed that it is not.
      if (!fleet.hasBetter(node, tried)) return answers
      stale ??= answers
    }
    if (stale) return stale
    const failures = readers.flatMap((node) => node.failure() ?? [])
    const waitMs = Math.min(...readers.map((node) => node.waitMs()))
    throw noNodeLeft(network, failures, Number.isFinite(waitMs) ? Math.max(1, Math.ceil(waitMs / 1000)) : 60)
  }

  /** Undefined where the node cannot; its failure is kept with it. */
  async function attempt(node: RpcNode, calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[] | undefined> {
    try {
      if (!node.ready()) await withSignal(node.check(), at.signal)
      const askedMs = performance.now()
      const answers = await node.post(calls, batched, at)
      return withAge(node, calls, answers, askedMs)
    } catch (error) {
      if (error instanceof NodeFailure) return undefined
      throw error
    }
  }

  /** Empty where the node left a question without an answer. */
  async function talkWith<T>(node: RpcNode, talk: (ask: Ask) => Promise<T>, at: At): Promise<readonly T[]> {
    const ask: Ask = async (calls) => (await attempt(node, calls, true, at)) ?? Promise.reject(new Unanswered())
    try {
      return [await talk(ask)]
    } catch (error) {
      if (error instanceof Unanswered) return []
      throw error
    }
  }

  /** Learns from the answers where the node stands, and says with them how old they are. */
  function withAge(node: RpcNode, calls: readonly RpcCall[], answers: readonly RpcAnswer[], askedMs: number): readonly RpcAnswer[] {
    const head = dialect.headIn(calls, answers)
    if (head) fleet.heads.saw(node, head, { askedMs, answeredMs: performance.now(), told: true })
    const behind = head ? fleet.heads.behind(head.number) : fleet.heads.isLagging(node) ? fleet.heads.lag(node).blocks : 0
    return behind === 0 ? answers : answers.map((answer) => ({ ...answer, behind }))
  }

  return {
    async request(method, params, at) {
      const [answer] = await exchange([{ method, params }], false, at)
      if (answer?.error) throw new RpcError(answer.error.code, answer.error.message, answer.error.data)
      return answer?.result
    },
    batch: (calls, at) => (calls.length === 0 ? Promise.resolve([]) : exchange(calls, true, at)),
    async onEveryNode<T>(talk: (ask: Ask) => Promise<T>, at: At) {
      at.signal.throwIfAborted()
      const told = await Promise.all(readers.map((node) => talkWith(node, talk, at)))
      return told.flat()
    },
    async broadcast(signed, at) {
      at.signal.throwIfAborted()
      if (senders.length === 0) throw noNodeLeft(network, [], 60)
      return broadcast(senders, dialect, signed, at)
    },
    behind: (number) => fleet.heads.behind(Number(number)),
    url: () => (fleet.ready()[0] ?? readers[0])?.label ?? maskUrl(rpcUrls[0] ?? ''),
    markUnhealthy(what) {
      const [inUse, other] = fleet.ready()
      if (other) inUse?.markUnhealthy(what)
    },
    nodes: () => nodeStates(fleet, [...nodes.values()], readers),
    async stop() {
      await Promise.all([...nodes.values()].map((node) => node.close()))
    },
  }
}

/** The same signed bytes to every node at once; an answer of each, or of those that were first once one took them: the others have them too. */
async function broadcast(
  nodes: readonly RpcNode[],
  { sendCall }: Dialect,
  { id, raw }: SignedBytes,
  at: At,
): Promise<readonly BroadcastAnswer[]> {
  const call = sendCall(raw)
  const answers: BroadcastAnswer[] = nodes.map((node) => ({ unreachable: `${node.label} did not answer in time` }))
  await new Promise<void>((done) => {
    let open = nodes.length
    const take = (answer: BroadcastAnswer, index: number) => {
      answers[index] = answer
      open -= 1
      if (open === 0 || ('result' in answer && answer.result === id)) done()
    }
    for (const [index, node] of nodes.entries()) void sendTo(node, call, at).then((answer) => take(answer, index))
  })
  return [...answers]
}

/**
 * Never throws: what became of the bytes is for the caller to judge. A node in its backoff is tried too, for it may still listen;
 * only one that may serve another network is asked for that first.
 */
async function sendTo(node: RpcNode, call: RpcCall, at: At): Promise<BroadcastAnswer> {
  try {
    if (!node.verified()) await withSignal(node.check(), at.signal)
    const [answer] = await node.post([call], false, at)
    return answer ?? { unreachable: `${node.label} gave no answer` }
  } catch (error) {
    return { unreachable: error instanceof NodeFailure ? error.message : `${node.label} did not answer in time` }
  }
}

/** A request that a working node always answers: an error in its place is told to the caller as NETWORK. */
export async function ask(rpc: Rpc, method: string, params: readonly unknown[], at: At): Promise<unknown> {
  try {
    return await rpc.request(method, params, at)
  } catch (error) {
    throw error instanceof RpcError ? nodeRefused(rpc, method, error) : error
  }
}

/** The same for one answer of a batch. */
export function resultOf(rpc: Rpc, method: string, answer: RpcAnswer | undefined): unknown {
  if (answer?.error) throw nodeRefused(rpc, method, answer.error)
  return answer?.result
}

/** The node answered with something that cannot be: another one is asked next, where there is one. */
export function invalidAnswer(rpc: Rpc, what: string): SluiceError {
  const error = new SluiceError('NETWORK', `The RPC node ${rpc.url()} ${what}. Try again, or check rpcUrls.`, { retryAfterSeconds: 1 })
  rpc.markUnhealthy(what)
  return error
}

function nodeRefused(rpc: Rpc, method: string, { code, message }: { code: number; message: string }): SluiceError {
  return invalidAnswer(rpc, `refused ${method}: ${message.slice(0, 200)} (code ${code})`)
}

/** How a chain family reads what one node said to signed bytes. */
interface BroadcastAnswerReader {
  /** The result of a node that has them. */
  isTaken(result: unknown): boolean
  error(error: NonNullable<RpcAnswer['error']>): Reception
}

/** The same bytes to every node; one that has them is enough. Settles whatever the nodes do. */
export async function sendToAll(rpc: Rpc, signed: SignedBytes, judge: BroadcastAnswerReader, at: At): Promise<Reception> {
  try {
    return together((await rpc.broadcast(signed, at)).map((answer) => receptionOf(answer, judge)))
  } catch (error) {
    return { is: 'unclear', reason: error instanceof Error ? error.message : 'the nodes could not be asked' }
  }
}

function receptionOf(answer: BroadcastAnswer, judge: BroadcastAnswerReader): Reception {
  if ('unreachable' in answer) return { is: 'unclear', reason: answer.unreachable }
  if (answer.error) return judge.error(answer.error)
  if (judge.isTaken(answer.result)) return { is: 'accepted' }
  return {
    is: 'unclear',
    reason: `a node answered with something else than the hash: ${quoteNode(JSON.stringify(answer.result ?? null, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)))}`,
  }
}

/** A refusal counts only when every node said so: one that did not answer may have taken it. */
function together(judged: readonly Reception[]): Reception {
  const others = judged.flatMap((each) => (each.is === 'accepted' ? [] : each))
  if (others.length < judged.length) return { is: 'accepted' }
  const is = others.length > 0 && others.every((each) => each.is === 'refused') ? 'refused' : 'unclear'
  const reason = [...new Set(others.map((each) => each.reason))].join('; ')
  const meaning = telling.find((one) => others.some((each) => each.meaning === one))
  return { is, reason: reason === '' ? 'no node was asked' : reason, ...(meaning && { meaning }) }
}

/** Where nodes differ, the first of these is what there is to know. */
const telling: readonly RefusalMeaning[] = ['slot-used', 'unfunded', 'underpriced', 'outbid', 'invalid', 'slot-ahead', 'not-now']

/** What a node said, fit for an error or the journal: one line, no control characters, not long. */
export function quoteNode(message: string): string {
  return message
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}

// JSON-RPC over several nodes, for the kits of chain families.
export type { Dialect, ReportedHead as SeenHead } from './dialect.ts'
export { createHeadFeed } from './head-feed.ts'
export { NodeFailure } from './dialect.ts'
export { RpcError } from './dialect.ts'
export { defaultPollingSeconds, defaultRequestTimeoutSeconds, nodeSettings, refuseBadUrls } from './settings.ts'
export type { NodeSettings } from './settings.ts'
export type { Ask, Meter, Rpc, RpcAnswer, RpcCall, BroadcastAnswer as Sent, SignedBytes as Signed } from './dialect.ts'
export { onAbort, withSignal } from './dialect.ts'
