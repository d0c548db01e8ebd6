import type {
  ActionOutcome,
  BookOrder,
  OrderName,
  OrderState,
  OrderType,
  TimeInForce,
  BookMarket,
  Json,
  NewOrder,
} from '../../contracts/index.ts'
import { normalize, max as larger } from '../../decimal.ts'
import type { JournaledOrder } from '../../transactions/book-orders.ts'
import { txHashOf, isFinal, type Entry } from '../../transactions/entry.ts'
import { marketName } from './markets.ts'

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
  const { entry, report: said, market, clientOrderId } = order
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
    filledAmount: normalize(filledAmount),
    ...(averagePrice !== undefined && { averagePrice: normalize(averagePrice) }),
    ...(txHash !== undefined && { txHash }),
    createdAt: entry.createdAt,
    updatedAt: Math.max(entry.updatedAt, exchange?.updatedAt ?? 0, said?.updatedAt ?? 0),
  }
}

/** One that this server's journal does not have. */
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

const ends: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

/** Nothing becomes of it any more. */
export const hasEnded = (state: OrderState) => ends.has(state)

/** What is known of an order. */
export interface OrderFacts {
  /** The journal's, of what was to place it. */
  readonly entry: Pick<Entry, 'state' | 'landed' | 'reason' | 'replacedBy'>
  /** What its receipt says, where it landed. */
  readonly outcome?: ActionOutcome
  /** As the exchange has it now. */
  readonly exchange?: Pick<BookOrder, 'orderId' | 'state' | 'filledAmount' | 'averagePrice'>
  /** What was kept of it. */
  readonly said?: ActionOutcome
  /** A cancel of ours is under way. */
  readonly cancelling: boolean
}

/**
 * The state of an order as callers see it, and what else is known: the exchange's word over its receipt's, and an end over what is open. But what
 * ended in its own receipt ended just so: of what is read of it later a part may be missing, such as fills of long ago.
 */
export function orderState({ entry, outcome, exchange, said, cancelling }: OrderFacts): ActionOutcome & { filledAmount: string } {
  const landed = entry.landed?.ok === true
  const words: ActionOutcome[] = [...(exchange ? [exchange] : []), ...(landed && outcome ? [outcome] : []), ...(said ? [said] : [])]
  const atOnce = landed && outcome && hasEnded(outcome.state) && outcome.state !== 'REJECTED' ? outcome : undefined
  const word = atOnce ?? words.find(({ state }) => hasEnded(state)) ?? words[0]
  if (!word) return { state: unsaid(entry), filledAmount: '0', ...(entry.reason !== undefined && { reason: entry.reason }) }
  const known = (key: 'orderId' | 'averagePrice' | 'reason') => [word, ...words].find((each) => each[key] !== undefined)?.[key]
  const [orderId, averagePrice, reason] = [known('orderId'), known('averagePrice'), known('reason')]
  return {
    state: cancelling && !hasEnded(word.state) ? 'PENDING_CANCEL' : word.state,
    // Of two that were read one after the other the larger is the newer.
    filledAmount: (atOnce ? [atOnce] : words).reduce((most, { filledAmount = '0' }) => larger(most, filledAmount), '0'),
    ...(orderId !== undefined && { orderId }),
    ...(averagePrice !== undefined && { averagePrice }),
    ...(reason !== undefined && { reason }),
  }
}

/** Where neither the exchange nor a receipt says anything. */
function unsaid({ state, landed, replacedBy }: OrderFacts['entry']): OrderState {
  if (landed) return landed.ok ? 'OPEN' : 'REJECTED'
  if (isFinal({ state })) return 'FAILED'
  return replacedBy === undefined ? 'PENDING_OPEN' : 'PENDING_CANCEL'
}

/** What the journal keeps of an order, so that it can be shown without the exchange. */
interface AboutOrder {
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
interface AboutCancels {
  type: string
  cancels: readonly ({ market: string } & OrderName)[]
}

export const aboutCancels = (type: string, cancels: readonly { market: BookMarket; order: OrderName }[]): Json => ({
  type,
  cancels: cancels.map(({ market, order }) => ({ market: marketName(market), ...order })),
})

/** Undefined where it cancels nothing. */
export const readAboutCancels = ({ kind, about }: Pick<Entry, 'kind' | 'about'>): AboutCancels | undefined =>
  (kind === 'order' || kind === 'order-cancel') && about !== null ? (about as unknown as AboutCancels) : undefined
