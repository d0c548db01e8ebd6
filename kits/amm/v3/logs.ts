import { id } from 'ethers'
import type { EvmLog } from '../../evm/types.ts'
import type { KnownTicks } from '../../../core/kits/uniswap-v3/pools/known-ticks.ts'
import type { RangePoolState } from '../../../core/kits/uniswap-v3/pools/range-pool-state.ts'
import { ticksMoved } from '../../../core/kits/uniswap-v3/pools/ticks-moved.ts'

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
export function afterLog(state: RangePoolState, { topics, data }: EvmLog): RangePoolState | 'reload' {
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
function afterPosition(state: RangePoolState, topics: readonly string[], liquidity: bigint): RangePoolState | 'reload' {
  if (liquidity === 0n) return state
  const [lower, upper] = [signed24(topics[2]?.slice(-6) ?? ''), signed24(topics[3]?.slice(-6) ?? '')]
  const ticks = ticksMoved(state.ticks, lower, upper, liquidity)
  if (ticks === undefined) return 'reload'
  const isInRange = lower <= state.tick && state.tick < upper
  if (!isInRange && ticks === state.ticks) return state
  return moved(state, state.sqrtPriceX96, state.tick, isInRange ? state.liquidity + liquidity : state.liquidity, ticks)
}

/** Field by field: where fields follow what is spread, V8 takes many times as long. */
const moved = (
  { fee, tickSpacing }: RangePoolState,
  sqrtPriceX96: bigint,
  tick: number,
  liquidity: bigint,
  ticks: KnownTicks,
): RangePoolState => ({ sqrtPriceX96, tick, liquidity, fee, tickSpacing, ticks })

const digitsPerWord = 64
const endOf = (word: number) => 2 + digitsPerWord * (word + 1)
const bigIn = (data: string, word: number) => BigInt(`0x${data.slice(endOf(word) - digitsPerWord, endOf(word))}`)
const signed24 = (digits: string) => (parseInt(digits, 16) << 8) >> 8
