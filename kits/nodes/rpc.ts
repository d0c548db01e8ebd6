import { abortable } from '../../core/base/async.ts'
import { createFairSlots } from '../../core/base/fair-turns.ts'
import { bigintAsText } from '../../core/base/printable.ts'
import { type At, type Log, type NodeState, SluiceError, type BroadcastResult, type RefusalMeaning } from '../../core/contracts/index.ts'
import {
  type Dialect,
  NodeFailure,
  RpcError,
  type Meter,
  type RpcAnswer,
  type RpcCall,
  type BroadcastAnswer,
  type SignedBytes,
} from './dialect.ts'
import { createNodeRanking, nodeStates } from './node-ranking.ts'
import { quoteNode, refusalOf } from './faults.ts'
import { isTroubled } from './answers.ts'
import { createNode, type RpcNode } from './node.ts'
import { maskUrl } from './url-secrets.ts'
import { defaultHealthPolicy, type HealthPolicy } from './settings.ts'

/** Sends a batch to one node. */
export type Ask = (calls: readonly RpcCall[]) => Promise<readonly RpcAnswer[]>

/** JSON-RPC over several nodes. */
export interface Rpc {
  /** @returns the result. @throws RpcError for a node's error; SluiceError NETWORK or RATE_LIMIT where no node can be reached */
  request(method: string, params: readonly unknown[], at: At): Promise<unknown>
  /** One round trip to one node: one HTTP request, or several at once where the body is too long. @returns an answer per call, in order */
  batch(calls: readonly RpcCall[], at: At): Promise<readonly RpcAnswer[]>
  /**
   * Talks to every node at the same time, for facts that need more than one witness. `ask` sends a batch to one node.
   */
  onEveryNode<T>(talk: (ask: Ask) => Promise<T>, at: At): Promise<Witnesses<T>>
  /** Gives signed bytes to every node that takes transactions. @returns as soon as one has accepted them, else when all have answered */
  broadcast(signed: SignedBytes, at: At): Promise<readonly BroadcastAnswer[]>
  /** Whether there are relays for private transactions. */
  readonly hasRelays: boolean
  /** How many blocks a head is older than the newest that was given out. 0 after a reorganisation. */
  behind(number: bigint): number
  /** The node in use, without its secrets. */
  url(): string
  /** The node that answered last, without its secrets: the one to name when what it said turns out to be impossible. */
  answered(): string
  /** The answer of a node was well-formed but impossible. The node is put aside where there is another one. @param label the one that answered last, if absent */
  markUnhealthy(what: string, label?: string): void
  /** What is known of every node. Asks none. */
  nodes(): readonly NodeState[]
  /** Calls back, for ever, whenever a node that had failed works again. */
  onRecovery(act: () => void): void
  /**
   * The same nodes for questions of strangers. Whatever fails there changes nothing that is known of a node, answers are shorter and sooner, and
   * a question goes to two nodes at most.
   * @param take is called with the number of calls before each request, and may throw
   */
  isolated(take: (calls: number) => void): IsolatedRpc
  stop(): Promise<void>
}

/** What every node says. */
export interface Witnesses<T> {
  /** The results of the nodes that answered every batch. */
  readonly told: readonly T[]
  /** How many did not: what they know is missed. One of another network knows nothing, nor does one that says it has stalled. */
  readonly silent: number
}

/** What reading needs of it. */
export type ReadRpc = Pick<Rpc, 'request' | 'batch' | 'url' | 'markUnhealthy'> & Partial<Pick<Rpc, 'answered'>>

/** Its connections to the nodes are its own. */
export interface IsolatedRpc extends ReadRpc {
  /** Whatever is asked later fails. */
  close(): Promise<void>
}

/** Of a question of strangers: the first node may have just failed. */
const maxIsolatedTries = 2

export interface RpcOptions {
  rpcUrls: readonly string[]
  /** Where transactions go. Empty or absent: to every node of `rpcUrls`. */
  sendUrls?: readonly string[] | undefined
  /** Relays, where private transactions go. */
  privateUrls?: readonly string[] | undefined
  dialect: Dialect
  meter: Meter
  log: Log
  /** For one attempt at one node, so that a slow one leaves time for the next. */
  timeoutMs: number
  /** How errors name the network: "ethereum/sepolia". */
  network?: string
  health?: Partial<HealthPolicy>
}

