import { fromPrice, fromSize } from '../amounts.ts'
import { accountOf, bookOf, setStatus, type Engine } from '../engine.ts'
import { balanceOf } from '../account.ts'
import { fundPerpetuals } from '../margin/loans.ts'
import type { Order } from '../book.ts'
import { checkOrder, isImmediate, refuse, type Refusal } from './check-order.ts'
import { match, reducible, type FilledAmount } from './match.ts'
import { payOf, payToken } from './settle.ts'

export type PlacementResult =
  | { resting: { oid: number; cloid?: string } }
  | { filled: { totalSz: string; avgPx: string; oid: number; cloid?: string } }

/** An order is checked, meets what it crosses, and what is left of it rests or is gone. */
export function placeOrder(engine: Engine, order: Order): PlacementResult | Refusal {
  const account = accountOf(engine, order.owner)
  const refusal = checkOrder(engine, order)
  if (refusal) return refused(engine, order, refusal)
  account.orders.push(order)
  if (order.cloid) account.byCloid.set(order.cloid, order)

  const filled = match(engine, order)
  const names = { oid: order.oid, ...(order.cloid ? { cloid: order.cloid } : {}) }
  if (order.market.kind === 'perp') fundPerpetuals(engine, account)
  if (isImmediate(order) && filled.sz === 0n) {
    setStatus(engine, order, 'iocCancelRejected')
    return refuse('Order could not immediately match against any resting orders.', order.market.asset)
  }
  const leftNothing = order.reduceOnly && reducible(engine, order) === 0n
  if (isImmediate(order) || order.sz === 0n || leftNothing) {
    setStatus(engine, order, order.sz > 0n && leftNothing ? 'reduceOnlyCanceled' : 'filled')
    return { filled: { totalSz: fromSize(filled.sz), avgPx: averageOf(order, filled), ...names } }
  }
  rest(engine, order)
  return { resting: names }
}

function rest(engine: Engine, order: Order) {
  const account = accountOf(engine, order.owner)
  account.open.set(order.oid, order)
  bookOf(engine, order.market).add(order)
  if (order.market.kind === 'spot') {
    order.held = payOf(order.market, order.isBuy, order.limitPx, order.sz)
    balanceOf(account, payToken(order.market, order.isBuy).index).hold += order.held
  }
  setStatus(engine, order, 'open')
}

/** What came to be checked one by one is remembered by its name. */
function refused(engine: Engine, order: Order, refusal: Refusal): Refusal {
  const account = accountOf(engine, order.owner)
  if (!refusal.status) return refusal
  account.orders.push(order)
  if (order.cloid) account.byCloid.set(order.cloid, order)
  setStatus(engine, order, refusal.status)
  return refusal
}

/** With six decimals, or what the market's prices have, the rest dropped: as was measured of the real one. */
function averageOf({ market }: Order, { sz, weighted }: FilledAmount): string {
  const decimals = Math.max(6, market.maxDecimals)
  const step = 10n ** BigInt(8 - decimals)
  const exact = weighted / sz
  return fromPrice((exact / step) * step)
}
