import {
  getAmount0Delta,
  getAmount1Delta,
  getSqrtRatioAtTick,
  maxSqrtRatioX96,
  maxTick,
  minSqrtRatioX96,
  minTick,
  outBetween,
  paidBetween,
  Q192,
  stepIn,
  stepOut,
  ticksPerWord,
  wholeFeePips,
  wordEdge,
  type SwapStep,
} from './math.ts'
import { floatError, maxEstimateError, maxSteepness, type Estimate } from '../../pools/protocol.ts'

/** A pool of concentrated liquidity with its known ticks, at one block. */
export interface V3PoolState {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  /** In range at this price. */
  readonly liquidity: bigint
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  /** The ticks around the price at which they were read; the price may have moved since. */
  readonly ticks: TickTable
  /** A swap goes from one initialised tick to the next: there are no words of a bitmap at whose ends it stops. */
  readonly hasTickList?: boolean | undefined
}

/** All initialised ticks of a pool between two ticks, rising. A table never changes, so states share it as long as positions stay. */
export class TickTable {
  /** Multiples of the tick spacing. Nothing is known of these two ticks and beyond. */
  readonly from: number
  readonly to: number
  readonly ticks: readonly number[]
  readonly liquidity: TickLiquidity
  readonly swapCache: SwapCache

  constructor(from: number, to: number, ticks: readonly number[], liquidity: TickLiquidity, swapCache: SwapCache = {}) {
    this.from = from
    this.to = to
    this.ticks = ticks
    this.liquidity = liquidity
    this.swapCache = swapCache
  }

  /** How many of the ticks are at or below this one: the index of the first tick above it. */
  countUpTo(tick: number): number {
    return countUpTo(this.ticks, tick)
  }

  covers(tick: number): boolean {
    return tick > this.from && tick < this.to
  }

  /** As plain values, for people. */
  toJSON(): object {
    const { from, to, ticks, liquidity } = this
    const valuesOf = (index: number) => ({ gross: liquidity.gross(index), net: liquidity.net(index) })
    return { from, to, ticks: Object.fromEntries(ticks.map((tick, index) => [tick, valuesOf(index)])) }
  }
}

/** How many of the rising ticks are at or below this one. */
export function countUpTo(ticks: readonly number[], tick: number): number {
  let [low, high] = [0, ticks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ticks[middle] ?? 0) <= tick) low = middle + 1
    else high = middle
  }
  return low
}

/** Liquidity at initialised ticks, by their index in a table. */
export interface TickLiquidity {
  /** Of all positions that begin or end there: a tick is initialised as long as there is any. */
  gross(index: number): bigint
  /** What crossing the tick upward adds to the liquidity in range. */
  net(index: number): bigint
}

/**
 * What earlier swaps found, kept for later ones: one path in each direction, from the last price asked for (older paths would fill the
 * memory), and the segments between ticks. All tables of one pool share it.
 */
interface SwapCache {
  downPath?: SwapPath
  upPath?: SwapPath
  downSegments?: Map<number, PriceSegment>
  upSegments?: Map<number, PriceSegment>
}

/** What a swap does in the pool. */
export interface SwapResult {
  /** The other side: the output, or the input. */
  readonly amountRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each. */
  readonly steps: number
}

/** The known ticks end before the swap does. */
export interface IncompleteSwap {
  /** A bound: no better than this, whatever the unknown ticks hold. */
  readonly atBestRaw: bigint
}

/**
 * A swap that crosses more ticks counts as one that the pool refuses: it would use more gas than a block has, and so many ticks are the most
 * that is read of a pool in one direction.
 */
export const maxTicksCrossed = 4096

const wholeFee = Number(wholeFeePips)

/** Pools take amounts as `int256`. */
const maxAmountRaw = 2n ** 255n - 1n

/**
 * UniswapV3Pool.swap of @uniswap/v3-core@1.0.1, on the known ticks of the pool.
 * @param onStep gets each step that moves something, in order
 * @returns undefined where the pool cannot do all of it: QuoterV2 and routers refuse an output that is too small, and the rest of an input
 * stays with the caller
 */
