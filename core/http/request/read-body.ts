import bodyParser from 'koa-bodyparser'
import type Koa from 'koa'
import { SluiceError } from '../../api/index.ts'
import { refuseInexactNumbers } from './inexact-number.ts'

const noJson = 'The body must be a JSON object.'

/** Reads JSON bodies: 413 over the limit, 415 for another content type, 400 for what is no JSON object. */
export function readBody(mostBytes: number): Koa.Middleware[] {
  const parse = bodyParser({
    enableTypes: ['json'],
    jsonLimit: String(mostBytes),
    strict: true,
    onerror(error) {
      throw bodyError(error, mostBytes)
    },
  })
  return [refuseEncodings, refuseOtherTypes, parse, refuseOtherJson]
}

/** The parser would unpack it in a stream whose errors, and whose end when the caller is gone, nobody hears. */
const refuseEncodings: Koa.Middleware = async (ctx, next) => {
  if (!/^(identity)?$/i.test(ctx.get('content-encoding'))) {
    throw new SluiceError('INCOMPLETE_PARAMS', 'The body is compressed; send plain JSON without Content-Encoding.', { http: 415 })
  }
  return next()
}

const refuseOtherTypes: Koa.Middleware = async (ctx, next) => {
  const hasBody = ctx.request.length !== 0 || ctx.get('transfer-encoding') !== ''
  if (ctx.method !== 'HEAD' && hasBody && ctx.is('application/json') === false) {
    throw new SluiceError('INCOMPLETE_PARAMS', 'Send the body as JSON with the header Content-Type: application/json.', { http: 415 })
  }
  return next()
}

const refuseOtherJson: Koa.Middleware = async (ctx, next) => {
  const body: unknown = ctx.request.body
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw new SluiceError('INCOMPLETE_PARAMS', noJson)
  if (typeof ctx.request.rawBody === 'string') refuseInexactNumbers(ctx.request.rawBody)
  return next()
}

function bodyError(error: Error & { status?: number }, mostBytes: number): SluiceError {
  if (error.status === 413)
    return new SluiceError('INCOMPLETE_PARAMS', `The body is over ${mostBytes} bytes (limits.bodyBytes).`, { http: 413 })
  if (error.status === 415)
    return new SluiceError('INCOMPLETE_PARAMS', 'The character set of the body is not supported; send UTF-8.', { http: 415 })
  return new SluiceError('INCOMPLETE_PARAMS', `${noJson} It could not be read as one.`)
}
