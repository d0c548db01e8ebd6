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
