import { maxTick, minTick } from '../../../../kits/amm/v3/math.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { firstReach, ticksPerWord } from './reach.ts'

/**
 * Whether a pool has liquidity at its price, or so near to it that whoever reads it first finds some. One that was left by all has a price
 * still, which means nothing. Undefined where not enough is known of it.
 */
export function holdsSomething({ liquidity, tick, tickSpacing, ticks }: RangePoolState): boolean | undefined {
  if (liquidity > 0n) return true
  const below = Math.floor(tick / tickSpacing)
  const lowest = Math.max(minTick, (Math.floor(below / ticksPerWord) - firstReach.words + 1) * ticksPerWord * tickSpacing)
  const highest = Math.min(maxTick, ((Math.floor((below + 1) / ticksPerWord) + firstReach.words) * ticksPerWord - 1) * tickSpacing)
  if (ticks.upTo(highest) > ticks.upTo(lowest - 1)) return true
  return ticks.from < lowest && ticks.to > highest ? false : undefined
}
