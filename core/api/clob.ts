// What requests about order books share. A market is named BASE-QUOTE.
import Type, { type Static, type TProperties, type TObject } from 'typebox'
import type { ErrorName } from '../errors.ts'
import {
  connectorFields,
  Decimal,
  Side,
  Slippage,
  TokenName,
  transactionFields,
  WalletAddress,
  enveloped,
  request,
  pageFields,
  ChainName,
  gasFields,
  endpoint,
  type BookSet,
} from './endpoint.ts'

const visible = (maxLength: number) => `^[\\x21-\\x7e]{1,${maxLength}}$`

export const MarketName = Type.String({
  minLength: 3,
  maxLength: 128,
  expects: 'the name of a market, such as WETH-USDC',
  description: 'BASE-QUOTE, in any letter case; /clob/markets lists them.',
})

export const OrderId = Type.String({
  pattern: visible(128),
  expects: 'the id that the exchange gave the order',
  acceptsNumber: true,
  description: 'What the exchange knows the order by.',
})

export const ClientOrderId = Type.String({
  pattern: visible(64),
  expects: '1 to 64 visible ASCII characters',
  description: "The caller's own name of an order, used once by a wallet on an exchange.",
})

export const OrderTypes = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const
export const TimesInForce = ['GTC', 'IOC', 'FOK'] as const
export const OrderStates = [
  'PENDING_OPEN',
  'OPEN',
  'PARTIALLY_FILLED',
  'FILLED',
  'PENDING_CANCEL',
  'CANCELED',
  'EXPIRED',
  'REJECTED',
  'FAILED',
] as const

const oneOf = (values: readonly string[], description: string) => ({ expects: `one of ${values.join(', ')}`, description })

export const OrderTypeField = Type.Enum(
  OrderTypes,
  oneOf(OrderTypes, 'LIMIT_MAKER is a limit order that is refused where it would trade at once.'),
)
export const OrderStateField = Type.Enum(OrderStates, oneOf(OrderStates, 'Only those in this state.'))

/** LONG and SHORT are understood where an order is of a perpetual. */
export const PerpOrderSide = Type.Enum(['BUY', 'SELL', 'LONG', 'SHORT'], {
  expects: 'BUY or SELL',
  description: 'BUY or SELL, in any letter case; LONG and SHORT mean the same.',
})

/** What an order says, alone and in a batch. */
const order = {
  market: MarketName,
  orderType: OrderTypeField,
  price: Type.Optional(Decimal('The limit, quote per one base; of LIMIT and LIMIT_MAKER only.')),
  amount: Decimal('Of base.'),
  clientOrderId: Type.Optional(ClientOrderId),
  timeInForce: Type.Optional(
    Type.Enum(
      TimesInForce,
      oneOf(TimesInForce, 'What the market means where nothing is said is the first that /clob/markets shows for the order type.'),
    ),
  ),
  limitPrice: Type.Optional(Decimal('Of MARKET: the worst price to take, quote per one base.')),
  allowedSlippage: Type.Optional(Slippage),
}

/** What only leveraged markets know. */
const leveraged = {
  leverage: Type.Optional(Decimal('The leverage to place it with; absent: as the account has it.')),
  reduceOnly: Type.Optional(Type.Boolean({ expects: 'true or false', description: 'It may only make a position smaller.' })),
}

export const orderFields = { side: Side, ...order }
export const marginOrderFields = { ...orderFields, ...leveraged }
export const perpOrderFields = { side: PerpOrderSide, ...order, ...leveraged }

/** Which order is meant. */
export const orderName = { market: MarketName, orderId: Type.Optional(OrderId), clientOrderId: Type.Optional(ClientOrderId) }

export const walletFields = { ...connectorFields, address: WalletAddress }
export const actingFields = { ...walletFields, ...transactionFields }

export const nextCursor = Type.Optional(Type.String({ description: 'There is more: ask again with it as `cursor`.' }))

export const amountOf = (description: string) => Type.String({ description })
export const msTimestamp = Type.Number({ description: 'Milliseconds since the Unix epoch.' })

