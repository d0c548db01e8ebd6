// The arithmetic of constant-product pools: UniswapV2Library of @uniswap/v2-periphery@1.1.0-beta.0, equal to it to the unit. The fee is a
// parameter, because forks differ in it.
import { formatRaw } from '../../../core/decimal.ts'

/** The part of the input that a pool keeps: `[3n, 1000n]` is 0.3 %. */
export type Fee = readonly [numerator: bigint, denominator: bigint]

/** Pairs keep their reserves in 112 bits and revert above: UniswapV2Pair, `_update`. */
export const maxReserveRaw = 2n ** 112n - 1n

/**
 * The output for an exact input, rounded down: UniswapV2Library.getAmountOut.
 * Undefined where the pair would refuse the swap: an empty reserve, or one that overflows.
 */
export function getAmountOut(amountInRaw: bigint, reserveInRaw: bigint, reserveOutRaw: bigint, fee: Fee): bigint | undefined {
  if (reserveInRaw <= 0n || reserveOutRaw <= 0n || reserveInRaw + amountInRaw > maxReserveRaw) return undefined
  const [kept, whole] = fee
  const amountInWithFee = amountInRaw * (whole - kept)
  return (amountInWithFee * reserveOutRaw) / (reserveInRaw * whole + amountInWithFee)
}

/**
 * The input for an exact output, rounded down plus one unit, as UniswapV2Library.getAmountIn does.
 * Undefined where the pool does not hold that much, or the input would overflow its reserve.
 */
export function getAmountIn(amountOutRaw: bigint, reserveInRaw: bigint, reserveOutRaw: bigint, fee: Fee): bigint | undefined {
  if (reserveInRaw <= 0n || amountOutRaw >= reserveOutRaw) return undefined
  const [kept, whole] = fee
  const amountInRaw = (reserveInRaw * amountOutRaw * whole) / ((reserveOutRaw - amountOutRaw) * (whole - kept)) + 1n
  return reserveInRaw + amountInRaw > maxReserveRaw ? undefined : amountInRaw
}

/** `[25n, 10_000n]` → "0.0025": exact for fees of up to 18 decimals, cut off after that. */
export function feeDecimal([kept, whole]: Fee): string {
  return formatRaw((kept * 10n ** 18n) / whole, 18)
}
