import type { PerpMarket, PerpPrices, Ratio } from '../../core/contracts/index.ts'
import { asFlag, asNumber, late, map, orNothing, together, type Asked } from './batch-read.ts'
import { one, wholeRatio, type Contracts, type CurieMarket, type Terms } from './curie.ts'

export interface MarketNow {
  readonly market: PerpMarket
  readonly prices: PerpPrices
  /** What positions are valued at, with 18 decimals. */
  readonly markRaw: bigint
}

/**
 * A market and its prices. Positions are valued at the mark price where it is open, at the index price at which it was paused, or
 * the one at which it was closed: AccountBalance._getReferencePrice.
 */
export function marketNow({ balances, exchange }: Contracts, terms: Terms, market: CurieMarket): Asked<MarketNow> {
  const { id, base, quote, baseDecimals, quoteDecimals } = market
  const asked = together({
    isPaused: asFlag(id, 'isPaused'),
    isClosed: asFlag(id, 'isClosed'),
    maxTickCrossed: asNumber(exchange, 'getMaxTickCrossedWithinBlock', id),
    mark: late(asNumber(balances, 'getMarkPrice', id)),
    pausedIndex: asNumber(id, 'getPausedIndexPrice'),
    closedAt: orNothing(asNumber(id, 'getClosedPrice')),
    index: asNumber(id, 'getIndexPrice', 0),
    indexTwap: asNumber(id, 'getIndexPrice', terms.twapSeconds),
  })
  return map(asked, ({ isPaused, isClosed, maxTickCrossed, mark, pausedIndex, closedAt, index, indexTwap }) => {
    const markRaw = isClosed ? (closedAt ?? 0n) : isPaused ? pausedIndex : mark()
    // Where no tick may be crossed the exchange trades nothing: EX_MIP.
    const status = isClosed ? 'closed' : isPaused || terms.paused || maxTickCrossed === 0n ? 'paused' : 'open'
    const shown: PerpMarket = {
      id,
      base,
      quote,
      baseDecimals,
      quoteDecimals,
      status,
      maxLeverage: { numerator: wholeRatio, denominator: terms.imRatio },
      maintenanceRatio: { numerator: terms.mmRatio, denominator: wholeRatio },
    }
    return { market: shown, markRaw, prices: { mark: priceOf(markRaw), index: priceOf(index), indexTwap: priceOf(indexTwap) } }
  })
}

const priceOf = (raw: bigint): Ratio => ({ numerator: raw, denominator: one })
