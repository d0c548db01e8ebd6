import { createHash } from 'node:crypto'
import type { At, BookMarket, BookOrder, OrderName, OrderType, BookTrade, OrderState } from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { compare, divide, normalize, sum, multiply, subtract } from 'sluice/decimal'
import type { MarketEntry, Listing } from './markets.ts'
import { decimal, union, array, nothing, object, shape, text, integer, literal, type Infer } from './shape.ts'

/** More than so many are looked for in the lists of open ones and of what was. */
const mostAskedSingly = 8
/** Digits behind the point of an average that does not come out even. */
const averageScale = 12

/** The orders of a wallet on markets of one kind. */
interface OrdersQuery {
  readonly owner: OrderOwner
  readonly kind: MarketEntry['kind']
  readonly listing: Listing
  readonly market?: BookMarket
  readonly names?: readonly OrderName[]
}

/** Newest first: all that are open, and of those that ended what the exchange still knows enough of. */
export async function readOrders(
  ask: QueryInfo,
  { owner, kind, listing, market, names }: OrdersQuery,
  at: At,
): Promise<readonly BookOrder[]> {
  const idOf = new Map((names ?? []).flatMap(({ clientOrderId: id }) => (id === undefined ? [] : [[cloidOf(owner, id), id] as const])))
  const found = names ? await named(ask, owner, names, at) : await listed(ask, owner.user, at)
  const here = found.flatMap((judged) => {
    const { coin, origSz } = judged.order
    const listed = listing.byId.get(coin)
    const isHere = listed?.kind === kind && (market === undefined || market.id === coin)
    // Orders that close a whole position, whatever its size, say no amount. What the exchange refused it remembers, and who asks for it by
    // name is told.
    const isOrder = compare(origSz, '0') > 0 && (names !== undefined || progressOf(judged).state !== 'REJECTED')
    return isHere && isOrder ? [{ judged, market: listed.market }] : []
  })
  const judged = here.map((each) => each.judged)
  const fillsOf = await readOwnFills(ask, owner.user, judged, names !== undefined, at)
  const orders = here.flatMap((each) => {
    const own = fillsOf(each.judged)
    return own ? [shown(each.judged, each.market, own, idOf.get(each.judged.order.cloid ?? ''))] : []
  })
  return orders.toSorted((a, b) => b.createdAt - a.createdAt || Number(b.orderId) - Number(a.orderId))
}

async function listed(ask: QueryInfo, user: string, at: At): Promise<readonly WireOrderStatus[]> {
  const [open, past] = await Promise.all([
    ask({ type: 'frontendOpenOrders', user }, openOrders, at),
    ask({ type: 'historicalOrders', user }, historicalOrders, at),
  ])
  const known = new Map<number, WireOrderStatus>()
  // An order is there with every state that it had: the last one counts.
  for (const each of past) {
    const other = known.get(each.order.oid)
    if (!other || isLater(each, other)) known.set(each.order.oid, each)
  }
  for (const order of open) known.set(order.oid, { order, status: 'open', statusTimestamp: order.timestamp })
  return [...known.values()]
}

const isLater = (each: WireOrderStatus, other: WireOrderStatus) =>
  each.statusTimestamp > other.statusTimestamp || (each.statusTimestamp === other.statusTimestamp && isWaiting(progressOf(other)))

async function named(ask: QueryInfo, owner: OrderOwner, names: readonly OrderName[], at: At): Promise<readonly WireOrderStatus[]> {
  const oids = names.flatMap(({ orderId, clientOrderId }): readonly (number | string)[] => {
    if (orderId === undefined) return clientOrderId === undefined ? [] : [cloidOf(owner, clientOrderId)]
    const oid = oidOf(orderId)
    return oid === undefined ? [] : [oid]
  })
  const lists = oids.length > mostAskedSingly ? await listed(ask, owner.user, at) : []
  const known = new Map<number | string, WireOrderStatus>()
  for (const each of lists) known.set(each.order.oid, each).set(each.order.cloid ?? '', each)
  const found = await Promise.all(oids.map(async (oid) => known.get(oid) ?? single(ask, owner.user, oid, at)))
  const byId = new Map(found.flatMap((each) => (each ? [[each.order.oid, each] as const] : [])))
  return [...byId.values()]
}

async function single(ask: QueryInfo, user: string, oid: number | string, at: At): Promise<WireOrderStatus | undefined> {
  const answer = await ask({ type: 'orderStatus', user, oid }, orderStatus, at)
  return answer.status === 'order' ? answer.order : undefined
}

