// Orders and funds of order books, and the endpoints that all of them have.
import * as Type from 'typebox'
import type { Static, TProperties, TObject } from 'typebox'
import type { ErrorName } from '../base/errors.ts'
import {
  visible,
  MarketName,
  OrderId,
  OrderTypes,
  TimesInForce,
  nextCursor,
  amountOf,
  msTimestamp,
  CLOBMarketsRequest,
  CLOBMarketsResponse,
  CLOBTickerRequest,
  CLOBTickerResponse,
  CLOBOrderBookRequest,
  CLOBOrderBookResponse,
  CLOBTradesRequest,
  CLOBTradesResponse,
} from './clob-markets.ts'
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
  refusalFields,
  endpoint,
  unavailable,
  type BookSet,
  type FieldRule,
} from './endpoint.ts'

export const ClientOrderId = Type.String({
  pattern: visible(64),
  expects: '1 to 64 visible ASCII characters',
  description: "The caller's own id of an order, unique for a wallet on an exchange.",
})

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
  oneOf(OrderTypes, 'LIMIT_MAKER is a limit order that is refused if it would trade at once.'),
)
export const OrderStateField = Type.Enum(OrderStates, oneOf(OrderStates, 'Only those in this state.'))

/** The fields of an order, alone and in a batch. */
export const anyOrderFields = {
  market: MarketName,
  orderType: OrderTypeField,
  price: Type.Optional(Decimal('The limit, quote per one base. Only for LIMIT and LIMIT_MAKER.')),
  amount: Decimal('Of base.'),
  clientOrderId: Type.Optional(ClientOrderId),
  timeInForce: Type.Optional(
    Type.Enum(TimesInForce, oneOf(TimesInForce, 'Absent: the first that /clob/markets shows for the order type.')),
  ),
  limitPrice: Type.Optional(Decimal('For MARKET: the worst price to accept, quote per one base.')),
  allowedSlippage: Type.Optional(Slippage),
}

export const orderFields = { side: Side, ...anyOrderFields }

/** Names an order. */
export const orderName = { market: MarketName, orderId: Type.Optional(OrderId), clientOrderId: Type.Optional(ClientOrderId) }

/** One of its ids names the order. */
const namedRules = [{ anyOf: [['orderId'], ['clientOrderId']] }]

const orderRules = [
  { where: { field: 'orderType', is: ['LIMIT', 'LIMIT_MAKER'] }, anyOf: [['price']], without: ['limitPrice', 'allowedSlippage'] },
  { where: { field: 'orderType', is: ['MARKET'] }, without: ['price'] },
]

export const walletFields = { ...connectorFields, address: WalletAddress }
export const actingFields = { ...walletFields, ...transactionFields }

export const movedToken = { token: TokenName, amount: Decimal('Of the token.') }

const State = Type.Enum(OrderStates)

