import { createHash } from 'node:crypto'
import {
  type At,
  type BookMarket,
  type BookOrder,
  type BookTrade,
  type OrderName,
  type OrderState,
  type OrderType,
  SluiceError,
} from 'sluice/plugin'
import type { QueryInfo } from './api.ts'
import { maxFills, type KnownFills } from './known-fills.ts'
import { compare, divide, subtract, normalize, sum, multiply } from 'sluice/decimal'
import type { Listing, MarketEntry } from './markets.ts'
import {
  anything,
  array,
  decimal,
  integer,
  is,
  literal,
  nothing,
  object,
  shape,
  text,
  union,
  unread,
  withUnread,
  type Infer,
} from './shape.ts'

/** A is the seller, B the buyer. */
const side = union(literal('A'), literal('B'))
const textOrNothing = union(text, nothing)

const order = object(
  {
    coin: text,
    side,
    limitPx: decimal,
    /** The amount that is not filled yet. */
    sz: decimal,
    origSz: decimal,
    oid: integer,
    timestamp: integer,
  },
  { tif: textOrNothing, cloid: textOrNothing },
)
const wireOrderStatus = object({ order, status: text, statusTimestamp: integer })
/** An order and its status. */
export type WireOrderStatus = Infer<typeof wireOrderStatus>

/** Each is checked by itself. */
const orderList = shape(array(anything))
const orderInside = object({ order: anything })
const orderOfMarket = object({ coin: text })
const orderOfNumber = object({ oid: integer })
export const orderStatus = shape(
  union(object({ status: literal('order'), order: wireOrderStatus }), object({ status: literal('unknownOid') })),
)

const tradeFields = { coin: text, side, px: decimal, sz: decimal, time: integer, hash: text, tid: integer }
const trade = object(tradeFields)
type WireTrade = Infer<typeof trade>
export const trades = array(trade)
const tradeList = shape(array(anything))
const namedTrade = object({ coin: text, tid: integer, time: integer })

export const fill = object({ ...tradeFields, oid: integer, fee: decimal, feeToken: text })
export type WireFill = Infer<typeof fill>
const fillOfOrder = object({ oid: integer })

/** Up to so many orders are queried one by one. Above, the lists of open and past orders are read first. */
const maxSingleQueries = 8
/** Decimals of an average price that is not exact. */
const averageScale = 12

/** The orders of a wallet on markets of one kind. */
interface OrdersQuery {
  readonly owner: OrderOwner
  readonly kind: MarketEntry['kind']
  readonly listing: Listing
  readonly market?: BookMarket
  readonly names?: readonly OrderName[]
}

/** Newest first: all open orders, and those past ones of which the exchange still gives the fills. */
export async function readOrders(
  queryInfo: QueryInfo,
  { owner, kind, listing, market, names }: OrdersQuery,
  at: At,
): Promise<readonly BookOrder[]> {
  const clientOrderIds = new Map(
    (names ?? []).flatMap(({ clientOrderId: id }) => (id === undefined ? [] : [[cloidOf(owner, id), id] as const])),
  )
  const isAsked = (coin: string) => listing.byId.get(coin)?.kind === kind && (market === undefined || market.id === coin)
  const all = names
    ? await ordersByName(queryInfo, owner, names, at)
    : requireRead(await listedOrders(queryInfo, owner.user, at), isAsked, owner.user)
  const found = all.flatMap((status) => {
    const { coin, origSz } = status.order
    const entry = listing.byId.get(coin)
    const isInMarket = entry !== undefined && isAsked(coin)
    // An order that closes a whole position has no amount. A refused order is returned only to a caller that names it.
    const isShown = compare(origSz, '0') > 0 && (names !== undefined || progressOf(status).state !== 'REJECTED')
    return isInMarket && isShown ? [{ status, market: entry.market }] : []
  })
  const statuses = found.map(({ status }) => status)
  // An order without a filled amount has no fills, so that the query can be saved.
  const isAnyFilled = statuses.some((each) => compare(progressOf(each).filledAmount, '0') > 0)
  const fillsOf: FillsOf = isAnyFilled ? await readOwnFills(queryInfo, owner.user, statuses, names !== undefined, at) : () => []
  return found
    .flatMap(({ status, market: of }) => {
      const own = fillsOf(status)
      return own ? [toBookOrder(status, of, own, clientOrderIds.get(status.order.cloid ?? ''))] : []
    })
    .toSorted((a, b) => b.createdAt - a.createdAt || Number(b.orderId) - Number(a.orderId))
}

