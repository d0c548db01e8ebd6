import type { RangePool } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../evm/types.ts'
import { poolAt, sortTokens } from '../../pools/pool-at.ts'
import type { RangeExchange } from '../exchange.ts'
import { callsOfPool, poolCalls, readPool } from './read-pool.ts'

/** What must be asked to know the pools of two tokens, and how the answers are read. */
export function rangePools(exchange: RangeExchange, tokens: readonly [string, string], fees: readonly number[]) {
  const sorted = sortTokens(...tokens)
  const [token0, token1] = sorted
  const keys = fees.map((fee) => ({ address: poolAt(exchange, sorted, fee), version: exchange.version, token0, token1, fee }))
  return {
    calls: keys.flatMap(({ address }): readonly Call[] => poolCalls(address)),
    pools(results: readonly CallResult[]): readonly RangePool[] {
      const pools = keys.map((key, index) => readPool(key, results.slice(index * callsOfPool)))
      return pools.filter((pool) => pool !== undefined).toSorted(deepestFirst)
    },
  }
}

/**
 * By the liquidity in range: how much it takes to move the price by a given part. What lies elsewhere in a pool, and
 * what somebody gave to it, says nothing of that. Of equal ones the cheaper first.
 */
function deepestFirst(a: RangePool, b: RangePool): number {
  return a.liquidity === b.liquidity ? a.fee - b.fee : a.liquidity > b.liquidity ? -1 : 1
}
