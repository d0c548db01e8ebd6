import { readBy, type Passage, type Pool, type PoolProtocol } from '../../../kits/amm/index.ts'
import type { StablePool } from '../../../kits/amm/stable/pools.ts'
import { amountIn, amountOut, feeDenominator, spotPrice, type StablePoolState } from '../../../kits/amm/stable/math.ts'
import { stableMemory } from './pool-memory.ts'

// Measured on the devnet with plain tokens: what a pool of four coins takes besides what every swap takes.
const passUnits = 160_000n

/** Pools of coins that are meant to be worth the same, two or more in each. */
export function stableProtocol(version: string, pools: readonly StablePool[]): PoolProtocol<StablePoolState> {
  const memory = stableMemory(pools)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const [from, to] = along(pool, passage)
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(pool.state, from, to, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot: (pool, passage) => spotPrice(pool.state, ...along(pool, passage)),
    fee: ({ state }) => `0.${state.fee.toString().padStart(feeDenominator.toString().length - 1, '0')}`.replace(/\.?0+$/, ''),
  }
}

const along = ({ tokens }: Pool<StablePoolState>, { tokenIn, tokenOut }: Passage): [from: number, to: number] => [
  tokens.indexOf(tokenIn),
  tokens.indexOf(tokenOut),
]
