import { mulDiv } from './full-math.ts'
import { getAmount0Delta, getAmount1Delta } from './sqrt-price-math.ts'

// After LiquidityAmounts of @uniswap/v3-periphery@1.4.4. The two bounds of a range may come in either order.
const mostUint128 = 2n ** 128n - 1n
const oneX96 = 2n ** 96n

/** The liquidity that so much of token0 makes between two prices, rounded down. @throws RangeError where it does not fit in 128 bits */
export function getLiquidityForAmount0(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount0: bigint): bigint {
  // Rounded twice, as the contract does it.
  const intermediate = mulDiv(sqrtRatioAX96, sqrtRatioBX96, oneX96)
  return asLiquidity(mulDiv(amount0, intermediate, distance(sqrtRatioAX96, sqrtRatioBX96)))
}

/** The liquidity that so much of token1 makes between two prices, rounded down. @throws RangeError where it does not fit in 128 bits */
export function getLiquidityForAmount1(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount1: bigint): bigint {
  return asLiquidity(mulDiv(amount1, oneX96, distance(sqrtRatioAX96, sqrtRatioBX96)))
}

/** The most liquidity that these amounts make in a range at a price. @throws RangeError where it does not fit in 128 bits */
export function getLiquidityForAmounts(
  sqrtPriceX96: bigint,
  sqrtRatioAX96: bigint,
  sqrtRatioBX96: bigint,
  amount0: bigint,
  amount1: bigint,
): bigint {
  const [lower, upper] = ordered(sqrtRatioAX96, sqrtRatioBX96)
  if (sqrtPriceX96 <= lower) return getLiquidityForAmount0(lower, upper, amount0)
  if (sqrtPriceX96 >= upper) return getLiquidityForAmount1(lower, upper, amount1)
  const liquidity0 = getLiquidityForAmount0(sqrtPriceX96, upper, amount0)
  const liquidity1 = getLiquidityForAmount1(lower, sqrtPriceX96, amount1)
  return liquidity0 < liquidity1 ? liquidity0 : liquidity1
}

/**
 * What liquidity in a range holds at a price. Rounded down is what removing it gives (LiquidityAmounts.getAmountsForLiquidity,
 * and the pool's `burn`); rounded up is what adding it takes (the pool's `mint`).
 */
export function getAmountsForLiquidity(
  sqrtPriceX96: bigint,
  sqrtRatioAX96: bigint,
  sqrtRatioBX96: bigint,
  liquidity: bigint,
  roundUp = false,
): { amount0: bigint; amount1: bigint } {
  const [lower, upper] = ordered(sqrtRatioAX96, sqrtRatioBX96)
  const price = sqrtPriceX96 < lower ? lower : sqrtPriceX96 > upper ? upper : sqrtPriceX96
  return { amount0: getAmount0Delta(price, upper, liquidity, roundUp), amount1: getAmount1Delta(lower, price, liquidity, roundUp) }
}

function ordered(a: bigint, b: bigint): readonly [lower: bigint, upper: bigint] {
  return a <= b ? [a, b] : [b, a]
}

function distance(a: bigint, b: bigint): bigint {
  return a <= b ? b - a : a - b
}

function asLiquidity(value: bigint): bigint {
  if (value > mostUint128) throw new RangeError('liquidity has at most 128 bits')
  return value
}
