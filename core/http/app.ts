import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type Router from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { SluiceError } from '../base/errors.ts'
import { didYouMean } from '../config/problems.ts'
import type { RefusedConnection } from '../tls/tls-server.ts'
import { createRequestSteps, type RequestStepsParts, type ShowError } from './request-steps.ts'
import { reportPath } from './answer-reports.ts'
import type { Connection } from './connections.ts'
import { directAnswers } from './direct.ts'
import { endWith } from './ending.ts'
import { createHostNames, isOfBrowser, type HostNames } from './host-names.ts'
import type { Limits } from './limits.ts'
import { isForeignRequest } from './origins.ts'
import { bodyReader, RequestState, type BodyNumbers } from './request.ts'
import { pageHeaders } from './responses.ts'

/** What callers find on one port. */
interface Interface {
  readonly router: Router<RequestState>
  /** Absent: as Sluice's own interface shows them. */
  readonly showError?: ShowError
  readonly numbers?: BodyNumbers
  /** Paths of pages for browsers, with all below them. */
  readonly pages?: readonly string[]
  /** Ends what would never end by itself. */
  end?(): void
}

export interface App {
  listener: RequestListener
  /** Told of each connection after its handshake. */
  connected(socket: TLSSocket): void
  /** Told of each connection that was closed because there were too many. */
  connectionRefused(reason: RefusedConnection): void
  /** Refuses requests from now on, and ends what would never end by itself. */
  refuseNew(): void
}

/** The way of a request: identity, limits, body, route, handler, answer. Each interface of the server is an app, with the same parts. */
export function createApp(parts: RequestStepsParts, { router, showError, numbers, pages = [], end }: Interface): App {
  const { settings, limits, metrics, log } = parts
  const { connectionOf } = limits
  const steps = createRequestSteps(parts, showError)
  const hosts = createHostNames(settings.server.host, () => metrics.otherHosts.inc())

  const koa = new Koa<RequestState>()
  koa.silent = true
  koa.use(identity(connectionOf))
  koa.use((ctx, next) => steps.settle(ctx.state, next))
  koa.use(rate(limits))
  koa.use(url)
  koa.use(ownPages)
  koa.use(ownNames(hosts, pages))
  koa.use(body(limits, settings.limits.bodyBytes, numbers))
  koa.use((ctx, next) => steps.inTurn(ctx.state, next))
  koa.use(routeLabel)
  koa.use(router.routes())
  koa.use(unknown(router))
  koa.on('error', (error: unknown) => log.warn({ err: error }, 'connection failed during an answer'))
  const throughKoa = koa.callback()
  const answersDirectly = directAnswers(
    router,
    steps,
    (state, isPing) => {
      limits.rate(state.caller, isPing)
      hosts.isOwn(state.req)
    },
    (error) => log.error({ err: error }, 'request failed by a defect'),
  )

  function begin(connection: Connection, req: IncomingMessage, res: ServerResponse): void {
    if (!answersDirectly(connection, req, res)) void throughKoa(req, res)
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
        void steps.fail(new RequestState(connection, req, res), error)
      }
    },
    connected: (socket) => void connectionOf(socket),
    connectionRefused: (reason) => metrics.connectionsRefused.inc({ reason }),
    refuseNew() {
      steps.refuseNew()
      end?.()
    },
  }
}

type Step = Middleware<RequestState>

const identity =
  (connectionOf: Limits['connectionOf']): Step =>
  (ctx, next) => {
    ctx.state = new RequestState(connectionOf(ctx.req.socket as TLSSocket), ctx.req, ctx.res)
    return next()
  }

const rate =
  (limits: Limits): Step =>
  (ctx, next) => {
    // What a proxy reports takes nothing from what its client may ask for.
    limits.rate(ctx.state.caller, ctx.req.url === reportPath)
    return next()
  }

/** Koa throws if the URL is invalid. */
const url: Step = (ctx, next) => {
  try {
    ctx.state.path = ctx.path
    ctx.state.query = ctx.querystring
  } catch {
    throw new SluiceError('INCOMPLETE_PARAMS', 'The URL of the request is malformed.')
  }
  return next()
}

/** A browser sends its certificate along with the requests of any page. What acts takes JSON besides, which no foreign page can send without being asked. */
const ownPages: Step = ({ req }, next) => {
  if (isForeignRequest(req)) throw new SluiceError('FORBIDDEN', 'A page of another origin may ask for nothing here.')
  return next()
}

/** Programs may know this server by a name of their own. */
const ownNames =
  ({ isOwn }: HostNames, pages: readonly string[]): Step =>
  ({ req, state: { path } }, next) => {
    if (!isOwn(req) && (isOfBrowser(req) || pages.some((page) => path === page || path.startsWith(`${page}/`)))) throw foreignName
    return next()
  }

const foreignName = new SluiceError(
  'FORBIDDEN',
  'The name in the header Host is none of this server: ask by its address, localhost, server.host or a name of its certificate (certs init --host).',
)

/** Its bytes count until the request is answered. */
function body({ bodies }: Limits, maxBytes: number, numbers?: BodyNumbers): Step {
  const read = bodyReader(maxBytes, undefined, bodies.hold, numbers)
  return (ctx, next) => {
    const reading = read(ctx)
    return reading ? whole(reading, ctx.state, next) : next()
  }

  async function whole(reading: Promise<RequestState['body'] | undefined>, state: RequestState, next: () => Promise<unknown>) {
    try {
      state.body = (await reading) ?? state.body
      await next()
    } finally {
      bodies.release(state)
    }
  }
}

/** For the metrics. */
const routeLabel: Step = async (ctx, next) => {
  try {
    await next()
  } finally {
    ctx.state.route ||= String(ctx._matchedRoute ?? '')
  }
}

/** 405 for another method of a known path, else 404. */
const unknown =
  ({ stack }: Router<RequestState>): Step =>
  (ctx) => {
    ctx.set(pageHeaders(ctx.state.requestId))
    const allowed = stack.filter((layer) => layer.match(ctx.path)).flatMap(({ methods }) => methods.filter((each) => each !== 'HEAD'))
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '))
      throw new SluiceError('INCOMPLETE_PARAMS', `${ctx.path} takes ${allowed.join(' and ')}, not ${ctx.method}.`, { http: 405 })
    }
    const paths = [...new Set(stack.map(({ path }) => String(path)))]
    const shown = ctx.path.slice(0, 80)
    const list = paths.includes('/openapi.json') ? '; GET /openapi.json lists them' : ''
    throw new SluiceError('INCOMPLETE_PARAMS', `There is no path ${shown}${didYouMean(ctx.path, paths)}${list}.`, { http: 404 })
  }
