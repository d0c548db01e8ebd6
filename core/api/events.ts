import * as Type from 'typebox'
import type { Static } from 'typebox'
import { isObject } from '../base/json.ts'
import { choiceFields, Hop, Version } from './amm.ts'
import { shownBookPosition } from './clob-leveraged.ts'
import { MarketName } from './clob-markets.ts'
import {
  ChainName,
  ConnectorName,
  Decimal,
  decimalPattern,
  endpoint,
  NetworkName,
  request,
  response,
  Side,
  TokenName,
  unavailable,
  WalletAddress,
} from './endpoint.ts'
import { onlyInUse } from './network.ts'
import { knownPosition } from './perp.ts'
import { searchFields, shownRangePosition, unavailablePosition } from './range.ts'
import { JournaledTransaction, LostAnswers } from './transactions.ts'
import { ShownPlugin } from './plugins.ts'
import { ShownApproval } from './approvals.ts'
import { ShownStop } from './limits.ts'

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
export const OrderBookEvent = response({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  type: Type.Enum(['CLOB', 'MARGIN_CLOB', 'PERP_CLOB']),
  market: Type.String(),
  buys: Type.Array(Level, { description: 'Best first.' }),
  sells: Type.Array(Level, { description: 'Best first.' }),
  sequence: Type.Optional(Type.Number({ description: 'Increases with every change of this book.' })),
  timestamp: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
  blockNumber: Type.Optional(Type.Number({ description: 'The block that the book is of, if it is on chain.' })),
  stale: Type.Optional(Type.Boolean({ description: 'true: no book may be shown now. An event follows when there is one again.' })),
})

/** An error in place of the data. */
const EventError = (description: string) =>
  Type.Object({ errorCode: Type.Number(), name: Type.String(), message: Type.String() }, { description })

/** `data` of an event of the topic `price`. */
export const PriceEvent = response({
  asked: Type.String({ description: 'The price as it was requested: BASE:QUOTE:SIDE:AMOUNT.' }),
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String({ description: 'Whose price it is. `any` where all were asked and none has one.' }),
  version: Type.Optional(Type.String()),
  base: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  quote: Type.String({ description: 'Token address; the zero address for the native coin.' }),
  side: Side,
  amount: Type.String({ description: 'Of the base token.' }),
  price: Type.Optional(Type.String({ description: 'Quote per one base; rounded up for BUY and down for SELL.' })),
  expectedAmount: Type.Optional(Type.String({ description: 'Quote tokens to pay (BUY) or to receive (SELL).' })),
  gasCostInQuote: Type.Optional(
    Type.String({ description: 'With `any`: the cost of gas in the quote token, as the price of a swap has it.' }),
  ),
  route: Type.Optional(Type.Array(Hop)),
  blockNumber: Type.Optional(Type.Number({ description: 'The block since which the price holds. It holds until the next event.' })),
  timestamp: Type.Number({
    description: "Milliseconds since the Unix epoch: of the block, or of the server's clock if there is no price.",
  }),
  source: Type.Optional(Type.Literal('memory')),
  stale: Type.Optional(Type.Boolean({ description: 'true: the price is unknown now. An event follows when there is a price again.' })),
  error: Type.Optional(EventError('Why the exchange gives no price. An event follows when it gives one.')),
})

/** `data` of an event of the topic `positions`. */
export const PositionsEvent = response({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  address: Type.String(),
  positions: Type.Optional(
    Type.Array(Type.Union([shownBookPosition, knownPosition, Type.Object(shownRangePosition)]), {
      description: 'All positions of the wallet there, each as its endpoint shows it.',
    }),
  ),
  unavailable: unavailable(unavailablePosition),
  ...searchFields,
  blockNumber: Type.Optional(Type.Number({ description: 'The block that they are of, if they are on chain.' })),
  timestamp: Type.Number({ description: 'When the exchange was asked, in milliseconds since the Unix epoch.' }),
  stale: Type.Optional(Type.Boolean({ description: 'true: the positions are unknown now. An event follows when they are known again.' })),
  error: Type.Optional(EventError('Why the exchange gives no positions. An event follows when it does.')),
})

