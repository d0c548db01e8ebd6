import { ticksPerWord } from './lens.ts'
import {
  stepIn,
  stepOut,
  wholeFeePips,
  type SwapStep,
  maxSqrtRatioX96,
  maxTick,
  minSqrtRatioX96,
  minTick,
  outBetween,
  paidBetween,
  getSqrtRatioAtTick,
  getAmount0Delta,
  getAmount1Delta,
} from './math.ts'

/** What a swap is to the pool. */
export interface SwapResult {
  /** The other side: what comes out, or what must go in. */
  readonly amountRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each. */
  readonly steps: number
}

/** What is known of the pool ends before the swap does. */
export interface IncompleteSwap {
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
  state: V3PoolState,
  zeroForOne: boolean,
  exact: 'in' | 'out',
  amountRaw: bigint,
  seen?: (step: SwapStep) => void,
): SwapResult | IncompleteSwap | undefined {
  if (amountRaw <= 0n || amountRaw > mostAmountRaw) return undefined
  const path = pathOf(state, zeroForOne)
  const isIn = exact === 'in'
  for (let index = 0; ; index += 1) {
    const step = path.step(index)
    if (step === undefined) return path.end === 'limit' ? undefined : beyond(path, exact, amountRaw)
    const { segment: stretch, paidRaw, outRaw, ticksCrossed, steps, isUncertain: isUnsure } = step
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
function beyond({ priceX96, paidRaw, outRaw, zeroForOne, feePips }: SwapPath, exact: 'in' | 'out', amountRaw: bigint): IncompleteSwap {
  const priceX192 = priceX96 * priceX96
  const [outward, inward] = zeroForOne ? [priceX192, oneX192] : [oneX192, priceX192]
  const atBestRaw =
    exact === 'in'
      ? outRaw + ((amountRaw - paidRaw) * (wholeFeePips - feePips) * outward) / (inward * wholeFeePips) + 1n
      : paidRaw + ((amountRaw - outRaw) * wholeFeePips * inward) / (outward * (wholeFeePips - feePips))
  return { atBestRaw }
}

/** A pool of concentrated liquidity with what is known of its ticks, at one block. */
export interface V3PoolState {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  /** In range at this price. */
  readonly liquidity: bigint
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  /** Around the price when they were read; where it has gone since is another thing. */
  readonly ticks: TickTable
}

/** Liquidity at initialised ticks, by their places in a table. */
export interface TickLiquidity {
  /** Of all positions that begin or end there: a tick is initialised as long as there is any. */
  gross(index: number): bigint
  /** What crossing it on the way up adds to the liquidity in range. */
  net(index: number): bigint
}

/**
 * What swaps found on their ways through a pool, kept for those to come: the way from the price that they were asked at last, or memory
 * would be full of old ones, and the stretches between ticks. Of a pool's tables all have the same.
 */
interface SwapCache {
  downPath?: SwapPath
  upPath?: SwapPath
  downSegments?: PriceSegments
  upSegments?: PriceSegments
}

/** All initialised ticks of a pool between two ticks, rising. A table is never changed, so that states share it as long as positions stay. */
export class TickTable {
  /** Multiples of the tick spacing: of these two and of what lies beyond them nothing is known. */
  readonly from: number
  readonly to: number
  readonly ticks: readonly number[]
  readonly liquidity: TickLiquidity
  readonly swapCache: SwapCache

  constructor(from: number, to: number, ticks: readonly number[], liquidity: TickLiquidity, gone: SwapCache = {}) {
    this.from = from
    this.to = to
    this.ticks = ticks
    this.liquidity = liquidity
    this.swapCache = gone
  }

  /** How many of them are not above a tick, which is the place of the first that is. */
  countUpTo(tick: number): number {
    return countUpTo(this.ticks, tick)
  }

  covers(tick: number): boolean {
    return tick > this.from && tick < this.to
  }
}

/** Of rising numbers, how many are not above one. */
export function countUpTo(ticks: readonly number[], tick: number): number {
  let [low, high] = [0, ticks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ticks[middle] ?? 0) <= tick) low = middle + 1
    else high = middle
  }
  return low
}

