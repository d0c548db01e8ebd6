import { heldNearby } from '../../pools/held-nearby.ts'
import type { Reach } from '../../../../../kits/amm/v3/lens.ts'
import type { RangePoolState } from '../../pools/range-pool-state.ts'
import { lesser } from '../../../../../kits/amm/v3/range-amounts.ts'
import { priceOf, spanAround } from '../../../../../kits/amm/v3/range-prices.ts'

const aPercent = { numerator: 1n, denominator: 100n }

/** Enough to see all ticks of the closest spacing within a percent of the price. */
export const percentReach: Reach = { words: 2, ticks: 128 }

/**
 * How much it takes to move a pool's price by a percent, in the direction in which that is less; in token1. Liquidity at
 * the price alone would say nothing: in a range of one tick anybody makes any amount of it for next to nothing, at a
 * price of his own. This much at a wrong price is a gift to whoever puts the price right.
 */
export function depthOf(state: RangePoolState): bigint {
  const { low, high } = spanAround(state.sqrtPriceX96, aPercent)
  const { numerator, denominator } = priceOf(state.sqrtPriceX96)
  return lesser(heldNearby(state, true, low), (heldNearby(state, false, high) * numerator) / denominator)
}