/** `data` of an event of the topic `plugins`. */
export const PluginsEvent = response({
  plugins: Type.Array(ShownPlugin, { description: 'Those of third parties, each as /plugins shows it. Again when one of them changed.' }),
})

/** `data` of an event of the topic `stops`. */
export const StopsEvent = response({
  stops: Type.Array(ShownStop, {
    description: 'Those in force, as /stops shows them. Again when one is set or lifted, by whichever server.',
  }),
  lifted: Type.Array(
    Type.Object({
      ...ShownStop.properties,
      liftedBy: Type.String({ description: 'The id of the client that lifted it.' }),
      liftedAt: Type.Number({ description: 'Milliseconds since the Unix epoch.' }),
    }),
    { description: 'The last 20 that were lifted, newest first. Those of files are not among them.' },
  ),
})

/** `data` of an event of the topic `approvals`. */
export const ApprovalsEvent = response({
  waiting: Type.Array(ShownApproval, {
    description:
      'Those that wait for a second person, or are being carried out, as /approvals shows them, newest first. Again when one begins to wait or ends, on whichever server.',
  }),
  ended: Type.Array(ShownApproval, { description: 'The last 20 that do not wait any more, newest first.' }),
})

/** `data` of an event of the topic `deliveries`. */
export const DeliveriesEvent = response({
  deliveries: Type.Array(
    Type.Object({
      idempotencyKey: Type.String({ description: 'Finds its transaction in /transactions.' }),
      interface: Type.String(),
      client: Type.String(),
      ...LostAnswers.properties,
      askedAt: Type.Number({ description: 'When it was asked for last, in milliseconds since the Unix epoch.' }),
    }),
    {
      description:
        'Requests without an Idempotency-Key by another interface, of which an answer was lost: the last 20, newest first. Again when one is lost, is given to an equal request, or stays uncollected, on whichever server.',
    },
  ),
})

export type DeliveriesEvent = Static<typeof DeliveriesEvent>
export type Block = Static<typeof Block>
export type OrderBookEvent = Static<typeof OrderBookEvent>
export type PriceEvent = Static<typeof PriceEvent>
export type PositionsEvent = Static<typeof PositionsEvent>
export type PluginsEvent = Static<typeof PluginsEvent>
export type StopsEvent = Static<typeof StopsEvent>
export type ApprovalsEvent = Static<typeof ApprovalsEvent>

/** Every topic, with the `data` of its events. What follows a topic stands in `core/events`, in one file for each, and in `createTopics`. */
export const eventData = {
  transactions: JournaledTransaction,
  blocks: Block,
  orderBook: OrderBookEvent,
  price: PriceEvent,
  positions: PositionsEvent,
  plugins: PluginsEvent,
  stops: StopsEvent,
  approvals: ApprovalsEvent,
  deliveries: DeliveriesEvent,
}
export type EventTopic = keyof typeof eventData
export type EventData<Topic extends EventTopic> = Static<(typeof eventData)[Topic]>
export const eventTopics = Object.keys(eventData) as EventTopic[]

/** Names of tokens contain no colon. Lists are split at commas. */
const pricePattern = `^[^:,]{1,256}:[^:,]{1,256}:([bB][uU][yY]|[sS][eE][lL][lL]):${decimalPattern.slice(1)}`
const maxPrices = 1_000
const shape = 'BASE:QUOTE:SIDE:AMOUNT, such as WETH:USDC:SELL:1.5'

/** Of a network, or of all. */
const onNetworks = { chain: Type.Optional(ChainName), network: Type.Optional(NetworkName) }

const markets = (description: string) =>
  Type.Optional(
    Type.Array(MarketName, {
      minItems: 1,
      maxItems: 500,
      expects: 'a list of at most 500 names of markets, such as WETH-USDC',
      description,
    }),
  )