export const movedToken = { token: TokenName, amount: Decimal('Of the token.') }

const Price = amountOf('Quote per one base.')
const Maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const CLOBMarketsRequest = request({ ...connectorFields, market: Type.Optional(MarketName) })
export const CLOBMarketsResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      market: Type.String(),
      base: Type.String(),
      quote: Type.String(),
      tickSize: Type.Optional(amountOf('Prices are multiples of it.')),
      priceSignificantFigures: Type.Optional(Type.Number({ description: 'Prices have at most so many; a whole number may have more.' })),
      priceDecimals: Type.Optional(Type.Number({ description: 'Prices have at most so many decimals.' })),
      lotSize: amountOf('Amounts are multiples of it.'),
      minOrderSize: Type.Optional(amountOf('Of base.')),
      minNotional: Type.Optional(amountOf('Of price times amount, in quote.')),
      orderTypes: Type.Array(Type.Enum(OrderTypes)),
      timeInForce: Type.Array(Type.Enum(TimesInForce)),
      takes: Type.Record(Type.String(), Type.Array(Type.Enum(TimesInForce)), {
        description: 'Times in force by order type; the first is what is meant where an order says none.',
      }),
      makerFee: amountOf('Part of what is traded; below 0 where the exchange pays it.'),
      takerFee: amountOf('Part of what is traded.'),
      maxLeverage: Type.Optional(amountOf('The most that an order may ask for.')),
      status: Type.Enum(['open', 'paused', 'closed']),
    }),
    { description: 'By the name of the market, BASE-QUOTE.' },
  ),
})

export const CLOBTickerRequest = CLOBMarketsRequest
export const CLOBTickerResponse = enveloped({
  markets: Type.Record(
    Type.String(),
    Type.Object({
      bestBid: Maybe('null where nobody buys.'),
      bestAsk: Maybe('null where nobody sells.'),
      lastPrice: Maybe('null where the exchange tells of no trade.'),
      volume24h: Type.Optional(amountOf('Of base.')),
      timestamp: msTimestamp,
    }),
    { description: 'By the name of the market.' },
  ),
  failing: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Markets of which nothing can be said now, and why: where all were asked for.',
    }),
  ),
})

const Level = Type.Object({ price: Price, quantity: amountOf('Of base.') })
export const CLOBOrderBookRequest = request({
  ...connectorFields,
  market: MarketName,
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      expects: 'an integer from 1 to 10000',
      description: 'So many levels of each side at most.',
    }),
  ),
})
export const CLOBOrderBookResponse = enveloped({
  market: Type.String(),
  buys: Type.Array(Level, { description: 'Best first.' }),
  sells: Type.Array(Level, { description: 'Best first.' }),
  sequence: Type.Number({ description: 'Increases with every change of this book.' }),
  blockNumber: Type.Optional(Type.Number({ description: 'The block that the book is of, where it is on chain.' })),
})

export const CLOBTradesRequest = request({
  ...connectorFields,
  address: Type.Optional({ ...WalletAddress, description: 'Only trades of this wallet; without it those of everybody.' }),
  market: MarketName,
  orderId: Type.Optional(OrderId),
  ...pageFields,
})
export const CLOBTradesResponse = enveloped({
  trades: Type.Array(
    Type.Object({
      tradeId: Type.String(),
      orderId: Type.Optional(Type.String()),
      market: Type.String(),
      side: Type.Enum(['BUY', 'SELL'], { description: "The wallet's, where one was asked about; else that of who came to the book." }),
      price: Price,
      amount: amountOf('Of base.'),
      fee: amountOf('In `feeToken`; below 0 where it was received.'),
      feeToken: Type.String(),
      timestamp: msTimestamp,
      txHash: Type.Optional(Type.String()),
    }),
    { description: 'Newest first.' },
  ),
  nextCursor,
})

