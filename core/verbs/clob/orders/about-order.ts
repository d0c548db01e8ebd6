import type { BookMarket, Json, NewOrder, OrderName, OrderType, TimeInForce } from '../../../contracts/index.ts'
import type { Entry } from '../../../transactions/entry.ts'
import type { JournaledOrder } from '../../../transactions/book-orders.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'

/** What the journal keeps of an order, so that it can be shown without the exchange. */
export interface AboutOrder {
  side: 'BUY' | 'SELL'
  orderType: OrderType
  timeInForce: TimeInForce
  price: string
  amount: string
  /** Of a request with an Idempotency-Key: what is journaled again under it is that request, repeated. */
  request?: string
}

export const aboutOrder = ({ side, orderType, timeInForce, price, amount }: NewOrder, request: string | undefined): Json => ({
  side,
  orderType,
  timeInForce,
  price,
  amount,
  ...(request !== undefined && { request }),
})

/** Reads it back: the journal is this server's own. */
export const readAboutOrder = ({ about }: Pick<JournaledOrder, 'about'>): AboutOrder => about as unknown as AboutOrder

/** Which orders a transaction, or a signed action, is to cancel. */
export interface AboutCancels {
  type: string
  cancels: readonly ({ market: string } & OrderName)[]
}

export const aboutCancels = (type: string, cancels: readonly { market: BookMarket; order: OrderName }[]): Json => ({
  type,
  cancels: cancels.map(({ market, order }) => ({ market: nameOf(market), ...order })),
})

/** Undefined where it cancels nothing. */
export const readAboutCancels = ({ kind, about }: Pick<Entry, 'kind' | 'about'>): AboutCancels | undefined =>
  (kind === 'order' || kind === 'order-cancel') && about !== null ? (about as unknown as AboutCancels) : undefined
