import { formatUnits } from 'ethers'
import type { Pair, PoolProtocol } from '../../pools/index.ts'
import { lensProbe, readLens } from './lens.ts'
import { amountIn, amountOut, holdingsAlong, type WeightedState } from './weighted-pool.ts'

// Measured on the devnet with plain tokens: 104,000 to 113,000 for one hop and 140,000 for two, with what is added once.
const passUnits = 50_000n

/** Pools of tokens with weights, listed by their ids in a Vault. */
export function weightedProtocol(version: string, vault: string, ids: readonly string[]): PoolProtocol<WeightedState> {
  // What tokens a pool has never changes: once they are known it is read for those alone.
  const tokensById = new Map<string, readonly string[]>()
  const mayLieBetween = (id: string, pairs: readonly Pair[]) => {
    const tokens = tokensById.get(id)
    return !tokens || pairs.some(([a, b]) => tokens.includes(a) && tokens.includes(b))
  }

  return {
    version,
    read(pairs) {
      const asked = ids.filter((id) => mayLieBetween(id, pairs))
      if (asked.length === 0) return { calls: [], pools: () => [] }
      return {
        calls: [lensProbe(vault, asked)],
        pools: ([result = { ok: false, data: '0x' }]) =>
          readLens(result, asked).flatMap((pool, index) => {
            const id = asked[index]
            if (!pool || id === undefined) return []
            tokensById.set(id, pool.tokens)
            return [pool]
          }),
      }
    },
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
