import { Pool } from 'undici'
import { NodeFailure, onAbort, type Dialect, type RpcAnswer } from './dialect.ts'
import { isObject } from '../../core/json.ts'

/** Enough for the logs of a busy block range; a node that sends more is cut off. */
const maxResponseBytes = 32 * 1024 * 1024
const idleSeconds = 60
const connections = 16
const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** The node closed a kept connection just as it was used: nothing is wrong with it, and what was asked can be asked again. */
export class ConnectionClosed extends NodeFailure {}

interface Http {
  /** Posts JSON and gives the body of the answer. Throws NodeFailure (ConnectionClosed), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** Keep-alive connections to one URL. `onLost` is told when the last of them is gone. */
export function createHttp(url: string, timeoutMs: number, onLost: () => void): Http {
  const { origin, pathname, search, username, password } = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (username !== '') {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  const pool = new Pool(origin, {
    connections,
    keepAliveTimeout: idleSeconds * 1000,
    maxResponseSize: maxResponseBytes,
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs * 2,
    bodyTimeout: timeoutMs * 2,
  })
  let open = 0
  pool.on('connect', () => {
    open += 1
  })
  pool.on('disconnect', () => {
    open -= 1
    if (open === 0) onLost()
  })

  async function once(json: string, stop: AbortSignal): Promise<string> {
    const response = await pool.request({ method: 'POST', path: pathname + search, headers, body: json, signal: stop })
    const text = await response.body.text()
    refuseStatus(response.statusCode, response.headers['retry-after'])
    return text
  }

  async function post(json: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    // AbortSignal.any keeps its sources alive in Node 20, so that a long-lived signal would collect one entry per call.
    const stop = new AbortController()
    const abort = () => stop.abort()
    const timer = setTimeout(abort, timeoutMs)
    const forget = onAbort(signal, abort)
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
      forget()
    }
  }

  return { post, close: () => pool.destroy() }
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

/** Only the code: messages and causes may name the whole URL. */
function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return 'connection failed'
}

/** How the bodies of answers are read. */
type AnswerFormat = Pick<Dialect, 'parse' | 'refusal'>

interface Sent {
  id: number
  method: string
}

/** The answers of one HTTP response, in the order of the calls. Throws NodeFailure where the response is none. */
export function parseAnswers(body: string, sent: readonly Sent[], batched: boolean, reading: AnswerFormat): readonly RpcAnswer[] {
  const parsed = parsedBy(reading, body)
  if (!batched) return [answerTo(sent[0], parsed, reading)]
  // Nodes answer a batch that they refuse as a whole with a single object.
  if (!Array.isArray(parsed)) throw refusalOf(parsed, reading) ?? garbage('answered a batch with something else than a list')
  const byId = new Map<unknown, unknown>()
  for (const entry of parsed) {
    const id = isObject(entry) ? small(entry['id']) : undefined
    // Of two answers nobody knows which one is meant.
    if (typeof id === 'number' && byId.has(id)) throw garbage('answered a call twice')
    byId.set(id, entry)
  }
  // Or with that object in a list; it has no id.
  return sent.map((call) => answerTo(call, byId.get(call.id) ?? byId.get(null), reading))
}

function parsedBy({ parse = JSON.parse }: AnswerFormat, body: string): unknown {
  try {
    return parse(body)
  } catch {
    throw garbage('answered with something that is not JSON')
  }
}

function answerTo(call: Sent | undefined, entry: unknown, reading: AnswerFormat): RpcAnswer {
  if (call === undefined || !isObject(entry)) throw garbage('left a call without an answer')
  const refusal = refusalOf(entry, reading, call.method)
  if (refusal) throw refusal
  if (small(entry['id']) !== call.id) throw garbage('answered another call than the one made')
  const { error, result } = entry
  if (error !== undefined && error !== null) {
    const code = isObject(error) ? small(error['code']) : undefined
    if (!isObject(error) || typeof code !== 'number') throw garbage('answered with a malformed error')
    const { message, data } = error
    return { error: { code, message: typeof message === 'string' ? message : '', data } }
  }
  if (result === undefined) throw garbage('answered with neither result nor error')
  return { result }
}

/** A JSON-RPC error that is about the node and not about the call. */
function refusalOf(entry: unknown, { refusal }: AnswerFormat, method?: string): NodeFailure | undefined {
  const error = isObject(entry) ? entry['error'] : undefined
  const code = isObject(error) ? small(error['code']) : undefined
  return typeof code === 'number' ? refusal(code, method) : undefined
}

/** Ids and codes fit a number, also where all integers are read as bigints. */
function small(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}

function garbage(what: string): NodeFailure {
  return new NodeFailure('unreachable', what)
}

interface Part<S> {
  json: string
  sent: readonly S[]
}

/**
 * A batch as bodies of requests, its calls in their order: as few as keep each within what nodes take. One call alone is never cut.
 * @param mostBytes Infinity where nodes take whatever comes
 */
export function splitBatch<S>(sent: readonly S[], mostBytes: number): readonly Part<S>[] {
  const parts: { texts: string[]; sent: S[]; bytes: number }[] = []
  for (const each of sent) {
    const text = JSON.stringify(each)
    // With the comma, or the bracket, that follows.
    const bytes = Buffer.byteLength(text) + 1
    const last = parts.at(-1)
    if (last && 1 + last.bytes + bytes <= mostBytes) {
      last.texts.push(text)
      last.sent.push(each)
      last.bytes += bytes
    } else parts.push({ texts: [text], sent: [each], bytes })
  }
  return parts.map(({ texts, sent: of }) => ({ json: `[${texts.join(',')}]`, sent: of }))
}
