import Type, { type Static } from 'typebox'
import { endpoint, request, response } from './endpoint.ts'
import { MarketName } from './clob/fields.ts'
import { ChainName, ConnectorName, NetworkName, WalletAddress } from './fields.ts'
import { JournaledTransaction } from './transactions.ts'

/** What can be followed. */
export const eventTopics = ['transactions', 'blocks', 'orderBook'] as const
export type EventTopic = (typeof eventTopics)[number]

export const EventsRequest = request({
  topics: Type.Optional(
    Type.Array(Type.Enum(eventTopics), {
      minItems: 1,
      uniqueItems: true,
      expects: `a list of what there is to follow: ${eventTopics.join(', ')}`,
      description: `Any of ${eventTopics.join(', ')}; transactions without it.`,
    }),
  ),
  chain: Type.Optional(ChainName),
  network: Type.Optional(NetworkName),
  address: Type.Optional(WalletAddress),
  connector: Type.Optional({ ...ConnectorName, description: 'Of orderBook: whose books.' }),
  market: Type.Optional(
    Type.Array(MarketName, {
      minItems: 1,
      maxItems: 500,
      expects: 'a list of at most 500 names of markets, such as WETH-USDC',
      description: 'Of orderBook: which books.',
    }),
  ),
  type: Type.Optional(
    Type.Enum(['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'], {
      expects: 'one of CLOB, MARGIN_CLOB, PERP_CLOB',
      description: 'Of orderBook: which kind of market is meant where a connector has several; the first that has the name without it.',
    }),
  ),
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      expects: 'an integer from 1 to 1000',
      description: 'Of orderBook: so many levels of each side at most; 20 without it.',
    }),
  ),
  lastEventId: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}(-\\d{1,15})?$',
      expects: 'the id of an event, such as 123 or 123-4',
      description: 'For clients that cannot set the header Last-Event-ID, which counts more. 0: all there ever was.',
    }),
  ),
})

/** `data` of an event of the topic `blocks`. */
export const Block = response({
  chain: Type.String(),
  network: Type.String(),
  number: Type.Number(),
  hash: Type.Optional(Type.String()),
  timestamp: Type.Number({ description: "The block's own, seconds since the Unix epoch." }),
})

const Level = Type.Object({ price: Type.String(), quantity: Type.String() })

/** `data` of an event of the topic `orderBook`. */
export const OrderBookNews = response({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  type: Type.Enum(['CLOB', 'MARGIN_CLOB', 'PERP_CLOB']),
  market: Type.String(),
  buys: Type.Array(Level, { description: 'Best first.' }),
  sells: Type.Array(Level, { description: 'Best first.' }),
  sequence: Type.Optional(Type.Number({ description: 'Increases with every change of this book.' })),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  blockNumber: Type.Optional(Type.Number({ description: 'The block that the book is of, where it is on chain.' })),
  stale: Type.Optional(
    Type.Boolean({ description: 'true: there is no book that may be shown now; an event follows when there is one again.' }),
  ),
})

/** `data` of one event, by its topic. */
export const EventsResponse = Type.Union([JournaledTransaction, Block, OrderBookNews])

export type OrderBookNews = Static<typeof OrderBookNews>
export type Block = Static<typeof Block>
export type EventsRequest = Static<typeof EventsRequest>
export type EventsResponse = Static<typeof EventsResponse>

/** Answered by a stream of events rather than by JSON. */
export const eventsEndpoint = endpoint({
  method: 'GET',
  set: 'Service',
  on: 'service',
  permission: 'read',
  wallet: true,
  name: 'Events',
  path: '/events',
  summary: 'Server-sent events: what becomes of transactions, new blocks, and order books.',
  errors: ['UNKNOWN_CHAIN_ERROR', 'UNKNOWN_CONNECTOR', 'UNKNOWN_ORDER', 'UNSUPPORTED', 'SERVICE_UNINITIALIZED', 'NETWORK'],
  request: EventsRequest,
  response: EventsResponse,
})
