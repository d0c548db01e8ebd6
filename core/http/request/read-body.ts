import type { IncomingHttpHeaders } from 'node:http'
import bodyParser from 'koa-bodyparser'
import type Koa from 'koa'
import { SluiceError } from '../../api/index.ts'
import { refuseInexactNumbers } from './inexact-number.ts'

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
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw new SluiceError('INCOMPLETE_PARAMS', noJson)
  if (typeof request.rawBody === 'string') refuseInexactNumbers(request.rawBody)
}

function bodyError(error: Error & { status?: number }, mostBytes: number): SluiceError {
  if (error.status === 413)
    return new SluiceError('INCOMPLETE_PARAMS', `The body is over ${mostBytes} bytes (limits.bodyBytes).`, { http: 413 })
  if (error.status === 415)
    return new SluiceError('INCOMPLETE_PARAMS', 'The character set of the body is not supported; send UTF-8.', { http: 415 })
  return new SluiceError('INCOMPLETE_PARAMS', `${noJson} It could not be read as one.`)
}
