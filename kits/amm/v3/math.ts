// The mathematics of concentrated liquidity: pure, in bigint, equal to the contracts' libraries to the unit. A tick is a power of 1.0001, and
// prices are square roots times 2^96.

export const Q96 = 2n ** 96n
const Q128 = 2n ** 128n
/** The square of a price of 1. */
export const Q192 = 2n ** 192n
const maxUint128 = 2n ** 128n - 1n
const maxUint160 = 2n ** 160n - 1n
const maxUint256 = 2n ** 256n - 1n

// TickMath of @uniswap/v3-core@1.0.1.

export const minTick = -887272
export const maxTick = 887272
/** The price at `minTick`. */
export const minSqrtRatioX96 = 4295128739n
/** The price at `maxTick`. The price of a pool is always below it. */
export const maxSqrtRatioX96 = 1461446703485210103287273052203988822378723970342n

/** 2^128 / 1.0001^(2^n / 2) for the n-th bit of a tick, copied from the contract. */
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
const lowest32Bits = 2n ** 32n - 1n

/** The square root of the price at a tick, times 2^96. @throws RangeError outside of the ticks */
export function getSqrtRatioAtTick(tick: number): bigint {
  if (!Number.isInteger(tick) || tick < minTick || tick > maxTick)
    throw new RangeError(`The tick ${tick} is outside of ${minTick} to ${maxTick}.`)
  let ratioX128 = Q128
  let bits = tick < 0 ? -tick : tick
  for (const factorX128 of factorsX128) {
    if (bits & 1) ratioX128 = (ratioX128 * factorX128) >> 128n
    bits >>= 1
    if (bits === 0) break
  }
  if (tick > 0) ratioX128 = maxUint256 / ratioX128
  return (ratioX128 + lowest32Bits) >> 32n
}

const logOfTick = Math.log(1.0001) / 2

/** The highest tick whose price is not above this one. @throws RangeError for a price that no pool can have */
export function getTickAtSqrtRatio(sqrtRatioX96: bigint): number {
  if (sqrtRatioX96 < minSqrtRatioX96 || sqrtRatioX96 >= maxSqrtRatioX96) throw new RangeError(`No pool can have the price ${sqrtRatioX96}.`)
  // Floating point finds the tick to a millionth; the comparisons that decide are exact.
  const near = Math.floor(Math.log(Number(sqrtRatioX96) / Number(Q96)) / logOfTick)
  let tick = Math.min(Math.max(near, minTick), maxTick - 1)
  while (getSqrtRatioAtTick(tick) > sqrtRatioX96) tick -= 1
  while (getSqrtRatioAtTick(tick + 1) <= sqrtRatioX96) tick += 1
  return tick
}

/** How many ticks, counted in tick spacings, stand in one word of a pool's bitmap. */
export const ticksPerWord = 256

/** The last tick of a word of the bitmap: a swap does not look beyond it in one step. TickBitmap.nextInitializedTickWithinOneWord. */
export function wordEdge(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing) + (zeroForOne ? 0 : 1)
  const first = compressed - (compressed & (ticksPerWord - 1))
  return (zeroForOne ? first : first + ticksPerWord - 1) * tickSpacing
}

/** Six hexadecimal digits as an `int24`, which ticks are. */
export const toInt24 = (digits: string): number => (parseInt(digits, 16) << 8) >> 8

/** a × b / denominator, rounded down: FullMath of @uniswap/v3-core@1.0.1. @throws RangeError above 256 bits */
export function mulDiv(a: bigint, b: bigint, denominator: bigint): bigint {
  const quotient = (a * b) / denominator
  if (quotient > maxUint256) throw new RangeError('The quotient has more than 256 bits.')
  return quotient
}

/** For numbers of 0 or more. */
export function divRoundingUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return quotient * denominator === numerator ? quotient : quotient + 1n
}

// SqrtPriceMath of @uniswap/v3-core@1.0.1. Prices have at most 160 bits and liquidity 128, so most products cannot overflow; this checks
// where the contract does.

/** The amount of token0 between two prices, in either order. @throws RangeError for a price of 0 */
export function getAmount0Delta(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const ordered = sqrtRatioAX96 <= sqrtRatioBX96
  const lower = ordered ? sqrtRatioAX96 : sqrtRatioBX96
  const upper = ordered ? sqrtRatioBX96 : sqrtRatioAX96
  if (lower <= 0n) throw new RangeError('A price must be above 0.')
  const product = (liquidity << 96n) * (upper - lower)
  // The contract divides twice and rounds both times alike, which gives the same number.
  return roundUp ? divRoundingUp(product, upper * lower) : product / (upper * lower)
}

/** The amount of token1 between two prices, in either order. */
export function getAmount1Delta(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, liquidity: bigint, roundUp: boolean): bigint {
  const product = liquidity * distance(sqrtRatioAX96, sqrtRatioBX96)
  return roundUp ? (product + Q96 - 1n) >> 96n : product >> 96n
}

/** The price after an input, never past what the input pays for. @throws RangeError where the contract reverts */
export function getNextSqrtPriceFromInput(sqrtPriceX96: bigint, liquidity: bigint, amountIn: bigint, zeroForOne: boolean): bigint {
  requirePool(sqrtPriceX96, liquidity)
  return zeroForOne ? afterAdding0(sqrtPriceX96, liquidity, amountIn) : afterAdding1(sqrtPriceX96, liquidity, amountIn)
}

/** The price after an output, far enough to pay for it. @throws RangeError where the contract reverts */
export function getNextSqrtPriceFromOutput(sqrtPriceX96: bigint, liquidity: bigint, amountOut: bigint, zeroForOne: boolean): bigint {
  requirePool(sqrtPriceX96, liquidity)
  return zeroForOne ? afterTaking1(sqrtPriceX96, liquidity, amountOut) : afterTaking0(sqrtPriceX96, liquidity, amountOut)
}

