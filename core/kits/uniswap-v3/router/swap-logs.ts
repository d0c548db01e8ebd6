import { id } from 'ethers'
import type { EvmLog } from '../../../../kits/evm/types.ts'
import type { MemoHop } from './memo.ts'

/** What a pool took and gave in one swap. */
export interface Swapped {
  readonly amountInRaw: bigint
  readonly amountOutRaw: bigint
}

// IUniswapV3PoolEvents of @uniswap/v3-core@1.0.1, and that of PancakeSwap, which has two more fields at its end.
const rangeTopics = [
  id('Swap(address,address,int256,int256,uint160,uint128,int24)'),
  id('Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)'),
]
// IUniswapV2Pair of @uniswap/v2-core@1.0.1.
const constantProductTopic = id('Swap(address,uint256,uint256,uint256,uint256,address)')

/** The pool's log of a swap that the router made of it on the memo's way; undefined for any other log. */
export function swapIn({ address, topics: [topic, sender, to], data }: EvmLog, hop: MemoHop, router: string): Swapped | undefined {
  if (!same(address, hop.pool) || !isTopic(sender, router) || !isTopic(to, hop.to)) return undefined
  const forward = hop.tokenIn.toLowerCase() < hop.tokenOut.toLowerCase()
  if (hop.kind === 'range') {
    if (topic === undefined || !rangeTopics.includes(topic)) return undefined
    const [amount0Raw, amount1Raw] = [signed(word(data, 0)), signed(word(data, 1))]
    if (amount0Raw === undefined || amount1Raw === undefined) return undefined
    // As the pool sees it: more than 0 came in.
    return forward ? { amountInRaw: amount0Raw, amountOutRaw: -amount1Raw } : { amountInRaw: amount1Raw, amountOutRaw: -amount0Raw }
  }
  if (topic !== constantProductTopic) return undefined
  const [amountInRaw, amountOutRaw] = forward ? [word(data, 0), word(data, 3)] : [word(data, 1), word(data, 2)]
  return amountInRaw === undefined || amountOutRaw === undefined ? undefined : { amountInRaw, amountOutRaw }
}

function word(data: string, index: number): bigint | undefined {
  const digits = data.slice(2 + 64 * index, 66 + 64 * index)
  return /^[0-9a-f]{64}$/i.test(digits) ? BigInt(`0x${digits}`) : undefined
}

const signed = (value: bigint | undefined) => (value === undefined ? undefined : BigInt.asIntN(256, value))

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** An address stands in a topic as a word. */
const isTopic = (topic: string | undefined, address: string) => topic !== undefined && same(`0x${topic.slice(-40)}`, address)
