import type { Head } from '../../contracts/index.ts'
import type { Pool, PoolMemory } from '../../../kits/amm/index.ts'
import type { StablePool } from '../../../kits/amm/stable/pools.ts'
import { afterChange, afterSwap } from './math/after.ts'
import { stablePoolState, type StablePoolState, type StableTerms } from '../../../kits/amm/stable/math.ts'
import { readState, stateCalls } from './pool-calls.ts'
import { stableLogs, type StableChange } from './pool-logs.ts'

/** Listed pools, in memory. */
export function stableMemory(listed: readonly StablePool[]): PoolMemory<StablePoolState, StablePool> {
  const logsByCount = new Map(listed.map(({ coins }) => [coins.length, stableLogs(coins.length)]))
  const keys = new Set(listed.map(({ address }) => address.toLowerCase()))
  return {
    places: (pairs) =>
      listed.filter(({ coins }) => pairs.some((pair) => pair.every((token) => coins.some(({ address }) => address === token)))),

    read(places) {
      const calls = places.map(stateCalls)
      return {
        calls: calls.flat(),
        pools(results) {
          let taken = 0
          return places.map((pool, index) => readState(pool, results.slice(taken, (taken += calls[index]?.length ?? 0))) ?? null)
        },
      }
    },

    follow: [...new Set([...logsByCount.values()].flatMap(({ topics }) => topics))],

    poolsOf({ address }) {
      const key = address.toLowerCase()
      return keys.has(key) ? [key] : []
    },

    apply(pool, log, head) {
      const change = pool && logsByCount.get(pool.tokens.length)?.changeIn(log)
      const terms = change && termsAfter(pool, change, head)
      if (!terms) return 'reload'
      const state = stablePoolState(terms)
      return state ? { ...pool, state } : null
    },

    asOf,
  }
}

/** Only while the amplification moves is a pool another one from block to block. */
function asOf(pool: Pool<StablePoolState>, { timestamp }: Head): Pool<StablePoolState> | null {
  const { initial, future, futureTime } = pool.state.ramp
  if (initial === future || BigInt(timestamp) >= futureTime) return pool
  const state = stablePoolState(pool.state, timestamp)
  return state ? { ...pool, state } : null
}

/** Undefined where it is not known what the pool has then. */
function termsAfter(pool: Pool<StablePoolState>, change: StableChange, head: Head): StableTerms | undefined {
  const { state } = pool
  switch (change.is) {
    case 'fee':
      return { ...state, fee: change.fee, adminFee: change.adminFee }
    case 'parameters': {
      const { amplification, fee, adminFee } = change
      return { ...state, fee, adminFee, ramp: { initial: amplification, future: amplification, initialTime: 0n, futureTime: 0n } }
    }
    case 'ramp': {
      const { initial, future, initialTime, futureTime } = change
      return { ...state, ramp: { initial, future, initialTime, futureTime } }
    }
    case 'swap':
    case 'liquidity': {
      const now = asOf(pool, head)?.state
      const balances = now && balancesAfter(now, change)
      return balances && { ...state, balances }
    }
    default:
      return undefined
  }
}

function balancesAfter(state: StablePoolState, change: Extract<StableChange, { is: 'swap' | 'liquidity' }>): readonly bigint[] | undefined {
  if (change.is === 'swap') return afterSwap(state, change)
  const { deltas, fees, invariant } = change
  if (invariant !== undefined) return afterChange(state, { deltas, fees, invariant })
  return state.balances.map((balance, index) => balance + (deltas[index] ?? 0n))
}
