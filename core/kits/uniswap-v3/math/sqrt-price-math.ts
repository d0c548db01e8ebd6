import { divRoundingUp } from './full-math.ts'

// After SqrtPriceMath of @uniswap/v3-core@1.0.1. Prices have at most 160 bits and liquidity 128, so that most
// products cannot overflow; where the contract checks, this does.
const lowest96Bits = 2n ** 96n - 1n
const mostUint160 = 2n ** 160n - 1n
const mostUint256 = 2n ** 256n - 1n

/** What lies between two prices of token0, in either order. @throws RangeError for a price of 0 */
export function getAmount0Delta(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const ordered = sqrtRatioAX96 <= sqrtRatioBX96
  const lower = ordered ? sqrtRatioAX96 : sqrtRatioBX96
  const upper = ordered ? sqrtRatioBX96 : sqrtRatioAX96
  if (lower <= 0n) throw new RangeError('a price must be more than 0')
  const product = (liquidity << 96n) * (upper - lower)
  // The contract divides twice and rounds each time alike, which is the same number.
  return roundUp ? divRoundingUp(product, upper * lower) : product / (upper * lower)
}

/** What lies between two prices of token1, in either order. */
export function getAmount1Delta(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const distance = sqrtRatioAX96 <= sqrtRatioBX96 ? sqrtRatioBX96 - sqrtRatioAX96 : sqrtRatioAX96 - sqrtRatioBX96
  const product = liquidity * distance
  return roundUp ? (product + lowest96Bits) >> 96n : product >> 96n
}

/** Where the price goes for that much in: never past what it pays for. @throws RangeError where the contract reverts */
export function getNextSqrtPriceFromInput(sqrtPriceX96: bigint, liquidity: bigint, amountIn: bigint, zeroForOne: boolean): bigint {
  requirePool(sqrtPriceX96, liquidity)
  return zeroForOne ? afterAdding0(sqrtPriceX96, liquidity, amountIn) : afterAdding1(sqrtPriceX96, liquidity, amountIn)
}

/** Where the price goes for that much out: far enough to pay for it. @throws RangeError where the contract reverts */
export function getNextSqrtPriceFromOutput(sqrtPriceX96: bigint, liquidity: bigint, amountOut: bigint, zeroForOne: boolean): bigint {
  requirePool(sqrtPriceX96, liquidity)
  return zeroForOne ? afterTaking1(sqrtPriceX96, liquidity, amountOut) : afterTaking0(sqrtPriceX96, liquidity, amountOut)
}

function requirePool(sqrtPriceX96: bigint, liquidity: bigint): void {
  if (sqrtPriceX96 <= 0n || liquidity <= 0n) throw new RangeError('a pool needs a price and liquidity')
}

/** Rounded up: the price falls. */
function afterAdding0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << 96n
  const product = amount * sqrtPriceX96
  const denominator = numerator + product
  if (denominator <= mostUint256) return divRoundingUp(numerator * sqrtPriceX96, denominator)
  // Where the exact form does not fit in 256 bits the contract takes this one, which is rounded differently.
  const divisor = numerator / sqrtPriceX96 + amount
  if (divisor > mostUint256) throw new RangeError('too much for a pool')
  return divRoundingUp(numerator, divisor)
}

/** Rounded up: the price rises. */
function afterTaking0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << 96n
  const product = amount * sqrtPriceX96
  if (product > mostUint256 || numerator <= product) throw new RangeError('more than there is in the pool')
  return asPrice(divRoundingUp(numerator * sqrtPriceX96, numerator - product))
}

/** Rounded down: the price rises. */
function afterAdding1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  return asPrice(sqrtPriceX96 + (amount << 96n) / liquidity)
}

/** Rounded down: the price falls. */
function afterTaking1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const quotient = divRoundingUp(amount << 96n, liquidity)
  if (sqrtPriceX96 <= quotient) throw new RangeError('more than there is in the pool')
  return sqrtPriceX96 - quotient
}

function asPrice(value: bigint): bigint {
  if (value > mostUint160) throw new RangeError('a price has at most 160 bits')
  return value
}
