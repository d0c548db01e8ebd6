import type Koa from 'koa'
import type { Logger } from 'pino'
import { eventsEndpoint, type EventsRequest, type EventTopic } from '../api/events.ts'
import type { JournaledTransaction } from '../api/index.ts'
import { pathsHider } from '../config/shown-paths.ts'
import { SluiceError } from '../base/errors.ts'
import type { Payer } from '../base/fair-turns.ts'
import { requirePermission, requireWallet, visibleWallets, type Caller, type Services } from '../handlers/context.ts'
import { fieldsReader, readQuery } from '../config/field-reader.ts'
import { journalView, showTransaction } from '../handlers/journaled.ts'
import { createApprovalTopic } from './approvals.ts'
import { createBlockFeed, createBlockTopic } from './blocks.ts'
import { createBookTopic } from './order-books.ts'
import { createDeliveryTopic } from './deliveries.ts'
import { createPluginTopic } from './plugins.ts'
import { createPositionTopic } from './positions.ts'
import { createPriceTopic } from './prices.ts'
import { createStopTopic } from './stops.ts'
import { createStreams, eventStream, frame, parsePosition } from './stream.ts'
import { createLatestUpdates, type Topic } from './topic.ts'
import { createTransactionChanges } from './transactions.ts'
import { addressKey } from '../base/addresses.ts'

/** What follows each topic, for all streams together. */
function createTopics({ services, log }: EventsParts): { readonly [Name in LatestTopic]: Topic<Name> } {
  const { registry, books, settings } = services
  const blocks = createBlockFeed(log)
  return {
    blocks: createBlockTopic(blocks, registry),
    orderBook: createBookTopic(registry, books),
    plugins: createPluginTopic(registry, pathsHider(settings)),
    price: createPriceTopic(services),
    positions: createPositionTopic({ services, blocks, timeoutMs: settings.server.requestTimeoutSeconds * 1000, log }),
    stops: createStopTopic(services.stops),
    approvals: createApprovalTopic(services.approvals),
    deliveries: createDeliveryTopic(services.deliveries, log),
  }
}

/** The topics that tell the latest. `transactions` is another one: it tells every change, from any position of the journal. */
type LatestTopic = Exclude<EventTopic, 'transactions'>

const headers = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  // nginx would collect events before it passes them on.
  'X-Accel-Buffering': 'no',
  Connection: 'close',
}

export interface Events {
  answer: Koa.Middleware<{ caller: Caller; client: Payer }>
  /** Ends the streams about a connector, of which another version runs or none: their clients come again, and follow that. */
  endOf(connector: string): void
  /** Ends all streams and opens no more. */
  end(): void
}

interface EventsParts {
  services: Services
  metrics: { eventStreams: { inc(): void; dec(): void } }
  log: Logger
}

/** Answers GET /events. */
export function createEvents(parts: EventsParts): Events {
  const {
    services: { transactions, registry, settings, turns, clients },
    metrics: { eventStreams },
    log,
  } = parts
  const read = fieldsReader(eventsEndpoint.request)
  const streams = createStreams(log, settings.limits)
  // Their clients come again, and see what they may see by then.
  clients.onChange((changes) => {
    if (changes.some(({ key }) => !key.startsWith('limits.'))) streams.endOpen()
  })
  const latestTopics = createTopics(parts)
  const view = journalView(transactions, registry)
  const changes = createTransactionChanges(
    transactions.events,
    ({ id, entry }) => frame('transactions', String(id), toldOf(showTransaction(entry, view))),
    log,
  )

  return {
    endOf: (connector) => streams.endOf(connector),
    end: () => streams.end(),
    async answer(ctx) {
      if (ctx.method !== 'GET') {
        ctx.set('Allow', 'GET')
        throw new SluiceError('INCOMPLETE_PARAMS', `/events takes GET, not ${ctx.method}.`, { http: 405 })
      }
      const { caller } = ctx.state
      requirePermission(caller, 'read')
      const lastEventId = ctx.get('last-event-id')
      const fields = readQuery(ctx.querystring)
      // A client that reconnects by itself sends its first URL again: the header is newer.
      const request: EventsRequest = read(lastEventId === '' ? fields : { ...fields, lastEventId }, 'query')
      const { topics = ['transactions'], chain, network, address } = request
      if (address !== undefined) requireWallet(caller, address)

      const { connector = [], connectors = [] } = request
      const stream = streams.open(caller, [connector, connectors].flat())
      eventStreams.inc()
      stream.onEnd(() => eventStreams.dec())
      try {
        const { notifier, signal } = stream
        stream.onEnd(await changes.follow(notifier.notify))
        const { change, others } = parsePosition(request.lastEventId ?? '')
        const from = { change: await changes.startAfter(request.lastEventId === undefined ? undefined : change), others }
        const at = { signal: AbortSignal.any([signal, AbortSignal.timeout(settings.server.requestTimeoutSeconds * 1000)]) }
        turns.chargeTo(at.signal, ctx.state.client)
        const latest = createLatestUpdates(notifier.notify)
        stream.onEnd(latest.end)
        const found = []
        for (const [name, topic] of Object.entries(latestTopics))
          if (topics.some((each) => each === name)) found.push(...(await topic.find(request, at, caller)))
        for (const subscribe of found) latest.follow(subscribe)

        ctx.respond = false
        ctx.status = 200
        ctx.set(headers)
        const addresses = address === undefined ? visibleWallets(caller) : new Set([addressKey(address)])
        const text = eventStream({
          from,
          about: { topics },
          ...(topics.includes('transactions') && { transactions: { changes, filter: { chain, network, addresses } } }),
          latest,
          notifier,
          signal,
          onError: (error) => log.warn({ err: error }, 'an event stream could not read the journal; retrying'),
        })
        stream.send(text, ctx.res)
      } catch (error) {
        stream.close()
        throw error
      }
    },
  }
}

/** An event is the same whenever it is read: of the times at which an attempt was sent, and of the nodes that took it, the journal keeps the last alone. */
const toldOf = (transaction: JournaledTransaction): JournaledTransaction => ({
  ...transaction,
  attempts: transaction.attempts.map(({ sentAt: _sentAt, node: _node, ...attempt }) => attempt),
})
