// One node of a network: whether it may be asked, how well it answers, and one JSON-RPC exchange with it over HTTP.
import type { At, Log } from '../../core/contracts/index.ts'
import { isTroubled } from './answers.ts'
import { type Dialect, NodeFailure, type Meter, type RpcAnswer, type RpcCall } from './dialect.ts'
import { refusalOf } from './faults.ts'
import { ConnectionClosedError, createHttp, ListRefusedError, type Http } from './http.ts'
import { createNodeLimits, type NodeLimits } from './limits.ts'
import { createAsk } from './requests.ts'
import { secretsOf } from './url-secrets.ts'

/** Short, since open transactions wait for the node. One request in two seconds burdens no node; a node that wants fewer sends `Retry-After`. */
const maxBackoffMs = 2_000
/** `Retry-After` is honoured up to this. */
const maxRetryAfterSeconds = 60
/** JSON-RPC 2.0. */
const methodNotFound = -32601

/** One node, and what is known of it alone. node-ranking.ts compares it with others. */
export interface RpcNode {
  readonly label: string
  readonly stats: NodeStats
  readonly limits: Pick<NodeLimits, 'learned'>
  /** Its network was checked, and its last answer was valid. */
  ready(): boolean
  /** It may be checked now: it never was, or its backoff is over. */
  due(): boolean
  /** It has served the right network before, and no other since. */
  verified(): boolean
  /** Asks which network it serves, unless that is known. Callers share one check. @throws NodeFailure, also while the backoff lasts */
  check(): Promise<void>
  /** One HTTP request, or several at once where the body is too long. @throws NodeFailure, after which it is put aside; the signal's reason */
  post(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]>
  /** A way to it for questions of strangers, over connections of its own. What fails there says nothing of the node. Shorter answers, and sooner. */
  isolated(): IsolatedPost
  /** Puts it aside because of an impossible answer. */
  markUnhealthy(what: string): void
  failure(): NodeFailure | undefined
  waitMs(): number
  close(): void
}

interface IsolatedPost {
  /** @throws NodeFailure; the signal's reason */
  post: RpcNode['post']
  /** Its connections, for ever. */
  close(): void
}

/** The connections for a question, and whether what happens there is the node's own. */
interface Over {
  readonly http: Http
  readonly isCounted: boolean
}

interface NodeOptions {
  url: string
  /** Its URL without secrets, as people see it. */
  label: string
  dialect: Dialect
  timeoutMs: number
  firstBackoffMs: number
  /** Called when it had failed and works again. */
  recovered: () => void
  meter: Meter
  log: Log
}

