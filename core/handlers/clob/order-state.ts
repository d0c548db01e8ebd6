import type {
  ActionOutcome,
  BookMarket,
  BookOrder,
  Json,
  NewOrder,
  OrderName,
  OrderState,
  OrderType,
  TimeInForce,
} from '../../contracts/index.ts'
import { compare, max, normalize, subtract } from '../../base/decimal.ts'
import type { JournaledOrder } from '../../transactions/book-orders.ts'
import { isFinal, txHashOf, type Entry } from '../../transactions/entry.ts'
import { marketName } from './markets.ts'

const endStates: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

export const hasEnded = (state: OrderState) => endStates.has(state)

/** All sources of an order's state. */
export interface OrderFacts {
  /** The journal's entry of the transaction, or signed action, that places it. */
  readonly entry: Pick<Entry, 'state' | 'landed' | 'reason' | 'replacedBy'>
  /** From the receipt. */
  readonly outcome?: ActionOutcome
  /** The exchange's order as it is now. */
  readonly exchange?: Pick<BookOrder, 'orderId' | 'state' | 'filledAmount' | 'averagePrice'>
  /** What the exchange reported last, from the journal. */
  readonly report?: ActionOutcome
  /** A cancel from this server is pending. */
  readonly cancelling: boolean
}

/**
 * The state of an order as callers see it. The exchange's order is newer than the receipt, and an end state wins over an open one. But an
 * order that ended in its own receipt keeps that outcome: what the exchange reports later may be incomplete, such as old fills.
 */
export function orderState({ entry, outcome, exchange, report, cancelling }: OrderFacts): ActionOutcome & { filledAmount: string } {
  const landed = entry.landed?.ok === true
  const sources: ActionOutcome[] = [...(exchange ? [exchange] : []), ...(landed && outcome ? [outcome] : []), ...(report ? [report] : [])]
  const immediate = landed && outcome && hasEnded(outcome.state) && outcome.state !== 'REJECTED' ? outcome : undefined
  const chosen = immediate ?? sources.find(({ state }) => hasEnded(state)) ?? sources[0]
  if (!chosen) return { state: stateOfEntry(entry), filledAmount: '0', ...(entry.reason !== undefined && { reason: entry.reason }) }
  const firstKnown = (key: 'orderId' | 'averagePrice' | 'reason') => [chosen, ...sources].find((each) => each[key] !== undefined)?.[key]
  const [orderId, averagePrice, reason] = [firstKnown('orderId'), firstKnown('averagePrice'), firstKnown('reason')]
  return {
    state: cancelling && !hasEnded(chosen.state) ? 'PENDING_CANCEL' : chosen.state,
    // Of two amounts that were read one after the other, the larger is the newer.
    filledAmount: (immediate ? [immediate] : sources).reduce((largest, { filledAmount = '0' }) => max(largest, filledAmount), '0'),
    ...(orderId !== undefined && { orderId }),
    ...(averagePrice !== undefined && { averagePrice }),
    ...(reason !== undefined && { reason }),
  }
}

/** If neither the exchange nor a receipt tells the state. */
function stateOfEntry({ state, landed, replacedBy }: OrderFacts['entry']): OrderState {
  if (landed) return landed.ok ? 'OPEN' : 'REJECTED'
  if (isFinal({ state })) return 'FAILED'
  return replacedBy === undefined ? 'PENDING_OPEN' : 'PENDING_CANCEL'
}

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

/** By what is left, of an order whose amount the journal has. */
function withFilled(exchange: BookOrder, amount: string): BookOrder {
  if (exchange.leftAmount === undefined || hasEnded(exchange.state)) return exchange
  const filledAmount = max('0', subtract(amount, exchange.leftAmount))
  return { ...exchange, filledAmount, state: compare(filledAmount, '0') > 0 ? 'PARTIALLY_FILLED' : exchange.state }
}

/** An order that this server placed. */
export function showJournaled(
  order: JournaledOrder,
  { outcome, exchange, cancelling }: { outcome?: ActionOutcome; exchange?: BookOrder; cancelling: boolean },
): ShownOrder {
  const { entry, report, market, clientOrderId } = order
  const { side, orderType, timeInForce, price, amount } = readAboutOrder(order)
  const { filledAmount, averagePrice, ...state } = orderState({
    entry,
    report,
    ...(exchange && { exchange: withFilled(exchange, amount) }),
    outcome,
    cancelling,
  })
  const txHash = entry.signer === undefined ? txHashOf(entry) : undefined
  return {
    ...state,
    clientOrderId,
    market,
    side,
    orderType,
    timeInForce,
    price,
    amount,
    filledAmount: normalize(filledAmount),
    ...(averagePrice !== undefined && { averagePrice: normalize(averagePrice) }),
    ...(txHash !== undefined && { txHash }),
    createdAt: entry.createdAt,
    updatedAt: Math.max(entry.updatedAt, exchange?.updatedAt ?? 0, report?.updatedAt ?? 0),
  }
}

/** An order that is not in this server's journal. */
export const showForeign = (order: BookOrder, cancelling: boolean): ShownOrder => ({
  orderId: order.orderId,
  ...(order.clientOrderId !== undefined && { clientOrderId: order.clientOrderId }),
  market: marketName(order.market),
  side: order.side,
  orderType: order.orderType,
  price: normalize(order.price),
  amount: normalize(order.amount),
  filledAmount: normalize(order.filledAmount),
  ...(order.averagePrice !== undefined && { averagePrice: normalize(order.averagePrice) }),
  state: cancelling && !hasEnded(order.state) ? 'PENDING_CANCEL' : order.state,
  createdAt: order.createdAt,
  updatedAt: order.updatedAt,
})

/** What the journal keeps of an order, in `about`, to show it without the exchange. */
type AboutOrder = {
  side: 'BUY' | 'SELL'
  orderType: OrderType
  timeInForce: TimeInForce
  price: string
  amount: string
  /** The tag of a request with an Idempotency-Key: an order that has it was placed by the same request. */
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

/** This server wrote the journal. */
export const readAboutOrder = ({ about }: Pick<JournaledOrder, 'about'>): AboutOrder => about as AboutOrder

/** What the journal keeps of a transaction, or signed action, that cancels orders. */
interface AboutCancels {
  type: string
  cancels: readonly ({ market: string } & OrderName)[]
}

export const aboutCancels = (type: string, cancels: readonly { market: BookMarket; order: OrderName }[]): Json => ({
  type,
  cancels: cancels.map(({ market, order }) => ({ market: marketName(market), ...order })),
})

/** Undefined if the entry cancels nothing. */
export const readAboutCancels = ({ kind, about }: Pick<Entry, 'kind' | 'about'>): AboutCancels | undefined =>
  (kind === 'order' || kind === 'order-cancel') && about !== null ? (about as unknown as AboutCancels) : undefined
