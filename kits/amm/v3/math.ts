// After TickMath of @uniswap/v3-core@1.0.1. A tick is a power of 1.0001, and prices are square roots times 2^96.
export const minTick = -887272
export const maxTick = 887272
/** The price at `minTick`. */
export const minSqrtRatioX96 = 4295128739n
/** The price at `maxTick`: every pool's is below it. */
export const maxSqrtRatioX96 = 1461446703485210103287273052203988822378723970342n

/** 2^128 / 1.0001^(2^n / 2) for the n-th bit of a tick, as the contract has them. */
const factorsX128 = [
  0xfffcb933bd6fad37aa2d162d1a594001n,
  0xfff97272373d413259a46990580e213an,
  0xfff2e50f5f656932ef12357cf3c7fdccn,
  0xffe5caca7e10e4e61c3624eaa0941cd0n,
  0xffcb9843d60f6159c9db58835c926644n,
  0xff973b41fa98c081472e6896dfb254c0n,
  0xff2ea16466c96a3843ec78b326b52861n,
  0xfe5dee046a99a2a811c461f1969c3053n,
  0xfcbe86c7900a88aedcffc83b479aa3a4n,
  0xf987a7253ac413176f2b074cf7815e54n,
  0xf3392b0822b70005940c7a398e4b70f3n,
  0xe7159475a2c29b7443b29c7fa6e889d9n,
  0xd097f3bdfd2022b8845ad8f792aa5825n,
  0xa9f746462d870fdf8a65dc1f90e061e5n,
  0x70d869a156d2a1b890bb3df62baf32f7n,
  0x31be135f97d08fd981231505542fcfa6n,
  0x9aa508b5b7a84e1c677de54f3e99bc9n,
  0x5d6af8dedb81196699c329225ee604n,
  0x2216e584f5fa1ea926041bedfe98n,
  0x48a170391f7dc42444e8fa2n,
]
const oneX128 = 2n ** 128n
const mostUint256 = 2n ** 256n - 1n
const lowest32Bits = 2n ** 32n - 1n

/** The square root of the price at a tick, times 2^96. @throws RangeError for what is no tick */
export function getSqrtRatioAtTick(tick: number): bigint {
  if (!Number.isInteger(tick) || tick < minTick || tick > maxTick) throw new RangeError(`${tick} is no tick`)
  let ratioX128 = oneX128
  let bits = tick < 0 ? -tick : tick
  for (const factorX128 of factorsX128) {
    if (bits & 1) ratioX128 = (ratioX128 * factorX128) >> 128n
    bits >>= 1
    if (bits === 0) break
  }
  if (tick > 0) ratioX128 = mostUint256 / ratioX128
  return (ratioX128 + lowest32Bits) >> 32n
}

const logOfTick = Math.log(1.0001) / 2
const oneX96 = 2 ** 96

/** The highest tick whose price is not above this one. @throws RangeError for what is no pool's price */
export function getTickAtSqrtRatio(sqrtRatioX96: bigint): number {
  if (sqrtRatioX96 < minSqrtRatioX96 || sqrtRatioX96 >= maxSqrtRatioX96) throw new RangeError(`${sqrtRatioX96} is no pool's price`)
  // Floating point finds the neighbourhood, to a millionth of a tick; the comparisons that decide are exact.
  const near = Math.floor(Math.log(Number(sqrtRatioX96) / oneX96) / logOfTick)
  let tick = Math.min(Math.max(near, minTick), maxTick - 1)
  while (getSqrtRatioAtTick(tick) > sqrtRatioX96) tick -= 1
  while (getSqrtRatioAtTick(tick + 1) <= sqrtRatioX96) tick += 1
  return tick
}

const mostUint256OfFullMath = 2n ** 256n - 1n

/** a × b / denominator, rounded down: FullMath of @uniswap/v3-core@1.0.1. @throws RangeError where it does not fit in 256 bits */
export function mulDiv(a: bigint, b: bigint, denominator: bigint): bigint {
  return fitting((a * b) / denominator)
}

/** a × b / denominator, rounded up. @throws RangeError where it does not fit in 256 bits */
export function mulDivRoundingUp(a: bigint, b: bigint, denominator: bigint): bigint {
  return fitting(divRoundingUp(a * b, denominator))
}

/** Of numbers that are not negative. */
export function divRoundingUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return quotient * denominator === numerator ? quotient : quotient + 1n
}

function fitting(value: bigint): bigint {
  if (value > mostUint256OfFullMath) throw new RangeError('the quotient does not fit in 256 bits')
  return value
}

