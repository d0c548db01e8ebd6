// One node of a network: whether it may be asked, how well it answers, and one JSON-RPC exchange with it over HTTP.
// For a plugin's compiler, which reads this file with a configuration of its own.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./undici-parts.d.ts" />
import type { Pool } from 'undici'
import { linkAbort } from '../../core/async.ts'
import { type At, type Log, shownHost } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import { type Dialect, NodeFailure, type Meter, type RpcAnswer, type RpcCall } from './dialect.ts'

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
  /** A way to it for questions of strangers, over connections of its own. What fails there says nothing of the node. Shorter answers, and sooner. */
  isolated(): IsolatedPost
  /** Puts it aside because of an impossible answer. */
  markUnhealthy(what: string): void
  failure(): NodeFailure | undefined
  waitMs(): number
  close(): Promise<void>
}

interface IsolatedPost {
  /** @throws NodeFailure; the signal's reason */
  post: RpcNode['post']
  /** Its connections, for ever. */
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

  const http = createHttp(url, { timeoutMs, connections, maxResponseBytes }, disconnected)
  const isolatedHttp = new Set<Http>()

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

  async function exchange(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    over: { http: Http; isCounted: boolean } = { http, isCounted: true },
  ): Promise<readonly RpcAnswer[]> {
    const sent = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: (lastId += 1), method, params }))
    const sentAtMs = performance.now()
    try {
      const parts = batched ? splitBatch(sent, dialect.maxBodyBytes ?? Infinity) : [{ json: JSON.stringify(sent[0]), sent }]
      const answered = parts.map(async (part) => parseAnswers(await over.http.post(part.json, at.signal), part.sent, batched, dialect))
      const answers = (await Promise.all(answered)).flat().map(withoutSecrets)
      const implausible = calls.find(
        (call, index) => answers[index]?.error === undefined && !dialect.isPlausible(call, answers[index]?.result),
      )
      if (implausible) throw new NodeFailure('unreachable', `gave an impossible answer to ${implausible.method}`)
      for (const call of calls) meter.rpc(call.method, 'ok')
      if (over.isCounted) stats.answered(performance.now() - sentAtMs)
      return answers
    } catch (error) {
      for (const call of calls) meter.rpc(call.method, 'error')
      // A caller that gives up is no failure of the node.
      if (over.isCounted && error instanceof NodeFailure && !(error instanceof ConnectionClosed)) stats.failed()
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
    const fault = identityFault(answer)
    if (fault?.is !== 'garbage') verified = fault === undefined
    if (fault) throw putAside(new NodeFailure('wrong-chain', fault.what))
    if (last) log.info({ node: label }, 'RPC node works again')
    state = 'ready'
    last = undefined
  }

  function identityFault(answer: RpcAnswer | undefined) {
    // An endpoint only for transactions may know no other method. That is safe: signed bytes are valid on one network only.
    return answer?.error?.code === methodNotFound ? undefined : identity.fault(answer?.result)
  }

  function isolated(): IsolatedPost {
    let isChecked = false
    // Other connections: strangers neither wait for those of others nor close them.
    const own = createHttp(url, { ...isolatedLimits, timeoutMs: timeoutMs / 2 }, () => {
      isChecked = false
    })
    isolatedHttp.add(own)
    const over = { http: own, isCounted: false }
    const once: RpcNode['post'] = async (calls, batched, at) => {
      if (!isChecked) {
        const [answer] = await exchange([identity.call], false, at, over)
        const fault = identityFault(answer)
        if (fault) throw new NodeFailure('wrong-chain', fault.what)
        isChecked = true
      }
      return exchange(calls, batched, at, over)
    }
    return {
      async post(...asked) {
        try {
          return await once(...asked).catch((error: unknown) => {
            if (error instanceof ConnectionClosed) return once(...asked)
            throw error
          })
        } catch (error) {
          throw error instanceof NodeFailure ? named(error) : error
        }
      },
      async close() {
        isolatedHttp.delete(own)
        await own.close()
      },
    }
  }

  const named = (failure: NodeFailure) => new NodeFailure(failure.kind, `${label} ${failure.message}`, failure.retryAfterSeconds)

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

  /** Some nodes quote the API key that they refuse, or the headers of the request. */
  function withoutSecrets(answer: RpcAnswer): RpcAnswer {
    if (!answer.error) return answer
    const { code, message, data } = answer.error
    return { error: { code, message: masked(message), data: withMaskedTexts(data) } }
  }

  const masked = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)

  function withMaskedTexts(value: unknown): unknown {
    // A contract's words in hexadecimal stay whole: a short secret may be a part of them by chance.
    if (typeof value === 'string') return /^0x[0-9a-f]*$/i.test(value) ? value : masked(value)
    if (Array.isArray(value)) return value.map(withMaskedTexts)
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withMaskedTexts(each)])) : value
  }

  return {
    label,
    stats,
    verified: () => verified,
    ready: () => state === 'ready',
    due: isDue,
    check,
    post,
    isolated,
    markUnhealthy: (what) => void putAside(new NodeFailure('unreachable', what)),
    failure: () => last,
    waitMs: () => Math.max(0, retryAt - performance.now()),
    async close() {
      closed = true
      await Promise.all([http, ...isolatedHttp].map((each) => each.close()))
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

/**
 * The texts that `maskUrl` hides, to remove them from messages of the node: as they stand in the URL, decoded, and as the header that is made
 * of user and password. The longest come first, because one may be a part of another.
 */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { username, password, host, pathname, search, searchParams } = new URL(url)
  const segments = pathname.split('/').filter((segment) => !plain.test(segment))
  const labels = host.split('.').filter((label) => shownHost(label) !== label)
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  // Without the padding: what follows it tells nothing.
  const header = username === '' ? '' : credentialsOf(username, password).replaceAll('=', '')
  const spelt = [header, username, password, ...labels, ...segments, ...values]
  const all = new Set([...spelt, ...spelt.map(decoded), ...searchParams.values()])
  return [...all].filter((secret) => secret.length > 2).toSorted((one, other) => other.length - one.length)
}

/** What the header `Authorization` has after `Basic`. */
const credentialsOf = (username: string, password: string): string =>
  Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')

/** As it is where it is not a valid encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Enough for the logs of a busy block range. A longer answer is aborted. */
const maxResponseBytes = 32 * 1024 * 1024
const idleSeconds = 60
const connections = 16
/** For questions of strangers: a node that works long for them has time for others. */
const isolatedLimits = { connections: 8, maxResponseBytes: 8 * 1024 * 1024 }
const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** The node closed an idle connection just as it was used. The node works, and the request can be repeated. */
class ConnectionClosed extends NodeFailure {}

interface Http {
  /** Posts JSON and gives the body of the answer. Throws NodeFailure (ConnectionClosed), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** Keep-alive connections to one URL. `onDisconnected` is called when the last of them is closed. */
function createHttp(
  url: string,
  { timeoutMs, ...limits }: { timeoutMs: number; connections: number; maxResponseBytes: number },
  onDisconnected: () => void,
): Http {
  const { origin, pathname, search, username, password } = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (username !== '') headers['authorization'] = `Basic ${credentialsOf(username, password)}`
  let open = 0
  let pool: Promise<Pool> | undefined
  let isClosed = false

  /** Connects with the first request. Only this part of the library is loaded, and only then. */
  async function connectPool(): Promise<Pool> {
    const [{ default: HttpPool }, { default: request }] = await Promise.all([
      import('undici/lib/dispatcher/pool.js'),
      import('undici/lib/api/api-request.js'),
    ])
    const created = new HttpPool(origin, {
      connections: limits.connections,
      keepAliveTimeout: idleSeconds * 1000,
      maxResponseSize: limits.maxResponseBytes,
      connect: { timeout: timeoutMs },
      headersTimeout: timeoutMs * 2,
      bodyTimeout: timeoutMs * 2,
    })
    created.on('connect', () => {
      open += 1
    })
    created.on('disconnect', () => {
      open -= 1
      if (open === 0) onDisconnected()
    })
    // As the package's index does.
    created.request = request
    // Closed while the library was loading: its requests fail like those of a pool that is closed.
    if (isClosed) await created.destroy()
    return created
  }

  async function once(json: string, stop: AbortSignal): Promise<string> {
    const connected = await (pool ??= connectPool())
    const response = await connected.request({ method: 'POST', path: pathname + search, headers, body: json, signal: stop })
    const text = await response.body.text()
    refuseStatus(response.statusCode, response.headers['retry-after'])
    return text
  }

  async function post(json: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), timeoutMs)
    const unlink = linkAbort(signal, stop)
    try {
      return await once(json, stop.signal)
    } catch (error) {
      if (error instanceof NodeFailure) throw error
      signal.throwIfAborted()
      if (stop.signal.aborted) throw new NodeFailure('unreachable', `did not answer within ${timeoutMs / 1000} s`)
      const code = codeOf(error)
      throw new (closedCodes.has(code) ? ConnectionClosed : NodeFailure)('unreachable', `cannot be reached (${code})`)
    } finally {
      clearTimeout(timer)
      unlink()
    }
  }

  return {
    post,
    async close() {
      isClosed = true
      await (await pool)?.destroy()
    },
  }
}