const Order = Type.Object({
  orderId: Type.Optional(amountOf('Absent until the exchange has assigned one.')),
  clientOrderId: Type.Optional(amountOf('Of orders that this server placed, or if the exchange stores it.')),
  market: Type.String(),
  side: Type.Enum(['BUY', 'SELL']),
  orderType: Type.Enum(OrderTypes),
  timeInForce: Type.Optional(Type.Enum(TimesInForce)),
  price: amountOf('The limit; for a MARKET order the worst price to accept.'),
  amount: amountOf('Of base.'),
  filledAmount: amountOf(
    'Of base. A filled order may have a rest that the exchange cannot trade, worth less than the smallest unit of quote.',
  ),
  averagePrice: Type.Optional(amountOf('Of what was filled.')),
  state: State,
  reason: Type.Optional(amountOf('Why it was refused, or failed.')),
  txHash: Type.Optional(amountOf('Of the transaction that placed it, if there is one.')),
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
  orderId: Type.Optional(amountOf('Absent until the exchange has assigned one.')),
  clientOrderId: amountOf("The caller's, or a generated one."),
  state: State,
  filledAmount: Type.Optional(
    amountOf('If the exchange reported it at once. A filled order may have a rest that the exchange cannot trade.'),
  ),
  averagePrice: Type.Optional(amountOf('Of what was filled at once.')),
  limitPrice: Type.Optional(amountOf('For MARKET: the limit that the exchange enforces.')),
  reason: Type.Optional(amountOf('Why the exchange refused it.')),
  txHash: Type.Optional(amountOf('If an order is a transaction.')),
  nonce: Type.Optional(Type.Number({ description: 'If an order is a transaction.' })),
}
const cancelled = {
  orderId: Type.Optional(Type.String()),
  clientOrderId: Type.Optional(Type.String()),
  state: Type.Enum(OrderStates, { description: 'Of the order: FILLED if it was filled before it could be cancelled.' }),
  filledAmount: Type.Optional(amountOf('Of base, if known. A filled order may have a rest that the exchange cannot trade.')),
  reason: Type.Optional(Type.String()),
  txHash: Type.Optional(amountOf('Of the cancel, if it is a transaction.')),
  nonce: Type.Optional(Type.Number()),
}

/** @param order the fields of an order of this kind */
export const ordersPostRequest = <P extends TProperties>(order: P) => request({ ...actingFields, ...order }, orderRules)
export const CLOBOrdersPostResponse = enveloped(placed)

export const CLOBOrdersDeleteRequest = request({ ...actingFields, ...orderName }, namedRules)
export const CLOBOrdersDeleteResponse = enveloped(cancelled)

const maxInBatch = 1000
const { maxFeePerGas, maxPriorityFeePerGas } = transactionFields

/** Each entry is validated by itself. */
const entries = <P extends TProperties>(fields: P, rules: readonly FieldRule[], description: string) =>
  Type.Optional(
    Type.Array(request(fields, rules), {
      maxItems: maxInBatch,
      apart: true,
      expects: `a list of at most ${maxInBatch} entries, each of them a JSON object`,
      description,
    }),
  )

export const batchOrdersRequest = <P extends TProperties>(order: P) =>
  request(
    {
      ...walletFields,
      maxFeePerGas,
      maxPriorityFeePerGas,
      create: entries(order, orderRules, 'Orders to place.'),
      cancel: entries(orderName, namedRules, 'Orders to cancel, before others are placed.'),
    },
    [{ anyOf: [['create'], ['cancel']] }],
  )

const failed = Type.Optional(Type.Object(refusalFields, { description: 'Why this one failed. The others continue.' }))
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
      available: amountOf('Available for orders.'),
      locked: amountOf('Reserved by orders.'),
    }),
    { description: 'What is held in the exchange, by symbol.' },
  ),
  unavailable: unavailable({ token: Type.String() }),
})

/** The result of a request that moves funds, or changes how they are held. */
export const moved = {
  id: amountOf("The transaction's hash, or the id of the signed action, as in /transactions."),
  state: Type.Enum(['PENDING', 'DONE', 'REJECTED']),
  reason: Type.Optional(amountOf('Why the exchange refused it.')),
  txHash: Type.Optional(amountOf('If it is a transaction.')),
  nonce: Type.Optional(Type.Number()),
}
const movedAmount = { ...moved, token: amountOf('Its address.'), amount: Type.String() }

/** Withdraw, borrow and repay. */
export const MoveRequest = request({ ...actingFields, ...movedToken })
export const MoveResponse = enveloped(movedAmount)

export const DepositRequest = request({
  ...actingFields,
  ...movedToken,
  fromChain: Type.Optional({
    ...ChainName,
    description:
      "The chain to deposit from, if the exchange accepts deposits from it. Token, nonce and fees are of that chain. Absent: the exchange's default. " +
      "There the spender that has the connector's name takes the token and needs an allowance; from another chain it may be a transfer, which needs none.",
  }),
})
export const DepositResponse = enveloped({
  ...movedAmount,
  fromChain: Type.Optional(amountOf('As in the request: txHash and nonce are of that chain.')),
  fromNetwork: Type.Optional(amountOf('The network of that chain, for /network/poll.')),
})

export const CLOBEstimateGasRequest = request(connectorFields)
export const CLOBEstimateGasResponse = enveloped(gasFields)

