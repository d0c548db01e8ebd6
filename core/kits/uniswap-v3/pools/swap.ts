import { computeSwapStep, getSqrtRatioAtTick, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick, wholeFeePips } from '../math/index.ts'
import type { SwapStep } from '../math/index.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { ticksPerWord } from './reach.ts'

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

/** As far as routers let the price go: SwapRouter of @uniswap/v3-periphery@1.4.4, where the limit is 0. */
export const lowestPriceX96 = minSqrtRatioX96 + 1n
export const highestPriceX96 = maxSqrtRatioX96 - 1n
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
  const { tickSpacing, ticks: known } = state
  const { from, to, ticks } = known
  const end = zeroForOne ? from : to
  const limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96
  const feePips = BigInt(state.fee)
  let { sqrtPriceX96: priceX96, tick, liquidity } = state
  let ahead = known.upTo(tick) - (zeroForOne ? 1 : 0)
  let remainingRaw = amountRaw
  let otherRaw = 0n
  let ticksCrossed = 0
  let steps = 0

  while (remainingRaw > 0n) {
    if (zeroForOne ? priceX96 <= limitX96 : priceX96 >= limitX96) return undefined
    if (tick < from || tick >= to) return { atBestRaw: otherRaw + atBest(priceX96, zeroForOne, exact, remainingRaw, feePips) }
    const initialised = ahead >= 0 && ahead < ticks.length ? ticks[ahead] : undefined
    // Where there is liquidity every word is a step of its own, with its own rounding.
    const nearest = initialised ?? (zeroForOne ? minTick : maxTick)
    const edge = liquidity === 0n ? nearest : wordEdge(tick, tickSpacing, zeroForOne)
    const next = zeroForOne ? Math.max(edge, nearest, minTick) : Math.min(edge, nearest, maxTick)
    // What is known ends before the step does: it is one still where the swap ends before that.
    const isUnsure = zeroForOne ? next < end : next > end
    const aim = isUnsure ? end : next
    const aimX96 = ratioAt(aim)
    const targetX96 = (zeroForOne ? aimX96 < limitX96 : aimX96 > limitX96) ? limitX96 : aimX96
    steps += liquidity === 0n ? 1 + Math.floor(Math.abs(tick - aim) / (tickSpacing * ticksPerWord)) : 1
    if (liquidity === 0n) {
      priceX96 = targetX96
    } else {
      const step = computeSwapStep(priceX96, targetX96, liquidity, exact, remainingRaw, feePips)
      const { sqrtRatioNextX96, amountIn, amountOut, feeAmount } = step
      if (isUnsure && sqrtRatioNextX96 === targetX96)
        return { atBestRaw: otherRaw + atBest(priceX96, zeroForOne, exact, remainingRaw, feePips) }
      seen?.(step)
      priceX96 = sqrtRatioNextX96
      const inRaw = amountIn + feeAmount
      remainingRaw -= exact === 'in' ? inRaw : amountOut
      otherRaw += exact === 'in' ? amountOut : inRaw
    }
    if (priceX96 === aimX96) {
      if (aim === initialised) {
        const liquidityNet = known.liquidity.net(ahead)
        liquidity += zeroForOne ? -liquidityNet : liquidityNet
        ahead += zeroForOne ? -1 : 1
        ticksCrossed += 1
      }
      tick = zeroForOne ? aim - 1 : aim
    }
  }
  return { amountRaw: otherRaw, ticksCrossed, steps }
}

// Swaps come to the same ticks again and again, and a price takes as long as a step does.
const ratios = new Map<number, bigint>()
const mostRatios = 20_000

function ratioAt(tick: number): bigint {
  const known = ratios.get(tick)
  if (known !== undefined) return known
  if (ratios.size >= mostRatios) ratios.clear()
  const ratio = getSqrtRatioAtTick(tick)
  ratios.set(tick, ratio)
  return ratio
}

/** What the rest would be at the price that is reached, which gets only worse: at most out, at least in. */
function atBest(priceX96: bigint, zeroForOne: boolean, exact: 'in' | 'out', remainingRaw: bigint, feePips: bigint): bigint {
  const priceX192 = priceX96 * priceX96
  const [outward, inward] = zeroForOne ? [priceX192, oneX192] : [oneX192, priceX192]
  return exact === 'in'
    ? (remainingRaw * (wholeFeePips - feePips) * outward) / (inward * wholeFeePips) + 1n
    : (remainingRaw * wholeFeePips * inward) / (outward * (wholeFeePips - feePips))
}

/** Where a word of the bitmap ends, which pools do not look beyond in one step: TickBitmap.nextInitializedTickWithinOneWord. */
function wordEdge(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing) + (zeroForOne ? 0 : 1)
  const first = compressed - (compressed & (ticksPerWord - 1))
  return (zeroForOne ? first : first + ticksPerWord - 1) * tickSpacing
}
