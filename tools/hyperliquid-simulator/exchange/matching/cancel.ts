import { accountOf, bookOf, setStatus, type Engine } from '../engine.ts'
import { balanceOf } from '../ledger/account.ts'
import type { Order, OrderStatus } from '../book/order.ts'
import { payToken } from './settle-spot.ts'

/** An order ends as it is: it leaves the book, and what it held back is free. */
export function endOrder(engine: Engine, order: Order, status: OrderStatus) {
  const account = accountOf(engine, order.owner)
  bookOf(engine, order.market).remove(order)
  account.open.delete(order.oid)
  if (order.market.kind === 'spot') balanceOf(account, payToken(order.market, order.isBuy).index).hold -= order.held
  order.held = 0n
  setStatus(engine, order, status)
}

/** Reduce-only orders that have nothing to reduce any more. */
export function sweepReduceOnly(engine: Engine, owner: string, coin: string) {
  const account = accountOf(engine, owner)
  const szi = account.positions.get(coin)?.szi ?? 0n
  for (const order of account.open.values()) {
    if (order.reduceOnly && order.market.coin === coin && (szi === 0n || order.isBuy === szi > 0n))
      endOrder(engine, order, 'reduceOnlyCanceled')
  }
}