/** As far as routers let the price go: SwapRouter of @uniswap/v3-periphery@1.4.4, where the limit is 0. */
export const minPriceX96 = minSqrtRatioX96 + 1n
export const maxPriceX96 = maxSqrtRatioX96 - 1n

/** From one price to the next that a swap has to stop at. */
interface PathStep {
  readonly segment: PriceSegment
  /** By all steps before it. */
  readonly paidRaw: bigint
  readonly outRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each; this one, too. */
  readonly steps: number
  /** More ticks than are known may come before its end, but none before all that is known ends: good for what ends within. */
  readonly isUncertain: boolean
}

/**
 * What a swap meets in one direction: UniswapV3Pool.swap of @uniswap/v3-core@1.0.1 for an amount without end, on what is known of the pool.
 * It does not depend on the amount, so that it is gone once for all swaps by a state, as far as they come: then only the step within which
 * one ends is left to reckon.
 */
class SwapPath {
  readonly state: V3PoolState
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

  constructor(state: V3PoolState, zeroForOne: boolean) {
    this.state = state
    this.zeroForOne = zeroForOne
    this.feePips = BigInt(state.fee)
    this.priceX96 = state.sqrtPriceX96
    this.#tick = state.tick
    this.#liquidity = state.liquidity
    this.#ahead = state.ticks.countUpTo(state.tick) - (zeroForOne ? 1 : 0)
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
    if (last?.isUncertain) this.end = 'unknown'
    else if (last) this.#goThrough(last)
    if (this.end !== undefined) return

    const limitX96 = zeroForOne ? minPriceX96 : maxPriceX96
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
    const aimX96 = cachedSqrtRatioAtTick(aim)
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
    this.steps.push({ segment: stretch, paidRaw, outRaw, ticksCrossed: this.#ticksCrossed, steps: this.#count, isUncertain: isUnsure })
    this.#isGone = false
  }

  #goThrough({ segment: stretch }: PathStep): void {
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
  #stretch(start: number | undefined, endX96: bigint): PriceSegment {
    const { priceX96: startX96, feePips, zeroForOne } = this
    const liquidity = this.#liquidity
    if (start === undefined) return new PriceSegment(startX96, endX96, liquidity, feePips, zeroForOne)
    const { swapCache: gone } = this.state.ticks
    const known = (zeroForOne ? (gone.downSegments ??= new Map()) : (gone.upSegments ??= new Map())).get(start)
    if (known?.endX96 === endX96 && known.liquidity === liquidity) return known
    const stretch = new PriceSegment(startX96, endX96, liquidity, feePips, zeroForOne)
    ;(zeroForOne ? gone.downSegments : gone.upSegments)?.set(start, stretch)
    return stretch
  }
}

/** The same for all swaps by a state, as long as it is the one that is asked. */
export function pathOf(state: V3PoolState, zeroForOne: boolean): SwapPath {
  const { swapCache: gone } = state.ticks
  const known = zeroForOne ? gone.downPath : gone.upPath
  if (known?.state === state) return known
  const path = new SwapPath(state, zeroForOne)
  if (zeroForOne) gone.downPath = path
  else gone.upPath = path
  return path
}

/** Where a word of the bitmap ends, which pools do not look beyond in one step: TickBitmap.nextInitializedTickWithinOneWord. */
function wordEdge(tick: number, tickSpacing: number, zeroForOne: boolean): number {
  const compressed = Math.floor(tick / tickSpacing) + (zeroForOne ? 0 : 1)
  const first = compressed - (compressed & (ticksPerWord - 1))
  return (zeroForOne ? first : first + ticksPerWord - 1) * tickSpacing
}

/** From one price to another with the same liquidity all the way. What goes in and comes out is reckoned when it is first asked for. */
class PriceSegment {
  readonly startX96: bigint
  readonly endX96: bigint
  readonly liquidity: bigint
  readonly #feePips: bigint
  readonly #zeroForOne: boolean
  #paidRaw: bigint | undefined
  #outRaw: bigint | undefined

