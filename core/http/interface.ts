import Router from '@koa/router'
import type { RequestStepsParts } from './request-steps.ts'
import { createApp, type App } from './app.ts'
import { addPages, type PageParts } from './pages.ts'
import type { RequestState } from './request.ts'
import { addEndpoints, type RouteParts } from './routes.ts'

/** A table of routes whose paths have one spelling. */
export const createRouter = (): Router<RequestState> => new Router<RequestState>({ sensitive: true, strict: true })

/** Sluice's own interface: every endpoint of `core/api`, events, documents and metrics. */
export function createInterface(parts: RequestStepsParts & RouteParts & PageParts): App {
  const { events } = parts
  const router = createRouter()
  addEndpoints(router, parts)
  addPages(router, parts)
  return createApp(parts, { router, end: () => events.end() })
}
