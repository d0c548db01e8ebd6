import Type, { type Static } from 'typebox'
import {
  endpoint,
  request,
  response,
  ChainName,
  ConnectorName,
  Decimal,
  decimalPattern,
  NetworkName,
  Side,
  TokenName,
  WalletAddress,
} from './endpoint.ts'
import { Hop, Version } from './amm.ts'
import { shownRangePosition } from './range.ts'
import { shownBookPosition } from './clob/accounts.ts'
import { MarketName } from './clob.ts'
import { shownPosition } from './perp-amm.ts'
import { JournaledTransaction } from './service.ts'

/** What can be followed. */
export const eventTopics = ['transactions', 'blocks', 'orderBook', 'price', 'positions'] as const
export type EventTopic = (typeof eventTopics)[number]

/** Neither a token's name nor a side has a colon in it, and lists are split at commas. */
const questionPattern = `^[^:,]{1,256}:[^:,]{1,256}:([bB][uU][yY]|[sS][eE][lL][lL]):${decimalPattern.slice(1)}`
const mostPrices = 1_000
const shape = 'BASE:QUOTE:SIDE:AMOUNT, such as WETH:USDC:SELL:1.5'

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
  address: Type.Optional({ ...WalletAddress, description: 'Of transactions: only those of this wallet. Of positions: whose.' }),
  connector: Type.Optional({
    ...ConnectorName,
    description: 'Of orderBook: whose books. Of price: whose prices. Of positions: where they are.',
  }),
  market: Type.Optional(
    Type.Array(MarketName, {
      minItems: 1,
      maxItems: 500,
      expects: 'a list of at most 500 names of markets, such as WETH-USDC',
      description: 'Of orderBook: which books. Of positions in order books: only those in these markets.',
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
  price: Type.Optional(
    Type.Array(Type.String({ pattern: questionPattern, maxLength: 800 }), {
      minItems: 1,
      maxItems: mostPrices,
      expects: `a list of at most ${mostPrices} prices, each ${shape}`,
      description: `Of price: which prices, each ${shape}.`,
    }),
  ),
  base: Type.Optional({
    ...TokenName,
    description:
      'Of price: one price by base, quote, side and amount, as the price of an AMM is asked for. Of positions of PERP_AMM: only the one in the market of base and quote.',
  }),
  quote: Type.Optional({ ...TokenName, description: 'Of price, and of positions of PERP_AMM.' }),
  side: Type.Optional({ ...Side, description: 'Of price.' }),
  amount: Type.Optional(Decimal('Of price: of the base token.')),
  version: Type.Optional({ ...Version, description: 'Of price: only through pools of this version.' }),
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

/** Why there is nothing else to be told. */
const NewsError = (description: string) =>
  Type.Object({ errorCode: Type.Number(), name: Type.String(), message: Type.String() }, { description })

/** `data` of an event of the topic `price`. */
export const PriceNews = response({
  asked: Type.String({ description: 'The price as it was asked for: BASE:QUOTE:SIDE:AMOUNT.' }),
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  version: Type.Optional(Type.String()),
  base: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  quote: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  side: Side,
  amount: Type.String({ description: 'Of the base token.' }),
  price: Type.Optional(Type.String({ description: 'Quote per one base; rounded up for BUY and down for SELL.' })),
  expectedAmount: Type.Optional(Type.String({ description: 'Quote tokens to pay (BUY) or to receive (SELL).' })),
  route: Type.Optional(Type.Array(Hop)),
  blockNumber: Type.Optional(Type.Number({ description: 'The block since which it is so: it holds until the next event.' })),
  timestamp: Type.Number({
    description: "Milliseconds since the Unix epoch: of the block, or of the server's clock where there is no price.",
  }),
  source: Type.Optional(Type.Literal('memory')),
  stale: Type.Optional(Type.Boolean({ description: 'true: nothing can be said of it now; an event follows when there is a price again.' })),
  error: Type.Optional(NewsError('Why the exchange gives no price; an event follows when it gives one.')),
})

/** `data` of an event of the topic `positions`. */
export const PositionsNews = response({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  address: Type.String(),
  positions: Type.Optional(
    Type.Array(Type.Union([shownBookPosition, shownPosition, Type.Object(shownRangePosition)]), {
      description: 'All that the wallet has there, each as it is shown to who asks for it.',
    }),
  ),
  unshown: Type.Optional(Type.Array(Type.Object({ tokenId: Type.String(), reason: Type.String() }))),
  blockNumber: Type.Optional(Type.Number({ description: 'The block that they are of, where they are on chain.' })),
  timestamp: Type.Number({ description: 'When the exchange was asked: milliseconds since the Unix epoch.' }),
  stale: Type.Optional(Type.Boolean({ description: 'true: nothing can be said of them now; an event follows when it can.' })),
  error: Type.Optional(NewsError('Why the exchange tells of no positions; an event follows when it does.')),
})

/** `data` of one event, by its topic. */
export const EventsResponse = Type.Union([JournaledTransaction, Block, OrderBookNews, PriceNews, PositionsNews])

export type OrderBookNews = Static<typeof OrderBookNews>
export type PriceNews = Static<typeof PriceNews>
export type PositionsNews = Static<typeof PositionsNews>
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
  summary: 'Server-sent events: what becomes of transactions, new blocks, order books, prices, and positions.',
  errors: [
    'UNKNOWN_CHAIN_ERROR',
    'UNKNOWN_CONNECTOR',
    'UNKNOWN_ORDER',
    'PAIR_NOT_FOUND',
    'TOKEN_NOT_SUPPORTED',
    'UNSUPPORTED',
    'SERVICE_UNINITIALIZED',
    'NETWORK',
  ],
  request: EventsRequest,
  response: EventsResponse,
})
