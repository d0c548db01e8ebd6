import {
  AllMidsRequest,
  AllMidsResponse,
  ExchangeStatusRequest,
  ExchangeStatusResponse,
  FundingHistoryRequest,
  FundingHistoryResponse,
  MetaAndAssetCtxsRequest,
  MetaAndAssetCtxsResponse,
  MetaRequest,
  MetaResponse,
  SpotMetaAndAssetCtxsRequest,
  SpotMetaAndAssetCtxsResponse,
  SpotMetaRequest,
  SpotMetaResponse,
  L2BookRequest,
  L2BookResponse,
  RecentTradesRequest,
  RecentTradesResponse,
} from '@nktkas/hyperliquid/api/info'
import type { Trade } from '../account.ts'
import { fromPrice, fromRate, fromUsd, fromSize } from '../amounts.ts'
import type { BookLevel } from '../book.ts'
import { bookOf, stateOf, type Engine } from '../engine.ts'
import type { Market, PerpMarket, SpotMarket } from '../listing.ts'
import { defineQuery } from './query.ts'

function metaOf({ listing: { perps } }: Engine) {
  // Tables below 50 have one tier, whose most leverage is the table's id.
  const tables = new Map(perps.map(({ tableId, tiers }) => [tableId, tiers]))
  return {
    universe: perps.map(({ coin, szDecimals, maxLeverage, tableId, isDelisted, onlyIsolated }) => ({
      szDecimals,
      name: coin,
      maxLeverage,
      marginTableId: tableId,
      ...(onlyIsolated ? { onlyIsolated, marginMode: 'strictIsolated' } : {}),
      ...(isDelisted ? { isDelisted } : {}),
    })),
    marginTables: [...tables].map(([id, tiers]) => [
      id,
      {
        description: tiers.length > 1 ? `tiered ${tiers[0]!.maxLeverage}x` : '',
        marginTiers: tiers.map(({ lowerBoundUsd, maxLeverage }) => ({ lowerBound: fromUsd(lowerBoundUsd), maxLeverage })),
      },
    ]),
    collateralToken: 0,
  }
}

const spotMetaOf = ({ listing: { spot, tokens } }: Engine) => ({
  universe: spot.map(({ coin, index, base, quote }) => ({
    tokens: [base.index, quote.index],
    name: coin,
    index,
    isCanonical: !coin.startsWith('@'),
  })),
  tokens: tokens.map((token) => ({ ...token, isCanonical: token.index < 2, evmContract: null, deployerTradingFeeShare: '0.0' })),
  outcomes: [],
  questions: [],
})

function midOf(engine: Engine, market: Market): bigint | undefined {
  const { bids, asks } = bookOf(engine, market)
  return bids[0] && asks[0] ? (bids[0].px + asks[0].px) / 2n : undefined
}

function commonContext(engine: Engine, market: Market) {
  const { prevDayPx, dayUsd, dayBase, markPx } = stateOf(engine, market)
  const mid = midOf(engine, market)
  return {
    prevDayPx: fromPrice(prevDayPx),
    dayNtlVlm: fromUsd(dayUsd),
    markPx: fromPrice(markPx),
    midPx: mid === undefined ? null : fromPrice(mid),
    dayBaseVlm: fromPrice(dayBase),
  }
}

export function perpContextOf(engine: Engine, market: PerpMarket) {
  const { fundingRate, oraclePx } = stateOf(engine, market)
  let interest = 0n
  for (const { positions } of engine.accounts.values()) {
    const szi = positions.get(market.coin)?.szi ?? 0n
    if (szi > 0n) interest += szi
  }
  const { bids, asks } = bookOf(engine, market)
  return {
    ...commonContext(engine, market),
    funding: fromRate(fundingRate),
    openInterest: fromPrice(interest),
    premium: bids[0] && asks[0] ? '0.0' : null,
    oraclePx: fromPrice(oraclePx),
    impactPxs: bids[0] && asks[0] ? [fromPrice(bids[0].px), fromPrice(asks[0].px)] : null,
  }
}

export const spotContextOf = (engine: Engine, market: SpotMarket) => ({
  ...commonContext(engine, market),
  circulatingSupply: '1000000000.0',
  coin: market.coin,
  totalSupply: '1000000000.0',
})

export const meta = defineQuery({ request: MetaRequest, response: MetaResponse, answer: metaOf })
export const spotMeta = defineQuery({ request: SpotMetaRequest, response: SpotMetaResponse, answer: spotMetaOf })
export const metaAndAssetCtxs = defineQuery({
  request: MetaAndAssetCtxsRequest,
  response: MetaAndAssetCtxsResponse,
  answer: (engine) => [metaOf(engine), engine.listing.perps.map((market) => perpContextOf(engine, market))],
})
export const spotMetaAndAssetCtxs = defineQuery({
  request: SpotMetaAndAssetCtxsRequest,
  response: SpotMetaAndAssetCtxsResponse,
  answer: (engine) => [spotMetaOf(engine), engine.listing.spot.map((market) => spotContextOf(engine, market))],
})

export function midsOf(engine: Engine) {
  const markets: readonly Market[] = [...engine.listing.perps, ...engine.listing.spot]
  return Object.fromEntries(markets.map((market) => [market.coin, fromPrice(midOf(engine, market) ?? stateOf(engine, market).markPx)]))
}

export const allMids = defineQuery({ request: AllMidsRequest, response: AllMidsResponse, weight: 2, answer: midsOf })

export const exchangeStatus = defineQuery({
  request: ExchangeStatusRequest,
  response: ExchangeStatusResponse,
  weight: 2,
  answer: ({ clock }) => ({ time: clock.now(), specialStatuses: null }),
})

export const fundingHistory = defineQuery({
  request: FundingHistoryRequest,
  response: FundingHistoryResponse,
  answer: (engine, { coin, startTime, endTime }) =>
    (engine.states.get(coin)?.rates ?? [])
      .filter(({ time }) => time >= startTime && time <= (endTime ?? Infinity))
      .slice(0, 500)
      .map(({ time, rate, premium }) => ({ coin, fundingRate: fromRate(rate), premium: fromRate(premium), time })),
})

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
