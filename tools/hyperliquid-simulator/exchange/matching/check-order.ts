import { balanceOf, leverageOf, type Account } from '../account.ts'
import { isOnPriceGrid, isOnSizeGrid, toPrice, toSize, abs, ceilDiv, least, fromPrice, toUsd, usdValue } from '../amounts.ts'
import type { OrderStatus, Order, Tif } from '../book.ts'
import { accountOf, bookOf, stateOf, type Engine } from '../engine.ts'
import type { PerpMarket, SpotMarket } from '../listing.ts'
import { tierOf, crossSummary, reservedUsd } from '../margin/perp-account.ts'
import { lendableUsd, spendable } from '../margin/portfolio.ts'
import { feeRate, payOf, payToken } from './settle.ts'

/**
 * Why an order is refused, in the words of https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses; those that
 * come to a certain order say its asset too, as has been seen of the real one.
 */
export interface Refusal {
  readonly error: string
  /** How the order is remembered; absent where it is not. */
  readonly status?: OrderStatus
}

export const refuse = (error: string, asset: number, status?: OrderStatus): Refusal => ({
  error: `${error} asset=${asset}`,
  ...(status ? { status } : {}),
})

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

/** Whether the exchange takes an order as things are. */
export function checkOrder(engine: Engine, order: Order): Refusal | undefined {
  const { market, isBuy, limitPx, tif, sz } = order
  const { asset } = market
  const account = accountOf(engine, order.owner)
  const state = stateOf(engine, market)
  if (state.halted) return refuse('Trading is halted.', asset, 'oracleRejected')
  if (order.cloid && account.byCloid.get(order.cloid)?.status === 'open') return refuse('Duplicate cloid among open orders.', asset)
  const far = farFrom(market.kind, limitPx, market.kind === 'spot' ? state.markPx : state.oraclePx)
  if (far) return refuse(far, asset, 'oracleRejected')

  const [first] = bookOf(engine, market).against(isBuy, limitPx)
  if (tif === 'Alo' && first)
    return refuse(`Post only order would have immediately matched, bbo was ${bestOf(engine, order)}.`, asset, 'badAloPxRejected')
  if (isImmediate(order) && !first)
    return refuse('Order could not immediately match against any resting orders.', asset, 'iocCancelRejected')
  const closes = market.kind === 'perp' && order.reduceOnly && sz >= abs(account.positions.get(market.coin)?.szi ?? 0n)
  if (!closes && usdValue(limitPx, sz) < toUsd(engine.rules.minNotional)) {
    const least = market.kind === 'spot' ? `${engine.rules.minNotional} ${market.quote.name}` : `$${engine.rules.minNotional}`
    return refuse(`Order must have minimum value of ${least}.`, asset, 'minTradeNtlRejected')
  }
  return market.kind === 'spot' ? checkSpot(engine, account, order, market) : checkPerp(engine, account, order, market)
}

export const isImmediate = ({ tif }: Order) => tif === 'Ioc' || tif === 'FrontendMarket' || tif === 'LiquidationMarket'

/** Spot prices from a fifth of the last one, exclusive, to five times it; those of perpetuals within 95 % of the oracle's. */
function farFrom(kind: 'spot' | 'perp', px: bigint, reference: bigint): string | undefined {
  if (kind === 'spot') {
    if (px * 5n > reference && px <= reference * 5n) return undefined
    return 'Order price cannot be more than 80% away from the reference price'
  }
  return abs(px - reference) * 100n > reference * 95n ? 'Order price cannot be more than 95% away from the reference price' : undefined
}

function bestOf(engine: Engine, { market }: Order): string {
  const { bids, asks } = bookOf(engine, market)
  const show = (px: bigint | undefined) => (px === undefined ? 'None' : fromPrice(px).replace(/\.0$/, ''))
  return `${show(bids[0]?.px)}@${show(asks[0]?.px)}`
}

/** What it would fill with at once, and what of it would rest. */
function walk(engine: Engine, order: Order) {
  let left = order.sz
  const fills: { px: bigint; sz: bigint }[] = []
  for (const maker of bookOf(engine, order.market).against(order.isBuy, order.limitPx)) {
    if (left === 0n) break
    if (maker.owner === order.owner) continue
    const sz = least(left, maker.sz)
    fills.push({ px: maker.limitPx, sz })
    left -= sz
  }
  return { fills, rests: isImmediate(order) ? 0n : left }
}

function checkSpot(engine: Engine, account: Account, order: Order, market: SpotMarket): Refusal | undefined {
  const { fills, rests } = walk(engine, order)
  const needed = fills.reduce(
    (sum, { px, sz }) => sum + payOf(market, order.isBuy, px, sz),
    payOf(market, order.isBuy, order.limitPx, rests),
  )
  const token = payToken(market, order.isBuy)
  if (needed <= spendable(engine, account, token) - balanceOf(account, token.index).hold) return undefined
  return refuse('Insufficient spot balance', market.asset, 'insufficientSpotBalanceRejected')
}

function checkPerp(engine: Engine, account: Account, order: Order, market: PerpMarket): Refusal | undefined {
  const { asset } = market
  const { isBuy, sz, reduceOnly } = order
  const szi = account.positions.get(market.coin)?.szi ?? 0n
  if (reduceOnly) {
    const reduces = szi !== 0n && isBuy !== szi > 0n
    return reduces ? undefined : refuse('Reduce only order would increase position.', asset, 'reduceOnlyRejected')
  }
  const after = abs(szi + (isBuy ? sz : -sz))
  const { markPx } = stateOf(engine, market)
  const { value: leverage, isCross } = leverageOf(account, market)
  if (after > abs(szi) && leverage > tierOf(market, usdValue(markPx, after)).maxLeverage)
    return refuse('Order would cause position to exceed margin tier limit at current leverage', asset, 'perpMaxPositionRejected')

  const reserved = reservedUsd(engine, account, { market, isBuy, sz })
  if (reserved === reservedUsd(engine, account)) return undefined
  const { value, used } = crossSummary(engine, account)
  // What it costs beyond its margin: fees, and prices worse than the mark.
  let cost = 0n
  for (const { px, sz: part } of walk(engine, order).fills) {
    const worse = isBuy ? px - markPx : markPx - px
    cost += usdValue(px, part) * feeRate(engine, 'perp', true)
    if (worse > 0n) cost += usdValue(worse, part) * 10n ** 12n * (isCross ? 1n : 2n)
  }
  if (value + lendableUsd(engine, account) - used - reserved - ceilDiv(cost, 10n ** 12n) >= 0n) return undefined
  return refuse('Insufficient margin to place order.', asset, 'perpMarginRejected')
}