/** What a request may say of each topic. A field of several topics is one parameter. */
const topicFields = {
  transactions: { ...onNetworks, address: Type.Optional({ ...WalletAddress, description: 'only those of this wallet.' }) },
  blocks: { ...onNetworks, inUse: onlyInUse },
  orderBook: {
    ...onNetworks,
    connector: Type.Optional({ ...ConnectorName, description: 'the exchange.' }),
    market: markets('the books.'),
    type: Type.Optional(
      Type.Enum(['CLOB', 'MARGIN_CLOB', 'PERP_CLOB'], {
        expects: 'one of CLOB, MARGIN_CLOB, PERP_CLOB',
        description: 'the kind of market, if a connector has several. Without it, the first kind that has the name.',
      }),
    ),
    depth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        expects: 'an integer from 1 to 1000',
        description: 'the maximum of levels of each side. 20 without it.',
      }),
    ),
  },
  price: {
    ...onNetworks,
    connector: Type.Optional({
      ...ConnectorName,
      description: 'the exchange, or `any`: the best of all, whichever that is with each block.',
    }),
    ...choiceFields,
    price: Type.Optional(
      Type.Array(Type.String({ pattern: pricePattern, maxLength: 800 }), {
        minItems: 1,
        maxItems: maxPrices,
        expects: `a list of at most ${maxPrices} prices, each ${shape}`,
        description: `the prices, each ${shape}.`,
      }),
    ),
    base: Type.Optional({ ...TokenName, description: 'one price by base, quote, side and amount, which are given together.' }),
    quote: Type.Optional({ ...TokenName, description: 'as base.' }),
    side: Type.Optional({ ...Side, description: 'as base.' }),
    amount: Type.Optional(Decimal('of the base token.')),
    version: Type.Optional({ ...Version, description: 'only through pools of this version.' }),
  },
  positions: {
    ...onNetworks,
    connector: Type.Optional({ ...ConnectorName, description: 'the exchange.' }),
    address: Type.Optional({ ...WalletAddress, description: 'the wallet.' }),
    market: markets('in order books, only those in these markets.'),
    base: Type.Optional({ ...TokenName, description: 'of PERP_AMM, only the one in the market of base and quote.' }),
    quote: Type.Optional({ ...TokenName, description: 'as base.' }),
  },
  plugins: {},
  stops: {},
  approvals: {},
  deliveries: {},
} satisfies Record<EventTopic, object>

/** All fields of all topics. */
const fieldsOfAll = Object.assign({}, ...Object.values<object>(topicFields)) as AllOf<(typeof topicFields)[EventTopic]>
type AllOf<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void ? All : never

/** What a request says of a topic. */
export type TopicRequest<Topic extends EventTopic> = Static<Type.TObject<(typeof topicFields)[Topic]>>

/** Each field, with the topics that it is of in its description. */
function ofTopics<T extends Record<string, object>>(fields: T): T {
  const shown = Object.entries(fields).map(([name, field]) => {
    const described = Object.entries<object>(topicFields).flatMap(([topic, own]) => {
      const schema: unknown = Reflect.get(own, name)
      const isShared = name in onNetworks || name in choiceFields || !isObject(schema) || typeof schema.description !== 'string'
      return isShared ? [] : [`Of ${topic}: ${String(schema.description)}`]
    })
    return [name, described.length === 0 ? field : Type.Optional({ ...field, description: described.join(' ') })]
  })
  return Object.fromEntries(shown)
}

export const EventsRequest = request({
  topics: Type.Optional(
    Type.Array(Type.Enum(eventTopics), {
      minItems: 1,
      uniqueItems: true,
      expects: `a list of topics: ${eventTopics.join(', ')}`,
      description: `Any of ${eventTopics.join(', ')}. Without it, transactions.`,
    }),
  ),
  ...ofTopics(fieldsOfAll),
  lastEventId: Type.Optional(
    Type.String({
      pattern: '^\\d{1,15}(-\\d{1,15})?$',
      expects: 'the id of an event, such as 123 or 123-4',
      description: 'For clients that cannot set the header Last-Event-ID, which takes precedence. 0: from the first event.',
    }),
  ),
})
export const EventsResponse = Type.Union(Object.values(eventData))

export type EventsRequest = Static<typeof EventsRequest>
export type EventsResponse = Static<typeof EventsResponse>

/** Its answer is a stream of events, not JSON. */
export const eventsEndpoint = endpoint({
  method: 'GET',
  set: 'Service',
  on: 'service',
  permission: 'read',
  wallet: true,
  name: 'Events',
  path: '/events',
  summary:
    'Server-sent events: changes of transactions, new blocks, order books, prices, positions, plugins, what is stopped, and what waits for a second person.',
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