export type CLOBMarketsRequest = Static<typeof CLOBMarketsRequest>
export type CLOBMarketsResponse = Static<typeof CLOBMarketsResponse>
export type CLOBTickerRequest = Static<typeof CLOBTickerRequest>
export type CLOBTickerResponse = Static<typeof CLOBTickerResponse>
export type CLOBOrderBookRequest = Static<typeof CLOBOrderBookRequest>
export type CLOBOrderBookResponse = Static<typeof CLOBOrderBookResponse>
export type CLOBTradesRequest = Static<typeof CLOBTradesRequest>
export type CLOBTradesResponse = Static<typeof CLOBTradesResponse>

const State = Type.Enum(OrderStates)

const Order = Type.Object({
  orderId: Type.Optional(amountOf('Absent until the exchange has given one.')),
  clientOrderId: Type.Optional(amountOf('Of orders that this server placed, or where the exchange keeps it.')),
  market: Type.String(),
  side: Type.Enum(['BUY', 'SELL']),
  orderType: Type.Enum(OrderTypes),
  timeInForce: Type.Optional(Type.Enum(TimesInForce)),
  price: amountOf('The limit; of a MARKET order the worst price that it may be filled at.'),
  amount: amountOf('Of base.'),
  filledAmount: amountOf('Of base.'),
  averagePrice: Type.Optional(amountOf('Of what was filled.')),
  state: State,
  reason: Type.Optional(amountOf('Why it was refused, or came to nothing.')),
  txHash: Type.Optional(amountOf('Of the transaction that placed it, where one did.')),
  createdAt: msTimestamp,
  updatedAt: msTimestamp,
})

export const CLOBOrdersRequest = request({
  ...walletFields,
  ...orderName,
  market: Type.Optional(MarketName),
  state: Type.Optional(OrderStateField),
  ...pageFields,
})
export const CLOBOrdersResponse = enveloped({ orders: Type.Array(Order, { description: 'Newest first.' }), nextCursor })

const placed = {
  orderId: Type.Optional(amountOf('Absent until the exchange has given one.')),
  clientOrderId: amountOf("The caller's, or one that was made."),
  state: State,
  filledAmount: Type.Optional(amountOf('Where the exchange said it at once.')),
  averagePrice: Type.Optional(amountOf('Of what was filled at once.')),
  limitPrice: Type.Optional(amountOf('Of MARKET: the bound that the exchange enforces.')),
  reason: Type.Optional(amountOf('Why the exchange refused it.')),
  txHash: Type.Optional(amountOf('Where an order is a transaction.')),
  nonce: Type.Optional(Type.Number({ description: 'Where an order is a transaction.' })),
}
const cancelled = {
  orderId: Type.Optional(Type.String()),
  clientOrderId: Type.Optional(Type.String()),
  state: Type.Enum(OrderStates, { description: 'Of the order: FILLED where it was filled before it could be cancelled.' }),
  filledAmount: Type.Optional(amountOf('Of base, as far as it is known.')),
  reason: Type.Optional(Type.String()),
  txHash: Type.Optional(amountOf('Of the cancel, where it is a transaction.')),
  nonce: Type.Optional(Type.Number()),
}

/** @param order what an order of this kind says */
export const ordersPostRequest = <P extends TProperties>(order: P) => request({ ...actingFields, ...order })
export const CLOBOrdersPostResponse = enveloped(placed)

export const CLOBOrdersDeleteRequest = request({ ...actingFields, ...orderName })
export const CLOBOrdersDeleteResponse = enveloped(cancelled)

const mostInBatch = 1000
const { maxFeePerGas, maxPriorityFeePerGas } = transactionFields

/** Each entry is judged by itself. */
const entries = <P extends TProperties>(fields: P, description: string) =>
  Type.Optional(
    Type.Array(request(fields), { maxItems: mostInBatch, apart: true, expects: `a list of at most ${mostInBatch} entries`, description }),
  )

export const batchOrdersRequest = <P extends TProperties>(order: P) =>
  request({
    ...walletFields,
    maxFeePerGas,
    maxPriorityFeePerGas,
    create: entries(order, 'Orders to place.'),
    cancel: entries(orderName, 'Orders to cancel; they go first.'),
  })

