import { id } from 'ethers'
import type { PoolMemory } from '../../../kits/amm/index.ts'
import { pairFinder, type Deployment, type PairAt } from './pairs.ts'
import { getReservesData, readPool, reservesIn, type Reserves } from './reserves.ts'

// Whatever moves a pair's reserves ends in this: UniswapV2Pair of @uniswap/v2-core@1.0.1, `_update`.
const syncTopic = id('Sync(uint112,uint112)')

/** Pairs in memory: each log says all of their state. */
export function pairMemory(deployment: Deployment): PoolMemory<Reserves, PairAt> {
  const pairBetween = pairFinder(deployment)
  return {
    places: (pairs) => pairs.map(([a, b]) => pairBetween(a, b)),
    read: (places) => ({
      calls: places.map(({ address }) => ({ to: address, data: getReservesData })),
      pools: (results) =>
        places.map((pair, index) => {
          const result = results[index]
          return (result && readPool(pair, result)) ?? null
        }),
    }),
    follow: [syncTopic],
    poolsOf: ({ address }) => [address.toLowerCase()],
    apply(pool, { data }) {
      // A new one, of which the log says neither token.
      if (pool === null) return 'reload'
      const state = reservesIn(data)
      return state ? { address: pool.address, tokens: pool.tokens, state } : null
    },
  }
}
