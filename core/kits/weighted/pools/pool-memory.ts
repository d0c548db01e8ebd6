import type { CallResult } from '../../../../kits/evm/types.ts'
import type { Pair, Place, Pool, PoolMemory } from '../../../../kits/amm/index.ts'
import { poolAddress } from '../pool-id.ts'
import { changeIn, poolIdIn, topics } from '../vault/pool-logs.ts'
import { lensProbe, readLens } from './lens.ts'
import type { WeightedState } from './weighted-pool.ts'

export interface WeightedPlace extends Place {
  readonly id: string
}

/** Pools that are listed by their ids in a Vault, in memory: the Vault logs what they have, and they log their fees. */
export function weightedMemory(vault: string, ids: readonly string[]): PoolMemory<WeightedState, WeightedPlace> {
  const listed = ids.map((id): WeightedPlace => ({ id, address: poolAddress(id) }))
  const keys = listed.map(({ address }) => address.toLowerCase())
  const keyById = new Map(listed.map(({ id, address }) => [id.toLowerCase(), address.toLowerCase()]))
  const vaultKey = vault.toLowerCase()
  // What tokens a pool has never changes: once they are known it is read for those alone.
  const tokensById = new Map<string, readonly string[]>()
  const mayLieBetween = ({ id }: WeightedPlace, pairs: readonly Pair[]) => {
    const tokens = tokensById.get(id)
    return !tokens || pairs.some(([a, b]) => tokens.includes(a) && tokens.includes(b))
  }

  return {
    places: (pairs) => listed.filter((place) => mayLieBetween(place, pairs)),

    read(places) {
      if (places.length === 0) return { calls: [], pools: () => [] }
      const asked = places.map(({ id }) => id)
      return {
        calls: [lensProbe(vault, asked)],
        pools: ([result = noResult]) =>
          readLens(result, asked).map((pool, index) => {
            const id = asked[index]
            if (!pool || id === undefined) return null
            tokensById.set(id, pool.tokens)
            return pool
          }),
      }
    },

    follow: Object.values(topics),
    emitters: [vaultKey],

    poolsOf(log) {
      const key = log.address.toLowerCase()
      if (key !== vaultKey) return log.topics[0] === topics.feeChanged || log.topics[0] === topics.pauseChanged ? [key] : []
      // Where the Vault itself is paused, no pool of it swaps.
      if (log.topics[0] === topics.pauseChanged) return keys
      const found = keyById.get(poolIdIn(log))
      return found === undefined ? [] : [found]
    },

    apply(pool, log) {
      const change = changeIn(log)
      if (change === undefined) return 'reload'
      if (change.is === 'pause') return change.paused ? null : (pool ?? 'reload')
      // Of one that there was not, that was empty or paused, the log says too little. A pause ends by time alone, too, which nothing logs: the
      // pool is known of again with its first swap.
      if (pool === null) return 'reload'
      if (change.is === 'fee') return { ...pool, state: { ...pool.state, swapFee: change.swapFee } }
      return moved(pool, change.deltas)
    },
  }
}

const noResult: CallResult = { ok: false, data: '0x' }

/** Null where it has nothing left of a token: then the lens shows none, too. */
function moved(pool: Pool<WeightedState>, deltas: ReadonlyMap<string, bigint>): Pool<WeightedState> | null | 'reload' {
  const { tokens, state } = pool
  let known = 0
  const holdings = state.holdings.map((holding, index) => {
    const delta = deltas.get((tokens[index] ?? '').toLowerCase())
    if (delta === undefined) return holding
    known += 1
    return delta === 0n ? holding : { ...holding, balanceRaw: holding.balanceRaw + delta }
  })
  if (known !== deltas.size) return 'reload'
  return holdings.every(({ balanceRaw }) => balanceRaw > 0n) ? { ...pool, state: { ...state, holdings } } : null
}