interface ListedOrders {
  /** The last state of each. */
  readonly known: readonly WireOrderStatus[]
  /** Orders whose last state cannot be read. */
  readonly unreadable: readonly unknown[]
}

async function listedOrders(queryInfo: QueryInfo, user: string, at: At): Promise<ListedOrders> {
  const [open, past] = await Promise.all([
    queryInfo({ type: 'frontendOpenOrders', user }, orderList, at),
    queryInfo({ type: 'historicalOrders', user }, orderList, at),
  ])
  const latest = new Map<number, WireOrderStatus>()
  // The history has an entry for every state that an order was in. The last one counts.
  for (const each of past.filter((status) => is(wireOrderStatus, status))) {
    const other = latest.get(each.order.oid)
    if (!other || isLater(each, other)) latest.set(each.order.oid, each)
  }
  const unreadable: readonly unknown[] = [
    ...past.filter((each) => !is(wireOrderStatus, each)).map((each) => (is(orderInside, each) ? each.order : each)),
    ...open.filter((each) => !is(order, each)),
  ]
  // What cannot be read may have been the last one.
  for (const each of unreadable) for (const { order: known } of latest.values()) if (mayBe(each, known)) latest.delete(known.oid)
  for (const each of open) if (is(order, each)) latest.set(each.oid, { order: each, status: 'open', statusTimestamp: each.timestamp })
  const isOpenNow = (each: unknown) => is(orderOfNumber, each) && latest.has(each.oid)
  return { known: [...latest.values()], unreadable: unreadable.filter((each) => !isOpenNow(each)) }
}

/** Whether an entry that cannot be read may be one of this order. */
function mayBe(unreadable: unknown, { oid, coin }: WireOrderStatus['order']): boolean {
  if (is(orderOfNumber, unreadable)) return unreadable.oid === oid
  return !is(orderOfMarket, unreadable) || unreadable.coin === coin
}

/** @throws SluiceError NETWORK where one that is asked for cannot be read: an order that is missing is taken for one that is over */
function requireRead({ known, unreadable }: ListedOrders, isAsked: (coin: string) => boolean, user: string): readonly WireOrderStatus[] {
  const missing = unreadable.find((each) => !is(orderOfMarket, each) || isAsked(each.coin))
  if (missing === undefined) return known
  const which = is(orderOfNumber, missing) ? `the order ${missing.oid}` : 'an order'
  throw new SluiceError('NETWORK', `Hyperliquid's answer has ${which} of ${user} in an unknown format. Try again.`, {
    retryAfterSeconds: 5,
  })
}

const isLater = (each: WireOrderStatus, other: WireOrderStatus) =>
  each.statusTimestamp > other.statusTimestamp || (each.statusTimestamp === other.statusTimestamp && isOpen(progressOf(other)))

async function ordersByName(
  queryInfo: QueryInfo,
  owner: OrderOwner,
  names: readonly OrderName[],
  at: At,
): Promise<readonly WireOrderStatus[]> {
  const oids = names.flatMap(({ orderId, clientOrderId }): readonly (number | string)[] => {
    if (orderId === undefined) return clientOrderId === undefined ? [] : [cloidOf(owner, clientOrderId)]
    const oid = oidOf(orderId)
    return oid === undefined ? [] : [oid]
  })
  const listed = oids.length > maxSingleQueries ? (await listedOrders(queryInfo, owner.user, at)).known : []
  const known = new Map<number | string, WireOrderStatus>()
  for (const each of listed) known.set(each.order.oid, each).set(each.order.cloid ?? '', each)
  const found = await Promise.all(oids.map(async (oid) => known.get(oid) ?? readOrderStatus(queryInfo, owner.user, oid, at)))
  return [...new Map(found.flatMap((each) => (each ? [[each.order.oid, each] as const] : []))).values()]
}

/** By the exchange's number or the cloid of the order. Undefined where the exchange does not know it. */
export async function readOrderStatus(
  queryInfo: QueryInfo,
  user: string,
  oid: number | string,
  at: At,
): Promise<WireOrderStatus | undefined> {
  const answer = await queryInfo({ type: 'orderStatus', user, oid }, orderStatus, at)
  return answer.status === 'order' ? answer.order : undefined
}

