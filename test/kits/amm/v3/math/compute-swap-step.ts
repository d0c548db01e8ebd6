import { outBetween, paidBetween, stepIn, stepOut, type SwapStep } from '../../../../../kits/amm/v3/math.ts'

/** The contract's computeSwapStep, composed of our parts as in swaps. The target's side gives the direction. */
export function computeSwapStep(
  current: bigint,
  target: bigint,
  liquidity: bigint,
  exact: 'in' | 'out',
  remaining: bigint,
  feePips: bigint,
): SwapStep {
  const zeroForOne = current >= target
  const paidRaw = paidBetween(current, target, liquidity, feePips, zeroForOne)
  const outRaw = outBetween(current, target, liquidity, zeroForOne)
  if (remaining >= (exact === 'in' ? paidRaw : outRaw)) return { sqrtRatioNextX96: target, paidRaw, outRaw }
  return (exact === 'in' ? stepIn : stepOut)(current, liquidity, remaining, feePips, zeroForOne)
}
