import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import Router from '@koa/router'
import Koa from 'koa'
import type { Logger } from 'pino'
import { endpoints, eventsEndpoint } from '../api/index.ts'
import { isAbort } from '../base/async.ts'
import { didYouMean } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { pathsHider } from '../config/shown-paths.ts'
import { SluiceError } from '../base/errors.ts'
import { printableTexts } from '../base/printable.ts'
import type { Events } from '../events/events.ts'
import type { Caller, Services } from '../handlers/context.ts'
import type { RefusedConnection } from '../tls/tls-server.ts'
import { createBodyBudget } from './body-budget.ts'
import { identify, unsentWatch, type Connection } from './connections.ts'
import { endWith } from './ending.ts'
import { createFairQueue } from './fair-queue.ts'
import type { Metrics } from './metrics.ts'
import { documents } from './openapi.ts'
import { announcesBody, bodyReader, RequestState } from './request.ts'
import { alsoPosts, createRoutes, jsonHeaders, responseHeaders, type RouteParts } from './routes.ts'

interface AppParts extends RouteParts {
  services: Services
  settings: Settings
  metrics: Metrics
  events: Events
  log: Logger
}

export interface App {
  listener: RequestListener
  /** Told of each connection after its handshake. */
  connected(socket: TLSSocket): void
  /** Told of each connection that was closed because there were too many. */
  connectionRefused(reason: RefusedConnection): void
  /** Refuses requests from now on, and ends the streams of events, which would otherwise never end. */
  refuseNew(): void
}

/** The way of a request: identity, limits, body, route, handler, answer. */
export function createApp(parts: AppParts): App {
  const { settings, metrics, log, events } = parts
  const queue = createFairQueue({ maxInFlight: settings.limits.inFlight, maxWaitMs: settings.server.requestTimeoutSeconds * 1000 })
  const limitRate = rateLimit()
  const hidePaths = pathsHider(settings)
  const connectionOf = identify(settings, () => metrics.connectionsRefused.inc({ reason: 'certificate' }))
  const watchUnsent = unsentWatch()
  const routeOf = createRoutes(parts)
  /** By `performance.now`. */
  let stoppedAt = Infinity

  /** @param work answers the request, or throws why it is refused */
  function handle(state: RequestState, work: () => void | Promise<void>): void | Promise<void> {
    try {
      limitRate(state.caller)
      const working = work()
      if (working)
        return working.then(
          () => end(state),
          (error: unknown) => fail(state, error),
        )
    } catch (error) {
      return fail(state, error)
    }
    end(state)
  }

  /** In flight, or waiting for it, only once it has arrived: a slow sender takes no place. */
  function answer(state: RequestState, work: () => void | Promise<void>): void | Promise<void> {
    // After the body has been read: the connection is closed after this answer, and unread data would be answered by a reset.
    if (state.startedAt >= stoppedAt) throw stopping
    return queue.run(state, work)
  }

  function fail(state: RequestState, error: unknown): void {
    const { requestId, path, res } = state
    const { http, code, name, body, retryAfterSeconds } = errorBody(error, requestId)
    metrics.errors.inc({ code, name })
    if (error instanceof SluiceError && error.bound) metrics.requestsRefused.inc({ bound: error.bound })
    if (name === 'UNKNOWN_ERROR') log.error({ err: error, requestId, path }, 'request failed by a defect')
    if (isAbort(error)) log.warn({ err: error, requestId, path }, 'request failed because a wait was ended')
    const json = hidePaths(JSON.stringify(body))
    const retryAfter = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }
    if (!res.headersSent) res.writeHead(http, { ...jsonHeaders(requestId, json), ...retryAfter }).end(json)
    end(state)
  }

  /** Every request is measured and logged. */
  function end({ startedAt, requestId, caller, connection, path, connector, route, req: { method = '' }, res }: RequestState): void {
    const { statusCode } = res
    watchUnsent(connection, res)
    const seconds = (performance.now() - startedAt) / 1000
    metrics.requests.count(route || 'unknown', method, statusCode, connector, seconds)
    const level = (method === 'POST' || method === 'DELETE') && statusCode !== 404 ? 'info' : 'debug'
    if (log.isLevelEnabled(level))
      log[level]({ requestId, client: caller.commonName, method, path, status: statusCode, ms: Math.round(seconds * 1000) }, 'answered')
  }

  const throughKoa = createKoa(parts, { handle, answer, routeOf, connectionOf })

  /** A GET of an endpoint, most of them quotes from memory, needs no context of Koa: to make one costs as much as such an answer. */
  function answerDirectly(connection: Connection, req: IncomingMessage, res: ServerResponse): boolean {
    const { method, url = '', headers } = req
    if (method !== 'GET' || announcesBody(headers) || oddUrl.test(url)) return false
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const route = routeOf(method, path)
    if (!route) return false
    const state = new RequestState(connection, req, res)
    state.path = path
    state.query = mark < 0 ? '' : url.slice(mark + 1)
    const handling = handle(state, () => answer(state, () => route(state)))
    handling?.catch((error: unknown) => log.error({ err: error }, 'request failed by a defect'))
    return true
  }

  function begin(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    if (!answerDirectly(connection, req, res)) throughKoa(req, res)
  }

  return {
    listener(req, res) {
      const connection = connectionOf(req.socket as TLSSocket)
      if (connection.takes(res)) return begin(connection, req, res)
      try {
        connection.wait(res, () => begin(connection, req, res))
      } catch (error) {
        // Answers to all that is behind it would pile up, at no cost to the client.
        if (connection.isAnswering) endWith(res)
        fail(new RequestState(connection, req, res), error)
      }
    },
    connected: (socket) => void connectionOf(socket),
    connectionRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
    refuseNew() {
      stoppedAt = performance.now()
      events.end()
    },
  }
}

