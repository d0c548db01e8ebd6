import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type Koa from 'koa'
import { badFields, SluiceError } from '../base/errors.ts'
import type { Caller } from '../handlers/context.ts'
import { isObject } from '../base/json.ts'
import type { BodyBudget } from './body-budget.ts'
import type { Connection } from './connections.ts'
import type { ClientLoad } from './fair-queue.ts'

/** One request, and what is known of it while it is answered. */
export class RequestState {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** By `performance.now`. */
  readonly startedAt = performance.now()
  readonly requestId: string
  readonly connection: Connection
  readonly caller: Caller
  readonly client: ClientLoad
  /** Empty if the URL is malformed. */
  path = ''
  /** Without the question mark. */
  query = ''
  /** Empty if the request has none. */
  body: Readonly<Record<string, unknown>> = emptyBody
  /** The path of its endpoint; empty if there is none. */
  route = ''
  /** The label of metrics; empty if the request names none. */
  connector = ''
  /** Of its body, as the budget counts them. */
  heldBytes = 0

  constructor(connection: Connection, req: IncomingMessage, res: ServerResponse) {
    this.connection = connection
    this.caller = connection.caller
    this.client = connection.client
    this.req = req
    this.res = res
    this.requestId = readRequestId(req.headers['x-request-id'])
  }

  /** The Idempotency-Key, as it was sent. */
  get key(): unknown {
    return this.req.headers['idempotency-key']
  }

  /** What only reads needs no answer once its caller is gone. What acts is finished all the same. */
  get isAbandoned(): boolean {
    return this.req.socket.destroyed && (this.req.method === 'GET' || this.req.method === 'HEAD')
  }
}

const emptyBody: Readonly<Record<string, unknown>> = Object.freeze({})

/** The caller's own id if it is short and plain, otherwise a new one. */
const readRequestId = (header: string | string[] | undefined) =>
  typeof header === 'string' && /^[\w.:-]{1,64}$/.test(header) ? header : randomUUID()

/**
 * Reads the JSON body of a request that has one.
 * @param hold counts its bytes, and may refuse more
 * @param numbers what becomes of those that a double does not hold
 * @throws SluiceError INCOMPLETE_PARAMS: 413 over the limit, 415 for another content type or encoding, 400 for anything but a JSON object, and for one
 * that is nested deep
 */
export function bodyReader(
  maxBytes: number,
  load = async () => import('koa-bodyparser'),
  hold: BodyBudget['hold'] = () => {},
  numbers: BodyNumbers = 'exact',
): (ctx: Koa.ParameterizedContext<RequestState>) => Promise<RequestState['body'] | undefined> | undefined {
  let parser: Promise<Koa.Middleware> | undefined

  /** It comes with tables of all character sets, and bots that only read send no body. */
  async function loadParser(): Promise<Koa.Middleware> {
    const { default: bodyParser } = await load().catch((error: unknown) => {
      // The next request tries again.
      parser = undefined
      throw error
    })
    return bodyParser({
      enableTypes: ['json'],
      jsonLimit: String(maxBytes),
      strict: true,
      onerror(error) {
        throw bodyError(error, maxBytes)
      },
    })
  }

  async function read(ctx: Koa.ParameterizedContext<RequestState>): Promise<RequestState['body'] | undefined> {
    // The parser would decompress in a stream whose errors, and whose end when the caller is gone, go unnoticed.
    if (!/^(identity)?$/i.test(ctx.get('content-encoding')))
      throw new SluiceError('INCOMPLETE_PARAMS', 'The body is compressed; send plain JSON without Content-Encoding.', { http: 415 })
    const hasBody = ctx.request.length !== 0 || ctx.get('transfer-encoding') !== ''
    if (ctx.method !== 'HEAD' && hasBody && ctx.is('application/json') === false)
      throw new SluiceError('INCOMPLETE_PARAMS', 'Send the body as JSON with the header Content-Type: application/json.', { http: 415 })
    // The parser takes every body for UTF-8 (RFC 8259, section 8.1), of which ASCII is a part.
    if (!/^(utf-?8|us-ascii)?$/i.test(ctx.request.charset)) throw wrongCharset
    const parseBody = await (parser ??= loadParser())
    const parsing = parseBody(ctx, async () => {})
    const { req, state } = ctx
    const count = (piece: Buffer) => {
      try {
        hold(state, piece.length)
      } catch (error) {
        // The parser lets go of what it has. What still comes is dropped: the next request of the connection is behind it.
        req.off('data', count).emit('error', error)
        req.resume()
      }
    }
    // A body that is refused for its length is not read.
    if (req.listenerCount('data') > 0) req.on('data', count)
    try {
      await parsing
    } finally {
      req.off('data', count)
    }
    const { body, rawBody }: { body?: unknown; rawBody?: unknown } = ctx.request
    if (body !== undefined && !isObject(body)) throw new SluiceError('INCOMPLETE_PARAMS', notAnObject)
    if (isDeeper(body, maxDepth)) throw new SluiceError('INCOMPLETE_PARAMS', `The body is nested more than ${maxDepth} deep.`)
    if (typeof rawBody !== 'string' || rawBody === '') return body
    if (numbers === 'text') return body && numbersAsTexts(rawBody)
    refuseInexactNumbers(rawBody)
    return body
  }
  return (ctx) => (announcesBody(ctx.req.headers) ? read(ctx) : undefined)
}

