import type { Market } from './listing.ts'

export type Tif = 'Gtc' | 'Ioc' | 'Alo' | 'FrontendMarket' | 'LiquidationMarket'

/** Those of the exchange's words for an order's state that this exchange comes to use. */
export type OrderStatus =
  | 'open'
  | 'filled'
  | 'canceled'
  | 'marginCanceled'
  | 'selfTradeCanceled'
  | 'reduceOnlyCanceled'
  | 'liquidatedCanceled'
  | 'scheduledCancel'
  | 'minTradeNtlRejected'
  | 'perpMarginRejected'
  | 'reduceOnlyRejected'
  | 'badAloPxRejected'
  | 'iocCancelRejected'
  | 'insufficientSpotBalanceRejected'
  | 'oracleRejected'
  | 'perpMaxPositionRejected'

export interface Order {
  readonly oid: number
  readonly cloid?: string
  readonly owner: string
  readonly market: Market
  readonly isBuy: boolean
  readonly limitPx: bigint
  readonly origSz: bigint
  readonly tif: Tif
  readonly reduceOnly: boolean
  readonly timestamp: number
  /** What of it was not filled. */
  sz: bigint
  status: OrderStatus
  statusTimestamp: number
  /** What a spot order holds back of the token that it pays with. */
  held: bigint
}

export interface BookLevel {
  readonly px: bigint
  /** Oldest first. */
  readonly orders: Order[]
}

/** Best price first, and of one price the oldest order first. */
export interface Book {
  readonly bids: readonly BookLevel[]
  readonly asks: readonly BookLevel[]
  add(order: Order): void
  remove(order: Order): void
  /** The orders that one of this side and price would meet, in their order. */
  against(isBuy: boolean, limitPx: bigint): Iterable<Order>
}

export function createBook(): Book {
  const [bids, asks]: [BookLevel[], BookLevel[]] = [[], []]
  const sideOf = (isBuy: boolean) => (isBuy ? bids : asks)

  /** The place of a price, or where it would be. */
  const placeOf = (isBuy: boolean, px: bigint) => {
    const side = sideOf(isBuy)
    let [low, high] = [0, side.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const there = side[middle]!.px
      if (isBuy ? there > px : there < px) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    bids,
    asks,
    add: (order) => {
      const [side, place] = [sideOf(order.isBuy), placeOf(order.isBuy, order.limitPx)]
      if (side[place]?.px === order.limitPx) side[place].orders.push(order)
      else side.splice(place, 0, { px: order.limitPx, orders: [order] })
    },
    remove: (order) => {
      const [side, place] = [sideOf(order.isBuy), placeOf(order.isBuy, order.limitPx)]
      const level = side[place]
      const at = level?.px === order.limitPx ? level.orders.indexOf(order) : -1
      if (!level || at < 0) return
      level.orders.splice(at, 1)
      if (level.orders.length === 0) side.splice(place, 1)
    },
    *against(isBuy, limitPx) {
      for (const { px, orders } of sideOf(!isBuy)) {
        if (isBuy ? px > limitPx : px < limitPx) return
        yield* orders
      }
    },
  }
}
