import type { IncomingHttpHeaders } from 'node:http'
import { parse } from 'node:querystring'
import type Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { interfaceVersion, SluiceError, badFields, type Endpoint } from '../api/index.ts'
import type { Caller } from '../handlers/caller.ts'
import { fieldsReader, type FieldsReader } from '../handlers/read-fields.ts'
import { isObject } from '../json.ts'

/** What the pipeline knows of a request and its answer. */
export interface RequestState {
  caller: Caller
  requestId: string
  startedAt: number
  /** Empty where the URL is malformed. */
  path: string
  /** The path of its endpoint; empty where it is of none. */
  route: string
  /** For the metrics; empty where the request names none. */
  connector: string
}

/** What every answer says in its headers. */
export const responseHeaders = ({ requestId }: Pick<RequestState, 'requestId'>) => ({
  'X-Request-Id': requestId,
  'Sluice-Api-Version': interfaceVersion,
})

const noJson = 'The body must be a JSON object.'

/** Reads the JSON body of a request that has one: 413 over the limit, 415 for another content type, 400 for what is no JSON object. */
export function bodyReader(mostBytes: number): (ctx: Koa.Context) => Promise<void> | undefined {
  const parse = bodyParser({
    enableTypes: ['json'],
    jsonLimit: String(mostBytes),
    strict: true,
    onerror(error) {
      throw bodyError(error, mostBytes)
    },
  })

  async function read(ctx: Koa.Context): Promise<void> {
    refuseEncodings(ctx)
    refuseOtherTypes(ctx)
    await parse(ctx, nothing)
    refuseOtherJson(ctx)
  }
  return (ctx) => (announcesBody(ctx.req.headers) ? read(ctx) : undefined)
}

const nothing = async () => {}

const announcesBody = (headers: IncomingHttpHeaders) =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined

/** The parser would unpack it in a stream whose errors, and whose end when the caller is gone, nobody hears. */
function refuseEncodings(ctx: Koa.Context): void {
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new SluiceError('INCOMPLETE_PARAMS', 'The body is compressed; send plain JSON without Content-Encoding.', { http: 415 })
  }
}

function refuseOtherTypes(ctx: Koa.Context): void {
  const hasBody = ctx.request.length !== 0 || ctx.get('transfer-encoding') !== ''
  if (ctx.method !== 'HEAD' && hasBody && ctx.is('application/json') === false) {
    throw new SluiceError('INCOMPLETE_PARAMS', 'Send the body as JSON with the header Content-Type: application/json.', { http: 415 })
  }
}

function refuseOtherJson({ request }: Koa.Context): void {
  const body: unknown = request.body
  if (body !== undefined && !isObject(body)) throw new SluiceError('INCOMPLETE_PARAMS', noJson)
  if (typeof request.rawBody === 'string') refuseInexactNumbers(request.rawBody)
}

function bodyError(error: Error & { status?: number }, mostBytes: number): SluiceError {
  if (error.status === 413)
    return new SluiceError('INCOMPLETE_PARAMS', `The body is over ${mostBytes} bytes (limits.bodyBytes).`, { http: 413 })
  if (error.status === 415)
    return new SluiceError('INCOMPLETE_PARAMS', 'The character set of the body is not supported; send UTF-8.', { http: 415 })
  return new SluiceError('INCOMPLETE_PARAMS', `${noJson} It could not be read as one.`)
}

/** Strings, so as to pass over them, and numbers. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const exactDigits = 15

/**
 * Refuses a JSON body with a number that a double does not hold as written: the parser has rounded it already.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
function refuseInexactNumbers(json: string): void {
  for (const [token] of json.matchAll(tokens)) {
    if (token.startsWith('"') || isExact(token)) continue
    throw badFields([
      { field: 'body', problem: `the number ${token.slice(0, 40)} is not exact in JSON; write it as a string: "${token.slice(0, 40)}"` },
    ])
  }
}

function isExact(token: string): boolean {
  const value = Number(token)
  if (/^-?\d+$/.test(token) && Number.isSafeInteger(value)) return true
  const [mantissa = ''] = token.split(/e/i)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  // 1e400 became infinite, and 1e-400 became 0: an approval of 0 revokes.
  return digits.length <= exactDigits && Number.isFinite(value) && (value !== 0 || digits === '')
}

/** The fields of a query: a repeated one is a list. Every field counts, where the parser would stop after a thousand. */
export const readQuery = (search: string): Record<string, unknown> => parse(search, '&', '=', { maxKeys: 0 })

/** What turns the fields of a query or body into a checked request. @throws SluiceError INCOMPLETE_PARAMS with every problem */
export const requestReader = ({ request }: Endpoint): FieldsReader<Record<string, unknown>> => fieldsReader(request)

const mostKept = 500
const mostLength = 500

/** Reads queries, and remembers what it read: bots ask the same question again and again. What it gives is for reading only. */
export function cachedQueryReader<T extends object>(read: FieldsReader<T>): (search: string) => Readonly<T> {
  const kept = new Map<string, Readonly<T>>()
  return (search) => {
    const known = kept.get(search)
    if (known) return known
    const request = Object.freeze(read(readQuery(search), 'query'))
    if (search.length > mostLength) return request
    if (kept.size >= mostKept) kept.clear()
    kept.set(search, request)
    return request
  }
}