/**
 * Of the connections to a node (`connections` of node.ts) those that readings of callers may take, so that two are left for what the server itself
 * has to know: blocks, receipts and transactions. One caller alone takes half of them.
 */
const callerSlots = { slots: 14, slotsEach: 8 }
/** Of one caller. A request makes a few readings at once. */
const maxWaitingReadings = 2_000

/** A node did not answer a batch. Its failure is kept with the node. */
class UnansweredError extends Error {}

/**
 * Creates JSON-RPC over several nodes: the first healthy one answers, and the others take over within the same call. A node that failed
 * is checked again in the background after a backoff, then the operator's order holds again. Connects on first use.
 */
export function createRpc({ rpcUrls, sendUrls = [], privateUrls = [], network = 'the network', health, ...options }: RpcOptions): Rpc {
  const policy = { ...defaultHealthPolicy, ...health }
  const { firstBackoffMs } = policy
  const { dialect } = options
  const atRecovery: (() => void)[] = []
  const recovered = () => {
    for (const act of atRecovery) act()
  }
  const nodes = new Map(
    labelled([...new Set([...rpcUrls, ...sendUrls, ...privateUrls])]).map(({ url, label }) => [
      url,
      createNode({ url, label, firstBackoffMs, recovered, ...options }),
    ]),
  )
  const pick = (urls: readonly string[]) => [...new Set(urls)].flatMap((url) => nodes.get(url) ?? [])
  const readers = pick(rpcUrls)
  const senders = sendUrls.length === 0 ? readers : pick(sendUrls)
  const relays = pick(privateUrls)
  const ranking = createNodeRanking(readers, dialect, policy, options.log)
  const slots = createFairSlots({ ...callerSlots, maxWaiting: maxWaitingReadings, what: `the nodes of ${network}` })
  const lacking = createLacking(ranking)
  let last: RpcNode | undefined

  async function exchange(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    at.signal.throwIfAborted()
    ranking.compare()
    const due = readers.filter((node) => node.due())
    // Checked in the background while a healthy node answers. Only without one does the call wait for checks.
    const ready = ranking.ready()
    if (ready.length > 0) for (const node of due) node.check().catch(() => {})
    const tried = new Set<RpcNode>()
    let stale: readonly RpcAnswer[] | undefined
    const troubled = createTroubled(calls)
    for (const node of lacking.last([...ready, ...due], calls)) {
      if (troubled.isAnswered() && !lacking.mayServe(node, calls)) continue
      tried.add(node)
      const answers = await attempt(node, calls, batched, at)
      if (answers) last = node
      if (answers) lacking.learn(node, calls, answers)
      if (!answers || troubled.add(node, answers)) continue
      // The node may have been good until this answer showed that it lags.
      if (!ranking.hasBetter(node, tried)) return answers
      stale ??= answers
    }
    const part = stale ?? troubled.part()
    if (part) return part
    const failures = [...readers.flatMap((node) => node.failure() ?? []), ...troubled.failures]
    const waitMs = Math.min(...readers.map((node) => node.waitMs()))
    throw noNodeLeft(network, failures, Number.isFinite(waitMs) ? Math.max(1, Math.ceil(waitMs / 1000)) : 60)
  }

  /** Undefined where the node fails. Its failure is kept with the node. */
  async function attempt(node: RpcNode, calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[] | undefined> {
    try {
      if (!node.ready()) await abortable(node.check(), at.signal)
      const askedMs = performance.now()
      const answers = await node.post(calls, batched, at)
      return withAge(node, calls, answers, askedMs)
    } catch (error) {
      if (error instanceof NodeFailure) return undefined
      throw error
    }
  }

  async function talkWith<T>(node: RpcNode, talk: (ask: Ask) => Promise<T>, at: At): Promise<Witnesses<T>> {
    const ask: Ask = async (calls) => {
      const answers = await attempt(node, calls, true, at)
      if (!answers || answers.some(isTroubled)) throw new UnansweredError()
      return answers
    }
    try {
      return { told: [await talk(ask)], silent: 0 }
    } catch (error) {
      if (!(error instanceof UnansweredError)) throw error
      return { told: [], silent: node.failure()?.isUnfit ? 0 : 1 }
    }
  }

  /** Records the head that the answers contain, and adds to them how old they are. */
  function withAge(node: RpcNode, calls: readonly RpcCall[], answers: readonly RpcAnswer[], askedMs: number): readonly RpcAnswer[] {
    const head = dialect.headIn(calls, answers)
    if (head) ranking.heads.record(node, head, { askedMs, answeredMs: performance.now(), givenOut: true })
    const behind = head ? ranking.heads.behind(head.number) : ranking.heads.isLagging(node) ? ranking.heads.lag(node).blocks : 0
    return signedBy(node, behind === 0 ? answers : answers.map((answer) => ({ ...answer, behind })))
  }

  const url = () => (ranking.ready()[0] ?? readers[0])?.label ?? maskUrl(rpcUrls[0] ?? '')

  return {
    // Before the clock of the nodes starts: what waits for its turn says nothing of a node.
    ...readBy((calls, batched, at) => slots.run(at.signal, () => exchange(calls, batched, at))),
    async onEveryNode<T>(talk: (ask: Ask) => Promise<T>, at: At) {
      at.signal.throwIfAborted()
      const each = await Promise.all(readers.map((node) => talkWith(node, talk, at)))
      return { told: each.flatMap(({ told }) => told), silent: each.reduce((sum, { silent }) => sum + silent, 0) }
    },
    async broadcast(signed, at) {
      at.signal.throwIfAborted()
      // Never to anybody else: what was to be private stays unsent where no relay is left.
      if (signed.privateOnly && relays.length === 0) throw noRelayLeft(network)
      if (!signed.privateOnly && senders.length === 0) throw noNodeLeft(network, [], 60)
      return broadcast(signed.privateOnly ? relays : senders, dialect, signed, at)
    },
    hasRelays: relays.length > 0,
    behind: (number) => ranking.heads.behind(Number(number)),
    url,
    answered: () => last?.label ?? url(),
    markUnhealthy(what, label = last?.label) {
      const ready = ranking.ready()
      const blamed = label === undefined ? ready[0] : ready.find((node) => node.label === label)
      if (ready.length > 1) blamed?.markUnhealthy(what)
    },
    isolated: (take) => isolatedRpc({ readers, ranking, lacking, network, url, take }),
    nodes: () => nodeStates(ranking, [...nodes.values()], readers),
    onRecovery: (act) => void atRecovery.push(act),
    async stop() {
      for (const node of nodes.values()) node.close()
    },
  }
}

/** Which node gave an answer, without its secrets: to name it where the answer turns out to be wrong. */
const labels = new WeakMap<RpcAnswer, string>()

function signedBy(node: RpcNode, answers: readonly RpcAnswer[]): readonly RpcAnswer[] {
  for (const answer of answers) labels.set(answer, node.label)
  return answers
}

/** Sends calls to one node after the other until one answers. */
type Exchange = (calls: readonly RpcCall[], batched: boolean, at: At) => Promise<readonly RpcAnswer[]>

const readBy = (send: Exchange): Pick<Rpc, 'request' | 'batch'> => ({
  async request(method, params, at) {
    const [answer] = await send([{ method, params }], false, at)
    if (answer?.error) throw new RpcError(answer.error, labels.get(answer))
    return answer?.result
  },
  batch: (calls, at) => (calls.length === 0 ? Promise.resolve([]) : send(calls, true, at)),
})

interface IsolatedParts {
  readonly readers: readonly RpcNode[]
  readonly ranking: ReturnType<typeof createNodeRanking>
  readonly lacking: MethodGaps
  readonly network: string
  readonly url: () => string
  readonly take: (calls: number) => void
}

/** Reads by connections of its own. What fails there is kept with no node. */
function isolatedRpc({ readers, ranking, lacking, network, url, take }: IsolatedParts): IsolatedRpc {
  const ways = new Map(readers.map((node) => [node, node.isolated()]))
  let last: RpcNode | undefined
  async function send(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    at.signal.throwIfAborted()
    ranking.compare()
    // Whether nodes can be used is found out by the server's own question.
    const checks = readers.filter((node) => node.due()).map((node) => node.check().catch(() => {}))
    if (ranking.ready().length === 0) await abortable(Promise.all(checks), at.signal)
    const failures: NodeFailure[] = []
    const troubled = createTroubled(calls)
    for (const node of lacking.last(ranking.ready(), calls).slice(0, maxIsolatedTries)) {
      if (troubled.isAnswered() && !lacking.mayServe(node, calls)) continue
      take(calls.length)
      try {
        const answers = (await ways.get(node)?.post(calls, batched, at)) ?? []
        last = node
        if (troubled.add(node, answers)) continue
        const { blocks } = ranking.heads.isLagging(node) ? ranking.heads.lag(node) : { blocks: 0 }
        return signedBy(node, blocks === 0 ? answers : answers.map((answer) => ({ ...answer, behind: blocks })))
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error
        failures.push(error)
      }
    }
    const part = troubled.part()
    if (part) return part
    failures.push(...troubled.failures)
    throw noNodeLeft(network, failures.length > 0 ? failures : readers.flatMap((node) => node.failure() ?? []), 1)
  }
  return {
    ...readBy(send),
    url,
    answered: () => last?.label ?? url(),
    markUnhealthy: () => {},
    async close() {
      for (const way of ways.values()) way.close()
    },
  }
}

/** So long a node is thought to have no such method: gateways send to other nodes by turns, and plans change. */
const lackingMs = 300_000

type MethodGaps = ReturnType<typeof createLacking>

/** Which nodes have which methods not, so that a batch is not asked for nothing each time. */
function createLacking({ status }: ReturnType<typeof createNodeRanking>) {
  const untilByNode = new Map<RpcNode, Map<string, number>>()
  const isCurrent = (node: RpcNode) => status(node) !== 'lagging' && status(node) !== 'forked'
  const lacks = (node: RpcNode, calls: readonly RpcCall[]) => {
    const until = untilByNode.get(node)
    return until !== undefined && calls.some(({ method }) => (until.get(method) ?? 0) > performance.now())
  }
  return {
    /** In their order; behind all others that are current stand those that have not all of the methods. */
    last(nodes: readonly RpcNode[], calls: readonly RpcCall[]): readonly RpcNode[] {
      const weight = (node: RpcNode) => (!isCurrent(node) ? 2 : lacks(node, calls) ? 1 : 0)
      return nodes.some((node) => lacks(node, calls)) ? nodes.toSorted((a, b) => weight(a) - weight(b)) : nodes
    },
    /** Whether it may answer what another one has no method for. An old answer is worse than none. */
    mayServe: (node: RpcNode, calls: readonly RpcCall[]): boolean => isCurrent(node) && !lacks(node, calls),
    learn(node: RpcNode, calls: readonly RpcCall[], answers: readonly RpcAnswer[]): void {
      for (const [index, { method }] of calls.entries()) {
        const fault = answers[index]?.error?.fault
        if (fault?.is !== 'unsupported' || !fault.lacks) continue
        const until = untilByNode.get(node) ?? new Map<string, number>()
        untilByNode.set(node, until.set(method, performance.now() + lackingMs))
      }
    },
  }
}

/** What nodes answered that had trouble with some of the calls, or have no such method: of these nothing is known, and the next node is asked. */
function createTroubled(calls: readonly RpcCall[]) {
  let best: { answers: readonly RpcAnswer[]; count: number; unsupported: number } | undefined
  const failures: NodeFailure[] = []
  return {
    failures: failures as readonly NodeFailure[],
    /** Whether a node was in no trouble, and lacks a method. */
    isAnswered: () => best?.count === 0,
    /** Whether another node may know more. */
    add(node: RpcNode, answers: readonly RpcAnswer[]): boolean {
      const count = answers.filter(isTroubled).length
      const unsupported = answers.filter(isUnsupported).length
      if (count + unsupported === 0) return false
      if (!best || count < best.count || (count === best.count && unsupported < best.unsupported)) best = { answers, count, unsupported }
      for (const [index, { error }] of answers.entries()) {
        if (error?.fault?.is !== 'trouble') continue
        failures.push(new NodeFailure(error.fault.kind, `${node.label} ${refusalOf(error, calls[index]?.method ?? '')}`))
        break
      }
      return true
    },
    /** With the trouble in it, where a node answered some of the calls. */
    part: () => (best && best.count < calls.length ? best.answers : undefined),
  }
}

const noRelayLeft = (network: string): SluiceError =>
  new SluiceError('NETWORK', `${network} has no relay for private transactions: set privateUrls for it in conf/chains.`)

/** The error for a caller when no node of a network is left. */
function noNodeLeft(network: string, failures: readonly NodeFailure[], retryAfterSeconds: number): SluiceError {
  if (failures.length === 0) {
    return new SluiceError('NETWORK', `${network} has no RPC node: set rpcUrls for it in conf/chains.`, { retryAfterSeconds })
  }
  const reasons = failures.map((failure) => failure.message).join('; ')
  return failures.every((failure) => failure.kind === 'rate-limited')
    ? new SluiceError(
        'RATE_LIMIT',
        `Every RPC node of ${network} is over its limit: ${reasons}. Try again later, or add nodes to its rpcUrls.`,
        { retryAfterSeconds },
      )
    : new SluiceError('NETWORK', `No RPC node of ${network} can be used: ${reasons}. Try again, or check its rpcUrls.`, {
        retryAfterSeconds,
      })
}

/** Sends signed bytes to every node at once. Once one has accepted them, the answers of slower nodes are not waited for: they got the bytes too. */
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
    const record = (answer: BroadcastAnswer, index: number) => {
      answers[index] = answer
      open -= 1
      if (open === 0 || ('result' in answer && answer.result === id)) done()
    }
    for (const [index, node] of nodes.entries()) void sendTo(node, call, at).then((answer) => record(answer, index))
  })
  return [...answers]
}

