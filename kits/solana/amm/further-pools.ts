// Pools of classes that no list here has: which classes a program has, and which of them have a pool of a pair, is read from the chain.
import { isDeepStrictEqual } from 'node:util'
import { abortable } from '../../../core/base/async.ts'
import { inTurns } from '../../../core/base/fair-turns.ts'
import type { At, Followed } from '../../../core/contracts/index.ts'
import type { Pair } from '../../pools/protocol.ts'
import { clockSysvar } from '../accounts.ts'
import { canonicalAddress, type Solana, type SolanaReader } from '../types.ts'
import { followedPools, imageOf, readPools, type FollowedPool } from './followed.ts'
import type { AccountPools, PoolClasses } from './protocol.ts'

/** More classes are not looked at: for each there is an address to derive, and an account to ask for, of each pair. */
const mostClasses = 1_000
/** Where no node tells which there are, those of the first numbers are asked for by one call: programs number them from 0 on. */
const numbered = 100
const hourMs = 3_600_000
/** So long the classes that nodes told of are used; others are asked for again sooner. */
const [toldMs, numberedMs] = [6 * hourMs, hourMs]
const readingMs = 20_000
const mostPairs = 5_000

type FurtherReader = Pick<SolanaReader, 'accounts' | 'sets' | 'start' | 'ofProgram'>

/** The addresses of the pools of a pair that are there, beside those that `places` has. */
type FindFurther = (pair: Pair, at: At) => Promise<readonly string[]>

export function createFindFurther(protocol: AccountPools, classes: PoolClasses, reader: FurtherReader): FindFurther {
  let known: { readonly configs: readonly string[]; readonly until: number } | undefined
  let reading: Promise<readonly string[]> | undefined
  const found = new Map<string, { readonly pools: readonly string[]; readonly until: number }>()

  async function readConfigs(): Promise<readonly string[]> {
    const at = { signal: AbortSignal.timeout(readingMs) }
    const told = await reader.ofProgram?.(protocol.program, classes, at)
    const configs = told ? told.filter((each) => canonicalAddress(each) === each).slice(0, mostClasses) : await readNumbered(at)
    known = { configs, until: performance.now() + (told ? toldMs : numberedMs) }
    return configs
  }

  async function readNumbered(at: At): Promise<readonly string[]> {
    const addresses: string[] = []
    await inTurns(Array(numbered).keys(), (index) => void addresses.push(classes.configOf(index)), at)
    const { accounts } = await reader.accounts(addresses, at)
    return addresses.filter((_address, index) => accounts[index]?.owner === protocol.program)
  }

  /** All pairs wait for one reading, which goes on where a request leaves. */
  function configs(at: At): readonly string[] | Promise<readonly string[]> {
    if (known && performance.now() < known.until) return known.configs
    reading ??= readConfigs().finally(() => {
      reading = undefined
    })
    return abortable(reading, at.signal)
  }

  return async (pair, at) => {
    const key = keyOfPair(pair)
    const before = found.get(key)
    if (before && performance.now() < before.until) return before.pools
    const usual = new Set(protocol.places([pair]))
    const places: string[] = []
    // Each takes a tenth of a millisecond.
    await inTurns(await configs(at), (config) => void places.push(classes.poolOf(config, pair)), at)
    const further = places.filter((each) => !usual.has(each))
    const { accounts } = await reader.accounts(further, at)
    const pools = further.filter((address, index) => {
      const image = imageOf(accounts[index])
      return image !== null && protocol.parts(address, image) !== undefined
    })
    if (found.size >= mostPairs) found.clear()
    found.set(key, { pools, until: performance.now() + hourMs })
    return pools
  }
}

/** The further pools of a pair in memory. */
export interface FurtherPools {
  readonly further: readonly FollowedPool[]
  /** Seconds since the Unix epoch, by the cluster. */
  readonly foundAt: number
}

/** After so long by the cluster's clock they are looked for again. */
const keptSeconds = 3_600

export const isFurther = (state: unknown): state is FurtherPools => typeof state === 'object' && state !== null && 'further' in state

const accountsIn = ({ further }: FurtherPools): readonly string[] => [...new Set(further.flatMap(({ accounts }) => [...accounts.keys()]))]

/** The key of a pair is its two mints. */
export const keyOfPair = (pair: Pair): string => pair.toSorted().join(' ')
const pairOf = (key: string): Pair => {
  const [one = '', other = ''] = key.split(' ')
  return [one, other]
}

export function followedFurther(protocol: AccountPools, reader: FurtherReader, find: FindFurther): Followed<Solana, FurtherPools> {
  const one = followedPools(protocol, reader)
  return {
    follow: [],
    // The clock tells when they are to be looked for again.
    followOf: (_key, state) => [clockSysvar, ...(state ? accountsIn(state) : [])],
    aliases: (state) => [clockSysvar, ...accountsIn(state)],
    keysOf: ({ address }) => [address],
    async load(keys, after, at) {
      const addresses = await Promise.all(keys.map((key) => find(pairOf(key), at)))
      const { number, pools } = await readPools(
        reader,
        addresses.flatMap((each) => each.map((address) => ({ protocol, address }))),
        at,
        after,
      )
      let next = 0
      const states = keys.map((key, index): [string, FurtherPools] => [
        key,
        { further: pools.slice(next, (next += addresses[index]?.length ?? 0)), foundAt: after.timestamp },
      ])
      return { head: { ...after, number }, states: new Map(states) }
    },
    apply(state, change, head) {
      if (change.address === clockSysvar) return head.timestamp > state.foundAt + keptSeconds ? 'reload' : state
      const further: FollowedPool[] = []
      for (const pool of state.further) {
        const now = one.apply(pool, change, head)
        if (now === 'reload') return now
        further.push(now)
      }
      return further.every((each, index) => each === state.further[index]) ? state : { ...state, further }
    },
    // One may have been found since.
    same: (inMemory, loaded) => {
      const byAddress = new Map(loaded.further.map((pool) => [addressOf(pool), pool]))
      return inMemory.further.every((pool) => {
        const other = byAddress.get(addressOf(pool))
        return !other || isDeepStrictEqual(pool.accounts, other.accounts)
      })
    },
  }
}

const addressOf = ({ accounts }: FollowedPool): string | undefined => accounts.keys().next().value

const flattened = new WeakMap<readonly unknown[], readonly unknown[]>()

/** States with those of further pools as states of their own: the same array of the same states each time, as results are kept by it. */
export function withFurther(states: readonly unknown[]): readonly unknown[] {
  if (!states.some(isFurther)) return states
  const known = flattened.get(states)
  if (known) return known
  const flat = states.flatMap((state): readonly unknown[] => (isFurther(state) ? state.further : [state]))
  flattened.set(states, flat)
  return flat
}
