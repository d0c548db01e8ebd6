import { pow } from '../../../../kits/amm/weighted/math.ts'

// FixedPoint of npm @balancer-labs/v2-solidity-utils 4.0.0 (contracts/math/FixedPoint.sol): numbers with 18 decimals.
export const one = 10n ** 18n

export const divideUp = (a: bigint, b: bigint): bigint => (a === 0n ? 0n : (a - 1n) / b + 1n)
export const mulDown = (a: bigint, b: bigint): bigint => (a * b) / one
export const mulUp = (a: bigint, b: bigint): bigint => divideUp(a * b, one)
export const divDown = (a: bigint, b: bigint): bigint => (a * one) / b
export const divUp = (a: bigint, b: bigint): bigint => divideUp(a * one, b)
/** 1 - x, and 0 where that is negative. */
export const complement = (x: bigint): bigint => (x < one ? one - x : 0n)

// MAX_POW_RELATIVE_ERROR: 10^-14.
const powError = 10_000n

/**
 * x^y, and as much more as the power may be wrong.
 * @param squares powers of 1, 2 and 4 are multiplied out, without that margin: so do pools since the second version
 */
export function powUp(x: bigint, y: bigint, squares: boolean): bigint {
  if (squares && y === one) return x
  if (squares && y === 2n * one) return mulUp(x, x)
  if (squares && y === 4n * one) {
    const square = mulUp(x, x)
    return mulUp(square, square)
  }
  const raw = pow(x, y)
  return raw + mulUp(raw, powError) + 1n
}
