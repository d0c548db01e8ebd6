import { type At, type Log, shownHost } from '../../core/contracts/index.ts'
import { type Dialect, NodeFailure, type Meter, type RpcAnswer, type RpcCall } from './dialect.ts'
import { splitBatch, parseAnswers, ConnectionClosed, createHttp } from './json-rpc.ts'

/** Open transactions wait for it: a question every two seconds is a burden to nobody, and who wants more quiet says so by `Retry-After`. */
const maxBackoffMs = 2_000
/** A node's wish to be left alone is honoured, but not for longer than this. */
const maxRetryAfterSeconds = 60
/** JSON-RPC 2.0. */
const methodNotFound = -32601

/** One node and what is known of it by itself; how it compares with others is judged elsewhere. */
export interface RpcNode {
  readonly label: string
  readonly stats: NodeStats
  /** Its network was checked and its last answer was one. */
  ready(): boolean
  /** It may be checked now: never was, or its backoff is over. */
  due(): boolean
  /** It has served the right network before, and was not seen to serve another since. */
  verified(): boolean
  /** Asks which network it serves, unless that is known or the backoff is not over; callers share one check. Throws NodeFailure. */
  check(): Promise<void>
  /** One HTTP request, or several at once where nodes take no body as long. Throws NodeFailure (and is put aside), or the signal's reason. */
  post(calls: readonly RpcCall[], batched: boolean, at: At): Promise<readonly RpcAnswer[]>
  /** Puts it aside for what it answered. */
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
  const record = createNodeStats()

  const http = createHttp(url, timeoutMs, disconnected)

  /** Behind the same URL may be another node by now. */
  function disconnected(): void {
    if (state === 'ready') state = 'unchecked'
  }

  /** @param reconnected what to do before asking again over another connection */
  async function post(calls: readonly RpcCall[], batched: boolean, at: At, reconnected = check): Promise<readonly RpcAnswer[]> {
    try {
      const answers = await exchange(calls, batched, at).catch(async (error: unknown) => {
        if (!(error instanceof ConnectionClosed)) throw error
        // All calls can be repeated, signed bytes too.
        disconnected()
        await reconnected()
        return exchange(calls, batched, at)
      })
      // That a node says which network it serves does not show that it can do more: its backoff starts anew with real work only.
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
      const lie = calls.find((call, index) => answers[index]?.error === undefined && !dialect.isPlausible(call, answers[index]?.result))
      if (lie) throw new NodeFailure('unreachable', `answered ${lie.method} with something that is no answer to it`)
      for (const call of calls) meter.rpc(call.method, 'ok')
      record.answered(performance.now() - sentAtMs)
      return answers
    } catch (error) {
      for (const call of calls) meter.rpc(call.method, 'error')
      // A caller who gives up says nothing of the node.
      if (error instanceof NodeFailure && !(error instanceof ConnectionClosed)) record.failed()
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
    // Nobody's own signal: a check is shared, and bounded by the node's timeout.
    const at = { signal: new AbortController().signal }
    const [answer] = await post([identity.call], false, at, async () => {})
    // Endpoints that only take transactions may know no other method; signed bytes hold on one network only.
    const fault = answer?.error?.code === methodNotFound ? undefined : identity.fault(answer?.result)
    if (fault?.is !== 'garbage') verified = fault === undefined
    if (fault) throw putAside(new NodeFailure('wrong-chain', fault.what))
    if (last) log.info({ node: label }, 'RPC node is back')
    state = 'ready'
    last = undefined
  }

  function putAside(failure: NodeFailure): NodeFailure {
    // Requests that were under way together fail together: that counts once.
    if (last && state === 'aside' && !isDue()) return last
    const named = new NodeFailure(failure.kind, `${label} ${failure.message}`, failure.retryAfterSeconds)
    // What is cut off by the end is no news of the node.
    if (!closed && last?.message !== named.message) log.warn({ node: label, reason: failure.message }, 'RPC node is put aside')
    const backoffMs = Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs)
    const wishedMs = Math.min(failure.retryAfterSeconds ?? 0, maxRetryAfterSeconds) * 1000
    state = 'aside'
    failures += 1
    retryAt = performance.now() + Math.max(backoffMs, wishedMs)
    last = named
    return named
  }

  function isDue(): boolean {
    return state === 'unchecked' || (state === 'aside' && performance.now() >= retryAt)
  }

  /** Nodes quote the key that they refuse. */
  function withoutSecrets(answer: RpcAnswer): RpcAnswer {
    if (!answer.error) return answer
    const message = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), answer.error.message)
    return { error: { ...answer.error, message } }
  }

  return {
    label,
    stats: record,
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

/** How much the newest counts: about the last eight are seen. */
const weight = 0.2
const shakyAbove = 0.5
const steadyBelow = 0.25

/** How fast a node answers, and how often it does not: moving averages. */
interface NodeStats {
  answered(ms: number): void
  failed(): void
  /** How long the same small question took, which every node of a network is asked: only that can be compared. */
  probed(ms: number): void
  latencyMs(): number | undefined
  probeMs(): number | undefined
  errorRate(): number
  /** It fails so often that any other one is better; until it has answered well for a while. */
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

/** Path segments that providers use as words, whatever the chain; anything else may be a key. */
const plain = /^(v\d+|rpc|eth|evm|ext|bc|mainnet|sepolia|ethereum|public)$/i
const hidden = '***'

/** The URL without what may be secret in it: user info, query, and path segments that could be a key. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return hidden
  const { protocol, host, pathname } = new URL(url)
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return [`${protocol}//${shownHost(host)}`, ...segments.map((segment) => (plain.test(segment) ? segment : hidden))].join('/')
}

/** What `maskUrl` hides, for taking it out of texts that a node wrote itself. */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { username, password, host, pathname, searchParams } = new URL(url)
  const segments = pathname.split('/').filter((segment) => !plain.test(segment))
  const labels = host.split('.').filter((label) => shownHost(label) !== label)
  return [username, password, ...labels, ...segments, ...searchParams.values()].filter((secret) => secret.length > 2)
}
