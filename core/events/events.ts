import type Koa from 'koa'
import type { Logger } from 'pino'
import { badFields, eventsEndpoint, SluiceError, type EventsRequest } from '../api/index.ts'
import { requirePermission, requireWallet, visibleWallets } from '../handlers/caller.ts'
import type { Services } from '../handlers/context.ts'
import { findNetworks } from '../handlers/registry.ts'
import { showTransaction } from '../handlers/service.ts'
import { createBookTopic, findBooks } from './order-books.ts'
import { createTransactionChanges } from './transactions.ts'
import { frame, parsePosition, type StreamPosition, eventStream, createStreams } from './stream.ts'
import { createBlockTopic } from './blocks.ts'
import { findPositions, createPositionTopic } from './positions.ts'
import { findPrices, createPriceTopic } from './prices.ts'
import { createLatestUpdates } from './topic.ts'
import { type RequestState, readQuery, requestReader } from '../http/request.ts'
import type { Metrics } from '../http/metrics.ts'

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  // nginx would gather events before it passes them on.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
}

export interface Events {
  answer: Koa.Middleware<RequestState>
  /** Ends all streams and opens no more. */
  end(): void
}

interface EventsParts {
  services: Services
  metrics: Pick<Metrics, 'eventStreams'>
  log: Logger
}

/** GET /events: one reader of the journal, one of each network's blocks, of each book, price and wallet's positions for all streams, however many there are. */
export function createEvents({
  services: { transactions, registry: directory, books, quotes, settings },
  metrics: { eventStreams },
  log,
}: EventsParts): Events {
  const read = requestReader(eventsEndpoint)
  const streams = createStreams(log)
  const heads = createBlockTopic(log)
  const bookNews = createBookTopic(books)
  const priceNews = createPriceTopic(quotes)
  const timeoutMs = settings.server.requestTimeoutSeconds * 1000
  const positionNews = createPositionTopic({ heads, timeoutMs, log })
  const changes = createTransactionChanges(
    transactions.events,
    ({ id, entry }) => frame('transactions', String(id), showTransaction(entry, transactions.status)),
    log,
  )

  /** @throws SluiceError INCOMPLETE_PARAMS where the journal never had an event of that id */
  async function startOf(lastEventId: string | undefined): Promise<StreamPosition> {
    if (lastEventId === undefined) return { change: changes.newest(), others: 0 }
    const from = parsePosition(lastEventId)
    // Another server may have written what the reader here will find a moment later.
    const newest = from.change <= changes.newest() ? changes.newest() : await transactions.events.lastId()
    if (from.change <= newest) return from
    const problem = `${lastEventId} is of another journal: the newest event of this one is ${newest}. Leave it out, and read /transactions for what you missed`
    throw badFields([{ field: 'lastEventId', problem }])
  }

  return {
    end: () => streams.end(),
    async answer(ctx) {
      if (ctx.method !== 'GET') {
        ctx.set('Allow', 'GET')
        throw new SluiceError('INCOMPLETE_PARAMS', `/events takes GET, not ${ctx.method}.`, { http: 405 })
      }
      const { caller } = ctx.state
      requirePermission(caller, 'read')
      const header = ctx.get('last-event-id')
      const fields = readQuery(ctx.querystring)
      // A client that comes back by itself keeps the URL that it had at first: the header is newer.
      const request: EventsRequest = read(header === '' ? fields : { ...fields, lastEventId: header }, 'query')
      const { topics = ['transactions'], chain, network, address } = request
      if (address !== undefined) requireWallet(caller, address)
      const networks = topics.includes('blocks') ? findNetworks(directory, { chain, network }) : []

      const stream = streams.open(caller)
      eventStreams.inc()
      stream.onEnd(() => eventStreams.dec())
      try {
        const { bell, signal } = stream
        stream.onEnd(await changes.follow(bell.notify))
        const from = await startOf(request.lastEventId)
        const addresses = address === undefined ? visibleWallets(caller) : new Set([address.toLowerCase()])
        const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
        const named = topics.includes('orderBook') ? await findBooks(directory, request, { signal: within }) : []
        const priced = topics.includes('price') ? await findPrices(directory, request, { signal: within }) : []
        const held = topics.includes('positions') ? await findPositions(directory, request, { signal: within }) : []
        const newest = createLatestUpdates(bell.notify)
        stream.onEnd(newest.end)
        for (const each of networks) newest.follow((ring) => heads.follow(each, ring))
        for (const each of named) newest.follow((ring) => bookNews.follow(each, ring))
        for (const each of priced) newest.follow((ring) => priceNews.follow(each, ring))
        for (const each of held) newest.follow((ring) => positionNews.follow(each, ring))

        ctx.respond = false
        ctx.status = 200
        ctx.set(headers)
        const text = eventStream({
          from,
          about: { topics },
          ...(topics.includes('transactions') && { changes: { source: changes, wanted: { chain, network, addresses } } }),
          newest,
          bell,
          signal,
          troubled: (error) => log.warn({ err: error }, 'a stream of events could not read the journal; it tries again'),
        })
        stream.send(text, ctx.res)
      } catch (error) {
        stream.close()
        throw error
      }
    },
  }
}
