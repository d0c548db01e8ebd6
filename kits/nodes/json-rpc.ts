// One JSON-RPC exchange with one node over HTTP: the body of the request, the connection, the body of the answer.
import { Pool } from 'undici'
import { linkAbort } from '../../core/async.ts'
import { isObject } from '../../core/json.ts'
import { NodeFailure, type Dialect, type RpcAnswer } from './dialect.ts'

/** Enough for the logs of a busy block range. A longer answer is aborted. */
const maxResponseBytes = 32 * 1024 * 1024
const idleSeconds = 60
const connections = 16
const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** The node closed an idle connection just as it was used. The node works, and the request can be repeated. */
export class ConnectionClosed extends NodeFailure {}

interface Http {
  /** Posts JSON and gives the body of the answer. Throws NodeFailure (ConnectionClosed), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<string>
  close(): Promise<void>
}

/** Keep-alive connections to one URL. `onDisconnected` is called when the last of them is closed. */
export function createHttp(url: string, timeoutMs: number, onDisconnected: () => void): Http {
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
    if (open === 0) onDisconnected()
  })

  async function once(json: string, stop: AbortSignal): Promise<string> {
    const response = await pool.request({ method: 'POST', path: pathname + search, headers, body: json, signal: stop })
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
export function parseAnswers(body: string, sent: readonly SentCall[], batched: boolean, format: AnswerFormat): readonly RpcAnswer[] {
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
export function splitBatch<S>(sent: readonly S[], maxBytes: number): readonly { json: string; sent: readonly S[] }[] {
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