const failed = Type.Optional(
  Type.Object(
    {
      errorCode: Type.Number(),
      name: Type.String(),
      message: Type.String(),
      httpErrorCode: Type.Number(),
      details: Type.Optional(Type.Unknown()),
    },
    { description: 'Why this one came to nothing; the others go on.' },
  ),
)
export const CLOBBatchOrdersResponse = enveloped({
  created: Type.Array(Type.Object({ ...placed, clientOrderId: Type.Optional(Type.String()), state: Type.Optional(State), error: failed }), {
    description: 'One for each of `create`, in its order.',
  }),
  cancelled: Type.Array(Type.Object({ ...cancelled, state: Type.Optional(State), error: failed }), {
    description: 'One for each of `cancel`, in its order.',
  }),
})

export type CLOBOrdersRequest = Static<typeof CLOBOrdersRequest>
export type CLOBOrdersResponse = Static<typeof CLOBOrdersResponse>
export type CLOBOrdersPostResponse = Static<typeof CLOBOrdersPostResponse>
export type CLOBOrdersDeleteRequest = Static<typeof CLOBOrdersDeleteRequest>
export type CLOBOrdersDeleteResponse = Static<typeof CLOBOrdersDeleteResponse>
export type CLOBBatchOrdersResponse = Static<typeof CLOBBatchOrdersResponse>

export const CLOBBalancesRequest = request(walletFields)
export const CLOBBalancesResponse = enveloped({
  balances: Type.Record(
    Type.String(),
    Type.Object({
      total: Type.String(),
      available: amountOf('What orders may take.'),
      locked: amountOf('What orders took already.'),
    }),
    { description: 'What is held in the exchange, by symbol.' },
  ),
})

/** What became of something that moves funds, or changes how they are held. */
const moved = {
  id: amountOf("The transaction's hash, or the id of the signed action: /transactions knows it."),
  state: Type.Enum(['PENDING', 'DONE', 'REJECTED']),
  reason: Type.Optional(amountOf('Why the exchange refused it.')),
  txHash: Type.Optional(amountOf('Where it is a transaction.')),
  nonce: Type.Optional(Type.Number()),
}
const movedAmount = { ...moved, token: amountOf('Its address.'), amount: Type.String() }

/** Of withdraw, borrow and repay. */
export const MoveRequest = request({ ...actingFields, ...movedToken })
export const MoveResponse = enveloped(movedAmount)

export const DepositRequest = request({
  ...actingFields,
  ...movedToken,
  fromChain: Type.Optional({
    ...ChainName,
    description:
      'The chain that the token comes from, where the exchange takes deposits from it: token, nonce and fees are of that chain then. Absent: from where its own way begins.',
  }),
})
export const DepositResponse = enveloped({
  ...movedAmount,
  fromChain: Type.Optional(amountOf('As it was asked for: txHash and nonce are of that chain.')),
  fromNetwork: Type.Optional(amountOf("The chain's network, to ask /network/poll with.")),
})

export const CLOBPerpLeverageRequest = request({
  ...actingFields,
  market: MarketName,
  leverage: Decimal('How many times the margin a position may be worth.'),
  marginMode: Type.Optional(
    Type.Enum(['cross', 'isolated'], { expects: 'cross or isolated', description: 'Absent: as the exchange has it, or its usual one.' }),
  ),
})
export const CLOBPerpLeverageResponse = enveloped({ ...moved, market: Type.String(), leverage: Type.String() })

export const CLOBEstimateGasRequest = request(connectorFields)
export const CLOBEstimateGasResponse = enveloped(gasFields)

export type MoveRequest = Static<typeof MoveRequest>
export type MoveResponse = Static<typeof MoveResponse>
export type DepositRequest = Static<typeof DepositRequest>
export type DepositResponse = Static<typeof DepositResponse>
export type CLOBBalancesRequest = Static<typeof CLOBBalancesRequest>
export type CLOBBalancesResponse = Static<typeof CLOBBalancesResponse>
export type CLOBPerpLeverageRequest = Static<typeof CLOBPerpLeverageRequest>
export type CLOBPerpLeverageResponse = Static<typeof CLOBPerpLeverageResponse>
export type CLOBEstimateGasRequest = Static<typeof CLOBEstimateGasRequest>
export type CLOBEstimateGasResponse = Static<typeof CLOBEstimateGasResponse>