function requirePool(sqrtPriceX96: bigint, liquidity: bigint): void {
  if (sqrtPriceX96 <= 0n || liquidity <= 0n) throw new RangeError('A pool needs a price and liquidity.')
}

/** Rounded up: the price falls. */
function afterAdding0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << 96n
  const product = amount * sqrtPriceX96
  const denominator = numerator + product
  if (denominator <= maxUint256) return divRoundingUp(numerator * sqrtPriceX96, denominator)
  // Where the exact form has more than 256 bits, the contract uses this one, which rounds differently.
  const divisor = numerator / sqrtPriceX96 + amount
  if (divisor > maxUint256) throw new RangeError('The input is too large for a pool.')
  return divRoundingUp(numerator, divisor)
}

/** Rounded up: the price rises. */
function afterTaking0(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  if (amount === 0n) return sqrtPriceX96
  const numerator = liquidity << 96n
  const product = amount * sqrtPriceX96
  if (product > maxUint256 || numerator <= product) throw new RangeError('The pool does not hold that much.')
  return asPrice(divRoundingUp(numerator * sqrtPriceX96, numerator - product))
}

/** Rounded down: the price rises. */
function afterAdding1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  return asPrice(sqrtPriceX96 + (amount << 96n) / liquidity)
}

/** Rounded down: the price falls. */
function afterTaking1(sqrtPriceX96: bigint, liquidity: bigint, amount: bigint): bigint {
  const quotient = divRoundingUp(amount << 96n, liquidity)
  if (sqrtPriceX96 <= quotient) throw new RangeError('The pool does not hold that much.')
  return sqrtPriceX96 - quotient
}

function asPrice(value: bigint): bigint {
  if (value > maxUint160) throw new RangeError('A price has at most 160 bits.')
  return value
}

// LiquidityAmounts of @uniswap/v3-periphery@1.4.4. The two bounds of a range may come in either order.

/** The liquidity that an amount of token0 makes between two prices, rounded down. @throws RangeError above 128 bits */
export function getLiquidityForAmount0(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount0: bigint): bigint {
  // Rounds twice, as the contract does.
  const intermediate = mulDiv(sqrtRatioAX96, sqrtRatioBX96, Q96)
  return asLiquidity(mulDiv(amount0, intermediate, distance(sqrtRatioAX96, sqrtRatioBX96)))
}

/** The liquidity that an amount of token1 makes between two prices, rounded down. @throws RangeError above 128 bits */
export function getLiquidityForAmount1(sqrtRatioAX96: bigint, sqrtRatioBX96: bigint, amount1: bigint): bigint {
  return asLiquidity(mulDiv(amount1, Q96, distance(sqrtRatioAX96, sqrtRatioBX96)))
}

/** The most liquidity that these amounts make in a range at a price. @throws RangeError above 128 bits */
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
 * The amounts that liquidity in a range holds at a price. Rounded down they are what removing it gives
 * (LiquidityAmounts.getAmountsForLiquidity, and the pool's `burn`); rounded up, what adding it takes (the pool's `mint`).
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
  if (value > maxUint128) throw new RangeError('Liquidity has at most 128 bits.')
  return value
}

// SwapMath.computeSwapStep of @uniswap/v3-core@1.0.1 in its parts. A swap crosses a whole segment of prices with the same liquidity where the
// rest of its input pays for the segment with the fee, or the rest of its output is at least what the segment gives; otherwise it ends
// within. As in the contract, the rest of the input pays for a segment when the rest less the fee, rounded down, is at least what goes in.

/** How far a swap gets on a segment of prices with the same liquidity. */
export interface SwapStep {
  readonly sqrtRatioNextX96: bigint
  /** With the fee; rounded up. */
  readonly paidRaw: bigint
  /** Rounded down. */
  readonly outRaw: bigint
}

/** Fees are counted in hundredths of a basis point. */
export const wholeFeePips = 1_000_000n

/** The input from one price to the other, with the fee; rounded up. */
export function paidBetween(current: bigint, next: bigint, liquidity: bigint, feePips: bigint, zeroForOne: boolean): bigint {
  const amountIn = zeroForOne ? getAmount0Delta(next, current, liquidity, true) : getAmount1Delta(current, next, liquidity, true)
  return amountIn + divRoundingUp(amountIn * feePips, wholeFeePips - feePips)
}

/** The output from one price to the other; rounded down. */
export function outBetween(current: bigint, next: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? getAmount1Delta(next, current, liquidity, false) : getAmount0Delta(current, next, liquidity, false)
}

/** For an input that does not pay for the whole segment. */
export function stepIn(current: bigint, liquidity: bigint, paidRaw: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const next = getNextSqrtPriceFromInput(current, liquidity, withoutFee(paidRaw, feePips), zeroForOne)
  return { sqrtRatioNextX96: next, paidRaw, outRaw: outBetween(current, next, liquidity, zeroForOne) }
}

/** For an output that is less than the whole segment gives. */
export function stepOut(current: bigint, liquidity: bigint, outRaw: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const next = getNextSqrtPriceFromOutput(current, liquidity, outRaw, zeroForOne)
  return { sqrtRatioNextX96: next, paidRaw: paidBetween(current, next, liquidity, feePips, zeroForOne), outRaw }
}

/** An input less the fee, rounded down; for a result of `paidBetween`, exactly the input without the fee. */
export function withoutFee(paidRaw: bigint, feePips: bigint): bigint {
  return (paidRaw * (wholeFeePips - feePips)) / wholeFeePips
}
