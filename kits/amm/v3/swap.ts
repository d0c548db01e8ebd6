import { stepIn, stepOut, wholeFeePips, type SwapStep } from '../../../core/kits/uniswap-v3/math/swap-math.ts'
import type { RangePoolState } from '../../../core/kits/uniswap-v3/pools/range-pool-state.ts'
import { pathOf, type SwapPath } from '../../../core/kits/uniswap-v3/pools/swap-path.ts'

/** What a swap is to the pool. */
export interface Swapped {
  /** The other side: what comes out, or what must go in. */
  readonly amountRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each. */
  readonly steps: number
}

/** What is known of the pool ends before the swap does. */
export interface Beyond {
  /** No better than this, whatever lies there. */
  readonly atBestRaw: bigint
}

/** Amounts are signed in the pools. */
const mostAmountRaw = 2n ** 255n - 1n
const oneX192 = 2n ** 192n

/**
 * UniswapV3Pool.swap of @uniswap/v3-core@1.0.1, on what is known of the pool.
 * @param seen is told of each step that moves something, in order
 * @returns undefined where the pool cannot do it whole: QuoterV2 and routers refuse an output that is
 * short, and what they would not take of an input stays with the caller
 */
export function swap(
  state: RangePoolState,
  zeroForOne: boolean,
  exact: 'in' | 'out',
  amountRaw: bigint,
  seen?: (step: SwapStep) => void,
): Swapped | Beyond | undefined {
  if (amountRaw <= 0n || amountRaw > mostAmountRaw) return undefined
  const path = pathOf(state, zeroForOne)
  const isIn = exact === 'in'
  for (let index = 0; ; index += 1) {
    const step = path.step(index)
    if (step === undefined) return path.end === 'limit' ? undefined : beyond(path, exact, amountRaw)
    const { stretch, paidRaw, outRaw, ticksCrossed, steps, isUnsure } = step
    // By all steps up to the end of this one: the next says so where there is one already.
    const next = path.steps[index + 1]
    const upToRaw = isIn ? (next?.paidRaw ?? paidRaw + stretch.paidRaw) : (next?.outRaw ?? outRaw + stretch.outRaw)
    if (amountRaw < upToRaw) {
      const { startX96, liquidity } = stretch
      const last = isIn
        ? stepIn(startX96, liquidity, amountRaw - paidRaw, path.feePips, zeroForOne)
        : stepOut(startX96, liquidity, amountRaw - outRaw, path.feePips, zeroForOne)
      seen?.(last)
      return { amountRaw: isIn ? outRaw + last.outRaw : paidRaw + last.paidRaw, ticksCrossed, steps }
    }
    if (isUnsure) continue
    seen?.({ sqrtRatioNextX96: stretch.endX96, paidRaw: stretch.paidRaw, outRaw: stretch.outRaw })
    if (amountRaw === upToRaw) return { amountRaw: isIn ? outRaw + stretch.outRaw : paidRaw + stretch.paidRaw, ticksCrossed, steps }
  }
}

/** What the rest would be at the price that is reached, which gets only worse: at most out, at least in. */
function beyond({ priceX96, paidRaw, outRaw, zeroForOne, feePips }: SwapPath, exact: 'in' | 'out', amountRaw: bigint): Beyond {
  const priceX192 = priceX96 * priceX96
  const [outward, inward] = zeroForOne ? [priceX192, oneX192] : [oneX192, priceX192]
  const atBestRaw =
    exact === 'in'
      ? outRaw + ((amountRaw - paidRaw) * (wholeFeePips - feePips) * outward) / (inward * wholeFeePips) + 1n
      : paidRaw + ((amountRaw - outRaw) * wholeFeePips * inward) / (outward * (wholeFeePips - feePips))
  return { atBestRaw }
}