export function swap(
  state: V3PoolState,
  zeroForOne: boolean,
  exact: 'in' | 'out',
  amountRaw: bigint,
  onStep?: (step: SwapStep) => void,
): SwapResult | IncompleteSwap | undefined {
  if (amountRaw <= 0n || amountRaw > maxAmountRaw) return undefined
  const path = pathOf(state, zeroForOne)
  const isIn = exact === 'in'
  for (let index = 0; ; index += 1) {
    const step = path.step(index)
    if (step === undefined) return path.end === 'limit' ? undefined : boundBeyond(path, exact, amountRaw)
    const { segment, paidRaw, outRaw, ticksCrossed, steps, isUncertain } = step
    // The sum of all steps up to the end of this one. The next step has it, if it is there already.
    const next = path.steps[index + 1]
    const upToRaw = isIn ? (next?.paidRaw ?? paidRaw + segment.paidRaw) : (next?.outRaw ?? outRaw + segment.outRaw)
    if (amountRaw < upToRaw) {
      const { startX96, liquidity } = segment
      const last = isIn
        ? stepIn(startX96, liquidity, amountRaw - paidRaw, path.feePips, zeroForOne)
        : stepOut(startX96, liquidity, amountRaw - outRaw, path.feePips, zeroForOne)
      onStep?.(last)
      return { amountRaw: isIn ? outRaw + last.outRaw : paidRaw + last.paidRaw, ticksCrossed, steps }
    }
    if (isUncertain) continue
    onStep?.({ sqrtRatioNextX96: segment.endX96, paidRaw: segment.paidRaw, outRaw: segment.outRaw })
    if (amountRaw === upToRaw) return { amountRaw: isIn ? outRaw + segment.outRaw : paidRaw + segment.paidRaw, ticksCrossed, steps }
  }
}

/** What `swap` gives, in floating point. Undefined where a tick that is near or one that is not known decides. */
export function estimateSwap(state: V3PoolState, zeroForOne: boolean, exact: 'in' | 'out', amount: number): Estimate | undefined {
  const path = pathOf(state, zeroForOne)
  const isIn = exact === 'in'
  for (let index = 0; ; index += 1) {
    const step = path.step(index)
    if (step === undefined) return undefined
    const inNumbers = (step.inNumbers ??= numbersOf(step, zeroForOne))
    const upTo = isIn ? inNumbers.paidUpTo : inNumbers.outUpTo
    if (amount > upTo * (1 + nearATick)) continue
    if (amount > upTo * (1 - nearATick)) return undefined
    return isIn ? outWithin(step, inNumbers, amount, state.fee) : paidWithin(step, inNumbers, amount, state.fee)
  }
}

/** More than the error of an estimate that comes from two pools before. */
const nearATick = 10 * maxEstimateError

/** A step's amounts, and what it holds at its start, as if its liquidity reached to all prices. */
interface StepNumbers {
  readonly paidBefore: number
  readonly paidUpTo: number
  readonly outBefore: number
  readonly outUpTo: number
  readonly heldIn: number
  readonly heldOut: number
  /** Of each token, how much one unit of a price's 96 bits is: prices are rounded to it. */
  readonly inPerUnit: number
  readonly outPerUnit: number
}

const Q96Number = 2 ** 96

function numbersOf({ segment, paidRaw, outRaw }: PathStep, zeroForOne: boolean): StepNumbers {
  const { startX96, endX96, liquidity } = segment
  const [price, end] = [Number(startX96) / Q96Number, Number(endX96) / Q96Number]
  const held = Number(liquidity)
  const lowest = Math.min(price, end)
  const [perUnit0, perUnit1] = [held / (lowest * lowest) / Q96Number, held / Q96Number]
  return {
    paidBefore: Number(paidRaw),
    paidUpTo: Number(paidRaw + segment.paidRaw),
    outBefore: Number(outRaw),
    outUpTo: Number(outRaw + segment.outRaw),
    heldIn: zeroForOne ? held / price : held * price,
    heldOut: zeroForOne ? held * price : held / price,
    inPerUnit: zeroForOne ? perUnit0 : perUnit1,
    outPerUnit: zeroForOne ? perUnit1 : perUnit0,
  }
}

/** Of an input that ends within the step. The fee, the price and the output are rounded. */
function outWithin(step: PathStep, inNumbers: StepNumbers, paid: number, fee: number): Estimate | undefined {
  const { paidBefore, outBefore, heldIn, heldOut, outPerUnit } = inNumbers
  const input = ((paid - paidBefore) * (wholeFee - fee)) / wholeFee
  const amount = outBefore + (heldOut * input) / (heldIn + input)
  const error = (1 + outPerUnit + heldOut / (heldIn + input)) / amount + floatError
  return error < maxEstimateError ? { amount, error, gasUnits: gasOf(step) } : undefined
}

/** The part of a step's output below which a difference of two numbers says too little. */
const minLeft = 1e-3

