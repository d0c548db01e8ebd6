import type { RangePrice, SlippageFraction } from '../../../core/contracts/index.ts'
import { divRoundingUp } from '../../../core/kits/uniswap-v3/math/full-math.ts'
import { getSqrtRatioAtTick, maxSqrtRatioX96, minSqrtRatioX96 } from './math.ts'
import { squareRootDown, squareRootUp } from '../../../core/kits/uniswap-v3/range/prices/square-root.ts'

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
export function sqrtPriceDown({ numerator, denominator }: RangePrice): bigint {
  return squareRootDown((numerator * oneX192) / denominator)
}

/** The least for a price that is not below this one. */
export function sqrtPriceUp({ numerator, denominator }: RangePrice): bigint {
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