/**
 * Never throws: the caller decides what an answer means. A node in its backoff is tried too, since it may accept bytes all the same. Only
 * a node that may serve another network is checked first.
 */
async function sendTo(node: RpcNode, call: RpcCall, at: At): Promise<BroadcastAnswer> {
  try {
    if (!node.verified()) await abortable(node.check(), at.signal)
    const [answer] = await node.post([call], false, at)
    return answer ? { ...answer, node: node.label } : { unreachable: `${node.label} gave no answer` }
  } catch (error) {
    return { unreachable: error instanceof NodeFailure ? error.message : `${node.label} did not answer in time` }
  }
}

/** Makes a request that a working node always answers. @throws SluiceError NETWORK also for a node's own error */
export async function ask(rpc: ReadRpc, method: string, params: readonly unknown[], at: At): Promise<unknown> {
  try {
    return await rpc.request(method, params, at)
  } catch (error) {
    throw error instanceof RpcError ? nodeRefused(rpc, method, error, error.node) : error
  }
}

/** The result of one answer of a batch, in the same way. */
export function resultOf(rpc: ReadRpc, method: string, answer: RpcAnswer | undefined): unknown {
  if (answer?.error) throw nodeRefused(rpc, method, answer.error, labels.get(answer))
  return answer?.result
}