export type MoveRequest = Static<typeof MoveRequest>
export type MoveResponse = Static<typeof MoveResponse>
export type DepositRequest = Static<typeof DepositRequest>
export type DepositResponse = Static<typeof DepositResponse>
export type CLOBBalancesRequest = Static<typeof CLOBBalancesRequest>
export type CLOBBalancesResponse = Static<typeof CLOBBalancesResponse>
export type CLOBEstimateGasRequest = Static<typeof CLOBEstimateGasRequest>
export type CLOBEstimateGasResponse = Static<typeof CLOBEstimateGasResponse>

/** A kind of order book. */
interface Kind<Prefix extends string, Root extends string> {
  readonly set: BookSet
  /** Of the endpoints' names. */
  readonly prefix: Prefix
  /** Of the endpoints' paths. */
  readonly root: Root
  /** Errors besides those of every order book. */
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

/** The endpoints of a kind of order book. Kinds differ in the fields of their orders. */
export function bookEndpoints<const Prefix extends string, const Root extends string, Post extends TObject, Batch extends TObject>(
  { set, prefix, root, errors = [] }: Kind<Prefix, Root>,
  { post, batch }: { post: Post; batch: Batch },
) {
  const named = <const Verb extends string>(verb: Verb) => `${prefix}${verb}` as const
  return [
    endpoint({
      ...reading,
      set,
      name: named('Markets'),
      path: `${root}/markets` as const,
      summary: 'The markets, and the orders that they accept.',
      errors: ofMarket,
      request: CLOBMarketsRequest,
      response: CLOBMarketsResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('Ticker'),
      path: `${root}/ticker` as const,
      summary: 'Best prices and the last one, from memory.',
      errors: ofMarket,
      request: CLOBTickerRequest,
      response: CLOBTickerResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('OrderBook'),
      path: `${root}/orderBook` as const,
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
      path: `${root}/orders` as const,
      summary: "A wallet's orders, newest first: those that this server placed and those that the exchange has.",
      errors: ofMarket,
      request: CLOBOrdersRequest,
      response: CLOBOrdersResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('OrdersPost'),
      path: `${root}/orders` as const,
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
      path: `${root}/orders` as const,
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
      path: `${root}/batchOrders` as const,
      summary: 'Cancels and places many orders, each with its own result.',
      errors: [...placing, ...errors],
      request: batch,
      response: CLOBBatchOrdersResponse,
    }),
    endpoint({
      ...reading,
      set,
      wallet: true,
      name: named('Trades'),
      path: `${root}/trades` as const,
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
      path: `${root}/balances` as const,
      summary: "A wallet's balances in the exchange.",
      request: CLOBBalancesRequest,
      response: CLOBBalancesResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Deposit'),
      path: `${root}/deposit` as const,
      summary: 'Deposits a token into the exchange.',
      errors: moving,
      request: DepositRequest,
      response: DepositResponse,
    }),
    endpoint({
      ...acting,
      set,
      method: 'POST',
      name: named('Withdraw'),
      path: `${root}/withdraw` as const,
      summary: 'Withdraws a token from the exchange to the same wallet.',
      errors: moving,
      request: MoveRequest,
      response: MoveResponse,
    }),
    endpoint({
      ...reading,
      set,
      name: named('EstimateGas'),
      path: `${root}/estimateGas` as const,
      summary: 'The gas cost of a typical order.',
      request: CLOBEstimateGasRequest,
      response: CLOBEstimateGasResponse,
    }),
  ] as const
}

export const CLOBOrdersPostRequest = ordersPostRequest(orderFields)
export const CLOBBatchOrdersRequest = batchOrdersRequest(orderFields)
export type CLOBOrdersPostRequest = Static<typeof CLOBOrdersPostRequest>
export type CLOBBatchOrdersRequest = Static<typeof CLOBBatchOrdersRequest>
export {
  DepositRequest as CLOBDepositRequest,
  DepositResponse as CLOBDepositResponse,
  MoveRequest as CLOBWithdrawRequest,
  MoveResponse as CLOBWithdrawResponse,
}

export const clobEndpoints = bookEndpoints(
  { set: 'CLOB', prefix: 'CLOB', root: '/clob' },
  { post: CLOBOrdersPostRequest, batch: CLOBBatchOrdersRequest },
)
