import type { PoolMemory } from '../../../../kits/amm/index.ts'
import { afterLog, changeTopics } from '../../../../kits/amm/v3/logs.ts'
import { holdsSomething } from './holds-something.ts'
import type { PoolOrigin } from './pool-at.ts'
import { poolFinder, type Place } from './pool-finder.ts'
import { lensProbe, readLens, type Look } from '../../../../kits/amm/v3/lens.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { fartherLook, firstLook } from './reach.ts'
import { sameState } from './same-state.ts'

/** Where a pool is, or would be, and how it is read first. */
export interface RangePoolAt extends Place {
  readonly look: Look
}

/** Pools in memory: a swap's log says price, tick and liquidity; who puts liquidity in or takes it out moves ticks. */
export function rangePoolMemory(origin: PoolOrigin, fees: readonly number[]): PoolMemory<RangePoolState, RangePoolAt> {
  const poolsBetween = poolFinder(origin, fees, (place) => ({ ...place, look: firstLook(place.address) }))
  return {
    places: (pairs) => pairs.flatMap(([a, b]) => poolsBetween(a, b)),
    read(places, missing) {
      const looks = places.map(({ address, look }) => (missing.length > 0 && fartherLook(address, missing)) || look)
      if (looks.length === 0) return { calls: [], pools: () => [] }
      return {
        calls: [lensProbe(looks)],
        pools: ([result = { ok: false, data: '0x' }]) => {
          const states = readLens(result, looks)
          return places.map(({ address, tokens }, index) => {
            const state = states[index]
            return state && holdsSomething(state) ? { address, tokens, state } : null
          })
        },
      }
    },
    follow: changeTopics,
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, log) {
      // A new one, or one that was left by all: of its ticks nothing is known.
      if (pool === null) return 'reload'
      const state = afterLog(pool.state, log)
      if (state === pool.state || state === 'reload') return state === 'reload' ? state : pool
      const holds = holdsSomething(state)
      if (holds === undefined) return 'reload'
      return holds ? { address: pool.address, tokens: pool.tokens, state } : null
    },
    same: (inMemory, loaded) => sameState(inMemory.state, loaded.state),
  }
}