/** Of an output that ends within the step. The price, the input and its fee are rounded. */
function paidWithin(step: PathStep, inNumbers: StepNumbers, out: number, fee: number): Estimate | undefined {
  const { paidBefore, outBefore, heldIn, heldOut, inPerUnit } = inNumbers
  const output = out - outBefore
  const left = heldOut - output
  if (left < heldOut * minLeft) return undefined
  const priceAtEnd = ((heldIn / left) * (heldOut / left) * wholeFee) / (wholeFee - fee)
  const amount = paidBefore + (priceAtEnd * output * left) / heldOut
  // What is rounded before the fee is added grows with it.
  const error = ((2 + inPerUnit) * (wholeFee / (wholeFee - fee))) / amount + floatError
  return error < maxEstimateError && priceAtEnd * out < maxSteepness * amount ? { amount, error, gasUnits: gasOf(step) } : undefined
}

/**
 * The rest at the price where the known ticks end, which only gets worse: at most this out, at least this in. Up to there the pool may have gone in
 * one step with what follows: then fewer amounts were rounded.
 */
function boundBeyond(path: SwapPath, exact: 'in' | 'out', amountRaw: bigint): IncompleteSwap {
  const { zeroForOne, feePips, steps } = path
  const last = steps.at(-1)
  const beyond = last?.isUncertain ? last.segment : undefined
  const priceX96 = beyond ? beyond.endX96 : path.priceX96
  const paidRaw = beyond ? path.paidRaw + beyond.paidRaw - mostRoundedIn : path.paidRaw
  const outRaw = beyond ? path.outRaw + beyond.outRaw + mostRoundedOut : path.outRaw
  const priceX192 = priceX96 * priceX96
  const [outward, inward] = zeroForOne ? [priceX192, Q192] : [Q192, priceX192]
  if (exact === 'in')
    return { atBestRaw: outRaw + ((amountRaw - paidRaw) * (wholeFeePips - feePips) * outward) / (inward * wholeFeePips) + 1n }
  const leftRaw = amountRaw > outRaw ? amountRaw - outRaw : 0n
  return { atBestRaw: paidRaw + (leftRaw * wholeFeePips * inward) / (outward * (wholeFeePips - feePips)) }
}

/** By one step: the input is rounded up, and so is its fee; the output is rounded down. */
const [mostRoundedIn, mostRoundedOut] = [2n, 1n]

/** The path of a state, the same for all its swaps until another state of the pool is asked for. */
export function pathOf(state: V3PoolState, zeroForOne: boolean): SwapPath {
  const { swapCache } = state.ticks
  const known = zeroForOne ? swapCache.downPath : swapCache.upPath
  if (known?.state === state) return known
  const path = new SwapPath(state, zeroForOne)
  if (zeroForOne) swapCache.downPath = path
  else swapCache.upPath = path
  return path
}

/** How far routers let the price go where the caller gives no limit: SwapRouter of @uniswap/v3-periphery@1.4.4. */
export const minPriceX96 = minSqrtRatioX96 + 1n
export const maxPriceX96 = maxSqrtRatioX96 - 1n

/** TickMath and UniswapV3Factory of @uniswap/v3-core@1.0.1: what no pool goes beyond. What says something else is no pool. */
export const isPlausible = ({
  sqrtPriceX96,
  tick,
  tickSpacing,
  liquidity,
}: Pick<V3PoolState, 'sqrtPriceX96' | 'tick' | 'tickSpacing' | 'liquidity'>): boolean =>
  sqrtPriceX96 >= minSqrtRatioX96 &&
  sqrtPriceX96 < maxSqrtRatioX96 &&
  tick >= minTick - 1 &&
  tick < maxTick &&
  tickSpacing > 0 &&
  tickSpacing < 2 ** 15 &&
  liquidity < 2n ** 128n

/** From one price to the next at which a swap has to stop. */
interface PathStep {
  readonly segment: PriceSegment
  /** The sums of all steps before this one. */
  readonly paidRaw: bigint
  readonly outRaw: bigint
  readonly ticksCrossed: number
  /** To the next tick or the end of a word of the bitmap, each; with this one. */
  readonly steps: number
  /** The known ticks end within this step. It is right for a swap that ends before they do. */
  readonly isUncertain: boolean
  /** Made for the first estimate that ends in it or goes beyond. */
  inNumbers: StepNumbers | undefined
}

/**
 * What a swap meets in one direction: UniswapV3Pool.swap of @uniswap/v3-core@1.0.1 for an amount without end, on the known ticks. It does not
 * depend on the amount, so all swaps by one state share it: each extends it as far as it comes, and only computes the step in which it ends.
 */