function toBookOrder(status: WireOrderStatus, market: BookMarket, own: readonly WireFill[], clientOrderId: string | undefined): BookOrder {
  const { oid, side: sideOf, limitPx, origSz, timestamp, tif } = status.order
  const { state, filledAmount } = progressOf(status, own)
  const averagePrice = averageOf(own, filledAmount, sideOf)
  return {
    orderId: String(oid),
    ...(clientOrderId !== undefined && { clientOrderId }),
    market,
    side: sideOf === 'B' ? 'BUY' : 'SELL',
    orderType: typeOf(tif ?? undefined),
    price: normalize(limitPx),
    amount: normalize(origSz),
    filledAmount,
    ...(averagePrice !== undefined && { averagePrice }),
    state,
    createdAt: timestamp,
    updatedAt: Math.max(timestamp, status.statusTimestamp),
  }
}

/** Undefined where the known fills are not all of what was filled. Rounded against the trader. */
function averageOf(own: readonly WireFill[], filledAmount: string, sideOf: 'A' | 'B'): string | undefined {
  if (own.length === 0 || compare(sum(own.map(({ sz }) => sz)), filledAmount) !== 0) return undefined
  return divide(sum(own.map(({ px, sz }) => multiply(px, sz))), filledAmount, averageScale, sideOf === 'B' ? 'up' : 'down')
}

function typeOf(tif: string | undefined): OrderType {
  if (tif === 'Alo') return 'LIMIT_MAKER'
  return tif === 'FrontendMarket' || tif === 'LiquidationMarket' ? 'MARKET' : 'LIMIT'
}

/**
 * The fills of an order. Undefined where only its fills say how much was filled, and the exchange no longer returns them.
 * @throws SluiceError NETWORK where only they say it, and one of them cannot be read
 */
type FillsOf = (order: WireOrderStatus) => readonly WireFill[] | undefined

/** What the exchange returned of fills: each is checked by itself. */
interface ReadFills {
  readonly fills: readonly WireFill[]
  /** The millisecond before which there may be others. */
  readonly since: number
  /** Orders of which one cannot be read; undefined: of which order is not known. */
  readonly unread: ReadonlySet<number | undefined>
}

async function readFills(queryInfo: QueryInfo, request: Parameters<QueryInfo>[0], at: At): Promise<ReadFills> {
  const all = await queryInfo(request, tradeList, at)
  const fills = all.filter((each): each is WireFill => is(fill, each))
  const unread = all.filter((each) => !is(fill, each))
  const since = all.length < maxFills ? -Infinity : Math.min(...fills.map(({ time }) => time))
  return { fills, since, unread: new Set(unread.map((each) => (is(fillOfOrder, each) ? each.oid : undefined))) }
}

/** @param singly whether to query the fills of orders that are older than the newest fills, one query for each order */
export async function readOwnFills(
  queryInfo: QueryInfo,
  user: string,
  orders: readonly WireOrderStatus[],
  singly: boolean,
  at: At,
): Promise<FillsOf> {
  const newest = await readFills(queryInfo, { type: 'userFills', user }, at)
  const older = orders.filter((each) => needsFills(each) && each.order.timestamp <= newest.since)
  const queried = await Promise.all(
    older.slice(0, singly ? maxSingleQueries : 0).map(async ({ order: { oid, timestamp }, statusTimestamp }) => {
      const request = { type: 'userFillsByTime', user, startTime: timestamp, endTime: Math.max(timestamp, statusTimestamp) }
      return [oid, await readFills(queryInfo, request, at)] as const
    }),
  )
  const olderFills = new Map<number, ReadFills | undefined>([...older.map(({ order: { oid } }) => [oid, undefined] as const), ...queried])
  return (order) => {
    const { oid } = order.order
    const read = olderFills.has(oid) ? olderFills.get(oid) : newest
    if (!read) return undefined
    const own = read.fills.filter((each) => each.oid === oid)
    if (needsFills(order) && (read.unread.has(oid) || (own.length === 0 && read.unread.has(undefined)))) throw unreadableFill(oid, user)
    return own.length === 0 && olderFills.has(oid) ? undefined : own
  }
}

const unreadableFill = (oid: number, user: string) =>
  new SluiceError('NETWORK', `Hyperliquid's answer has a fill of the order ${oid} of ${user} in an unknown format. Try again.`)

interface TradesQuery {
  readonly market: BookMarket
  /** In lower case. */
  readonly user?: string
  readonly orderId?: string
  readonly limit: number
  readonly before?: number
  /** For what the server asks by itself. Absent: the exchange is asked for a wallet's fills now. */
  readonly knownFills?: KnownFills | undefined
}

