import Type, { type Static } from 'typebox'
import { decimal, shape, whole } from '../api/shape.ts'

/** A is who sells, B who buys. */
const side = Type.Union([Type.Literal('A'), Type.Literal('B')])
const optionalText = Type.Optional(Type.Union([Type.String(), Type.Null()]))

const order = Type.Object({
  coin: Type.String(),
  side,
  limitPx: decimal,
  /** What is left of it. */
  sz: decimal,
  origSz: decimal,
  oid: whole,
  timestamp: whole,
  tif: optionalText,
  cloid: optionalText,
})
export type WireOpenOrder = Static<typeof order>

const judged = Type.Object({ order, status: Type.String(), statusTimestamp: whole })
/** An order with what became of it. */
export type WireJudgedOrder = Static<typeof judged>

export const openOrders = shape(Type.Array(order))
export const judgedOrders = shape(Type.Array(judged))
export const orderStatus = shape(
  Type.Union([Type.Object({ status: Type.Literal('order'), order: judged }), Type.Object({ status: Type.Literal('unknownOid') })]),
)

const trade = Type.Object({ coin: Type.String(), side, px: decimal, sz: decimal, time: whole, hash: Type.String(), tid: whole })
export type WireTrade = Static<typeof trade>
export const trades = Type.Array(trade)
export const publicTrades = shape(trades)

const fill = Type.Intersect([trade, Type.Object({ oid: whole, fee: decimal, feeToken: Type.String() })])
export type WireFill = Static<typeof fill>
export const fills = shape(Type.Array(fill))
