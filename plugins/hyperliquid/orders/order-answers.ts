import { decimal, either, list, nothing, object, shape, text, whole, word } from '../shape.ts'
import type { Of } from '../shape.ts'

/** A is who sells, B who buys. */
const side = either(word('A'), word('B'))
const textOrNothing = either(text, nothing)

const order = object(
  {
    coin: text,
    side,
    limitPx: decimal,
    /** What is left of it. */
    sz: decimal,
    origSz: decimal,
    oid: whole,
    timestamp: whole,
  },
  { tif: textOrNothing, cloid: textOrNothing },
)
export type WireOpenOrder = Of<typeof order>

const judged = object({ order, status: text, statusTimestamp: whole })
/** An order with what became of it. */
export type WireJudgedOrder = Of<typeof judged>

export const openOrders = shape(list(order))
export const judgedOrders = shape(list(judged))
export const orderStatus = shape(either(object({ status: word('order'), order: judged }), object({ status: word('unknownOid') })))

const ofTrade = { coin: text, side, px: decimal, sz: decimal, time: whole, hash: text, tid: whole }
const trade = object(ofTrade)
export type WireTrade = Of<typeof trade>
export const trades = list(trade)
export const publicTrades = shape(trades)

const fill = object({ ...ofTrade, oid: whole, fee: decimal, feeToken: text })
export type WireFill = Of<typeof fill>
export const fills = shape(list(fill))