/** With a fragment, or a character that a URL must encode. */
const oddUrl = /[^!-~]|#/

const stopping = new SluiceError(
  'OVERLOADED',
  'The server is stopping: nothing was done for this request. Send it again on a new connection, to another server or when this one is back.',
  { retryAfterSeconds: 5 },
)

interface RequestSteps {
  handle(state: RequestState, work: () => void | Promise<void>): void | Promise<void>
  answer(state: RequestState, work: () => void | Promise<void>): void | Promise<void>
  routeOf: ReturnType<typeof createRoutes>
  connectionOf: ReturnType<typeof identify>
}

/** Requests with a body, and those to documents and streams. */
function createKoa(parts: AppParts, { handle, answer, routeOf, connectionOf }: RequestSteps): RequestListener {
  const { settings, log } = parts
  const app = new Koa<RequestState>()
  app.silent = true
  const budget = createBodyBudget(settings.limits)
  const readBody = bodyReader(settings.limits.bodyBytes, undefined, budget.hold)

  app.use((ctx, next) => {
    const state = new RequestState(connectionOf(ctx.req.socket as TLSSocket), ctx.req, ctx.res)
    ctx.state = state
    return handle(state, async () => {
      try {
        state.path = readPath(ctx)
        state.query = ctx.querystring
        state.body = (await readBody(ctx)) ?? state.body
        const route = routeOf(ctx.method, state.path)
        if (route) {
          ctx.respond = false
          return await answer(state, () => route(state))
        }
        ctx.set({ ...responseHeaders(state.requestId), ...pageHeaders })
        try {
          await answer(state, next)
        } finally {
          state.route = String(ctx._matchedRoute ?? '')
        }
      } finally {
        budget.release(state)
      }
    })
  })
  app.use(pages(parts).routes())
  app.use((ctx) => refuseUnknown(ctx))
  app.on('error', (error: unknown) => log.warn({ err: error }, 'connection failed during an answer'))
  const callback = app.callback()
  return (req, res) => void callback(req, res)
}

/** Koa throws if the URL is invalid. */
function readPath(ctx: Koa.Context): string {
  try {
    return ctx.path
  } catch {
    throw new SluiceError('INCOMPLETE_PARAMS', 'The URL of the request is malformed.')
  }
}

