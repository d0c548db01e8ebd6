// HTTP with one node: keep-alive connections, and answers of any status as text.
// For a plugin's compiler, which reads this file with a configuration of its own.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./undici-parts.d.ts" />
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { Pool } from 'undici'
import { linkAbort } from '../../core/base/async.ts'
import { NodeFailure } from './dialect.ts'
import { credentialsOf } from './url-secrets.ts'

const idleSeconds = 60
const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/** The node closed an idle connection just as it was used. The node works, and the request can be repeated. */
export class ConnectionClosedError extends NodeFailure {}

/** The answer is longer than is read. Who asked may ask for less. */
export class AnswerTooLongError extends NodeFailure {}

const tooLongCodes: ReadonlySet<string> = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE'])

export interface HttpResponse {
  readonly status: number
  /** Seconds, by its header. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

export interface Http {
  /** Posts JSON and gives the answer, whatever its status. Throws NodeFailure (ConnectionClosedError, AnswerTooLongError), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<HttpResponse>
  close(): Promise<void>
}

/** Keep-alive connections to one URL. `onDisconnected` is called when the last of them is closed. */
export function createHttp(
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
      if (tooLongCodes.has(code)) throw answerTooLong(limits.maxResponseBytes)
      throw new (closedCodes.has(code) ? ConnectionClosedError : NodeFailure)('unreachable', `cannot be reached (${code})`)
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
  } catch (error) {
    throw tooLongCodes.has(codeOf(error)) ? answerTooLong(maxOutputLength) : garbage(`sent an answer that is no ${encoding}`)
  }
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

const answerTooLong = (maxBytes: number) => new AnswerTooLongError('unreachable', `sent an answer of more than ${maxBytes / 2 ** 20} MB`)

export const garbage = (what: string): NodeFailure => new NodeFailure('unreachable', what)