class SwapPath {
  readonly state: V3PoolState
  readonly zeroForOne: boolean
  readonly feePips: bigint
  readonly steps: PathStep[] = []
  /** The price and the sums at the end of the last step that was crossed. */
  priceX96: bigint
  paidRaw = 0n
  outRaw = 0n
  /** Why there are no more steps: the limit of the price or of the ticks crossed, or the end of the known ticks. */
  end: 'limit' | 'unknown' | undefined
  #tick: number
  #liquidity: bigint
  /** The index of the next initialised tick. */
  #nextIndex: number
  #ticksCrossed = 0
  #count = 0
  /** The tick at which the last step ends. */
  #target: number | undefined
  #isLastCrossed = true

  constructor(state: V3PoolState, zeroForOne: boolean) {
    this.state = state
    this.zeroForOne = zeroForOne
    this.feePips = BigInt(state.fee)
    this.priceX96 = state.sqrtPriceX96
    this.#tick = state.tick
    this.#liquidity = state.liquidity
    this.#nextIndex = state.ticks.countUpTo(state.tick) - (zeroForOne ? 1 : 0)
  }

  /** Undefined after the last. */
  step(index: number): PathStep | undefined {
    while (index >= this.steps.length && this.end === undefined) this.#extend()
    return this.steps[index]
  }

  #extend(): void {
    const { zeroForOne } = this
    const { tickSpacing, ticks: known, hasTickList } = this.state
    const last = this.#isLastCrossed ? undefined : this.steps.at(-1)
    // A swap that does not end within an uncertain step ends somewhere beyond the known ticks.
    if (last?.isUncertain) this.end = 'unknown'
    else if (last) this.#cross(last)
    if (this.end !== undefined) return

    const limitX96 = zeroForOne ? minPriceX96 : maxPriceX96
    const [tick, liquidity] = [this.#tick, this.#liquidity]
    const isAtLimit = zeroForOne ? this.priceX96 <= limitX96 : this.priceX96 >= limitX96
    if (isAtLimit || this.#ticksCrossed > maxTicksCrossed) this.end = 'limit'
    else if (tick < known.from || tick >= known.to) this.end = 'unknown'
    if (this.end !== undefined) return

    // With liquidity, every word of the bitmap is a step of its own with its own rounding.
    const nearest = this.#nextTick ?? (zeroForOne ? minTick : maxTick)
    const edge = liquidity === 0n || hasTickList ? nearest : wordEdge(tick, tickSpacing, zeroForOne)
    const next = zeroForOne ? Math.max(edge, nearest, minTick) : Math.min(edge, nearest, maxTick)
    const isUncertain = zeroForOne ? next < known.from : next > known.to
    const target = isUncertain ? (zeroForOne ? known.from : known.to) : next
    const targetX96 = cachedSqrtRatioAtTick(target)
    const endX96 = (zeroForOne ? targetX96 < limitX96 : targetX96 > limitX96) ? limitX96 : targetX96
    const start = this.#target
    this.#target = target
    if (liquidity === 0n) {
      this.#count += hasTickList ? 1 : 1 + Math.floor(Math.abs(tick - target) / (tickSpacing * ticksPerWord))
      this.#arrive(endX96)
      return
    }
    this.#count += 1
    const segment = this.#segment(start, endX96)
    const { paidRaw, outRaw } = this
    this.steps.push({ segment, paidRaw, outRaw, ticksCrossed: this.#ticksCrossed, steps: this.#count, isUncertain, inNumbers: undefined })
    this.#isLastCrossed = false
  }

  #cross({ segment }: PathStep): void {
    this.paidRaw += segment.paidRaw
    this.outRaw += segment.outRaw
    this.#arrive(segment.endX96)
    this.#isLastCrossed = true
  }

  #arrive(priceX96: bigint): void {
    const { zeroForOne } = this
    const target = this.#target ?? 0
    this.priceX96 = priceX96
    if (target === this.#nextTick) {
      const net = this.state.ticks.liquidity.net(this.#nextIndex)
      this.#liquidity += zeroForOne ? -net : net
      this.#nextIndex += zeroForOne ? -1 : 1
      this.#ticksCrossed += 1
    }
    this.#tick = zeroForOne ? target - 1 : target
  }

  get #nextTick(): number | undefined {
    return this.#nextIndex < 0 ? undefined : this.state.ticks.ticks[this.#nextIndex]
  }

  /**
   * Takes the segment of an earlier state where nothing of it has changed. The first begins at the price, not at a tick, and is not kept.
   */
  #segment(start: number | undefined, endX96: bigint): PriceSegment {
    const { priceX96: startX96, feePips, zeroForOne } = this
    const liquidity = this.#liquidity
    if (start === undefined) return new PriceSegment(startX96, endX96, liquidity, feePips, zeroForOne)
    const { swapCache } = this.state.ticks
    const segments = zeroForOne ? (swapCache.downSegments ??= new Map()) : (swapCache.upSegments ??= new Map())
    const known = segments.get(start)
    if (known?.endX96 === endX96 && known.liquidity === liquidity) return known
    const segment = new PriceSegment(startX96, endX96, liquidity, feePips, zeroForOne)
    segments.set(start, segment)
    return segment
  }
}

