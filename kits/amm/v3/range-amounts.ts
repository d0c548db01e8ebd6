import type { Deposit, RangeAmounts, RangePool, TickRange } from '../../../core/contracts/index.ts'
import { getAmountsForLiquidity, getLiquidityForAmounts } from '../../../core/kits/uniswap-v3/math/liquidity-amounts.ts'
import { getSqrtRatioAtTick, maxTick, minTick } from './math.ts'

/** Square roots of the prices that bound a range, times 2^96. */
export interface Bounds {
  readonly lower: bigint
  readonly upper: bigint
}

export function boundsOf({ tickLower, tickUpper }: Pick<TickRange, 'tickLower' | 'tickUpper'>): Bounds {
  return { lower: getSqrtRatioAtTick(tickLower), upper: getSqrtRatioAtTick(tickUpper) }
}

/**
 * What the position manager makes of these amounts at a price of the pool, that of now unless another is given: liquidity
 * rounded down, and what it takes for it rounded up, which is never above them.
 */
export function deposit(
  { tickSpacing, ...pool }: Pick<RangePool, 'tickSpacing' | 'sqrtPriceX96'>,
  range: TickRange,
  most: RangeAmounts,
  sqrtPriceX96 = pool.sqrtPriceX96,
): Deposit {
  const bounds = boundsOf(range)
  // No more than a pool could hold: who has no limit in mind for one of the tokens may write any number.
  const limit = mostLiquidity(tickSpacing)
  const taken = amountsAt(sqrtPriceX96, bounds, limit, 'up')
  const amount0Raw = lesser(most.amount0Raw, taken.amount0Raw)
  const amount1Raw = lesser(most.amount1Raw, taken.amount1Raw)
  const made = getLiquidityForAmounts(sqrtPriceX96, bounds.lower, bounds.upper, amount0Raw, amount1Raw)
  const liquidity = lesser(made, limit)
  return { liquidity, ...amountsAt(sqrtPriceX96, bounds, liquidity, 'up') }
}

/** `up` is what adding takes, `down` what removing gives. */
export function amountsAt(sqrtPriceX96: bigint, { lower, upper }: Bounds, liquidity: bigint, rounding: 'up' | 'down'): RangeAmounts {
  const { amount0, amount1 } = getAmountsForLiquidity(sqrtPriceX96, lower, upper, liquidity, rounding === 'up')
  return { amount0Raw: amount0, amount1Raw: amount1 }
}

/** What a pool takes at one tick: Tick.tickSpacingToMaxLiquidityPerTick of @uniswap/v3-core@1.0.1. */
function mostLiquidity(tickSpacing: number): bigint {
  const ticks = Math.trunc(maxTick / tickSpacing) - Math.trunc(minTick / tickSpacing) + 1
  return (2n ** 128n - 1n) / BigInt(ticks)
}

export const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)