/** Whether the node has no such method or parameter. Of an error in its answer only this says something about the node that lasts. */
export const isUnsupported = (answer: RpcAnswer | undefined): boolean => answer?.error?.fault?.is === 'unsupported'

/**
 * The error for an impossible answer. Another node is asked next, where there is one.
 * @param node that gave it: the one that answered last, if absent
 */
export function invalidAnswer(rpc: ReadRpc, what: string, node = answeredBy(rpc)): SluiceError {
  const error = new SluiceError('NETWORK', `The RPC node ${node} ${what}. Try again, or check rpcUrls.`, { retryAfterSeconds: 1 })
  rpc.markUnhealthy(what, node)
  return error
}

const answeredBy = (rpc: ReadRpc) => rpc.answered?.() ?? rpc.url()

function nodeRefused(rpc: ReadRpc, method: string, error: NonNullable<RpcAnswer['error']> | RpcError, node = answeredBy(rpc)): SluiceError {
  const { fault } = error
  const refused = refusalOf(error, method)
  // The others were asked, too. It serves whatever else it did.
  if (fault?.is === 'unsupported' && fault.lacks)
    return new SluiceError('NETWORK', `The RPC node ${node} ${refused}, and no other one of rpcUrls serves it: add one that does.`, {
      retryAfterSeconds: 1,
    })
  if (fault?.is !== 'trouble') return invalidAnswer(rpc, refused, node)
  // No other node could tell either, and what the node says of other calls counts.
  return fault.kind === 'rate-limited'
    ? new SluiceError('RATE_LIMIT', `The RPC node ${node} ${refused}. Try again later, or add nodes to rpcUrls.`, {
        retryAfterSeconds: 1,
      })
    : new SluiceError('NETWORK', `The RPC node ${node} ${refused}. Try again, or check rpcUrls.`, { retryAfterSeconds: 1 })
}

