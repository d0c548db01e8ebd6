import type { At, BookMarket, BookOrder, OrderName, OrderType } from 'sluice/plugin'
import type { Ask } from './api.ts'
import { compare, divided, plain, sum, times } from './decimal.ts'
import type { Listed, Listing } from './markets.ts'
import { cloidOf } from './orders/cloid.ts'
import type { OrderOwner } from './orders/cloid.ts'
import { oidOf } from './orders/oid.ts'
import { judgedOrders, openOrders, orderStatus } from './orders/order-answers.ts'
import type { WireFill, WireJudgedOrder } from './orders/order-answers.ts'
import { isWaiting, toldOf } from './orders/order-state.ts'
import type { Told } from './orders/order-state.ts'
import { readOwnFills } from './orders/own-fills.ts'

/** More than so many are looked for in the lists of open ones and of what was. */
const mostAskedSingly = 8
/** Digits behind the point of an average that does not come out even. */
const averageScale = 12

/** The orders of a wallet on markets of one kind. */
export interface Wanted {
  readonly owner: OrderOwner
  readonly kind: Listed['kind']
  readonly listing: Listing
  readonly market?: BookMarket
  readonly names?: readonly OrderName[]
}

/** Newest first: all that are open, and of those that ended what the exchange still knows enough of. */
export async function readOrders(ask: Ask, { owner, kind, listing, market, names }: Wanted, at: At): Promise<readonly BookOrder[]> {
  const idOf = new Map((names ?? []).flatMap(({ clientOrderId: id }) => (id === undefined ? [] : [[cloidOf(owner, id), id] as const])))
  const found = names ? await named(ask, owner, names, at) : await listed(ask, owner.user, at)
  const here = found.flatMap((judged) => {
    const { coin, origSz } = judged.order
    const listed = listing.byId.get(coin)
    const isHere = listed?.kind === kind && (market === undefined || market.id === coin)
    // Orders that close a whole position, whatever its size, say no amount. What the exchange refused it remembers, and who asks for it by
    // name is told.
    const isOrder = compare(origSz, '0') > 0 && (names !== undefined || toldOf(judged).state !== 'REJECTED')
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

async function listed(ask: Ask, user: string, at: At): Promise<readonly WireJudgedOrder[]> {
  const [open, past] = await Promise.all([
    ask({ type: 'frontendOpenOrders', user }, openOrders, at),
    ask({ type: 'historicalOrders', user }, judgedOrders, at),
  ])
  const known = new Map<number, WireJudgedOrder>()
  // An order is there with every state that it had: the last one counts.
  for (const each of past) {
    const other = known.get(each.order.oid)
    if (!other || isLater(each, other)) known.set(each.order.oid, each)
  }
  for (const order of open) known.set(order.oid, { order, status: 'open', statusTimestamp: order.timestamp })
  return [...known.values()]
}

const isLater = (each: WireJudgedOrder, other: WireJudgedOrder) =>
  each.statusTimestamp > other.statusTimestamp || (each.statusTimestamp === other.statusTimestamp && isWaiting(toldOf(other)))

async function named(ask: Ask, owner: OrderOwner, names: readonly OrderName[], at: At): Promise<readonly WireJudgedOrder[]> {
  const oids = names.flatMap(({ orderId, clientOrderId }): readonly (number | string)[] => {
    if (orderId === undefined) return clientOrderId === undefined ? [] : [cloidOf(owner, clientOrderId)]
    const oid = oidOf(orderId)
    return oid === undefined ? [] : [oid]
  })
  const lists = oids.length > mostAskedSingly ? await listed(ask, owner.user, at) : []
  const known = new Map<number | string, WireJudgedOrder>()
  for (const each of lists) known.set(each.order.oid, each).set(each.order.cloid ?? '', each)
  const found = await Promise.all(oids.map(async (oid) => known.get(oid) ?? single(ask, owner.user, oid, at)))
  const byId = new Map(found.flatMap((each) => (each ? [[each.order.oid, each] as const] : [])))
  return [...byId.values()]
}

async function single(ask: Ask, user: string, oid: number | string, at: At): Promise<WireJudgedOrder | undefined> {
  const answer = await ask({ type: 'orderStatus', user, oid }, orderStatus, at)
  return answer.status === 'order' ? answer.order : undefined
}

/** Where its fills are all that the exchange tells. Rounded against who traded. */
function averageOf(own: readonly WireFill[], { filledAmount }: Told, side: 'A' | 'B'): string | undefined {
  if (own.length === 0 || compare(sum(own.map(({ sz }) => sz)), filledAmount) !== 0) return undefined
  return divided(sum(own.map(({ px, sz }) => times(px, sz))), filledAmount, averageScale, side === 'B' ? 'up' : 'down')
}

function shown(judged: WireJudgedOrder, market: BookMarket, own: readonly WireFill[], clientOrderId: string | undefined): BookOrder {
  const { order, statusTimestamp } = judged
  const { oid, side, limitPx, origSz, timestamp, tif } = order
  const told = toldOf(judged, own)
  const averagePrice = averageOf(own, told, side)
  return {
    orderId: String(oid),
    ...(clientOrderId !== undefined && { clientOrderId }),
    market,
    side: side === 'B' ? 'BUY' : 'SELL',
    orderType: typeOf(tif ?? undefined),
    price: plain(limitPx),
    amount: plain(origSz),
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