/** Where its fills are all that the exchange tells. Rounded against who traded. */
function averageOf(own: readonly WireFill[], { filledAmount }: OrderProgress, side: 'A' | 'B'): string | undefined {
  if (own.length === 0 || compare(sum(own.map(({ sz }) => sz)), filledAmount) !== 0) return undefined
  return divide(sum(own.map(({ px, sz }) => multiply(px, sz))), filledAmount, averageScale, side === 'B' ? 'up' : 'down')
}

function shown(judged: WireOrderStatus, market: BookMarket, own: readonly WireFill[], clientOrderId: string | undefined): BookOrder {
  const { order, statusTimestamp } = judged
  const { oid, side, limitPx, origSz, timestamp, tif } = order
  const told = progressOf(judged, own)
  const averagePrice = averageOf(own, told, side)
  return {
    orderId: String(oid),
    ...(clientOrderId !== undefined && { clientOrderId }),
    market,
    side: side === 'B' ? 'BUY' : 'SELL',
    orderType: typeOf(tif ?? undefined),
    price: normalize(limitPx),
    amount: normalize(origSz),
    filledAmount: told.filledAmount,
    ...(averagePrice !== undefined && { averagePrice }),
    state: told.state,
    createdAt: timestamp,
    updatedAt: Math.max(timestamp, statusTimestamp),
  }
}

function typeOf(tif: string | undefined): OrderType {
  if (tif === 'Alo') return 'LIMIT_MAKER'
  return tif === 'FrontendMarket' || tif === 'LiquidationMarket' ? 'MARKET' : 'LIMIT'
}

/** So many the exchange tells at once, the newest: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint */
const mostAtOnce = 2000
/** Of those before, it is asked for so many orders' by themselves. */
const mostAskedSinglyOfOwnFills = 8

/** The fills of an order; undefined where what was filled of it is told by them alone, and the exchange tells them no more. */
type FillsOf = (order: WireOrderStatus) => readonly WireFill[] | undefined

/** @param singly whether those that the newest do not have are worth a question each */
async function readOwnFills(ask: QueryInfo, user: string, orders: readonly WireOrderStatus[], singly: boolean, at: At): Promise<FillsOf> {
  // Most of what traded nothing needs no fills.
  if (!orders.some((each) => compare(progressOf(each).filledAmount, '0') > 0)) return () => []
  const newest = await ask({ type: 'userFills', user }, fills, at)
  const since = newest.length < mostAtOnce ? -Infinity : Math.min(...newest.map(({ time }) => time))
  const older = orders.filter((each) => needsFills(each) && each.order.timestamp <= since)
  const asked = await Promise.all(
    older.slice(0, singly ? mostAskedSinglyOfOwnFills : 0).map(async ({ order: { oid, timestamp }, statusTimestamp }) => {
      const question = { type: 'userFillsByTime', user, startTime: timestamp, endTime: Math.max(timestamp, statusTimestamp) }
      return [oid, await ask(question, fills, at)] as const
    }),
  )
  const doubtful = new Map([...older.map(({ order: { oid } }) => [oid, []] as const), ...asked])
  return ({ order: { oid } }) => {
    const own = (doubtful.get(oid) ?? newest).filter((fill) => fill.oid === oid)
    return own.length === 0 && doubtful.has(oid) ? undefined : own
  }
}

interface TradesQuery {
  readonly market: BookMarket
  /** In lower case. */
  readonly user?: string
  readonly orderId?: string
  readonly limit: number
  readonly before?: number
}

/** Newest first: of a wallet the last 2,000 that the exchange tells at once, of everybody the last few. */
export async function readTrades(
  ask: QueryInfo,
  { market, user, orderId, limit, before = Infinity }: TradesQuery,
  at: At,
): Promise<readonly BookTrade[]> {
  const all: readonly (WireTrade | WireFill)[] =
    user === undefined
      ? await ask({ type: 'recentTrades', coin: market.id }, publicTrades, at)
      : await ask({ type: 'userFills', user }, fills, at)
  return all
    .filter(
      (each) => each.coin === market.id && each.time < before && (orderId === undefined || ('oid' in each && String(each.oid) === orderId)),
    )
    .toSorted((a, b) => b.time - a.time || b.tid - a.tid)
    .slice(0, limit)
    .map((each) => shownOfBookTrades(each, market))
}