/** How a chain family reads the answer of a node to signed bytes. */
interface BroadcastAnswerReader {
  /** Whether the result says that the node has them. */
  isAccepted(result: unknown): boolean
  error(error: NonNullable<RpcAnswer['error']>): BroadcastResult
}

/** Sends signed bytes to every node. One that accepts them is enough. Never rejects. */
export async function sendToAll(rpc: Rpc, signed: SignedBytes, reader: BroadcastAnswerReader, at: At): Promise<BroadcastResult> {
  try {
    return combine((await rpc.broadcast(signed, at)).map((answer) => receptionOf(answer, reader)))
  } catch (error) {
    return { is: 'unclear', reason: error instanceof Error ? error.message : 'the nodes could not be asked' }
  }
}

function receptionOf(answer: BroadcastAnswer, reader: BroadcastAnswerReader): BroadcastResult {
  if ('unreachable' in answer) return { is: 'unclear', reason: answer.unreachable }
  const { node } = answer
  const accepted: BroadcastResult = { is: 'accepted', ...(node !== undefined && { node }) }
  if (answer.error) {
    const result = reader.error(answer.error)
    return result.is === 'accepted' ? accepted : result
  }
  if (reader.isAccepted(answer.result)) return accepted
  return {
    is: 'unclear',
    reason: `a node did not answer with the hash: ${quoteNode(JSON.stringify(answer.result ?? null, bigintAsText))}`,
  }
}

