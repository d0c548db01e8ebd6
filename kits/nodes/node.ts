// One node of a network: whether it may be asked, how well it answers, and one JSON-RPC exchange with it over HTTP.
// For a plugin's compiler, which reads this file with a configuration of its own.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./undici-parts.d.ts" />
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Pool } from 'undici'
import { linkAbort } from '../../core/async.ts'
import { type At, type Log, shownHost } from '../../core/contracts/index.ts'
import { isObject } from '../../core/json.ts'
import { type Dialect, type Fault, type NodeError, NodeFailure, type Meter, type RpcAnswer, type RpcCall } from './dialect.ts'
import { inBrackets, refusalOf, troubleOf, textOf } from './faults.ts'
import { createNodeLimits, type NodeLimits } from './limits.ts'

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
  const limits = createNodeLimits(label, log)

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
    const sentAtMs = performance.now()
    try {
      const answers = await askInPieces(calls, batched, at, over.http)
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
      if (over.isCounted && error instanceof NodeFailure && !(error instanceof ConnectionClosed)) stats.failed()
      throw error
    }
  }

  /**
   * Calls that a family can split are asked in pieces that the node takes, and their results joined.
   * @param most for one piece, whatever else the node takes, so that this ends
   */
  async function askInPieces(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    over: Http,
    most = Infinity,
  ): Promise<readonly RpcAnswer[]> {
    const { split } = dialect
    if (!split || !batched) return askInParts(calls, batched, at, over)
    const pieces = calls.map((call) => {
      const max = Math.min(most, limits.max(call.method))
      return (call.size ?? 0) > max ? split(call, max) : undefined
    })
    const found = await askInParts(
      calls.flatMap((call, index) => pieces[index]?.calls ?? [call]),
      batched,
      at,
      over,
    )
    let next = 0
    const answers = calls.map((call, index): RpcAnswer | { readonly call: RpcCall; readonly max: number } => {
      const piece = pieces[index]
      const own = found.slice(next, (next += piece?.calls.length ?? 1))
      const error = own.find((each) => each.error)?.error
      if (error?.fault?.is === 'too-large' && error.max !== undefined && split(call, error.max)) return { call, max: error.max }
      if (error || !piece) return error ? { error } : (own[0] ?? {})
      return { result: piece.join(own.map(({ result }) => result)) }
    })
    return Promise.all(
      answers.map(async (each) => ('call' in each ? ((await askInPieces([each.call], batched, at, over, each.max))[0] ?? {}) : each)),
    )
  }

  /**
   * In requests of the size that the node takes, as far as that is known; what it refuses for its size is asked again in smaller ones.
   * @param mostCalls of one request, whatever else the node takes, so that this ends
   */
  async function askInParts(
    calls: readonly RpcCall[],
    batched: boolean,
    at: At,
    over: Http,
    mostCalls = Infinity,
  ): Promise<readonly RpcAnswer[]> {
    const answers: RpcAnswer[] = calls.map(({ method, size = 0, smallest }) =>
      size > limits.max(method) && !smallest ? tooLarge(method, limits.max(method)) : {},
    )
    const open = calls.flatMap((call, index) => (answers[index]?.error ? [] : { call, index }))
    const sent = open.map(({ call: { method, params, size, smallest }, index }) => {
      const request = { jsonrpc: '2.0', id: (lastId += 1), method, params }
      return { json: JSON.stringify(request), id: request.id, method, size, smallest, index }
    })
    const maxCalls = Math.min(mostCalls, limits.max('batch'))
    const parts = batched ? splitBatch(sent, dialect.maxBodyBytes ?? Infinity, maxCalls) : [sent]
    const refused: number[] = []
    let smaller = maxCalls
    const ask = async (part: readonly SentCall[]): Promise<void> => {
      const asList = batched && maxCalls > 1
      const texts = part.map(({ json }) => json)
      const response = await over.post(asList ? `[${texts.join(',')}]` : (texts[0] ?? ''), at.signal)
      const { answers: found, isWhole } = readAnswers(response, part, asList, dialect)
      const judged = found.map(withoutSecrets).map((answer, index) => withFault(answer, part[index]?.method, isWhole))
      for (const [index, each] of part.entries()) {
        const answer = judged[index] ?? {}
        answers[each.index] = learnSize(answer, each)
        if (!asList || !isRefusedBatch(answer, each, part.length)) continue
        refused.push(each.index)
        smaller = Math.min(smaller, limits.refused('batch', part.length, textOf(answer.error ?? { message: '' })))
      }
      throwNodeTrouble(judged, part, response)
      if (asList && !judged.some(({ error }) => error?.fault?.is === 'too-large')) limits.took('batch', part.length)
    }
    await Promise.all(parts.map(ask))
    if (refused.length === 0) return answers
    const again = await askInParts(
      refused.map((index) => calls[index]).filter((call) => call !== undefined),
      batched,
      at,
      over,
      smaller,
    )
    for (const [position, index] of refused.entries()) answers[index] = again[position] ?? {}
    return answers
  }

  /** @param isWhole whether it answers a whole batch: of that it may say that it is too large, and else it is the answer to each call */
  function withFault({ result, error }: RpcAnswer, method: string | undefined, isWhole: boolean): RpcAnswer {
    if (!error) return { result }
    const ofBatch = isWhole ? dialect.judge(error, undefined) : undefined
    return { error: { ...error, fault: ofBatch?.is === 'too-large' ? ofBatch : dialect.judge(error, method) } }
  }

  /** Whether it is asked again in a smaller batch. A call whose asker can make it smaller is left to that. */
  function isRefusedBatch({ error }: RpcAnswer, { size }: SentCall, length: number): boolean {
    return error?.fault?.is === 'too-large' && !(error.fault.of === 'call' && (size !== undefined || length === 1))
  }

  function learnSize(answer: RpcAnswer, { method, size, smallest }: SentCall): RpcAnswer {
    const { error } = answer
    if (size === undefined) return answer
    if (!error) limits.took(method, size)
    else if (error.fault?.is === 'too-large' && error.fault.of === 'call' && !smallest)
      return { error: { ...error, max: limits.refused(method, size, textOf(error)) } }
    return answer
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
    if (answer?.error && isTroubled(answer)) throw putAside(new NodeFailure('unreachable', refusalOf(answer.error, identity.call.method)))
    const fault = identityFault(answer)
    if (fault?.is !== 'garbage') verified = fault === undefined
    if (fault) throw putAside(new NodeFailure('wrong-chain', fault.what))
    if (last) log.info({ node: label }, 'RPC node works again')
    state = 'ready'
    last = undefined
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
    const once: RpcNode['post'] = async (calls, batched, at) => {
      if (!isChecked) {
        const [answer] = await exchange([identity.call], false, at, over)
        if (answer?.error && isTroubled(answer)) throw new NodeFailure('unreachable', refusalOf(answer.error, identity.call.method))
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
    return { error: { code, message: masked(message), ...(data !== undefined && { data: withMaskedTexts(data) }) } }
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

interface HttpResponse {
  readonly status: number
  /** Seconds, by its header. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

interface Http {
  /** Posts JSON and gives the answer, whatever its status. Throws NodeFailure (ConnectionClosed), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<HttpResponse>
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

  async function once(json: string, stop: AbortSignal): Promise<HttpResponse> {
    const connected = await (pool ??= connectPool())
    const response = await connected.request({ method: 'POST', path: pathname + search, headers, body: json, signal: stop })
    const encoding = String(response.headers['content-encoding'] ?? '').trim()
    const body =
      encoding === '' || encoding === 'identity'
        ? await response.body.text()
        : await decompressed(encoding, await response.body.arrayBuffer(), limits.maxResponseBytes)
    const retryAfterSeconds = secondsOf(response.headers['retry-after'])
    return { status: response.statusCode, retryAfterSeconds, body: body.codePointAt(0) === byteOrderMark ? body.slice(1) : body }
  }

  async function post(json: string, signal: AbortSignal): Promise<HttpResponse> {
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

const byteOrderMark = 0xfe_ff
const decoders: ReadonlyMap<string, (bytes: Buffer, limits: { maxOutputLength: number }) => Promise<Buffer>> = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** A server may compress although nobody asked: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
async function decompressed(encoding: string, bytes: ArrayBuffer, maxOutputLength: number): Promise<string> {
  const decode = decoders.get(encoding.toLowerCase())
  if (!decode) throw garbage(`compresses its answers as ${encoding.slice(0, 20)}, which is not read`)
  try {
    return (await decode(Buffer.from(bytes), { maxOutputLength })).toString()
  } catch {
    throw garbage(`sent an answer that is no ${encoding}, or is too long`)
  }
}

/** What a status says by itself, where the body is no JSON-RPC. */
function statusFailure({ status, retryAfterSeconds, body }: HttpResponse): NodeFailure {
  if (status === 429) return new NodeFailure('rate-limited', 'is over its limit (HTTP 429)', retryAfterSeconds)
  if (status >= 500) return new NodeFailure('unreachable', `failed (HTTP ${status})`, retryAfterSeconds)
  if (status >= 300 && status < 400) return new NodeFailure('unreachable', `redirects (HTTP ${status}), which is not followed`)
  if (status === 401 || status === 403) return new NodeFailure('unreachable', `refuses the key in its URL (HTTP ${status})`)
  const said = troubleOf({ code: Number.NaN, message: body.slice(0, maxReadChars) })
  if (said.is === 'trouble' && said.kind === 'rate-limited')
    return new NodeFailure(said.kind, 'is over its limit, and says so without JSON', retryAfterSeconds)
  return garbage(status >= 400 ? `refused (HTTP ${status})` : 'answered with something that is not JSON')
}

/** Of a page for people. */
const maxReadChars = 2_000

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

/** A call of the request. */
interface SentCall {
  /** As it is sent. */
  readonly json: string
  readonly id: number
  readonly method: string
  readonly size: number | undefined
  readonly smallest: boolean | undefined
  /** Among the calls that were asked for. */
  readonly index: number
}

interface ReadAnswers {
  /** In the order of the calls. */
  readonly answers: readonly RpcAnswer[]
  /** The same error answers a batch as a whole. */
  readonly isWhole: boolean
}

/** Reads the answers in one HTTP response. @throws NodeFailure where it is no valid response */
function readAnswers(response: HttpResponse, sent: readonly SentCall[], asList: boolean, { parse = JSON.parse }: Dialect): ReadAnswers {
  const parsed = parsedOr(parse, response.body)
  const toEach = (error: NodeError) => ({ answers: sent.map(() => ({ error })), isWhole: asList })
  if (Array.isArray(parsed) && parsed.length > 0 && (asList || parsed.length === 1)) {
    const entries: readonly unknown[] = parsed
    // Nodes put the refusal of a whole batch into a list. Then it has no id.
    const [first] = entries
    const refusal = entries.length === 1 && sent.length > 1 && isObject(first) && first['id'] === null ? errorIn(first) : undefined
    return refusal ? toEach(refusal) : { answers: inOrder(entries, sent, response), isWhole: false }
  }
  if (isObject(parsed)) {
    if (!asList) return { answers: [answerTo(sent[0], parsed, response)], isWhole: false }
    // Or it is a single object.
    const error = errorIn(parsed)
    if (error) return toEach(error)
    throw response.status >= 300 ? statusFailure(response) : garbage('did not answer a batch with a list')
  }
  if (response.status === payloadTooLarge) return toEach({ code: payloadTooLarge, message: 'request entity too large' })
  throw response.status < 300 && parsed !== undefined ? garbage('left a call without an answer') : statusFailure(response)
}

function inOrder(entries: readonly unknown[], sent: readonly SentCall[], response: HttpResponse): readonly RpcAnswer[] {
  const byId = new Map<unknown, unknown>()
  for (const entry of entries) {
    const id = isObject(entry) ? idOf(entry['id']) : undefined
    // Which of two answers is meant cannot be known.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null), response))
}

const payloadTooLarge = 413

function parsedOr(parse: (text: string) => unknown, body: string): unknown {
  try {
    return parse(body)
  } catch {
    return undefined
  }
}

function answerTo(call: SentCall | undefined, entry: unknown, response: HttpResponse): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const error = errorIn(entry)
  const id = idOf(entry['id'])
  if (id !== call.id && !(error && (id === null || id === undefined))) throw garbage('answered another call than the one made')
  if (error) return { error }
  const { result } = entry
  if (result !== undefined) return { result }
  throw response.status >= 300 ? statusFailure(response) : garbage('answered with neither result nor error')
}

/** Ids are answered as they were sent, or as text. */
function idOf(id: unknown): unknown {
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : withoutBigint(id)
}

/** The error of an answer. Gateways write it as text, without a code, or in place of the whole answer. */
function errorIn(entry: Record<string, unknown>): NodeError | undefined {
  const { error, result } = entry
  if (error === undefined || error === null) {
    const { message, code } = entry
    return result === undefined && typeof message === 'string' ? { code: codeIn(code), message } : undefined
  }
  if (typeof error === 'string') return { code: codeIn(entry['code']), message: error }
  if (!isObject(error)) return { code: Number.NaN, message: '' }
  const { code, message, data } = error
  return { code: codeIn(code), message: typeof message === 'string' ? message : '', ...(data !== undefined && { data }) }
}

/** NaN where there is none. */
function codeIn(code: unknown): number {
  const plainCode = withoutBigint(code)
  if (typeof plainCode === 'number') return plainCode
  return typeof plainCode === 'string' && /^-?\d{1,9}$/.test(plainCode) ? Number(plainCode) : Number.NaN
}

export const isTroubled = (answer: RpcAnswer | undefined): boolean => answer?.error?.fault?.is === 'trouble'

const tooLarge = (method: string, max: number): RpcAnswer => ({
  error: { code: Number.NaN, message: `${method} of more than ${max} is not taken`, fault: { is: 'too-large', of: 'call' }, max },
})

/** @throws NodeFailure where an answer shows that the node answers no other calls either, or where all that came with a bad status is trouble */
function throwNodeTrouble(answers: readonly RpcAnswer[], sent: readonly SentCall[], response: HttpResponse): void {
  for (const [index, { error }] of answers.entries()) {
    const fault = error?.fault
    if (!error || fault?.is !== 'trouble') continue
    if (!fault.ofNode && !(response.status >= 300 && answers.every(isTroubled))) continue
    throw failureOf(error, fault, sent[index]?.method ?? '', response)
  }
}

function failureOf(error: NodeError, { kind }: Extract<Fault, { is: 'trouble' }>, method: string, response: HttpResponse): NodeFailure {
  const retryAfterSeconds = response.retryAfterSeconds ?? backoffIn(error.data)
  if (response.status === 429 || (response.status >= 300 && kind === 'unreachable')) {
    const { kind: byStatus, message } = statusFailure(response)
    return new NodeFailure(byStatus, message, retryAfterSeconds)
  }
  return kind === 'rate-limited'
    ? new NodeFailure(kind, `is over its limit${inBrackets(error)}`, retryAfterSeconds)
    : new NodeFailure(kind, refusalOf(error, method), retryAfterSeconds)
}

/** Infura: `data: { rate: { backoff_seconds: 30 } }`. */
function backoffIn(data: unknown): number | undefined {
  const seconds = isObject(data) && isObject(data['rate']) ? data['rate']['backoff_seconds'] : undefined
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds) : undefined
}

/** Ids and error codes fit a number, even where the family reads all integers as bigints. */
const withoutBigint = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

const garbage = (what: string): NodeFailure => new NodeFailure('unreachable', what)

/**
 * Splits a batch into as few requests as keep within the limits, with the calls in their order. A single call is never split.
 * @param maxBytes of one body @param maxCalls of one batch; both Infinity where nodes have no limit
 */
function splitBatch(sent: readonly SentCall[], maxBytes: number, maxCalls: number): readonly (readonly SentCall[])[] {
  const parts: { sent: SentCall[]; bytes: number }[] = []
  for (const each of sent) {
    // With the comma or bracket after it.
    const bytes = Buffer.byteLength(each.json) + 1
    const last = parts.at(-1)
    if (last && 1 + last.bytes + bytes <= maxBytes && last.sent.length < maxCalls) {
      last.sent.push(each)
      last.bytes += bytes
    } else parts.push({ sent: [each], bytes })
  }
  return parts.map((part) => part.sent)
}
