import type { Market } from '../listing/listing.ts'

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
