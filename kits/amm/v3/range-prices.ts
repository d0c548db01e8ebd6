import type { RangePrice, SlippageFraction, RangePool, TickRange } from '../../../core/contracts/index.ts'
import { divRoundingUp, getSqrtRatioAtTick, maxSqrtRatioX96, minSqrtRatioX96, getTickAtSqrtRatio, maxTick, minTick } from './math.ts'

const oneX192 = 2n ** 192n

/** A pool keeps the square root of its price, times 2^96. */
export function priceOf(sqrtPriceX96: bigint): RangePrice {
  return { numerator: sqrtPriceX96 * sqrtPriceX96, denominator: oneX192 }
}

/** The price at a tick as the contracts have it, rather than 1.0001 to its power. */
export function priceAtTick(tick: number): RangePrice {
  return priceOf(getSqrtRatioAtTick(tick))
}

/** The greatest square root that a pool can have for a price that is not above this one; it may lie outside of what pools can have. */
function sqrtPriceDown({ numerator, denominator }: RangePrice): bigint {
  return squareRootDown((numerator * oneX192) / denominator)
}

/** The least for a price that is not below this one. */
function sqrtPriceUp({ numerator, denominator }: RangePrice): bigint {
  return squareRootUp(divRoundingUp(numerator * oneX192, denominator))
}

/** How far a price may go before the caller would not want the deal any more. Square roots times 2^96. */
export interface PriceSpan {
  readonly low: bigint
  readonly high: bigint
}

/**
 * Up by the slippage, and down to where the same slippage leads up again: so it is as wide for who reads the pair the
 * other way round, and never wider than was said for either. Rounded inward.
 */
export function spanAround(sqrtPriceX96: bigint, { numerator, denominator }: SlippageFraction): PriceSpan {
  const square = sqrtPriceX96 * sqrtPriceX96
  const moved = denominator + numerator
  const high = squareRootDown((square * moved) / denominator)
  const low = squareRootUp(divRoundingUp(square * denominator, moved))
  return { low: low < minSqrtRatioX96 ? minSqrtRatioX96 : low, high: high < maxSqrtRatioX96 ? high : maxSqrtRatioX96 - 1n }
}

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

/** The greatest integer whose square is not above the value: Newton's method from above. */
export function squareRootDown(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** The least integer whose square is not below the value. */
export function squareRootUp(value: bigint): bigint {
  const root = squareRootDown(value)
  return root * root === value ? root : root + 1n
}