// After SqrtPriceMath of @uniswap/v3-core@1.0.1. Prices have at most 160 bits and liquidity 128, so that most
// products cannot overflow; where the contract checks, this does.
const lowest96Bits = 2n ** 96n - 1n
const mostUint160 = 2n ** 160n - 1n
const mostUint256OfSqrtPriceMath = 2n ** 256n - 1n

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
  if (denominator <= mostUint256OfSqrtPriceMath) return divRoundingUp(numerator * sqrtPriceX96, denominator)
  // Where the exact form does not fit in 256 bits the contract takes this one, which is rounded differently.
  const divisor = numerator / sqrtPriceX96 + amount
  if (divisor > mostUint256OfSqrtPriceMath) throw new RangeError('too much for a pool')
  return divRoundingUp(numerator, divisor)
}

/** Rounded up: the price rises. */
function afterTaking0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << 96n
  const product = amount * sqrtPriceX96
  if (product > mostUint256OfSqrtPriceMath || numerator <= product) throw new RangeError('more than there is in the pool')
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

// After LiquidityAmounts of @uniswap/v3-periphery@1.4.4. The two bounds of a range may come in either order.
const mostUint128 = 2n ** 128n - 1n
const oneX96OfLiquidityAmounts = 2n ** 96n

/** The liquidity that so much of token0 makes between two prices, rounded down. @throws RangeError where it does not fit in 128 bits */
export function getLiquidityForAmount0(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount0: bigint): bigint {
  // Rounded twice, as the contract does it.
  const intermediate = mulDiv(sqrtRatioAX96, sqrtRatioBX96, oneX96OfLiquidityAmounts)
  return asLiquidity(mulDiv(amount0, intermediate, distance(sqrtRatioAX96, sqrtRatioBX96)))
}

/** The liquidity that so much of token1 makes between two prices, rounded down. @throws RangeError where it does not fit in 128 bits */
export function getLiquidityForAmount1(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount1: bigint): bigint {
  return asLiquidity(mulDiv(amount1, oneX96OfLiquidityAmounts, distance(sqrtRatioAX96, sqrtRatioBX96)))
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

// SwapMath.computeSwapStep of @uniswap/v3-core@1.0.1 in its parts: a swap goes through a stretch of prices with the same liquidity whole
// where what is left of it pays for that, fee included, or asks for all that comes out; else it ends within. What is left pays for a
// stretch just where, less the fee and rounded down, it is what would go in without: the contract's way to ask.

/** How far a swap gets on a stretch of prices with the same liquidity. */
export interface SwapStep {
  readonly sqrtRatioNextX96: bigint
  /** With the fee; rounded up. */
  readonly paidRaw: bigint
  /** Rounded down. */
  readonly outRaw: bigint
}

/** Fees are counted in hundredths of a basis point. */
export const wholeFeePips = 1_000_000n

/** What goes in, with the fee, from one price to the other; rounded up. */
export function paidBetween(current: bigint, next: bigint, liquidity: bigint, feePips: bigint, zeroForOne: boolean): bigint {
  const amountIn = zeroForOne ? getAmount0Delta(next, current, liquidity, true) : getAmount1Delta(current, next, liquidity, true)
  return amountIn + divRoundingUp(amountIn * feePips, wholeFeePips - feePips)
}

/** What comes out from one price to the other; rounded down. */
export function outBetween(current: bigint, next: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? getAmount1Delta(next, current, liquidity, false) : getAmount0Delta(current, next, liquidity, false)
}

/** As far as an input takes it that does not pay for the whole stretch. */
export function stepIn(current: bigint, liquidity: bigint, paidRaw: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const next = getNextSqrtPriceFromInput(current, liquidity, withoutFee(paidRaw, feePips), zeroForOne)
  return { sqrtRatioNextX96: next, paidRaw, outRaw: outBetween(current, next, liquidity, zeroForOne) }
}

/** As far as it must go for an output that is less than the whole stretch gives. */
export function stepOut(current: bigint, liquidity: bigint, outRaw: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const next = getNextSqrtPriceFromOutput(current, liquidity, outRaw, zeroForOne)
  return { sqrtRatioNextX96: next, paidRaw: paidBetween(current, next, liquidity, feePips, zeroForOne), outRaw }
}

/** What is left of an input when the fee is taken, rounded down; of what was `paidBetween` two prices just what it is without. */
export function withoutFee(paidRaw: bigint, feePips: bigint): bigint {
  return (paidRaw * (wholeFeePips - feePips)) / wholeFeePips
}

// The mathematics of concentrated liquidity: pure, in bigint, equal to the contracts' libraries to the unit.
