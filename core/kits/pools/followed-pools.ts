import { isDeepStrictEqual } from 'node:util'
import type { Followed } from '../../contracts/index.ts'
import type { Evm, EvmReader } from '../../../kits/evm/types.ts'
import type { Place, Pool, PoolMemory, PoolProtocol } from '../../../kits/amm/protocol.ts'

/** What is in memory under the key of a pool. */
export interface HeldPool {
  readonly protocol: PoolProtocol
  /** Null where there is none, or an empty one. */
  readonly pool: Pool | null
}

export const isHeldPool = (state: unknown): state is HeldPool =>
  typeof state === 'object' && state !== null && 'protocol' in state && 'pool' in state

const isPlace = (about: unknown): about is Place => typeof about === 'object' && about !== null && 'address' in about

export const keyOf = ({ address }: Place): string => address.toLowerCase()

/** The pools of one protocol, for whoever keeps them in memory. */
export function followedPools(protocol: PoolProtocol, memory: PoolMemory, reader: Pick<EvmReader, 'read'>): Followed<Evm, HeldPool> {
  const none: HeldPool = { protocol, pool: null }
  const held = (pool: Pool | null): HeldPool => (pool === null ? none : { protocol, pool })
  return {
    follow: memory.follow,
    emitters: (keys) => [...keys, ...(memory.emitters ?? [])],
    keysOf: (log) => memory.poolsOf(log),
    async load(keys, after, at, known) {
      const places = keys.map((key) => {
        const about = known?.get(key)?.about
        if (!isPlace(about)) throw new Error(`Nothing was said of where ${key} is.`)
        return about
      })
      const missing = known ? [...known.values()].flatMap(({ more }) => more) : []
      const reading = memory.read(places, missing)
      const { head, results } = await reader.read(reading.calls, at, after)
      const pools = reading.pools(results)
      return { head, states: new Map(keys.map((key, index) => [key, held(pools[index] ?? null)])) }
    },
    apply(state, log, head) {
      const next = memory.apply(state.pool, log, head)
      return next === 'reload' ? next : next === state.pool ? state : held(next)
    },
    same(inMemory, loaded) {
      if (inMemory.pool === null || loaded.pool === null) return inMemory.pool === loaded.pool
      return memory.same ? memory.same(inMemory.pool, loaded.pool) : isDeepStrictEqual(inMemory.pool, loaded.pool)
    },
  }
}
