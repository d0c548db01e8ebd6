import type { PriceRange, RangePool, RangePosition, RangePrice, SlippageFraction } from '../../../core/contracts/index.ts'
import { divRoundingUp, getSqrtRatioAtTick, getTickAtSqrtRatio, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick, Q192 } from './math.ts'
import { squareRoot } from '../../../core/base/decimal.ts'

/** A pool whose price is one of ticks. */
export type TickPool = RangePool & { tickSpacing: number; tick: number; sqrtPriceX96: bigint }
/** Bounds that are ticks. */
export type TickRange = PriceRange & { tickLower: number; tickUpper: number }
export type TickPosition = RangePosition & TickRange & { pool: TickPool }

/** A pool keeps the square root of its price, times 2^96. */
export function priceOf(sqrtPriceX96: bigint): RangePrice {
  return { numerator: sqrtPriceX96 * sqrtPriceX96, denominator: Q192 }
}

/** The price at a tick as the contracts compute it, which differs from 1.0001 to the power of the tick. */
export function priceAtTick(tick: number): RangePrice {
  return priceOf(getSqrtRatioAtTick(tick))
}

/** How far the price may move before the caller would refuse: the square roots of both prices, times 2^96. */
export interface PriceSpan {
  readonly low: bigint
  readonly high: bigint
}

/**
 * Up by the slippage, and down to the price from which the same slippage leads back up. So the span is the same for a caller who reads the
 * pair the other way round, and never wider than either allowed. Rounded inward.
 */
export function spanAround(sqrtPriceX96: bigint, { numerator, denominator }: SlippageFraction): PriceSpan {
  const square = sqrtPriceX96 * sqrtPriceX96
  const moved = denominator + numerator
  const high = squareRoot((square * moved) / denominator, 'down')
  const low = squareRoot(divRoundingUp(square * denominator, moved), 'up')
  return { low: low < minSqrtRatioX96 ? minSqrtRatioX96 : low, high: high < maxSqrtRatioX96 ? high : maxSqrtRatioX96 - 1n }
}

/**
 * The narrowest range of usable ticks that holds both prices. A price between two ticks is rounded outward; the price of a tick stays.
 * Undefined outside of all ticks.
 */
export function rangeAround({ tickSpacing }: Pick<TickPool, 'tickSpacing'>, lower: RangePrice, upper: RangePrice): TickRange | undefined {
  const [below, above] = [tickAtOrBelow(lower), tickAtOrAbove(upper)]
  if (below === undefined || above === undefined) return undefined
  const tickLower = below - overUsable(below, tickSpacing)
  const tickUpper = above + overUsable(-above, tickSpacing)
  return tickLower >= minTick && tickUpper <= maxTick && tickLower < tickUpper ? rangeOf(tickLower, tickUpper) : undefined
}

/** A range with the prices of its bounds. */
export function rangeOf(tickLower: number, tickUpper: number): TickRange {
  return { tickLower, tickUpper, lowerPrice: priceAtTick(tickLower), upperPrice: priceAtTick(tickUpper) }
}

// Comparing square roots gives the same ticks as comparing prices, because the roots on both sides are integers.
function tickAtOrBelow({ numerator, denominator }: RangePrice): number | undefined {
  const root = squareRoot((numerator * Q192) / denominator, 'down')
  if (root < minSqrtRatioX96) return undefined
  return root >= maxSqrtRatioX96 ? maxTick : getTickAtSqrtRatio(root)
}

function tickAtOrAbove({ numerator, denominator }: RangePrice): number | undefined {
  const root = squareRoot(divRoundingUp(numerator * Q192, denominator), 'up')
  if (root > maxSqrtRatioX96) return undefined
  return root <= minSqrtRatioX96 ? minTick : getTickAtSqrtRatio(root - 1n) + 1
}

/** How far a tick is above the usable tick below it. */
function overUsable(tick: number, tickSpacing: number): number {
  return ((tick % tickSpacing) + tickSpacing) % tickSpacing
}
