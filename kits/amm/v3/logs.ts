import { id } from 'ethers'
import { wordAt } from '../../evm/encoding.ts'
import type { EvmLog } from '../../evm/types.ts'
import { toInt24 } from './math.ts'
import { countUpTo, TickTable, type TickLiquidity, type V3PoolState } from './swap.ts'

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1. Collect, Flash and SetFeeProtocol do not change what a swap gives: the protocol's share is
// part of the fee.
const swapTopic = id('Swap(address,address,int256,int256,uint160,uint128,int24)')
// IPancakeV3PoolEvents of @pancakeswap/v3-core@1.0.2: the same words, followed by the protocol's share.
const pancakeSwapTopic = id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)')
export const mintTopic = id('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const burnTopic = id('Burn(address,int24,int24,uint128,uint256,uint256)')
const initializeTopic = id('Initialize(uint160,int24)')

/** The first topics of all logs that change the state of a pool. */
export const changeTopics: readonly string[] = [swapTopic, pancakeSwapTopic, mintTopic, burnTopic, initializeTopic]

/** A pool after one of its logs; the same object where nothing changes. */
export function applyLog(state: V3PoolState, { topics, data }: EvmLog): V3PoolState | 'reload' {
  switch (topics[0]) {
    case swapTopic:
    case pancakeSwapTopic:
      return changedState(state, wordAt(data, 2), tickIn(data, 4), wordAt(data, 3), state.ticks)
    case mintTopic:
      return withLiquidity(state, ...boundsIn(topics), wordAt(data, 1))
    case burnTopic:
      return withLiquidity(state, ...boundsIn(topics), -wordAt(data, 0))
    default:
      return 'reload'
  }
}

/** A tick in the data of a log: the last six digits of its word. */
export const tickIn = (data: string, word: number): number => toInt24(data.slice(2 + 64 * (word + 1) - 6, 2 + 64 * (word + 1)))

/** Of a position, in topics that the pools of v3 and those after them have in common. */
export const boundsIn = (topics: readonly string[]): readonly [lower: number, upper: number] => [
  toInt24(topics[2]?.slice(-6) ?? ''),
  toInt24(topics[3]?.slice(-6) ?? ''),
]

/**
 * A pool after a position between two ticks gets more or less liquidity. A position in range is liquidity for swaps at once. A burn of 0 only
 * counts its fees.
 */
export function withLiquidity(state: V3PoolState, lower: number, upper: number, liquidity: bigint): V3PoolState | 'reload' {
  if (liquidity === 0n) return state
  const ticks = updateTicks(state.ticks, lower, upper, liquidity)
  if (ticks === undefined) return 'reload'
  const isInRange = lower <= state.tick && state.tick < upper
  if (!isInRange && ticks === state.ticks) return state
  return changedState(state, state.sqrtPriceX96, state.tick, isInRange ? state.liquidity + liquidity : state.liquidity, ticks)
}

/** Names each field: V8 takes many times as long where fields follow a spread. */
export const changedState = (
  { fee, tickSpacing, hasTickList }: V3PoolState,
  sqrtPriceX96: bigint,
  tick: number,
  liquidity: bigint,
  ticks: TickTable,
): V3PoolState => ({ sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks, hasTickList })

/**
 * The ticks after a position gets more or less liquidity: Tick.update of @uniswap/v3-core@1.0.1. Unknown ticks stay unknown, and what does
 * not change is shared. Undefined where a tick holds less than is removed: the table is not the pool's.
 */
function updateTicks(known: TickTable, lower: number, upper: number, liquidity: bigint): TickTable | undefined {
  if (!known.covers(lower) && !known.covers(upper)) return known
  const edited: EditedTicks = { ticks: known.ticks, values: ListedLiquidity.valuesOf(known) }
  if (known.covers(lower) && !updateTick(edited, lower, liquidity, liquidity)) return undefined
  if (known.covers(upper) && !updateTick(edited, upper, liquidity, -liquidity)) return undefined
  return new TickTable(known.from, known.to, edited.ticks, new ListedLiquidity(edited.values), known.swapCache)
}

interface EditedTicks {
  /** A new list where a tick becomes initialised, or is no longer. */
  ticks: readonly number[]
  readonly values: TickValues[]
}

/** Of one tick, for all positions that begin or end there. */
interface TickValues {
  readonly gross: bigint
  readonly net: bigint
}

/** False where the tick holds less than is removed. */
function updateTick(edited: EditedTicks, tick: number, liquidity: bigint, net: bigint): boolean {
  const { ticks, values } = edited
  const count = countUpTo(ticks, tick)
  const isInitialised = ticks[count - 1] === tick
  const index = isInitialised ? count - 1 : count
  const before = isInitialised ? values[index] : undefined
  const gross = (before?.gross ?? 0n) + liquidity
  if (gross < 0n) return false
  const after: TickValues = { gross, net: (before?.net ?? 0n) + net }
  if (!isInitialised) {
    edited.ticks = ticks.toSpliced(index, 0, tick)
    values.splice(index, 0, after)
  } else if (gross === 0n) {
    edited.ticks = ticks.toSpliced(index, 1)
    values.splice(index, 1)
  } else values[index] = after
  return true
}

class ListedLiquidity implements TickLiquidity {
  readonly #values: readonly TickValues[]

  constructor(values: readonly TickValues[]) {
    this.#values = values
  }

  /** A copy that may be changed. */
  static valuesOf({ ticks, liquidity }: TickTable): TickValues[] {
    if (liquidity instanceof ListedLiquidity) return liquidity.#values.slice()
    return ticks.map((_, index) => ({ gross: liquidity.gross(index), net: liquidity.net(index) }))
  }

  gross(index: number): bigint {
    return this.#values[index]?.gross ?? 0n
  }

  net(index: number): bigint {
    return this.#values[index]?.net ?? 0n
  }
}

/** What is known of a pool by two readings of the same block. The second is right where they differ. */
export function joinStates(inMemory: V3PoolState, loaded: V3PoolState): V3PoolState {
  const [known, more] = [inMemory.ticks, loaded.ticks]
  const isApart = known.to <= more.from || more.to <= known.from
  const isWithin = more.from <= known.from && known.to <= more.to
  if (isApart || isWithin || !isSameState(inMemory, loaded)) return loaded
  const [before, after] = [known.countUpTo(more.from), known.countUpTo(more.to - 1)]
  const ticks = [...known.ticks.slice(0, before), ...more.ticks, ...known.ticks.slice(after)]
  const [knownValues, moreValues] = [ListedLiquidity.valuesOf(known), ListedLiquidity.valuesOf(more)]
  const values = [...knownValues.slice(0, before), ...moreValues, ...knownValues.slice(after)]
  const [from, to] = [Math.min(known.from, more.from), Math.max(known.to, more.to)]
  const table = new TickTable(from, to, ticks, new ListedLiquidity(values), known.swapCache)
  return changedState(loaded, loaded.sqrtPriceX96, loaded.tick, loaded.liquidity, table)
}

/** Whether two states of a pool agree, as far as both know its ticks. */
export function isSameState(a: V3PoolState, b: V3PoolState): boolean {
  return (
    a.sqrtPriceX96 === b.sqrtPriceX96 &&
    a.tick === b.tick &&
    a.liquidity === b.liquidity &&
    a.fee === b.fee &&
    a.tickSpacing === b.tickSpacing &&
    hasSameTicks(a.ticks, b.ticks)
  )
}

function hasSameTicks(a: TickTable, b: TickTable): boolean {
  const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)]
  const [firstA, firstB] = [a.countUpTo(from), b.countUpTo(from)]
  const count = a.countUpTo(to - 1) - firstA
  // Where the tables do not overlap, the counts may differ below 0.
  if (count !== b.countUpTo(to - 1) - firstB) return from >= to
  for (let index = 0; index < count; index += 1) {
    const [inA, inB] = [firstA + index, firstB + index]
    if (a.ticks[inA] !== b.ticks[inB]) return false
    if (a.liquidity.gross(inA) !== b.liquidity.gross(inB) || a.liquidity.net(inA) !== b.liquidity.net(inB)) return false
  }
  return true
}