/** Newest first: the last 2,000 trades of a wallet, or the few last public ones. */
export async function readTrades(
  queryInfo: QueryInfo,
  { market, user, orderId, limit, before = Infinity, knownFills }: TradesQuery,
  at: At,
): Promise<readonly BookTrade[]> {
  const all =
    user === undefined
      ? await queryInfo({ type: 'recentTrades', coin: market.id }, tradeList, at)
      : await (knownFills?.(user, at) ?? queryInfo({ type: 'userFills', user }, tradeList, at))
  const isWhole = user === undefined ? trade : fill
  const readable = all.filter((each): each is WireTrade | WireFill => is(isWhole, each))
  // One of another market is not missing here. What says of none is told, too.
  const others = all.flatMap((each, index) => {
    if (is(isWhole, each)) return []
    const known = is(namedTrade, each) ? each : undefined
    const isElsewhere = known && (known.coin !== market.id || known.time >= before)
    return isElsewhere || orderId !== undefined ? [] : [unread<BookTrade>({ tradeId: known ? String(known.tid) : `trade ${index}` })]
  })
  const found = readable
    .filter(
      (each) => each.coin === market.id && each.time < before && (orderId === undefined || ('oid' in each && String(each.oid) === orderId)),
    )
    .toSorted((a, b) => b.time - a.time || b.tid - a.tid)
    .slice(0, limit)
    .map((each) => toBookTrade(each, market))
  return withUnread(found, others.slice(0, limit), user === undefined ? 'recentTrades' : 'userFills')
}

export function toBookTrade(of: WireTrade | WireFill, market: BookMarket): BookTrade {
  const { tid, px, sz, time, hash } = of
  return {
    tradeId: String(tid),
    ...('oid' in of && { orderId: String(of.oid) }),
    market,
    side: of.side === 'B' ? 'BUY' : 'SELL',
    price: normalize(px),
    amount: normalize(sz),
    // The exchange does not publish the fees of other traders.
    fee: 'fee' in of ? normalize(of.fee) : '0',
    feeToken: 'feeToken' in of ? of.feeToken : market.quote,
    timestamp: time,
    // Fills without a transaction, such as liquidations, have a hash of zeros.
    ...(/[1-9a-f]/.test(hash.slice(2)) && { txHash: hash }),
  }
}

interface OrderProgress {
  readonly state: OrderState
  readonly filledAmount: string
}

/** Times in force of orders that do not rest in the book. */
const immediate: ReadonlySet<string> = new Set(['Ioc', 'FrontendMarket', 'LiquidationMarket'])

/**
 * Derived from the exchange's status (`OrderProcessingStatusSchema` of @nktkas/hyperliquid) and the order's sizes. An order that does not
 * rest has the status "filled" when any part of it was filled. Only its fills say how much.
 * @param own the wallet's fills, where they were read
 */
export function progressOf({ order: { oid, origSz, sz }, status }: WireOrderStatus, own: readonly WireFill[] = []): OrderProgress {
  if (/rejected$/i.test(status)) return { state: 'REJECTED', filledAmount: '0' }
  if (status === 'filled') {
    const filled = sum(own.filter((each) => each.oid === oid).map((each) => each.sz))
    const isPart = compare(filled, '0') > 0 && compare(filled, origSz) < 0
    return isPart ? { state: 'CANCELED', filledAmount: filled } : { state: 'FILLED', filledAmount: normalize(origSz) }
  }
  const filledAmount = subtract(origSz, sz)
  if (/cancell?ed$|^scheduledCancel$/i.test(status)) return { state: 'CANCELED', filledAmount }
  return { state: compare(filledAmount, '0') > 0 ? 'PARTIALLY_FILLED' : 'OPEN', filledAmount }
}

/** Whether only its fills say how much of an order was filled. */
export const needsFills = ({ order: { tif }, status }: WireOrderStatus): boolean => status === 'filled' && immediate.has(tif ?? '')

export const isOpen = ({ state }: OrderProgress): boolean => state === 'OPEN' || state === 'PARTIALLY_FILLED'

/** The wallet that an order belongs to, on one network. */
export interface OrderOwner {
  readonly chain: string
  readonly network: string
  /** In lower case. */
  readonly user: string
}

/**
 * The exchange's 128-bit client order id. It is derived from the caller's `clientOrderId`, so that an order whose answer was lost is found
 * by it after a restart, too.
 */
export function cloidOf({ chain, network, user }: OrderOwner, clientOrderId: string): string {
  const name = JSON.stringify(['hyperliquid', chain, network, user, clientOrderId])
  return `0x${createHash('sha256').update(name).digest('hex').slice(0, 32)}`
}

/** The exchange's number of an order. Undefined for text that the exchange would not write, such as "07". */
export const oidOf = (orderId: string): number | undefined => (/^(0|[1-9]\d{0,14})$/.test(orderId) ? Number(orderId) : undefined)