/** A 4xx may carry a JSON-RPC error about the call, which the parser reads. */
function refuseStatus(status: number, retryAfter: string | string[] | undefined): void {
  if (status === 429) throw new NodeFailure('rate-limited', 'is over its limit (HTTP 429)', secondsOf(retryAfter))
  if (status >= 500) throw new NodeFailure('unreachable', `failed (HTTP ${status})`)
  if (status >= 300 && status < 400) throw new NodeFailure('unreachable', `redirects (HTTP ${status}), which is not followed`)
  if (status === 401 || status === 403) throw new NodeFailure('unreachable', `refuses the key in its URL (HTTP ${status})`)
}

/** `Retry-After` is a number of seconds or a date. */
function secondsOf(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

/** Only the code: messages and causes may contain the whole URL. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'connection failed'

type AnswerFormat = Pick<Dialect, 'parse' | 'refusal'>

/** A call of the request. */
interface SentCall {
  id: number
  method: string
}

/** Reads the answers in the body of one HTTP response, in the order of the calls. @throws NodeFailure where it is no valid response */
function parseAnswers(body: string, sent: readonly SentCall[], batched: boolean, format: AnswerFormat): readonly RpcAnswer[] {
  const parsed = parseBody(format, body)
  if (!batched) return [answerTo(sent[0], parsed, format)]
  // Nodes answer a batch that they refuse as a whole with a single object.
  if (!Array.isArray(parsed)) throw refusalOf(parsed, format) ?? garbage('did not answer a batch with a list')
  const byId = new Map<unknown, unknown>()
  for (const entry of parsed) {
    const id = isObject(entry) ? withoutBigint(entry['id']) : undefined
    // Which of two answers is meant cannot be known.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  // Or with that object in a list. Then it has no id.
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null), format))
}

