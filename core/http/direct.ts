// The direct way: a GET from memory costs as much as Koa's context for it, so it is answered beside Koa, from the same table of routes.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type Router from '@koa/router'
import type { Middleware } from 'koa'
import type { RequestSteps } from './request-steps.ts'
import { isOfBrowser } from './host-names.ts'
import type { Connection } from './connections.ts'
import { announcesBody, RequestState } from './request.ts'

/** Answers a request without a context of Koa. */
export type Route = (state: RequestState) => void | Promise<void>

interface DirectRoute {
  readonly route: Route
  readonly isPing: boolean
}

const routes = new WeakMap<object, DirectRoute>()

/** The route as middleware for @koa/router. Its GETs go the direct way. */
export function withoutContext(route: Route, isPing = false): Middleware<RequestState> {
  const middleware: Middleware<RequestState> = (ctx) => {
    ctx.respond = false
    return route(ctx.state)
  }
  routes.set(middleware, { route, isPing })
  return middleware
}

/** The GETs that a router has for routes without context, by their paths. */
function directRoutes({ stack }: Router<RequestState>): ReadonlyMap<string, DirectRoute> {
  const found = new Map<string, DirectRoute>()
  for (const { path, methods, stack: middlewares } of stack) {
    const [only, ...more] = middlewares
    const route = only && more.length === 0 ? routes.get(only) : undefined
    if (route && typeof path === 'string' && methods.includes('GET')) found.set(path, route)
  }
  return found
}

/** With a fragment, or a character that a URL must encode. */
const oddUrl = /[^!-~]|#/

/** Answers a request, or returns false where it has to go through Koa. */
export type AnswerDirectly = (connection: Connection, req: IncomingMessage, res: ServerResponse) => boolean

/** @param admit throws for a request, or a ping, that its client may not send now */
export function directAnswers(
  router: Router<RequestState>,
  { settle, inTurn }: RequestSteps,
  admit: (state: RequestState, isPing: boolean) => void,
  onDefect: (error: unknown) => void,
): AnswerDirectly {
  const routeOf = directRoutes(router)
  return (connection, req, res) => {
    const { method, url = '', headers } = req
    if (method !== 'GET' || announcesBody(headers) || oddUrl.test(url) || isOfBrowser(req)) return false
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    const known = routeOf.get(path)
    if (!known) return false
    const { route, isPing } = known
    const state = new RequestState(connection, req, res)
    state.path = path
    state.query = mark < 0 ? '' : url.slice(mark + 1)
    const answering = settle(state, () => {
      admit(state, isPing)
      return inTurn(state, () => route(state), isPing)
    })
    answering?.catch(onDefect)
    return true
  }
}
