import { isOnPriceGrid, isOnSizeGrid } from '../amounts/grid.ts'
import { toPrice, toSize } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import type { Order, Tif } from '../book/order.ts'

/** As actions carry it. */
export interface OrderWire {
  readonly a: number
  readonly b: boolean
  readonly p: string
  readonly s: string
  readonly r: boolean
  readonly t: { readonly limit: { readonly tif: Tif } } | { readonly trigger: unknown }
  readonly c?: string | undefined
}

/**
 * An order as it is said, or why it can be none: that depends on nothing but its words, and refuses all that came with it ("pre-validation"
 * of https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses).
 */
export function readOrder(engine: Engine, owner: string, wire: OrderWire): Order | string {
  const market = engine.listing.byAsset(wire.a)
  if (!market) return `Invalid asset=${wire.a}`
  if (market.kind === 'perp' && market.isDelisted) return `Trading is halted. asset=${wire.a}`
  if (!('limit' in wire.t)) return 'Invalid TP/SL price.'
  const [limitPx, sz] = [toPrice(wire.p), toSize(wire.s)]
  if (!isOnPriceGrid(limitPx, market.maxDecimals) || limitPx <= 0n) return `Price must be divisible by tick size. asset=${wire.a}`
  if (!isOnSizeGrid(sz, market.szDecimals)) return 'Order has invalid size.'
  if (sz <= 0n) return 'Order has zero size.'
  if (wire.r && market.kind === 'spot') return 'Reduce only is not allowed for spot.'
  const time = engine.clock.now()
  return {
    oid: engine.nextOid(),
    ...(wire.c ? { cloid: wire.c.toLowerCase() } : {}),
    owner,
    market,
    isBuy: wire.b,
    limitPx,
    origSz: sz,
    sz,
    tif: wire.t.limit.tif,
    reduceOnly: wire.r,
    timestamp: time,
    status: 'open',
    statusTimestamp: time,
    held: 0n,
  }
}