/** What the endpoints of a kind of order book begin with. */
interface Kind<Prefix extends string> {
  readonly set: BookSet
  /** Of their names. */
  readonly prefix: Prefix
  /** Of their paths. */
  readonly root: string
  /** Beyond those of every order book. */
  readonly errors?: readonly ErrorName[]
}

const reading = { on: 'connector', method: 'GET', permission: 'read' } as const
const acting = { on: 'connector', permission: 'trade', wallet: true, acts: true } as const

const ofMarket = ['UNKNOWN_ORDER'] as const
const placing = [
  'UNKNOWN_ORDER',
  'PRICE_FAILED',
  'SWAP_PRICE_EXCEEDS_LIMIT_PRICE',
  'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE',
  'INSUFFICIENT_ALLOWANCE',
  'TOKEN_NOT_SUPPORTED',
] as const
const moving = ['TOKEN_NOT_SUPPORTED', 'INSUFFICIENT_ALLOWANCE', 'INSUFFICIENT_MARGIN'] as const

/** What every kind of order book answers; requests that place orders differ by what an order says. */
export function bookEndpoints<const Prefix extends string, Post extends TObject, Batch extends TObject>(
  { set, prefix, root, errors = [] }: Kind<Prefix>,
  { post, batch }: { post: Post; batch: Batch },
) {
  const named = <const Verb extends string>(verb: Verb) => `${prefix}${verb}` as const
  return [
    endpoint({
      ...reading,
      set,
      name: named('Markets'),
      path: `${root}/markets`,
      summary: 'The markets, with what orders they take.',
      errors: ofMarket,
      request: CLOBMarketsRequest,
      response: CLOBMarketsResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('Ticker'),
      path: `${root}/ticker`,
      summary: 'Best prices and the last one, from memory.',
      errors: ofMarket,
      request: CLOBTickerRequest,
      response: CLOBTickerResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('OrderBook'),
      path: `${root}/orderBook`,
      summary: 'The book, from memory.',
      errors: ofMarket,
      request: CLOBOrderBookRequest,
      response: CLOBOrderBookResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Orders'),
      path: `${root}/orders`,
      summary: "A wallet's orders, newest first: what this server placed and what the exchange knows.",
      errors: ofMarket,
      request: CLOBOrdersRequest,
      response: CLOBOrdersResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('OrdersPost'),
      path: `${root}/orders`,
      summary: 'Places an order.',
      errors: [...placing, ...errors],
      request: post,
      response: CLOBOrdersPostResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'DELETE',
      name: named('OrdersDelete'),
      path: `${root}/orders`,
      summary: 'Cancels an order.',
      errors: ofMarket,
      request: CLOBOrdersDeleteRequest,
      response: CLOBOrdersDeleteResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('BatchOrders'),
      path: `${root}/batchOrders`,
      summary: 'Cancels and places many orders, each with its own outcome.',
      errors: [...placing, ...errors],
      request: batch,
      response: CLOBBatchOrdersResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Trades'),
      path: `${root}/trades`,
      summary: "A market's trades, or a wallet's in it, newest first.",
      errors: ofMarket,
      request: CLOBTradesRequest,
      response: CLOBTradesResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Balances'),
      path: `${root}/balances`,
      summary: 'What a wallet has in the exchange.',
      request: CLOBBalancesRequest,
      response: CLOBBalancesResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Deposit'),
      path: `${root}/deposit`,
      summary: 'Puts a token into the exchange.',
      errors: moving,
      request: DepositRequest,
      response: DepositResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Withdraw'),
      path: `${root}/withdraw`,
      summary: 'Takes a token out of the exchange, to the same wallet.',
      errors: moving,
      request: MoveRequest,
      response: MoveResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('EstimateGas'),
      path: `${root}/estimateGas`,
      summary: 'What a typical order costs in gas.',
      request: CLOBEstimateGasRequest,
      response: CLOBEstimateGasResponse,
    }),
  ] as const
}
