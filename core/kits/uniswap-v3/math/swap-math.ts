import { divRoundingUp } from './full-math.ts'
import { getAmount0Delta, getAmount1Delta, getNextSqrtPriceFromInput, getNextSqrtPriceFromOutput } from './sqrt-price-math.ts'

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