/** From one price to another with the same liquidity all the way. Input and output are computed when they are first asked for. */
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

  /** For all of it; rounded down. */
  get outRaw(): bigint {
    return (this.#outRaw ??= outBetween(this.startX96, this.endX96, this.liquidity, this.#zeroForOne))
  }
}

// Swaps meet the same ticks again and again, and a price takes as long as a step.
const ratios = new Map<number, bigint>()
const maxRatios = 20_000

export function cachedSqrtRatioAtTick(tick: number): bigint {
  const known = ratios.get(tick)
  if (known !== undefined) return known
  if (ratios.size >= maxRatios) ratios.clear()
  const ratio = getSqrtRatioAtTick(tick)
  ratios.set(tick, ratio)
  return ratio
}

/** The most that a swap can take out between the pool's price and a limit, as far as ticks are known; rounded down. */
export function availableOut(
  { sqrtPriceX96, tick, liquidity: liquidityInRange, ticks: known }: V3PoolState,
  zeroForOne: boolean,
  limitX96 = zeroForOne ? minPriceX96 : maxPriceX96,
): bigint {
  const [end, amountBetween, onward] = zeroForOne ? [known.from, getAmount1Delta, -1] : [known.to, getAmount0Delta, 1]
  if (tick < known.from || tick >= known.to) return 0n
  const isBeyond = (priceX96: bigint) => (zeroForOne ? priceX96 < limitX96 : priceX96 > limitX96)
  let [fromX96, liquidity, availableRaw] = [sqrtPriceX96, liquidityInRange, 0n]
  for (let index = known.countUpTo(tick) - (zeroForOne ? 1 : 0); ; index += onward) {
    const initialised = index < 0 ? undefined : known.ticks[index]
    const tickX96 = cachedSqrtRatioAtTick(Math.min(Math.max(initialised ?? end, minTick), maxTick))
    const toX96 = isBeyond(tickX96) ? limitX96 : tickX96
    availableRaw += amountBetween(fromX96, toX96, liquidity, false)
    if (toX96 === limitX96 || initialised === undefined) return availableRaw
    fromX96 = toX96
    const net = known.liquidity.net(index)
    liquidity += zeroForOne ? -net : net
  }
}

// Measured by swaps of Uniswap's own pools through SwapRouter02 on anvil, with plain tokens and ticks that were crossed before: 103,000 in
// all within one step, 7,200 for a step more, 23,700 where that crosses a tick. The base of a transaction and its router is added once, by
// the caller.
export const hopUnits = 55_000
const stepUnits = 7_000
const tickUnits = 17_000

/** An estimate for choosing routes and showing costs; what is signed is simulated first. */
export const gasUnitsOf = (crossed: Pick<SwapResult, 'ticksCrossed' | 'steps'>): bigint => BigInt(gasOf(crossed))

const gasOf = ({ ticksCrossed, steps }: Pick<SwapResult, 'ticksCrossed' | 'steps'>): number =>
  hopUnits + stepUnits * (steps - 1) + tickUnits * ticksCrossed

// A tick that was never crossed has two empty storage slots to write, 17,100 more each than slots with a value
// (https://eips.ethereum.org/EIPS/eip-2929): 58,800 in all, measured. PancakeSwap's farms keep a third slot for each tick, behind a call of
// their own (crossLmTick of IPancakeV3LmPool, @pancakeswap/v3-core@1.0.2).
const firstCrossingUnits = 70_000

/**
 * What a swap may use in addition where it is the first to cross its ticks. Counts one tick more than the swap crosses: it also crosses a
 * tick that it ends on exactly, and an earlier trade may move the price nearer to the next one.
 */
export const firstWriteUnitsOf = ({ ticksCrossed }: SwapResult): bigint => BigInt(firstCrossingUnits * (ticksCrossed + 1))
