import type { RangePool } from '../../../../contracts/index.ts'
import type { CallResult, Probe } from '../../../../../kits/evm/types.ts'
import { poolAt, sortTokens } from '../../pools/pool-at.ts'
import { lensProbe, lookAt, readLens } from '../../../../../kits/amm/v3/lens.ts'
import type { RangeExchange } from '../exchange.ts'
import { priceOf } from '../../../../../kits/amm/v3/range-prices.ts'
import { depthOf, percentReach } from './depth.ts'

/** What must be asked to know the pools of two tokens, and how the answers are read. */
export function rangePools(exchange: RangeExchange, tokens: readonly [string, string], fees: readonly number[]) {
  const sorted = sortTokens(...tokens)
  const [token0, token1] = sorted
  const keys = fees.map((fee) => ({ address: poolAt(exchange, sorted, fee), version: exchange.version, token0, token1, fee }))
  const looks = keys.map(({ address }) => lookAt(address, percentReach, percentReach))
  return {
    calls: looks.length > 0 ? [lensProbe(looks)] : ([] satisfies Probe[]),
    pools([seen]: readonly CallResult[]): readonly RangePool[] {
      const states = seen ? readLens(seen, looks) : []
      const found = states.flatMap((state, index) => {
        const key = keys[index]
        if (!key || !state) return []
        const { sqrtPriceX96, tick, tickSpacing, liquidity } = state
        return [{ pool: { ...key, tickSpacing, sqrtPriceX96, tick, liquidity, price: priceOf(sqrtPriceX96) }, depthRaw: depthOf(state) }]
      })
      return found.toSorted(deepestFirst).map(({ pool }) => pool)
    },
  }
}

interface Found {
  readonly pool: RangePool
  readonly depthRaw: bigint
}

/** Of equal ones the cheaper first. */
function deepestFirst(a: Found, b: Found): number {
  return a.depthRaw === b.depthRaw ? a.pool.fee - b.pool.fee : a.depthRaw > b.depthRaw ? -1 : 1
}
