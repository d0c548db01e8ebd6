import { complement, divDown, divUp, mulDown, mulUp, one, powUp } from './fixed-point.ts'

// WeightedMath of npm @balancer-labs/v2-pool-weighted 2.0.1 (contracts/WeightedMath.sol).

/** One side of a swap, with 18 decimals. */
export interface Side {
  readonly balance: bigint
  /** Of all tokens together 1; at least 0.01. */
  readonly weight: bigint
}

/** _MAX_IN_RATIO and _MAX_OUT_RATIO: 30 % of what the pool has. */
const mostRatio = (3n * one) / 10n

const mostOf = ({ balance }: Side): bigint => mulDown(balance, mostRatio)

// Neither can meet the bounds of a power: by the ratios above, and with no weight more than 99 times another, the base is
// between 1/1.3 and 1/0.7, and the result between e^-26 and e^36.

/** `_calcOutGivenIn`; undefined where it is too much for the pool. */
export function outGivenIn(into: Side, outOf: Side, amountIn: bigint, squares: boolean): bigint | undefined {
  if (amountIn > mostOf(into)) return undefined
  const base = divUp(into.balance, into.balance + amountIn)
  return mulDown(outOf.balance, complement(powUp(base, divDown(into.weight, outOf.weight), squares)))
}

/** `_calcInGivenOut`; undefined where it is too much for the pool. */
export function inGivenOut(into: Side, outOf: Side, amountOut: bigint, squares: boolean): bigint | undefined {
  if (amountOut > mostOf(outOf)) return undefined
  const base = divUp(outOf.balance, outOf.balance - amountOut)
  return mulUp(into.balance, powUp(base, divUp(outOf.weight, into.weight), squares) - one)
}
