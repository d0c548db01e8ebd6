import type { Deposit, RangeAmounts, RangePool, TickRange, SlippageFraction, RangePosition } from '../../../core/contracts/index.ts'
import { getAmountsForLiquidity, getLiquidityForAmounts, getSqrtRatioAtTick, maxTick, minTick, divRoundingUp } from './math.ts'
import { spanAround, type PriceSpan } from './range-prices.ts'

/** Square roots of the prices that bound a range, times 2^96. */
interface Bounds {
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

/** What a deposit offers to the position manager, and the least that it must take of each. */
interface Offer {
  readonly desired: RangeAmounts
  readonly min: RangeAmounts
}

const oneX96 = 2n ** 96n

/**
 * The manager makes as much liquidity of the desired amounts as the price of its block allows. So the least amounts are
 * what it would take at either end of the span in which the price may be: a part of the amounts of now would be no bound
 * on the price, since in a narrow range they change much faster than it does. A range that lies within the span has
 * none: whatever the price, what it trades at is within the slippage.
 */
export function offerOf(pool: RangePool, range: TickRange, most: RangeAmounts, slippage: SlippageFraction): Offer {
  const bounds = boundsOf(range)
  const span = spanAround(pool.sqrtPriceX96, slippage)
  const { liquidity } = deposit(pool, range, most)
  const desired = {
    amount0Raw: lesser(most.amount0Raw, wanted0(liquidity, span, bounds)),
    amount1Raw: lesser(most.amount1Raw, wanted1(liquidity, span, bounds)),
  }

  const [low, high] = [deposit(pool, range, desired, span.low), deposit(pool, range, desired, span.high)]
  const greater = low.liquidity > high.liquidity ? low.liquidity : high.liquidity
  const unsure = roundedOff(greater, span, bounds)
  return {
    desired,
    min: {
      amount0Raw: notBelowZero(high.amount0Raw - amountsAt(span.low, bounds, unsure, 'up').amount0Raw),
      amount1Raw: notBelowZero(low.amount1Raw - amountsAt(span.high, bounds, unsure, 'up').amount1Raw),
    },
  }
}

// How much it takes to make that liquidity anywhere in the span, by the rounding of LiquidityAmounts: so at the price of now
// the liquidity is that of the whole offer, and a wallet need not hold more of the other token than can be taken.
function wanted0(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  const from = within(low, { lower, upper })
  return divRoundingUp(liquidity * (upper - from), (from * upper) / oneX96 || 1n)
}

function wanted1(liquidity: bigint, { high }: PriceSpan, { lower, upper }: Bounds): bigint {
  return divRoundingUp(liquidity * (within(high, { lower, upper }) - lower), oneX96)
}

/**
 * By how much liquidity the manager's rounding can differ between one price of the span and another: a unit, and where
 * prices are very low what it cuts off the product of the bounds' roots.
 */
function roundedOff(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  return 1n + liquidity / ((within(low, { lower, upper }) * upper) / oneX96 || 1n)
}

const within = (root: bigint, { lower, upper }: Bounds): bigint => (root < lower ? lower : root > upper ? upper : root)
const notBelowZero = (value: bigint): bigint => (value < 0n ? 0n : value)

/** What so much liquidity gives at either end of the span in which the price may be: of each token the lesser. */
export function minRemoved(position: RangePosition, liquidity: bigint, slippage: SlippageFraction): RangeAmounts {
  const bounds = boundsOf(position)
  const { low, high } = spanAround(position.pool.sqrtPriceX96, slippage)
  return {
    amount0Raw: amountsAt(high, bounds, liquidity, 'down').amount0Raw,
    amount1Raw: amountsAt(low, bounds, liquidity, 'down').amount1Raw,
  }
}
