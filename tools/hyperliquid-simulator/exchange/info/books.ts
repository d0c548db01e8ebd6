import { L2BookRequest, L2BookResponse, RecentTradesRequest, RecentTradesResponse } from '@nktkas/hyperliquid/api/info'
import { fromPrice, fromSize } from '../amounts/units.ts'
import { bookOf, stateOf, type Engine } from '../engine.ts'
import type { BookLevel } from '../book/book.ts'
import type { Trade } from '../ledger/history.ts'
import type { Market } from '../listing/listing.ts'
import { defineQuery } from './query.ts'

/** Levels of a side that are told, as of the real one. */
const told = 20

export function bookAt(engine: Engine, market: Market, time: number, nSigFigs?: number | null, mantissa?: number | null) {
  const { bids, asks } = bookOf(engine, market)
  return { coin: market.coin, time, levels: [levelsOf(bids, false, nSigFigs, mantissa), levelsOf(asks, true, nSigFigs, mantissa)] }
}

export function levelsOf(side: readonly BookLevel[], up: boolean, nSigFigs?: number | null, mantissa?: number | null) {
  const sums = new Map<bigint, { sz: bigint; n: number }>()
  for (const { px, orders } of side) {
    const at = nSigFigs ? coarse(px, nSigFigs, mantissa ?? 1, up) : px
    const sum = sums.get(at) ?? { sz: 0n, n: 0 }
    if (!sums.has(at) && sums.size === told) break
    sums.set(at, sum)
    for (const order of orders) sum.sz += order.sz
    sum.n += orders.length
  }
  return [...sums].map(([px, { sz, n }]) => ({ px: fromPrice(px), sz: fromSize(sz), n }))
}

/** A price with so many significant figures, away from the middle of the book. */
function coarse(px: bigint, nSigFigs: number, mantissa: number, up: boolean): bigint {
  const step = 10n ** BigInt(Math.max(0, px.toString().length - nSigFigs)) * BigInt(mantissa)
  const fixture = (px / step) * step
  return up && fixture !== px ? fixture + step : fixture
}

export const tradeOf = ({ market, px, sz, isBuy, time, hash, tid, buyer, seller }: Trade) => ({
  coin: market.coin,
  side: isBuy ? 'B' : 'A',
  px: fromPrice(px),
  sz: fromSize(sz),
  time,
  hash,
  tid,
  users: [buyer, seller],
})

export const l2Book = defineQuery({
  request: L2BookRequest,
  response: L2BookResponse,
  weight: 2,
  answer: (engine, { coin, nSigFigs, mantissa }) => {
    const market = engine.listing.byCoin(coin)
    return market ? bookAt(engine, market, engine.clock.now(), nSigFigs, mantissa) : null
  },
})

/** The newest first, ten of them. */
export const recentTrades = defineQuery({
  request: RecentTradesRequest,
  response: RecentTradesResponse,
  answer: (engine, { coin }) => {
    const market = engine.listing.byCoin(coin)
    return market ? stateOf(engine, market).trades.slice(-10).toReversed().map(tradeOf) : []
  },
})
