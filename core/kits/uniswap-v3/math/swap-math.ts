import { divRoundingUp } from './full-math.ts'
import { getAmount0Delta, getAmount1Delta, getNextSqrtPriceFromInput, getNextSqrtPriceFromOutput } from './sqrt-price-math.ts'

/** How far a swap gets between two ticks, and what it costs. */
export interface SwapStep {
  readonly sqrtRatioNextX96: bigint
  /** Without the fee; rounded up. */
  readonly amountIn: bigint
  /** Rounded down. */
  readonly amountOut: bigint
  readonly feeAmount: bigint
}

/** Fees are counted in hundredths of a basis point. */
export const wholeFeePips = 1_000_000n

/**
 * One step of a swap towards a price, with the same liquidity all the way: SwapMath of @uniswap/v3-core@1.0.1.
 * `amountRemaining` is what is left to go in, fee included, or to come out. The target's side says the direction.
 */
export function computeSwapStep(
  sqrtRatioCurrentX96: bigint,
  sqrtRatioTargetX96: bigint,
  liquidity: bigint,
  exact: 'in' | 'out',
  amountRemaining: bigint,
  feePips: bigint,
): SwapStep {
  const zeroForOne = sqrtRatioCurrentX96 >= sqrtRatioTargetX96
  return exact === 'in'
    ? stepIn(sqrtRatioCurrentX96, sqrtRatioTargetX96, liquidity, amountRemaining, feePips, zeroForOne)
    : stepOut(sqrtRatioCurrentX96, sqrtRatioTargetX96, liquidity, amountRemaining, feePips, zeroForOne)
}

function stepIn(current: bigint, target: bigint, liquidity: bigint, remaining: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const remainingLessFee = (remaining * (wholeFeePips - feePips)) / wholeFeePips
  const toTarget = inputBetween(current, target, liquidity, zeroForOne)
  const next = remainingLessFee >= toTarget ? target : getNextSqrtPriceFromInput(current, liquidity, remainingLessFee, zeroForOne)
  const reached = next === target
  const amountIn = reached ? toTarget : inputBetween(current, next, liquidity, zeroForOne)
  return {
    sqrtRatioNextX96: next,
    amountIn,
    amountOut: outputBetween(current, next, liquidity, zeroForOne),
    // Short of the target all that is left over is kept.
    feeAmount: reached ? feeOn(amountIn, feePips) : remaining - amountIn,
  }
}

function stepOut(current: bigint, target: bigint, liquidity: bigint, remaining: bigint, feePips: bigint, zeroForOne: boolean): SwapStep {
  const toTarget = outputBetween(current, target, liquidity, zeroForOne)
  const next = remaining >= toTarget ? target : getNextSqrtPriceFromOutput(current, liquidity, remaining, zeroForOne)
  const amountIn = inputBetween(current, next, liquidity, zeroForOne)
  const amountOut = next === target ? toTarget : outputBetween(current, next, liquidity, zeroForOne)
  return {
    sqrtRatioNextX96: next,
    amountIn,
    amountOut: amountOut > remaining ? remaining : amountOut,
    feeAmount: feeOn(amountIn, feePips),
  }
}

function inputBetween(current: bigint, next: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? getAmount0Delta(next, current, liquidity, true) : getAmount1Delta(current, next, liquidity, true)
}

function outputBetween(current: bigint, next: bigint, liquidity: bigint, zeroForOne: boolean): bigint {
  return zeroForOne ? getAmount1Delta(next, current, liquidity, false) : getAmount0Delta(current, next, liquidity, false)
}

function feeOn(amountIn: bigint, feePips: bigint): bigint {
  return divRoundingUp(amountIn * feePips, wholeFeePips - feePips)
}