  constructor(startX96: bigint, endX96: bigint, liquidity: bigint, feePips: bigint, zeroForOne: boolean) {
    this.startX96 = startX96
    this.endX96 = endX96
    this.liquidity = liquidity
    this.#feePips = feePips
    this.#zeroForOne = zeroForOne
  }

  /** For all of it, with the fee; rounded up. */
  get paidRaw(): bigint {
    return (this.#paidRaw ??= paidBetween(this.startX96, this.endX96, this.liquidity, this.#feePips, this.#zeroForOne))
  }

  /** Of all of it; rounded down. */
  get outRaw(): bigint {
    return (this.#outRaw ??= outBetween(this.startX96, this.endX96, this.liquidity, this.#zeroForOne))
  }
}

/** Of one pool and direction, by the tick that they start at: a swap that has moved the price meets most of them again. */
type PriceSegments = Map<number, PriceSegment>

// Swaps come to the same ticks again and again, and a price takes as long as a step does.
const ratios = new Map<number, bigint>()
const mostRatios = 20_000

/** The square root of the price at a tick, times 2^96. */
function cachedSqrtRatioAtTick(tick: number): bigint {
  const known = ratios.get(tick)
  if (known !== undefined) return known
  if (ratios.size >= mostRatios) ratios.clear()
  const ratio = getSqrtRatioAtTick(tick)
  ratios.set(tick, ratio)
  return ratio
}

/**
 * What a pool has of what a swap takes out, from its price to another or to where what is known of its ticks ends: rounded
 * down.
 */
export function availableOut(
  { sqrtPriceX96, tick, liquidity, ticks: known }: V3PoolState,
  zeroForOne: boolean,
  limitX96 = zeroForOne ? minPriceX96 : maxPriceX96,
): bigint {
  const [end, amountBetween, onward] = zeroForOne ? [known.from, getAmount1Delta, -1] : [known.to, getAmount0Delta, 1]
  if (tick < known.from || tick >= known.to) return 0n
  const isBeyond = (priceX96: bigint) => (zeroForOne ? priceX96 < limitX96 : priceX96 > limitX96)
  let [fromX96, heldRaw] = [sqrtPriceX96, 0n]
  for (let index = known.countUpTo(tick) - (zeroForOne ? 1 : 0); ; index += onward) {
    const initialised = index < 0 ? undefined : known.ticks[index]
    const tickX96 = cachedSqrtRatioAtTick(Math.min(Math.max(initialised ?? end, minTick), maxTick))
    const toX96 = isBeyond(tickX96) ? limitX96 : tickX96
    heldRaw += amountBetween(fromX96, toX96, liquidity, false)
    if (toX96 === limitX96 || initialised === undefined) return heldRaw
    fromX96 = toX96
    const net = known.liquidity.net(index)
    liquidity += zeroForOne ? -net : net
  }
}

// Measured by swaps of Uniswap's own pools through SwapRouter02 on anvil, with plain tokens and ticks that were crossed
// before: 103,000 in all within one step, 7,200 for a step more, 23,700 where that ends in crossing a tick. What a transaction and the router use besides is added once, by whoever adds up.
const hopUnits = 55_000
const stepUnits = 7_000
const tickUnits = 17_000

// A tick that was never crossed has two empty slots to be written, 17,100 more each than where something is in them
// (https://eips.ethereum.org/EIPS/eip-2929): 58,800 in all, measured. PancakeSwap's farms keep a third for each tick, behind a call of
// their own (crossLmTick of IPancakeV3LmPool, @pancakeswap/v3-core@1.0.2).
const firstCrossingUnits = 70_000

/**
 * What a swap may use besides where it is the first to cross its ticks. One more than it counts: it crosses the one that it ends on to the
 * unit, too, and who comes first may bring the price nearer to the next.
 */
export const firstWriteUnitsOf = ({ ticksCrossed }: SwapResult): bigint => BigInt(firstCrossingUnits * (ticksCrossed + 1))

/** An estimate for choosing routes and showing costs; what is signed is simulated first. */
export function gasUnitsOf({ ticksCrossed, steps }: SwapResult): bigint {
  return BigInt(hopUnits + stepUnits * (steps - 1) + tickUnits * ticksCrossed)
}
