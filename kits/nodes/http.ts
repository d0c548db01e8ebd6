// HTTP with one node: keep-alive connections, and answers of any status as text.
import { channel } from 'node:diagnostics_channel'
import * as plain from 'node:http'
import * as secure from 'node:https'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { linkAbort, whenAborted } from '../../core/base/async.ts'
import { isTooManyParts } from '../../core/base/json.ts'
import { NodeFailure } from './dialect.ts'
import { credentialsOf } from './url-secrets.ts'

const idleSeconds = 60
const closedCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE'])

/** The node closed an idle connection just as it was used. The node works, and the request can be repeated. */
export class ConnectionClosedError extends NodeFailure {}

/**
 * The node answered a list of calls with one error, or with nothing, or closed the connection: whatever it says, a shorter list may be answered. `closed`: the
 * connection.
 */
export class ListRefusedError extends NodeFailure {
  readonly size: number
  readonly closed: boolean

  constructor(size: number, what: string, closed = false) {
    super('unreachable', `refused a batch of ${size} calls: ${what}`)
    this.size = size
    this.closed = closed
  }
}

/** The answer is longer than is read. Who asked may ask for less. */
export class AnswerTooLongError extends NodeFailure {}

export interface HttpResponse {
  readonly status: number
  /** Seconds, by its header. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

export interface Http {
  /** Posts JSON and gives the answer, whatever its status. Throws NodeFailure (ConnectionClosedError, AnswerTooLongError), or the signal's reason. */
  post(json: string, signal: AbortSignal): Promise<HttpResponse>
  /** For ever. */
  close(): void
}

/** A request to a node, as those who count them are told of it by the channels `sluice:node:begin` and `sluice:node:end`, the same object by both. */
export interface NodeTrip {
  readonly origin: string
  readonly body: string
}

const [tripBegins, tripEnds] = [channel('sluice:node:begin'), channel('sluice:node:end')]

/** Keep-alive connections to one URL. `onDisconnected` is called when the last of them is closed. */
export function createHttp(
  url: string,
  { timeoutMs, ...limits }: { timeoutMs: number; connections: number; maxResponseBytes: number },
  onDisconnected: () => void,
): Http {
  const target = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  if (target.username !== '') headers['authorization'] = `Basic ${credentialsOf(target.username, target.password)}`
  target.username = target.password = ''
  const isSecure = target.protocol === 'https:'
  const agent = new (isSecure ? secure : plain).Agent({ keepAlive: true, maxSockets: limits.connections, timeout: idleSeconds * 1000 })
  const known = new WeakSet<Socket>()
  const closed = new AbortController()
  let open = 0

  function watch(socket: Socket): void {
    if (known.has(socket)) return
    known.add(socket)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      open += 1
      socket.once('close', () => {
        open -= 1
        if (open === 0) onDisconnected()
      })
    })
  }

  const exchange = (json: string, signal: AbortSignal): Promise<{ response: plain.IncomingMessage; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const request = (isSecure ? secure : plain).request(target, { method: 'POST', agent, headers })
      const fail = (reason: unknown) => {
        reject(reason)
        request.destroy()
      }
      request.on('socket', watch)
      request.on('error', fail)
      request.on('response', (response) => {
        const parts: Buffer[] = []
        let bytes = 0
        response.on('error', fail)
        response.on('data', (part: Buffer) => {
          bytes += part.length
          if (bytes > limits.maxResponseBytes) fail(answerTooLong(limits.maxResponseBytes))
          else parts.push(part)
        })
        response.on('end', () => resolve({ response, body: Buffer.concat(parts) }))
      })
      // The request says nothing of it while it waits for a connection.
      whenAborted(signal, fail)
      request.end(json)
    })

  async function once(json: string, stop: AbortSignal): Promise<HttpResponse> {
    stop.throwIfAborted()
    const trip: NodeTrip = { origin: target.origin, body: json }
    tripBegins.publish(trip)
    const { response, body } = await exchange(json, stop)
    tripEnds.publish(trip)
    const encoding = (response.headers['content-encoding'] ?? '').trim()
    const isPlain = encoding === '' || encoding === 'identity'
    const text = isPlain ? body.toString() : await decompressed(encoding, body, limits.maxResponseBytes)
    if (isTooManyParts(text)) throw new AnswerTooLongError('unreachable', 'sent an answer of more lists, objects and fields than are read')
    const retryAfterSeconds = secondsOf(response.headers['retry-after'])
    return { status: response.statusCode ?? 0, retryAfterSeconds, body: text.codePointAt(0) === byteOrderMark ? text.slice(1) : text }
  }

  async function post(json: string, signal: AbortSignal): Promise<HttpResponse> {
    signal.throwIfAborted()
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), timeoutMs)
    const unlink = linkAbort(signal, stop)
    const unlinkClosed = linkAbort(closed.signal, stop)
    try {
      return await once(json, stop.signal)
    } catch (error) {
      if (error instanceof NodeFailure) throw error
      signal.throwIfAborted()
      if (closed.signal.aborted) throw new NodeFailure('unreachable', 'is not asked any more')
      if (stop.signal.aborted) throw new NodeFailure('unreachable', `did not answer within ${timeoutMs / 1000} s`)
      const code = codeOf(error)
      if (!closedCodes.has(code)) throw new NodeFailure('unreachable', `cannot be reached (${code})`)
      // The others may have been closed with it: whoever repeats the request gets a new one.
      for (const socket of Object.values(agent.freeSockets).flatMap((free) => free ?? [])) socket.destroy()
      throw new ConnectionClosedError('unreachable', `cannot be reached (${code})`)
    } finally {
      clearTimeout(timer)
      unlink()
      unlinkClosed()
    }
  }

  return {
    post,
    close() {
      closed.abort()
      agent.destroy()
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
async function decompressed(encoding: string, bytes: Buffer, maxOutputLength: number): Promise<string> {
  const decode = decoders.get(encoding.toLowerCase())
  if (!decode) throw garbage(`compresses its answers as ${encoding.slice(0, 20)}, which is not read`)
  try {
    return (await decode(bytes, { maxOutputLength })).toString()
  } catch (error) {
    throw codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? answerTooLong(maxOutputLength) : garbage(`sent an answer that is no ${encoding}`)
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
