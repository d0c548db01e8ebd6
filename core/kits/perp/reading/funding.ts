import type { PerpFunding, Ratio } from '../../../contracts/index.ts'
import { asNumber, map, together, type Asked } from '../../../../kits/perp/batch-read.ts'
import { one, wholeRatio, type Contracts, type CurieMarket, type Terms } from '../../../../kits/perp/curie.ts'
import { marketNow } from '../../../../kits/perp/state.ts'

/** Funding.sol: what a premium costs is per day, and flows with every second. */
const daySeconds = 86_400
const q96 = 2n ** 96n

/** What a market's longs pay its shorts, and what that makes of a wallet's position. */
export function fundingNow(contracts: Contracts, terms: Terms, market: CurieMarket, owner: string): Asked<PerpFunding> {
  const { id } = market
  const asked = together({
    now: marketNow(contracts, terms, market),
    sqrtTwapX96: asNumber(contracts.exchange, 'getSqrtMarketTwapX96', id, terms.twapSeconds),
    indexTwap: asNumber(id, 'getIndexPrice', terms.twapSeconds),
    pending: asNumber(contracts.exchange, 'getPendingFundingPayment', owner, id),
  })
  return map(asked, ({ now: { market: named, prices }, sqrtTwapX96, indexTwap, pending }) => ({
    market: named,
    // It stops with the market.
    rate: named.status === 'open' ? fundingRate(sqrtTwapX96, indexTwap, terms.maxFundingRate) : { numerator: 0n, denominator: 1n },
    periodSeconds: daySeconds,
    index: prices.index,
    mark: prices.mark,
    pendingRaw: -pending,
  }))
}

/** Exchange._getDeltaTwapX96: by how much the market's mean is above the index price's, within bounds, by the index price's. */
export function fundingRate(sqrtMarketTwapX96: bigint, indexTwapRaw: bigint, maxFundingRate: bigint): Ratio {
  const marketX96 = (sqrtMarketTwapX96 * sqrtMarketTwapX96) / q96
  const indexX96 = (indexTwapRaw * q96) / one
  const mostX96 = (indexX96 * maxFundingRate) / wholeRatio
  const deltaX96 = marketX96 - indexX96
  const bounded = deltaX96 > mostX96 ? mostX96 : deltaX96 < -mostX96 ? -mostX96 : deltaX96
  return { numerator: bounded, denominator: indexX96 }
}