/** Of the numbers in a body: those that a double does not hold are refused, or all come as the text that was written. */
export type BodyNumbers = 'exact' | 'text'

/** No request has ten. What reads a body calls itself for each level, and a process of a plugin takes no message that is nested more than 100 deep. */
const maxDepth = 50

const isDeeper = (value: unknown, most: number): boolean =>
  typeof value === 'object' && value !== null && (most === 0 || Object.values(value).some((each) => isDeeper(each, most - 1)))

const wrongCharset = new SluiceError('INCOMPLETE_PARAMS', 'The character set of the body is not supported; send UTF-8.', { http: 415 })

const notAnObject = 'The body must be a JSON object.'

export const announcesBody = (headers: IncomingHttpHeaders) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined

function bodyError(error: Error & { status?: number }, maxBytes: number): SluiceError {
  if (error instanceof SluiceError) return error
  if (error.status === 413)
    return new SluiceError('INCOMPLETE_PARAMS', `The body is over ${maxBytes} bytes (limits.bodyBytes).`, { http: 413 })
  if (error.status === 415) return wrongCharset
  return new SluiceError('INCOMPLETE_PARAMS', `${notAnObject} It could not be parsed.`)
}

/** Strings, to skip them, and numbers. */
const jsonTokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
/** A double holds any number of so many decimal digits. */
const exactDigits = 15

/** Refuses a body with a number that a double does not hold as written: the parser has rounded it already. */
function refuseInexactNumbers(json: string): void {
  for (const [token] of json.matchAll(jsonTokens)) {
    if (token.startsWith('"') || isExact(token)) continue
    const shown = token.slice(0, 40)
    throw badFields([{ field: 'body', problem: `the number ${shown} is not exact in JSON; write it as a string: "${shown}"` }])
  }
}

/** @param json that was parsed before */
function numbersAsTexts(json: string): Record<string, unknown> {
  return JSON.parse(json.replace(jsonTokens, (token) => (token.startsWith('"') ? token : `"${token}"`)))
}

function isExact(token: string): boolean {
  const value = Number(token)
  if (/^-?\d+$/.test(token) && Number.isSafeInteger(value)) return true
  const [mantissa = ''] = token.split(/e/i)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  // 1e400 became infinite, and 1e-400 became 0: an approval of 0 revokes.
  return digits.length <= exactDigits && Number.isFinite(value) && (value !== 0 || digits === '')
}
