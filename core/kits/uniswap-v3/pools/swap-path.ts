import { getSqrtRatioAtTick, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick, wholeStep } from '../math/index.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { ticksPerWord } from './reach.ts'

/** As far as routers let the price go: SwapRouter of @uniswap/v3-periphery@1.4.4, where the limit is 0. */
export const lowestPriceX96 = minSqrtRatioX96 + 1n
export const highestPriceX96 = maxSqrtRatioX96 - 1n

/** From one price to the next that a swap has to stop at, with the same liquidity all the way. */
export interface PathStep {
  readonly startX96: bigint
  readonly endX96: bigint
  readonly liquidity: bigint
  /** By all steps before it. */
  readonly paidRaw: bigint
  readonly outRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each; this one, too. */
  readonly steps: number
  /** By all steps up to its end. */
  readonly paidUpToRaw: bigint
  readonly outUpToRaw: bigint
  /** More ticks than are known may come before its end, but none before all that is known ends: good for what ends within. */
  readonly isUnsure: boolean
}

/**
 * What a swap meets in one direction: UniswapV3Pool.swap of @uniswap/v3-core@1.0.1 for an amount without end, on what is known of the pool.
 * It does not depend on the amount, so that it is gone once for all swaps by a state, as far as they come: then only the step within which
 * one ends is left to reckon.
 */
export class SwapPath {
  readonly state: RangePoolState
  readonly zeroForOne: boolean
  readonly feePips: bigint
  readonly steps: PathStep[] = []
  /** Where the steps come to by now. */
  priceX96: bigint
  paidRaw = 0n
  outRaw = 0n
  /** Where they end for good: at the price's limit, or with what is known. */
  end: 'limit' | 'unknown' | undefined
  #tick: number
  #liquidity: bigint
  /** The next initialised tick's place. */
  #ahead: number
  #ticksCrossed = 0
  #count = 0

  constructor(state: RangePoolState, zeroForOne: boolean) {
    this.state = state
    this.zeroForOne = zeroForOne
    this.feePips = BigInt(state.fee)
    this.priceX96 = state.sqrtPriceX96
    this.#tick = state.tick
    this.#liquidity = state.liquidity
    this.#ahead = state.ticks.upTo(state.tick) - (zeroForOne ? 1 : 0)
  }

  /** Undefined behind the last. */
  step(index: number): PathStep | undefined {
    while (index >= this.steps.length && this.end === undefined) this.#goOn()
    return this.steps[index]
  }

  #goOn(): void {
    const { zeroForOne } = this
    const { tickSpacing, ticks: known } = this.state
    const limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96
    const [tick, liquidity] = [this.#tick, this.#liquidity]
    if (zeroForOne ? this.priceX96 <= limitX96 : this.priceX96 >= limitX96) {
      this.end = 'limit'
      return
    }
    if (tick < known.from || tick >= known.to) {
      this.end = 'unknown'
      return
    }
    const initialised = this.#ahead < 0 ? undefined : known.ticks[this.#ahead]
    // Where there is liquidity every word is a step of its own, with its own rounding.
    const nearest = initialised ?? (zeroForOne ? minTick : maxTick)
    const edge = liquidity === 0n ? nearest : wordEdge(tick, tickSpacing, zeroForOne)
    const next = zeroForOne ? Math.max(edge, nearest, minTick) : Math.min(edge, nearest, maxTick)
    const isUnsure = zeroForOne ? next < known.from : next > known.to
    const aim = isUnsure ? (zeroForOne ? known.from : known.to) : next
    const aimX96 = ratioAt(aim)
    const endX96 = (zeroForOne ? aimX96 < limitX96 : aimX96 > limitX96) ? limitX96 : aimX96
    if (liquidity === 0n) this.#count += 1 + Math.floor(Math.abs(tick - aim) / (tickSpacing * ticksPerWord))
    else this.#add(endX96, isUnsure)
    if (this.end !== undefined) return
    this.priceX96 = endX96
    if (aim === initialised) {
      const net = known.liquidity.net(this.#ahead)
      this.#liquidity += zeroForOne ? -net : net
      this.#ahead += zeroForOne ? -1 : 1
      this.#ticksCrossed += 1
    }
    this.#tick = zeroForOne ? aim - 1 : aim
  }

  #add(endX96: bigint, isUnsure: boolean): void {
    const { priceX96: startX96, paidRaw, outRaw } = this
    const liquidity = this.#liquidity
    const whole = wholeStep(startX96, endX96, liquidity, this.feePips, this.zeroForOne)
    const [paidUpToRaw, outUpToRaw] = [paidRaw + whole.paidRaw, outRaw + whole.outRaw]
    const [steps, ticksCrossed] = [(this.#count += 1), this.#ticksCrossed]
    this.steps.push({ startX96, endX96, liquidity, paidRaw, outRaw, ticksCrossed, steps, paidUpToRaw, outUpToRaw, isUnsure })
    if (isUnsure) {
      // Whatever does not end within it goes on from its start, for all that is known.
      this.end = 'unknown'
      return
    }
    this.paidRaw = paidUpToRaw
    this.outRaw = outUpToRaw
  }
}

/** The same for all swaps by a state, as long as it is the one that is asked. */
export function pathOf(state: RangePoolState, zeroForOne: boolean): SwapPath {
  const { lately } = state.ticks
  const known = zeroForOne ? lately.down : lately.up
  if (known?.state === state) return known
  const path = new SwapPath(state, zeroForOne)
  if (zeroForOne) lately.down = path
  else lately.up = path
  return path
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

/** Where a word of the bitmap ends, which pools do not look beyond in one step: TickBitmap.nextInitializedTickWithinOneWord. */
function wordEdge(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing) + (zeroForOne ? 0 : 1)
  const first = compressed - (compressed & (ticksPerWord - 1))
  return (zeroForOne ? first : first + ticksPerWord - 1) * tickSpacing
}