/** A refusal counts only when every node refuses: a node that did not answer may have accepted the bytes. */
function combine(receptions: readonly BroadcastResult[]): BroadcastResult {
  const accepted = receptions.find((each) => each.is === 'accepted')
  if (accepted) return accepted
  const others = receptions.flatMap((each) => (each.is === 'accepted' ? [] : each))
  const is = others.length > 0 && others.every((each) => each.is === 'refused') ? 'refused' : 'unclear'
  const reason = [...new Set(others.map((each) => each.reason))].join('; ')
  const meaning = meaningsByWeight.find((one) => others.some((each) => each.meaning === one))
  return { is, reason: reason === '' ? 'no node was asked' : reason, ...(meaning && { meaning }) }
}

/** Where nodes differ, the first of these counts. */
const meaningsByWeight: readonly RefusalMeaning[] = [
  'sequence-used',
  'unfunded',
  'underpriced',
  'outbid',
  'invalid',
  'sequence-ahead',
  'not-now',
]

/** Two keys of one provider are two nodes, whose URLs look the same without the keys: all but the first have a number. */
function labelled(urls: readonly string[]): readonly { readonly url: string; readonly label: string }[] {
  const counts = new Map<string, number>()
  return urls.map((url) => {
    const masked = maskUrl(url)
    const count = (counts.get(masked) ?? 0) + 1
    counts.set(masked, count)
    return { url, label: count === 1 ? masked : `${masked} #${count}` }
  })
}
