import Type, { type Static, type TProperties } from 'typebox'
import { enveloped, request } from '../endpoint.ts'
import { pageFields, transactionFields } from '../fields.ts'
import {
  actingFields,
  amountOf,
  MarketName,
  msTimestamp,
  nextCursor,
  orderName,
  OrderStateField,
  OrderStates,
  OrderTypes,
  TimesInForce,
  walletFields,
} from '../clob.ts'

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
