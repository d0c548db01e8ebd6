// What no endpoint of the interface answers: events, documents and metrics.
import type Router from '@koa/router'
import type { Middleware } from 'koa'
import { eventsEndpoint } from '../api/index.ts'
import type { Events } from '../events/events.ts'
import type { Registry } from '../plugins/index.ts'
import type { Metrics } from './metrics.ts'
import { addDocuments } from './documents.ts'
import type { RequestState } from './request.ts'
import { pageHeaders } from './responses.ts'

export interface PageParts {
  registry: Registry
  events: Events
  metrics: Metrics
}

/** Who asks for the metrics within this time gets those of the last scrape: thousands of lines are not written for each. */
const scrapeMs = 1_000

const setHeaders: Middleware<RequestState> = (ctx, next) => {
  ctx.set(pageHeaders(ctx.state.requestId))
  return next()
}

export function addPages(router: Router<RequestState>, { registry, events, metrics }: PageParts): void {
  const add = (path: string, answer: Middleware<RequestState>) => void router.get(path, setHeaders, answer)
  add(eventsEndpoint.path, events.answer)
  addDocuments(add, registry)
  let scrape: { readonly at: number; readonly text: Promise<Buffer> } | undefined
  add('/metrics', async (ctx) => {
    const now = performance.now()
    if (!scrape || now - scrape.at >= scrapeMs) scrape = { at: now, text: metrics.registry.metrics().then((text) => Buffer.from(text)) }
    ctx.type = metrics.registry.contentType
    ctx.body = await scrape.text
  })
}
