import { formatUnits } from 'ethers'
import { readBy, type PoolProtocol } from '../index.ts'
import { weightedMemory } from '../../../core/kits/weighted/pools/pool-memory.ts'
import { amountIn, amountOut, holdingsAlong, type WeightedState } from '../../../core/kits/weighted/pools/weighted-pool.ts'

// Measured on the devnet with plain tokens: 104,000 to 113,000 for one hop and 140,000 for two, with what is added once.
const passUnits = 50_000n

/** Pools of tokens with weights, listed by their ids in a Vault. */
export function weightedProtocol(version: string, vault: string, ids: readonly string[]): PoolProtocol<WeightedState> {
  const memory = weightedMemory(vault, ids)
  return {
    version,
    memory,
    read: readBy(memory),
    pass(pool, passage, exact, amountRaw) {
      const otherRaw = (exact === 'in' ? amountOut : amountIn)(holdingsAlong(pool, passage), pool.state, amountRaw)
      return otherRaw === undefined ? undefined : { amountRaw: otherRaw, gasUnits: passUnits }
    },
    spot(pool, passage) {
      const { into, outOf } = holdingsAlong(pool, passage)
      return { numerator: outOf.balanceRaw * into.weight, denominator: into.balanceRaw * outOf.weight }
    },
    fee: ({ state }) => formatUnits(state.swapFee, 18).replace(/\.0$/, ''),
  }
}