function shownOfBookTrades(trade: WireTrade | WireFill, market: BookMarket): BookTrade {
  const { tid, side, px, sz, time, hash } = trade
  return {
    tradeId: String(tid),
    ...('oid' in trade && { orderId: String(trade.oid) }),
    market,
    side: side === 'B' ? 'BUY' : 'SELL',
    price: normalize(px),
    amount: normalize(sz),
    // What strangers paid the exchange does not tell.
    fee: 'fee' in trade ? normalize(trade.fee) : '0',
    feeToken: 'feeToken' in trade ? trade.feeToken : market.quote,
    timestamp: time,
    // Fills that are of no transaction, such as of a liquidation, have a hash of zeros.
    ...(/[1-9a-f]/.test(hash.slice(2)) && { txHash: hash }),
  }
}

/** What became of an order. */
interface OrderProgress {
  readonly state: OrderState
  readonly filledAmount: string
}

/** Times in force of what does not wait in the book. */
const immediate: ReadonlySet<string> = new Set(['Ioc', 'FrontendMarket', 'LiquidationMarket'])

/**
 * By the exchange's word for it (`OrderProcessingStatusSchema` of @nktkas/hyperliquid) and its sizes. One that did not wait is called
 * "filled" when any of it was: how much, its fills tell.
 * @param fills the wallet's, where they were asked for
 */
export function progressOf({ order: { oid, origSz, sz }, status }: WireOrderStatus, fills: readonly WireFill[] = []): OrderProgress {
  if (/rejected$/i.test(status)) return { state: 'REJECTED', filledAmount: '0' }
  if (status === 'filled') {
    const filled = sum(fills.filter((fill) => fill.oid === oid).map((fill) => fill.sz))
    const isPart = compare(filled, '0') > 0 && compare(filled, origSz) < 0
    return isPart ? { state: 'CANCELED', filledAmount: filled } : { state: 'FILLED', filledAmount: normalize(origSz) }
  }
  const filledAmount = subtract(origSz, sz)
  if (/cancell?ed$|^scheduledCancel$/i.test(status)) return { state: 'CANCELED', filledAmount }
  return { state: compare(filledAmount, '0') > 0 ? 'PARTIALLY_FILLED' : 'OPEN', filledAmount }
}

/** Whether fills are needed to tell what became of it. */
export const needsFills = ({ order: { tif }, status }: WireOrderStatus): boolean => status === 'filled' && immediate.has(tif ?? '')

export const isWaiting = ({ state }: OrderProgress): boolean => state === 'OPEN' || state === 'PARTIALLY_FILLED'

/** A is who sells, B who buys. */
const side = union(literal('A'), literal('B'))
const textOrNothing = union(text, nothing)

const order = object(
  {
    coin: text,
    side,
    limitPx: decimal,
    /** What is left of it. */
    sz: decimal,
    origSz: decimal,
    oid: integer,
    timestamp: integer,
  },
  { tif: textOrNothing, cloid: textOrNothing },
)
type WireOpenOrder = Infer<typeof order>

const judged = object({ order, status: text, statusTimestamp: integer })
/** An order with what became of it. */
export type WireOrderStatus = Infer<typeof judged>

const openOrders = shape(array(order))
const historicalOrders = shape(array(judged))
export const orderStatus = shape(union(object({ status: literal('order'), order: judged }), object({ status: literal('unknownOid') })))

const ofTrade = { coin: text, side, px: decimal, sz: decimal, time: integer, hash: text, tid: integer }
const trade = object(ofTrade)
type WireTrade = Infer<typeof trade>
export const trades = array(trade)
const publicTrades = shape(trades)

const fill = object({ ...ofTrade, oid: integer, fee: decimal, feeToken: text })
export type WireFill = Infer<typeof fill>
export const fills = shape(array(fill))

/** Whose order it is, and where. */
export interface OrderOwner {
  readonly chain: string
  readonly network: string
  /** In lower case. */
  readonly user: string
}

/**
 * The 128 bits by which the exchange knows an order that its wallet calls so: always the same, so that a lost answer is asked for by them
 * after a restart too.
 */
export function cloidOf({ chain, network, user }: OrderOwner, clientOrderId: string): string {
  const text = JSON.stringify(['hyperliquid', chain, network, user, clientOrderId])
  return `0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

/** The exchange's own number of an order, where the text is one as it is written there: "07" names none. */
export const oidOf = (orderId: string): number | undefined => (/^(0|[1-9]\d{0,14})$/.test(orderId) ? Number(orderId) : undefined)
