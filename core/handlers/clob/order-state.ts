import type { ActionOutcome, BookOrder, OrderName, OrderState, OrderType, TimeInForce } from '../../contracts/index.ts'
import { txHashOf } from '../../transactions/entry.ts'
import { type JournaledOrder } from '../../transactions/book-orders.ts'
import { plain } from '../../verbs/clob/figures/exact.ts'
import { nameOf } from './markets.ts'
import { readAboutOrder } from '../../verbs/clob/orders/about-order.ts'
import { hasEnded, orderState } from '../../verbs/clob/orders/order-state.ts'

/** An order as callers see it. */
export interface ShownOrder extends OrderName {
  market: string
  side: 'BUY' | 'SELL'
  orderType: OrderType
  timeInForce?: TimeInForce
  price: string
  amount: string
  filledAmount: string
  averagePrice?: string
  state: OrderState
  reason?: string
  txHash?: string
  createdAt: number
  updatedAt: number
}

/** One that this server placed. */
export function showJournaled(
  order: JournaledOrder,
  { outcome, exchange, cancelling }: { outcome?: ActionOutcome; exchange?: BookOrder; cancelling: boolean },
): ShownOrder {
  const { entry, said, market, clientOrderId } = order
  const { side, orderType, timeInForce, price, amount } = readAboutOrder(order)
  const { filledAmount, averagePrice, ...known } = orderState({ entry, said, exchange, outcome, cancelling })
  const txHash = entry.signer === undefined ? txHashOf(entry) : undefined
  return {
    ...known,
    clientOrderId,
    market,
    side,
    orderType,
    timeInForce,
    price,
    amount,
    filledAmount: plain(filledAmount),
    ...(averagePrice !== undefined && { averagePrice: plain(averagePrice) }),
    ...(txHash !== undefined && { txHash }),
    createdAt: entry.createdAt,
    updatedAt: Math.max(entry.updatedAt, exchange?.updatedAt ?? 0, said?.updatedAt ?? 0),
  }
}

/** One that this server's journal does not have. */
export const showForeign = (order: BookOrder, cancelling: boolean): ShownOrder => ({
  orderId: order.orderId,
  ...(order.clientOrderId !== undefined && { clientOrderId: order.clientOrderId }),
  market: nameOf(order.market),
  side: order.side,
  orderType: order.orderType,
  price: plain(order.price),
  amount: plain(order.amount),
  filledAmount: plain(order.filledAmount),
  ...(order.averagePrice !== undefined && { averagePrice: plain(order.averagePrice) }),
  state: cancelling && !hasEnded(order.state) ? 'PENDING_CANCEL' : order.state,
  createdAt: order.createdAt,
  updatedAt: order.updatedAt,
})
