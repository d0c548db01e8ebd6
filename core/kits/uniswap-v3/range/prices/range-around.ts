import type { RangePool, RangePrice, TickRange } from '../../../../contracts/index.ts'
import { getTickAtSqrtRatio, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick } from '../../../../../kits/amm/v3/math.ts'
import { priceAtTick, sqrtPriceDown, sqrtPriceUp } from '../../../../../kits/amm/v3/range-prices.ts'

/**
 * The narrowest range of usable ticks that holds both prices: a price between two of them goes outward, one that is a
 * tick's own stays. Undefined where that lies outside of what ticks there are.
 */
export function rangeAround({ tickSpacing }: Pick<RangePool, 'tickSpacing'>, lower: RangePrice, upper: RangePrice): TickRange | undefined {
  const [below, above] = [tickAtOrBelow(lower), tickAtOrAbove(upper)]
  if (below === undefined || above === undefined) return undefined
  const tickLower = below - beyond(below, tickSpacing)
  const tickUpper = above + beyond(-above, tickSpacing)
  return tickLower >= minTick && tickUpper <= maxTick && tickLower < tickUpper ? rangeOf(tickLower, tickUpper) : undefined
}

/** With the prices of its bounds. */
export function rangeOf(tickLower: number, tickUpper: number): TickRange {
  return { tickLower, tickUpper, lowerPrice: priceAtTick(tickLower), upperPrice: priceAtTick(tickUpper) }
}

/** Roots are compared instead of prices, which comes to the same: a tick's root is an integer, and so are those that it is held against. */
function tickAtOrBelow(price: RangePrice): number | undefined {
  const root = sqrtPriceDown(price)
  if (root < minSqrtRatioX96) return undefined
  return root >= maxSqrtRatioX96 ? maxTick : getTickAtSqrtRatio(root)
}

function tickAtOrAbove(price: RangePrice): number | undefined {
  const root = sqrtPriceUp(price)
  if (root > maxSqrtRatioX96) return undefined
  return root <= minSqrtRatioX96 ? minTick : getTickAtSqrtRatio(root - 1n) + 1
}

/** How far a tick is above the usable one below it. */
function beyond(tick: number, tickSpacing: number): number {
  return ((tick % tickSpacing) + tickSpacing) % tickSpacing
}
