import { type At, type Log, shownHost } from '../../core/contracts/index.ts'
import { type Dialect, NodeFailure, type Meter, type RpcAnswer, type RpcCall } from './dialect.ts'
import { splitBatch, parseAnswers, ConnectionClosed, createHttp } from './json-rpc.ts'

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
  /** Puts it aside because of an impossible answer. */
  markUnhealthy(what: string): void
  failure(): NodeFailure | undefined
  waitMs(): number
  close(): Promise<void>
}

interface NodeOptions {
  url: string
  dialect: Dialect
  timeoutMs: number
  firstBackoffMs: number
  meter: Meter
  log: Log
}

let lastId = 0

export function createNode({ url, dialect, timeoutMs, firstBackoffMs, meter, log }: NodeOptions): RpcNode {
  const { identity } = dialect
  const label = maskUrl(url)
  const secrets = secretsOf(url)
  let state: 'unchecked' | 'ready' | 'aside' = 'unchecked'
  let failures = 0
  let retryAt = 0
  let last: NodeFailure | undefined
  let checking: Promise<void> | undefined
  let verified = false
  let closed = false
  const stats = createNodeStats()

  const http = createHttp(url, timeoutMs, disconnected)

  /** Another node may be behind the same URL by now. */
  function disconnected(): void {
    if (state === 'ready') state = 'unchecked'
  }

  /** @param reconnected called before the request is repeated over another connection */
  async function post(calls: readonly RpcCall[], batched: boolean, at: At, reconnected = check): Promise<readonly RpcAnswer[]> {
    try {
      const answers = await exchange(calls, batched, at).catch(async (error: unknown) => {
        if (!(error instanceof ConnectionClosed)) throw error
        // Every call can be repeated, also one with signed bytes.
        disconnected()
        await reconnected()
        return exchange(calls, batched, at)
      })
      // An answer to the identity call does not prove that a node can do more. Only other answers reset its backoff.
      if (!calls.every(({ method }) => method === identity.call.method)) failures = 0
      return answers
    } catch (error) {
      throw error instanceof NodeFailure ? putAside(error) : error
    }
  }

  async function exchange(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]> {
    const sent = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: (lastId += 1), method, params }))
    const sentAtMs = performance.now()
    try {
      const parts = batched ? splitBatch(sent, dialect.maxBodyBytes ?? Infinity) : [{ json: JSON.stringify(sent[0]), sent }]
      const answered = parts.map(async (part) => parseAnswers(await http.post(part.json, at.signal), part.sent, batched, dialect))
      const answers = (await Promise.all(answered)).flat().map(withoutSecrets)
      const implausible = calls.find(
        (call, index) => answers[index]?.error === undefined && !dialect.isPlausible(call, answers[index]?.result),
      )
      if (implausible) throw new NodeFailure('unreachable', `gave an impossible answer to ${implausible.method}`)
      for (const call of calls) meter.rpc(call.method, 'ok')
      stats.answered(performance.now() - sentAtMs)
      return answers
    } catch (error) {
      for (const call of calls) meter.rpc(call.method, 'error')
      // A caller that gives up is no failure of the node.
      if (error instanceof NodeFailure && !(error instanceof ConnectionClosed)) stats.failed()
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
    const [answer] = await post([identity.call], false, at, async () => {})
    // An endpoint only for transactions may know no other method. That is safe: signed bytes are valid on one network only.
    const fault = answer?.error?.code === methodNotFound ? undefined : identity.fault(answer?.result)
    if (fault?.is !== 'garbage') verified = fault === undefined
    if (fault) throw putAside(new NodeFailure('wrong-chain', fault.what))
    if (last) log.info({ node: label }, 'RPC node works again')
    state = 'ready'
    last = undefined
  }

  function putAside(failure: NodeFailure): NodeFailure {
    // Concurrent requests fail together. That counts once.
    if (last && state === 'aside' && !isDue()) return last
    const named = new NodeFailure(failure.kind, `${label} ${failure.message}`, failure.retryAfterSeconds)
    // Requests that `close` interrupts say nothing about the node.
    if (!closed && last?.message !== named.message) log.warn({ node: label, reason: failure.message }, 'RPC node is put aside')
    const backoffMs = Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs)
    const retryAfterMs = Math.min(failure.retryAfterSeconds ?? 0, maxRetryAfterSeconds) * 1000
    state = 'aside'
    failures += 1
    retryAt = performance.now() + Math.max(backoffMs, retryAfterMs)
    last = named
    return named
  }

  function isDue(): boolean {
    return state === 'unchecked' || (state === 'aside' && performance.now() >= retryAt)
  }

  /** Some nodes quote the API key that they refuse. */
  function withoutSecrets(answer: RpcAnswer): RpcAnswer {
    if (!answer.error) return answer
    const message = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), answer.error.message)
    return { error: { ...answer.error, message } }
  }

  return {
    label,
    stats,
    verified: () => verified,
    ready: () => state === 'ready',
    due: isDue,
    check,
    post,
    markUnhealthy: (what) => void putAside(new NodeFailure('unreachable', what)),
    failure: () => last,
    waitMs: () => Math.max(0, retryAt - performance.now()),
    close() {
      closed = true
      return http.close()
    },
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

/** Path segments that are plain words at providers of any chain. Anything else may be a key. */
const plain = /^(v\d+|rpc|eth|evm|ext|bc|mainnet|sepolia|ethereum|public)$/i
const hidden = '***'

/** The URL without its possible secrets: user info, query, and path segments that could be a key. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return hidden
  const { protocol, host, pathname } = new URL(url)
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return [`${protocol}//${shownHost(host)}`, ...segments.map((segment) => (plain.test(segment) ? segment : hidden))].join('/')
}

/** The texts that `maskUrl` hides, to remove them from messages of the node. */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { username, password, host, pathname, searchParams } = new URL(url)
  const segments = pathname.split('/').filter((segment) => !plain.test(segment))
  const labels = host.split('.').filter((label) => shownHost(label) !== label)
  return [username, password, ...labels, ...segments, ...searchParams.values()].filter((secret) => secret.length > 2)
}
