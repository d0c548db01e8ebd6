import Router from '@koa/router'
import { builtDashboard } from '../base/layout.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { RequestStepsParts } from './request-steps.ts'
import { createApp, type App } from './app.ts'
import { addBuiltPage } from './built-page.ts'
import { addPages, type PageParts } from './pages.ts'
import type { RequestState } from './request.ts'
import { addEndpoints, type RouteParts } from './routes.ts'
import { createStreamedAnswers } from './streamed-answers.ts'

/** A table of routes whose paths have one spelling. */
export const createRouter = (): Router<RequestState> => new Router<RequestState>({ sensitive: true, strict: true })

type InterfaceParts = RequestStepsParts & RouteParts & PageParts & { clients: LiveClients }

/** Sluice's own interface: every endpoint of `core/api`, events, documents, metrics and the dashboard. */
export function createInterface(parts: InterfaceParts): App {
  const { events } = parts
  const router = createRouter()
  const streamedAnswers = createStreamedAnswers(parts)
  addEndpoints(router, parts, streamedAnswers)
  addPages(router, parts)
  addBuiltPage(router, { path: '/dashboard', folder: builtDashboard })
  return createApp(parts, {
    router,
    pages: ['/dashboard', '/docs'],
    end() {
      events.end()
      streamedAnswers.end()
    },
  })
}
