import type { Deposit, RangeAmounts, SlippageFraction } from '../../../core/contracts/index.ts'
import type { TickPool, TickPosition, TickRange } from './range-prices.ts'
import { divRoundingUp, getAmountsForLiquidity, getLiquidityForAmounts, getSqrtRatioAtTick, maxTick, minTick, Q96 } from './math.ts'
import { spanAround, type PriceSpan } from './range-prices.ts'

/** The square roots of the prices that bound a range, times 2^96. */
export interface Bounds {
  readonly lower: bigint
  readonly upper: bigint
}

export function boundsOf({ tickLower, tickUpper }: Pick<TickRange, 'tickLower' | 'tickUpper'>): Bounds {
  return { lower: getSqrtRatioAtTick(tickLower), upper: getSqrtRatioAtTick(tickUpper) }
}

/** Rounded `up` for what adding takes, `down` for what removing gives. */
export function amountsAt(sqrtPriceX96: bigint, { lower, upper }: Bounds, liquidity: bigint, rounding: 'up' | 'down'): RangeAmounts {
  const { amount0, amount1 } = getAmountsForLiquidity(sqrtPriceX96, lower, upper, liquidity, rounding === 'up')
  return { amount0Raw: amount0, amount1Raw: amount1 }
}

/**
 * What the position manager makes of these amounts at the pool's price, unless another is given: liquidity rounded down, and the amounts that
 * it takes rounded up, which are never above the given ones.
 */
export function deposit(
  { tickSpacing, ...pool }: Pick<TickPool, 'tickSpacing' | 'sqrtPriceX96'>,
  range: TickRange,
  max: RangeAmounts,
  sqrtPriceX96 = pool.sqrtPriceX96,
): Deposit {
  const bounds = boundsOf(range)
  // No more than a pool can hold: a caller who wants no limit for a token may give any number.
  const limit = maxLiquidityPerTick(tickSpacing)
  const atLimit = amountsAt(sqrtPriceX96, bounds, limit, 'up')
  const amount0Raw = lesser(max.amount0Raw, atLimit.amount0Raw)
  const amount1Raw = lesser(max.amount1Raw, atLimit.amount1Raw)
  const liquidity = lesser(getLiquidityForAmounts(sqrtPriceX96, bounds.lower, bounds.upper, amount0Raw, amount1Raw), limit)
  return { liquidity, ...amountsAt(sqrtPriceX96, bounds, liquidity, 'up') }
}

/** Tick.tickSpacingToMaxLiquidityPerTick of @uniswap/v3-core@1.0.1. */
function maxLiquidityPerTick(tickSpacing: number): bigint {
  const ticks = Math.trunc(maxTick / tickSpacing) - Math.trunc(minTick / tickSpacing) + 1
  return (2n ** 128n - 1n) / BigInt(ticks)
}

export const lesser = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The amounts that a deposit offers to the position manager, and the minimum that the manager must take. */
interface Offer {
  readonly desired: RangeAmounts
  readonly min: RangeAmounts
}

/**
 * The manager makes as much liquidity of the desired amounts as the price of its block allows. The minimum amounts are what it would take at
 * either end of the span in which the price may be. A fraction of the present amounts would not bound the price, because in a narrow range
 * amounts change much faster than the price. A range that lies within the span has no minimum amounts: all its prices are within the slippage.
 */
export function offerOf(pool: TickPool, range: TickRange, max: RangeAmounts, slippage: SlippageFraction): Offer {
  const bounds = boundsOf(range)
  const span = spanAround(pool.sqrtPriceX96, slippage)
  const { liquidity } = deposit(pool, range, max)
  const desired = {
    amount0Raw: lesser(max.amount0Raw, max0InSpan(liquidity, span, bounds)),
    amount1Raw: lesser(max.amount1Raw, max1InSpan(liquidity, span, bounds)),
  }

  const [low, high] = [deposit(pool, range, desired, span.low), deposit(pool, range, desired, span.high)]
  const greater = low.liquidity > high.liquidity ? low.liquidity : high.liquidity
  const error = roundingError(greater, span, bounds)
  return {
    desired,
    min: {
      amount0Raw: atLeastZero(high.amount0Raw - amountsAt(span.low, bounds, error, 'up').amount0Raw),
      amount1Raw: atLeastZero(low.amount1Raw - amountsAt(span.high, bounds, error, 'up').amount1Raw),
    },
  }
}

/** @param madeAt what is made where the pool has this price */
export function endsOf(
  { sqrtPriceX96 }: Pick<TickPool, 'sqrtPriceX96'>,
  range: TickRange,
  slippage: SlippageFraction,
  madeAt: (sqrtPriceX96: bigint) => Deposit,
): NonNullable<Deposit['ends']> {
  const bounds = boundsOf(range)
  const { low, high } = spanAround(sqrtPriceX96, slippage)
  return [low, high].map((end) => {
    const { liquidity, amount0Raw, amount1Raw } = madeAt(end)
    return { takes: { amount0Raw, amount1Raw }, holds: amountsAt(sqrtPriceX96, bounds, liquidity, 'down') }
  })
}

/**
 * The amount that makes this liquidity anywhere in the span, by the rounding of LiquidityAmounts. So at the present price the liquidity is that
 * of the whole offer, and a wallet need not hold more of the other token than can be taken.
 */
export function max0InSpan(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  const from = within(low, { lower, upper })
  return divRoundingUp(liquidity * (upper - from), (from * upper) / Q96 || 1n)
}

function max1InSpan(liquidity: bigint, { high }: PriceSpan, { lower, upper }: Bounds): bigint {
  return divRoundingUp(liquidity * (within(high, { lower, upper }) - lower), Q96)
}

/**
 * How much the manager's liquidity can differ by rounding between two prices of the span: one unit, and at very low prices what the manager
 * cuts off the product of the bounds' roots.
 */
function roundingError(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  return 1n + liquidity / ((within(low, { lower, upper }) * upper) / Q96 || 1n)
}

const within = (root: bigint, { lower, upper }: Bounds): bigint => (root < lower ? lower : root > upper ? upper : root)
const atLeastZero = (value: bigint): bigint => (value < 0n ? 0n : value)

/** What liquidity gives at the ends of the span in which the price may be: of each token the lesser amount. */
export function minRemoved(position: TickPosition, liquidity: bigint, slippage: SlippageFraction): RangeAmounts {
  const bounds = boundsOf(position)
  const { low, high } = spanAround(position.pool.sqrtPriceX96, slippage)
  return {
    amount0Raw: amountsAt(high, bounds, liquidity, 'down').amount0Raw,
    amount1Raw: amountsAt(low, bounds, liquidity, 'down').amount1Raw,
  }
}