export function createNode({ url, label, dialect, timeoutMs, firstBackoffMs, recovered, meter, log }: NodeOptions): RpcNode {
  const { identity } = dialect
  let state: 'unchecked' | 'ready' | 'aside' = 'unchecked'
  let failures = 0
  let retryAt = 0
  let last: NodeFailure | undefined
  let checking: Promise<void> | undefined
  let verified = false
  let closed = false
  const stats = createNodeStats()
  const limits = createNodeLimits(label, log)

  // When the first error needs them: a start makes the nodes of all networks, and asks few.
  let secrets: readonly string[] | undefined
  const ask = createAsk({ dialect, limits, secrets: () => (secrets ??= secretsOf(url)) })
  // Made with the first request, for the same reason.
  let made: Http | undefined
  const http = (): Http => (made ??= createHttp(url, { timeoutMs, connections, maxResponseBytes }, disconnected))
  const isolatedHttp = new Set<Http>()

  /** Another node may be behind the same URL by now. */
  function disconnected(): void {
    if (state === 'ready') state = 'unchecked'
  }

  async function post(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    try {
      const answers = await inShorterLists(
        (mostCalls) => exchange(calls, batched, at, mostCalls),
        async ({ closed }) => {
          if (closed) disconnected()
          // That it answers a call by itself is known before a list is said to be too long for it.
          if (closed) return check()
          const fault = identityFault(await askIdentity(at))
          if (fault) throw new NodeFailure('unreachable', fault.what)
        },
        limits,
      )
      // An answer to the identity call does not prove that a node can do more. Only other answers reset its backoff.
      if (!calls.every(({ method }) => method === identity.call.method)) failures = 0
      return answers
    } catch (error) {
      throw error instanceof NodeFailure ? putAside(error) : error
    }
  }

  /** Over a new connection where an idle one was closed. @throws NodeFailure where the node answers no call */
  async function askIdentity(at: At, over?: Over): Promise<RpcAnswer | undefined> {
    const [answer] = await inShorterLists(
      () => exchange([identity.call], false, at, 1, over),
      async () => {},
    )
    if (answer?.error && isTroubled(answer)) throw new NodeFailure('unreachable', refusalOf(answer.error, identity.call.method))
    return answer
  }

  async function exchange(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    mostCalls = Infinity,
    over: Over = { http: http(), isCounted: true },
  ): Promise<readonly RpcAnswer[]> {
    const sentAtMs = performance.now()
    try {
      const answers = await ask(calls, batched, at, over.http, { tooLong: over.isCounted ? maxTooLong : 0, mostCalls })
      const implausible = calls.find(
        (call, index) => answers[index]?.error === undefined && !dialect.isPlausible(call, answers[index]?.result),
      )
      if (implausible) throw new NodeFailure('unreachable', `gave an impossible answer to ${implausible.method}`)
      for (const [index, { method }] of calls.entries()) meter.rpc(method, isTroubled(answers[index]) ? 'error' : 'ok')
      if (over.isCounted && answers.some(isTroubled)) stats.failed()
      else if (over.isCounted) stats.answered(performance.now() - sentAtMs)
      return answers
    } catch (error) {
      for (const call of calls) meter.rpc(call.method, 'error')
      // A caller that gives up is no failure of the node.
      const mayWork = error instanceof ConnectionClosedError || error instanceof ListRefusedError
      if (over.isCounted && error instanceof NodeFailure && !mayWork) stats.failed()
      throw error
    }
  }

  async function check(): Promise<void> {
    if (state === 'ready') return
    if (last && !isDue()) throw last
    await (checking ??= checkOnce().finally(() => {
      checking = undefined
    }))
  }

  async function checkOnce(): Promise<void> {
    // Not the signal of one caller: the check is shared. The node's timeout bounds it.
    const at = { signal: new AbortController().signal }
    const answer = await askIdentity(at).catch((error: unknown) => {
      throw error instanceof NodeFailure ? putAside(error) : error
    })
    const fault = identityFault(answer)
    if (fault?.is !== 'garbage') verified = fault === undefined
    // Of one that says something else nobody knows what it serves, so it may know what is missed.
    if (fault) throw putAside(new NodeFailure('wrong-chain', fault.what, undefined, fault.is === 'other'))
    const hadFailed = last !== undefined
    state = 'ready'
    last = undefined
    if (!hadFailed) return
    log.info({ node: label }, 'RPC node works again')
    recovered()
  }

  function identityFault(answer: RpcAnswer | undefined) {
    // An endpoint only for transactions may know no other method. That is safe: signed bytes are valid on one network only.
    const isUnknown = answer?.error?.code === methodNotFound || answer?.error?.fault?.is === 'unsupported'
    return isUnknown ? undefined : identity.fault(answer?.result)
  }

  function isolated(): IsolatedPost {
    let isChecked = false
    // Other connections: strangers neither wait for those of others nor close them.
    const own = createHttp(url, { ...isolatedLimits, timeoutMs: timeoutMs / 2 }, () => {
      isChecked = false
    })
    isolatedHttp.add(own)
    const over = { http: own, isCounted: false }
    const check = async (at: At): Promise<void> => {
      if (isChecked) return
      const fault = identityFault(await askIdentity(at, over))
      if (fault) throw new NodeFailure('wrong-chain', fault.what)
      isChecked = true
    }
    return {
      async post(calls, batched, at) {
        const send = async (mostCalls: number) => {
          await check(at)
          return exchange(calls, batched, at, mostCalls, over)
        }
        try {
          return await inShorterLists(send, async () => {})
        } catch (error) {
          throw error instanceof NodeFailure ? named(error) : error
        }
      },
      close() {
        isolatedHttp.delete(own)
        own.close()
      },
    }
  }

  const named = ({ kind, message, retryAfterSeconds, isUnfit }: NodeFailure) =>
    new NodeFailure(kind, `${label} ${message}`, retryAfterSeconds, isUnfit)

  function putAside(failure: NodeFailure): NodeFailure {
    // Concurrent requests fail together. That counts once.
    if (last && state === 'aside' && !isDue()) return last
    const aside = named(failure)
    // Requests that `close` interrupts say nothing about the node.
    if (!closed && last?.message !== aside.message) log.warn({ node: label, reason: failure.message }, 'RPC node is put aside')
    const backoffMs = Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs)
    const retryAfterMs = Math.min(failure.retryAfterSeconds ?? 0, maxRetryAfterSeconds) * 1000
    state = 'aside'
    failures += 1
    retryAt = performance.now() + Math.max(backoffMs, retryAfterMs)
    last = aside
    return aside
  }

  function isDue(): boolean {
    return state === 'unchecked' || (state === 'aside' && performance.now() >= retryAt)
  }

  return {
    label,
    stats,
    limits,
    verified: () => verified,
    ready: () => state === 'ready',
    due: isDue,
    check,
    post,
    isolated,
    markUnhealthy: (what) => void putAside(new NodeFailure('unreachable', what)),
    failure: () => last,
    waitMs: () => Math.max(0, retryAt - performance.now()),
    close() {
      closed = true
      for (const each of [http(), ...isolatedHttp]) each.close()
    },
  }
}

