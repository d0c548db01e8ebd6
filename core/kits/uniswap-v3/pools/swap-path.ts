import { maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick } from '../../../../kits/amm/v3/math.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { ratioAt } from './ratio-at.ts'
import { ticksPerWord } from './reach.ts'
import { Stretch } from './stretch.ts'

/** As far as routers let the price go: SwapRouter of @uniswap/v3-periphery@1.4.4, where the limit is 0. */
export const lowestPriceX96 = minSqrtRatioX96 + 1n
export const highestPriceX96 = maxSqrtRatioX96 - 1n

/** From one price to the next that a swap has to stop at. */
export interface PathStep {
  readonly stretch: Stretch
  /** By all steps before it. */
  readonly paidRaw: bigint
  readonly outRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each; this one, too. */
  readonly steps: number
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
  /** By the last step that was gone whole. */
  priceX96: bigint
  paidRaw = 0n
  outRaw = 0n
  /** Why there are no more steps: at the price's limit, or where what is known ends. */
  end: 'limit' | 'unknown' | undefined
  #tick: number
  #liquidity: bigint
  /** The next initialised tick's place. */
  #ahead: number
  #ticksCrossed = 0
  #count = 0
  /** Where the last step ends. */
  #aim: number | undefined
  #isGone = true

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
    const last = this.#isGone ? undefined : this.steps.at(-1)
    // Whatever does not end within an unsure step goes on from its start, for all that is known.
    if (last?.isUnsure) this.end = 'unknown'
    else if (last) this.#goThrough(last)
    if (this.end !== undefined) return

    const limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96
    const [tick, liquidity] = [this.#tick, this.#liquidity]
    if (zeroForOne ? this.priceX96 <= limitX96 : this.priceX96 >= limitX96) this.end = 'limit'
    else if (tick < known.from || tick >= known.to) this.end = 'unknown'
    if (this.end !== undefined) return

    // Where there is liquidity every word is a step of its own, with its own rounding.
    const nearest = this.#initialised ?? (zeroForOne ? minTick : maxTick)
    const edge = liquidity === 0n ? nearest : wordEdge(tick, tickSpacing, zeroForOne)
    const next = zeroForOne ? Math.max(edge, nearest, minTick) : Math.min(edge, nearest, maxTick)
    const isUnsure = zeroForOne ? next < known.from : next > known.to
    const aim = isUnsure ? (zeroForOne ? known.from : known.to) : next
    const aimX96 = ratioAt(aim)
    const endX96 = (zeroForOne ? aimX96 < limitX96 : aimX96 > limitX96) ? limitX96 : aimX96
    const start = this.#aim
    this.#aim = aim
    if (liquidity === 0n) {
      this.#count += 1 + Math.floor(Math.abs(tick - aim) / (tickSpacing * ticksPerWord))
      this.#arrive(endX96)
      return
    }
    this.#count += 1
    const stretch = this.#stretch(start, endX96)
    const { paidRaw, outRaw } = this
    this.steps.push({ stretch, paidRaw, outRaw, ticksCrossed: this.#ticksCrossed, steps: this.#count, isUnsure })
    this.#isGone = false
  }

  #goThrough({ stretch }: PathStep): void {
    this.paidRaw += stretch.paidRaw
    this.outRaw += stretch.outRaw
    this.#arrive(stretch.endX96)
    this.#isGone = true
  }

  #arrive(priceX96: bigint): void {
    const { zeroForOne } = this
    const aim = this.#aim ?? 0
    this.priceX96 = priceX96
    if (aim === this.#initialised) {
      const net = this.state.ticks.liquidity.net(this.#ahead)
      this.#liquidity += zeroForOne ? -net : net
      this.#ahead += zeroForOne ? -1 : 1
      this.#ticksCrossed += 1
    }
    this.#tick = zeroForOne ? aim - 1 : aim
  }

  get #initialised(): number | undefined {
    return this.#ahead < 0 ? undefined : this.state.ticks.ticks[this.#ahead]
  }

  /** From where the path has come to; one that was gone by another state is as good where nothing of it has changed. */
  #stretch(start: number | undefined, endX96: bigint): Stretch {
    const { priceX96: startX96, feePips, zeroForOne } = this
    const liquidity = this.#liquidity
    if (start === undefined) return new Stretch(startX96, endX96, liquidity, feePips, zeroForOne)
    const { gone } = this.state.ticks
    const known = (zeroForOne ? (gone.downward ??= new Map()) : (gone.upward ??= new Map())).get(start)
    if (known?.endX96 === endX96 && known.liquidity === liquidity) return known
    const stretch = new Stretch(startX96, endX96, liquidity, feePips, zeroForOne)
    ;(zeroForOne ? gone.downward : gone.upward)?.set(start, stretch)
    return stretch
  }
}

/** The same for all swaps by a state, as long as it is the one that is asked. */
export function pathOf(state: RangePoolState, zeroForOne: boolean): SwapPath {
  const { gone } = state.ticks
  const known = zeroForOne ? gone.down : gone.up
  if (known?.state === state) return known
  const path = new SwapPath(state, zeroForOne)
  if (zeroForOne) gone.down = path
  else gone.up = path
  return path
}

/** Where a word of the bitmap ends, which pools do not look beyond in one step: TickBitmap.nextInitializedTickWithinOneWord. */
function wordEdge(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing) + (zeroForOne ? 0 : 1)
  const first = compressed - (compressed & (ticksPerWord - 1))
  return (zeroForOne ? first : first + ticksPerWord - 1) * tickSpacing
}
