// How the other amount of a swap is bounded, whatever its exact amount is.

/** For every amount: output ≤ input × rate / 2^128 + offset. A rate and an offset of 0: there is no quote. */
export interface BoundForAll {
  readonly rateX128: bigint
  readonly offsetRaw: bigint
}

/** More than any amount: no input is enough. */
const endlessRaw = 2n ** 256n - 1n

/** The most that comes out, or the least that has to go in. */
export function boundBy({ rateX128, offsetRaw }: BoundForAll, exact: 'in' | 'out', amountRaw: bigint): bigint {
  const otherRaw = exact === 'in' ? mostOut(amountRaw, rateX128, offsetRaw) : leastIn(amountRaw, rateX128, offsetRaw)
  return otherRaw < endlessRaw ? otherRaw : endlessRaw
}

/** An output is a whole number of units, so that a part of one is cut off. */
const mostOut = (inRaw: bigint, rateX128: bigint, offsetRaw: bigint): bigint => ((inRaw * rateX128) >> 128n) + offsetRaw

/** Rounded up, for the same reason; at least one unit. */
function leastIn(outRaw: bigint, rateX128: bigint, offsetRaw: bigint): bigint {
  if (outRaw <= offsetRaw) return 1n
  return rateX128 === 0n ? endlessRaw : (((outRaw - offsetRaw) << 128n) + rateX128 - 1n) / rateX128
}