function parseBody({ parse = JSON.parse }: AnswerFormat, body: string): unknown {
  try {
    return parse(body)
  } catch {
    throw garbage('answered with something that is not JSON')
  }
}

function answerTo(call: SentCall | undefined, entry: unknown, format: AnswerFormat): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const refusal = refusalOf(entry, format, call.method)
  if (refusal) throw refusal
  if (withoutBigint(entry['id']) !== call.id) throw garbage('answered another call than the one made')
  const { error, result } = entry
  if (error !== undefined && error !== null) {
    const code = isObject(error) ? withoutBigint(error['code']) : undefined
    if (!isObject(error) || typeof code !== 'number') throw garbage('answered with a malformed error')
    const { message, data } = error
    return { error: { code, message: typeof message === 'string' ? message : '', data } }
  }
  if (result === undefined) throw garbage('answered with neither result nor error')
  return { result }
}

/** The failure of the node behind a JSON-RPC error, where there is one. */
function refusalOf(entry: unknown, { refusal }: AnswerFormat, method?: string): NodeFailure | undefined {
  const error = isObject(entry) ? entry['error'] : undefined
  const code = isObject(error) ? withoutBigint(error['code']) : undefined
  return typeof code === 'number' ? refusal(code, method) : undefined
}

/** Ids and error codes fit a number, even where the family reads all integers as bigints. */
const withoutBigint = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

const garbage = (what: string): NodeFailure => new NodeFailure('unreachable', what)

/**
 * Splits a batch into as few request bodies as keep within the limit, with the calls in their order. A single call is never split.
 * @param maxBytes Infinity where nodes have no limit
 */
function splitBatch<S>(sent: readonly S[], maxBytes: number): readonly { json: string; sent: readonly S[] }[] {
  const parts: { texts: string[]; sent: S[]; bytes: number }[] = []
  for (const each of sent) {
    const text = JSON.stringify(each)
    // With the comma or bracket after it.
    const bytes = Buffer.byteLength(text) + 1
    const last = parts.at(-1)
    if (last && 1 + last.bytes + bytes <= maxBytes) {
      last.texts.push(text)
      last.sent.push(each)
      last.bytes += bytes
    } else parts.push({ texts: [text], sent: [each], bytes })
  }
  return parts.map((part) => ({ json: `[${part.texts.join(',')}]`, sent: part.sent }))
}
