import { readBy, type Passage, type Pool, type PoolProtocol } from '../index.ts'
import { firstWriteUnitsOf, gasUnitsOf } from '../../../core/kits/uniswap-v3/pools/gas.ts'
import { loanOf } from '../../../core/kits/uniswap-v3/pools/loan.ts'
import type { PoolOrigin } from '../../../core/kits/uniswap-v3/pools/pool-at.ts'
import { rangePoolMemory } from '../../../core/kits/uniswap-v3/pools/pool-memory.ts'
import type { RangePoolState } from '../../../core/kits/uniswap-v3/pools/range-pool-state.ts'
import { unreadOf } from '../../../core/kits/uniswap-v3/pools/reach.ts'
import { swap } from './swap.ts'

export interface V3ProtocolOptions extends PoolOrigin {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
}

const oneX192 = 2n ** 192n

/** Pools of concentrated liquidity, as Uniswap v3 and its forks have them. */
export function v3Protocol({ version, fees, ...origin }: V3ProtocolOptions): PoolProtocol<RangePoolState> {
  const memory = rangePoolMemory(origin, fees)

  return {
    version,
    memory,
    read: readBy(memory),
    pass({ address, tokens, state }, { tokenIn }, exact, amountRaw) {
      const zeroForOne = tokenIn === tokens[0]
      const swapped = swap(state, zeroForOne, exact, amountRaw)
      if (!swapped) return undefined
      if (!('atBestRaw' in swapped))
        return { amountRaw: swapped.amountRaw, gasUnits: gasUnitsOf(swapped), firstWriteUnits: firstWriteUnitsOf(swapped) }
      const missing = unreadOf(address, zeroForOne, state)
      return missing && { missing, ...swapped }
    },
    spot({ tokens, state: { sqrtPriceX96 } }: Pool<RangePoolState>, { tokenIn }: Passage) {
      const priceX192 = sqrtPriceX96 * sqrtPriceX96
      return tokenIn === tokens[0] ? { numerator: priceX192, denominator: oneX192 } : { numerator: oneX192, denominator: priceX192 }
    },
    fee: ({ state }) => String(state.fee / 1_000_000),
    spotIsBest: true,
    loan: loanOf,
  }
}