/**
 * What a caller sees of an error. A wait that was ended becomes TIMEOUT. Whatever else is not a SluiceError becomes UNKNOWN_ERROR, with the
 * details in the log only.
 */
export function errorBody(error: unknown, requestId: string) {
  const { name, code, http, message, details, retryAfterSeconds } =
    error instanceof SluiceError ? error : isAbort(error) ? endedWait : defect
  return {
    http,
    code,
    name,
    retryAfterSeconds,
    body: {
      errorCode: code,
      name,
      message,
      httpErrorCode: http,
      requestId,
      ...(details !== undefined && { details: printableTexts(details) }),
    },
  }
}

const endedWait = new SluiceError('TIMEOUT', 'What the request needs was not there in time. Try again shortly.', { retryAfterSeconds: 1 })

const defect = new SluiceError('UNKNOWN_ERROR', 'Something is wrong in the server or a plugin; its log has more under this requestId.')

/** No page of others may load a page of ours as its own, and no browser may take it for another type. */
const pageHeaders = { 'X-Content-Type-Options': 'nosniff', 'Cross-Origin-Resource-Policy': 'same-origin' }

/** Who asks for the metrics within this time gets those of the last scrape: thousands of lines are not written for each. */
const scrapeMs = 1_000

/** What no handler answers: events, documents and metrics. */
function pages({ services, metrics, events }: AppParts): Router<RequestState> {
  const router = documents<RequestState>(services.registry)
  router.get(eventsEndpoint.path, events.answer)
  let scrape: { readonly at: number; readonly text: Promise<Buffer> } | undefined
  router.get('/metrics', async (ctx) => {
    const now = performance.now()
    if (!scrape || now - scrape.at >= scrapeMs) scrape = { at: now, text: metrics.registry.metrics().then((text) => Buffer.from(text)) }
    ctx.type = metrics.registry.contentType
    ctx.body = await scrape.text
  })
  return router
}

const pagePaths = [eventsEndpoint.path, '/docs', '/openapi.json', '/metrics']
const paths = [...new Set([...endpoints.map(({ path }) => path), ...pagePaths])]

/** 405 for another method of a known path, else 404. */
function refuseUnknown(ctx: Koa.Context): never {
  const allowed = endpoints
    .filter(({ path }) => path === ctx.path)
    .flatMap((each) => (alsoPosts(each) ? [each.method, 'POST'] : [each.method]))
  if (pagePaths.includes(ctx.path)) allowed.push('GET')
  if (allowed.length > 0) {
    ctx.set('Allow', allowed.join(', '))
    throw new SluiceError('INCOMPLETE_PARAMS', `${ctx.path} takes ${allowed.join(' and ')}, not ${ctx.method}.`, { http: 405 })
  }
  const shown = ctx.path.slice(0, 80)
  throw new SluiceError('INCOMPLETE_PARAMS', `There is no path ${shown}${didYouMean(ctx.path, paths)}; GET /openapi.json lists them.`, {
    http: 404,
  })
}

/** A token bucket for each certificate that has a rate of its own. The rate per second is also the burst. */
export function rateLimit(now: () => number = () => performance.now()) {
  const buckets = new Map<string, { tokens: number; at: number }>()
  /** @throws SluiceError RATE_LIMIT */
  return ({ fingerprint, requestsPerSecond }: Caller): void => {
    if (requestsPerSecond === undefined) return
    const max = Math.max(1, requestsPerSecond)
    const bucket = buckets.get(fingerprint) ?? { tokens: max, at: now() }
    buckets.set(fingerprint, bucket)
    bucket.tokens = Math.min(max, bucket.tokens + ((now() - bucket.at) / 1000) * requestsPerSecond)
    bucket.at = now()
    if (bucket.tokens < 1) {
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / requestsPerSecond))
      throw new SluiceError('RATE_LIMIT', `This client certificate may send ${requestsPerSecond} requests a second (conf/clients.yml).`, {
        retryAfterSeconds,
        bound: 'requestsPerSecond',
      })
    }
    bucket.tokens -= 1
  }
}