/**
 * Sends again what was refused by its shape, over a new connection or not: once as it was, for an idle connection may have been closed as it was used and a node may have
 * ended and started again, and then in lists of half the length, down to single calls. A length counts as refused once shorter lists were answered.
 * @param send with at most so many calls in a list
 * @param beforeAgain throws where the node is not to be asked again
 */
async function inShorterLists(
  send: (mostCalls: number) => Promise<readonly RpcAnswer[]>,
  beforeAgain: (refused: { readonly closed: boolean }) => Promise<void>,
  limits?: NodeLimits,
): Promise<readonly RpcAnswer[]> {
  const refused: number[] = []
  let mostCalls = Infinity
  let isRepeated = false
  for (;;) {
    try {
      const answers = await send(mostCalls)
      if (!answers.some(isTroubled)) for (const size of refused) limits?.refused('batch', size, '')
      return answers
    } catch (error) {
      const isList = error instanceof ListRefusedError
      // A call by itself can be repeated, also one with signed bytes.
      if (!isList && !(error instanceof ConnectionClosedError)) throw error
      if (isRepeated && !isList) throw error
      await beforeAgain({ closed: !isList || error.closed })
      if (isRepeated && isList) {
        refused.push(error.size)
        mostCalls = Math.floor(error.size / 2)
      }
      isRepeated = true
    }
  }
}

/** Weight of the newest value in an average, which then covers about the last eight. */
const weight = 0.2
const shakyAbove = 0.5
const steadyBelow = 0.25

/** How fast a node answers and how often it fails, as moving averages. */
interface NodeStats {
  answered(ms: number): void
  failed(): void
  /** The time of the small request that every node gets. Only that can be compared between nodes. */
  probed(ms: number): void
  latencyMs(): number | undefined
  probeMs(): number | undefined
  errorRate(): number
  /** It fails so often that any other node is better. It stays so until it has answered well for a while. */
  isShaky(): boolean
}

function createNodeStats(): NodeStats {
  let latencyMs: number | undefined
  let probeMs: number | undefined
  let errorRate = 0
  let shaky = false

  function count(error: 0 | 1): void {
    errorRate = average(errorRate, error)
    shaky = shaky ? errorRate > steadyBelow : errorRate > shakyAbove
  }

  return {
    answered(ms) {
      latencyMs = average(latencyMs, ms)
      count(0)
    },
    failed: () => count(1),
    probed(ms) {
      probeMs = average(probeMs, ms)
    },
    latencyMs: () => latencyMs,
    probeMs: () => probeMs,
    errorRate: () => errorRate,
    isShaky: () => shaky,
  }
}

const average = (before: number | undefined, now: number) => (before === undefined ? now : before + weight * (now - before))

/** Enough for the logs of a busy block range. A longer answer is aborted. */
const maxResponseBytes = 32 * 1024 * 1024
/** Of one question. After that the node is taken for one that is broken. */
const maxTooLong = 12
const connections = 16
/** For questions of strangers: a node that works long for them has time for others. */
const isolatedLimits = { connections: 8, maxResponseBytes: 8 * 1024 * 1024 }
