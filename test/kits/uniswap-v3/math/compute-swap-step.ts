import { stepIn, stepOut, wholeStep, type SwapStep } from '../../../../core/kits/uniswap-v3/math/index.ts'

/** The contract's computeSwapStep, put together of its parts as swaps do it. The target's side says the direction. */
export function computeSwapStep(
  current: bigint,
  target: bigint,
  liquidity: bigint,
  exact: 'in' | 'out',
  remaining: bigint,
  feePips: bigint,
): SwapStep {
  const zeroForOne = current >= target
  const whole = wholeStep(current, target, liquidity, feePips, zeroForOne)
  if (remaining >= (exact === 'in' ? whole.paidRaw : whole.outRaw)) return whole
  return (exact === 'in' ? stepIn : stepOut)(current, liquidity, remaining, feePips, zeroForOne)
}
