import { id } from 'ethers'
import type { EvmLog } from '../../evm/types.ts'
import { TickTable, type V3PoolState, countUpTo, type TickLiquidity } from './swap.ts'

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1. Collect, Flash and SetFeeProtocol change nothing that a swap gives: what the protocol
// keeps is part of the fee.
const swapTopic = id('Swap(address,address,int256,int256,uint160,uint128,int24)')
// IPancakeV3PoolEvents of @pancakeswap/v3-core@1.0.2: what the protocol keeps follows behind what is the same.
const pancakeSwapTopic = id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)')
const mintTopic = id('Mint(address,address,int24,int24,uint128,uint256,uint256)')
const burnTopic = id('Burn(address,int24,int24,uint128,uint256,uint256)')
const initializeTopic = id('Initialize(uint160,int24)')

export const changeTopics: readonly string[] = [swapTopic, pancakeSwapTopic, mintTopic, burnTopic, initializeTopic]

/** A pool after one of its logs; the same state where it changes nothing. */
export function applyLog(state: V3PoolState, { topics, data }: EvmLog): V3PoolState | 'reload' {
  switch (topics[0]) {
    case swapTopic:
    case pancakeSwapTopic:
      return moved(state, bigIn(data, 2), signed24(data.slice(endOf(4) - 6, endOf(4))), bigIn(data, 3), state.ticks)
    case mintTopic:
      return afterPosition(state, topics, bigIn(data, 1))
    case burnTopic:
      return afterPosition(state, topics, -bigIn(data, 0))
    default:
      return 'reload'
  }
}

/** One in range is liquidity for swaps at once. A burn of nothing only counts its fees. */
function afterPosition(state: V3PoolState, topics: readonly string[], liquidity: bigint): V3PoolState | 'reload' {
  if (liquidity === 0n) return state
  const [lower, upper] = [signed24(topics[2]?.slice(-6) ?? ''), signed24(topics[3]?.slice(-6) ?? '')]
  const ticks = updateTicks(state.ticks, lower, upper, liquidity)
  if (ticks === undefined) return 'reload'
  const isInRange = lower <= state.tick && state.tick < upper
  if (!isInRange && ticks === state.ticks) return state
  return moved(state, state.sqrtPriceX96, state.tick, isInRange ? state.liquidity + liquidity : state.liquidity, ticks)
}

/** Field by field: where fields follow what is spread, V8 takes many times as long. */
const moved = (
  { fee, tickSpacing }: V3PoolState,
  sqrtPriceX96: bigint,
  tick: number,
  liquidity: bigint,
  ticks: TickTable,
): V3PoolState => ({ sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks })

const digitsPerWord = 64
const endOf = (word: number) => 2 + digitsPerWord * (word + 1)
const bigIn = (data: string, word: number) => BigInt(`0x${data.slice(endOf(word) - digitsPerWord, endOf(word))}`)
const signed24 = (digits: string) => (parseInt(digits, 16) << 8) >> 8

/**
 * The ticks after a position between two of them was given more liquidity, or less: Tick.update of @uniswap/v3-core@1.0.1. What is not
 * known of them stays so, and what did not change is shared. Undefined where there was less than is taken: then these are not the pool's.
 */
function updateTicks(known: TickTable, lower: number, upper: number, liquidity: bigint): TickTable | undefined {
  if (!known.covers(lower) && !known.covers(upper)) return known
  const table: Table = { ticks: known.ticks, atTicks: ListedLiquidity.listOf(known) }
  if (known.covers(lower) && !moveTick(table, lower, liquidity, liquidity)) return undefined
  if (known.covers(upper) && !moveTick(table, upper, liquidity, -liquidity)) return undefined
  return new TickTable(known.from, known.to, table.ticks, new ListedLiquidity(table.atTicks), known.swapCache)
}

interface Table {
  /** Another list where one begins or ends to be initialised. */
  ticks: readonly number[]
  readonly atTicks: AtTick[]
}

/** At one tick, of all positions that begin or end there. */
interface AtTick {
  readonly gross: bigint
  readonly net: bigint
}

/** Whether there was as much as is taken. */
function moveTick(table: Table, tick: number, liquidity: bigint, net: bigint): boolean {
  const { ticks, atTicks } = table
  const after = countUpTo(ticks, tick)
  const isThere = ticks[after - 1] === tick
  const index = isThere ? after - 1 : after
  const before = isThere ? atTicks[index] : undefined
  const gross = (before?.gross ?? 0n) + liquidity
  if (gross < 0n) return false
  const now: AtTick = { gross, net: (before?.net ?? 0n) + net }
  if (!isThere) {
    table.ticks = ticks.toSpliced(index, 0, tick)
    atTicks.splice(index, 0, now)
  } else if (gross === 0n) {
    table.ticks = ticks.toSpliced(index, 1)
    atTicks.splice(index, 1)
  } else atTicks[index] = now
  return true
}

class ListedLiquidity implements TickLiquidity {
  readonly #atTicks: readonly AtTick[]

  constructor(atTicks: readonly AtTick[]) {
    this.#atTicks = atTicks
  }

  /** A copy, to be changed. */
  static listOf({ ticks, liquidity }: TickTable): AtTick[] {
    if (liquidity instanceof ListedLiquidity) return liquidity.#atTicks.slice()
    return ticks.map((_, index) => ({ gross: liquidity.gross(index), net: liquidity.net(index) }))
  }

  gross(index: number): bigint {
    return this.#atTicks[index]?.gross ?? 0n
  }

  net(index: number): bigint {
    return this.#atTicks[index]?.net ?? 0n
  }
}

/** Whether two states say the same of a pool, of which more ticks may be known in one of them. */
export function isSameState(a: V3PoolState, b: V3PoolState): boolean {
  return (
    a.sqrtPriceX96 === b.sqrtPriceX96 &&
    a.tick === b.tick &&
    a.liquidity === b.liquidity &&
    a.fee === b.fee &&
    a.tickSpacing === b.tickSpacing &&
    sameWhereKnown(a.ticks, b.ticks)
  )
}

function sameWhereKnown(a: TickTable, b: TickTable): boolean {
  const [from, to] = [Math.max(a.from, b.from), Math.min(a.to, b.to)]
  const [firstA, firstB] = [a.countUpTo(from), b.countUpTo(from)]
  const count = a.countUpTo(to - 1) - firstA
  // Where they know nothing in common the counts are below nothing.
  if (count !== b.countUpTo(to - 1) - firstB) return from >= to
  for (let index = 0; index < count; index += 1) {
    const [inA, inB] = [firstA + index, firstB + index]
    if (a.ticks[inA] !== b.ticks[inB]) return false
    if (a.liquidity.gross(inA) !== b.liquidity.gross(inB) || a.liquidity.net(inA) !== b.liquidity.net(inB)) return false
  }
  return true
}
