import { isDeepStrictEqual } from 'node:util'
import type { At, Basis, FollowedPricing, Head, Quote, QuoteChoice, Swap, Followed } from '../../core/contracts/index.ts'
import type { Evm, EvmReader } from '../evm/types.ts'
import { untrustedTokens } from './fee-on-transfer.ts'
import { poolToken, priceSwap } from './price.ts'
import { poolAsOf, type Pool, type PoolProtocol, type Place, type PoolMemory } from './protocol.ts'
import { type QuoterOptions, routePairs, requireDifferentTokens } from './quoter.ts'
import { poolGraphOf, type PoolEdge, type PoolGraph, routeOptionsOf } from './routing/graph.ts'

/** What a quote was made of, to be vetted by. */
interface Made {
  readonly route: readonly PoolEdge[]
  readonly lanes: PoolGraph
}

/** What states were made into, and for what time. */
interface Laid {
  readonly lanes: PoolGraph
  readonly pools: readonly { readonly protocol: PoolProtocol; readonly pool: Pool }[]
  readonly timestamp: number
}

/** Quotes by the pools that the server keeps in memory; undefined where those of some protocol can only be asked for. */
export function followedPricing({
  exchange,
  reader,
  checks,
  requireExactTransfers: requireExact,
  trusted,
}: QuoterOptions): FollowedPricing<Evm> | undefined {
  const { protocols, routers } = exchange
  const kept = protocols.flatMap((protocol) => {
    const { memory } = protocol
    return memory ? [{ protocol, memory, followed: followedPools(protocol, memory, reader) }] : []
  })
  if (kept.length < protocols.length) return undefined
  const { wrapped, intermediates } = reader
  const between = intermediates.map(({ address }) => address)
  const remembered = rememberedWays((exact, version) => routeOptionsOf(exchange, exact, version))
  const isTimed = kept.some(({ memory }) => memory.asOf)
  // What states are made into serves for every amount, until one of them changes.
  const known = new WeakMap<readonly unknown[], Laid>()
  const made = new WeakMap<Quote, Made>()

  function lanesBy(states: readonly unknown[], head: Head): PoolGraph {
    const before = known.get(states)
    if (before && (!isTimed || before.timestamp === head.timestamp)) return before.lanes
    const pools = states.flatMap((state) => {
      if (!isCachedPool(state)) return []
      const pool = poolAsOf(state, head)
      return pool ? [{ protocol: state.protocol, pool }] : []
    })
    const isSame = before?.pools.length === pools.length && before.pools.every(({ pool }, index) => pool === pools[index]?.pool)
    const lanes = before && isSame ? before.lanes : poolGraphOf(pools)
    known.set(states, { lanes, pools, timestamp: head.timestamp })
    return lanes
  }

  return {
    basis(tokens, { version }): readonly Basis<Evm>[] {
      const [tokenIn, tokenOut] = [poolToken(tokens.tokenIn, wrapped), poolToken(tokens.tokenOut, wrapped)]
      requireDifferentTokens(tokenIn, tokenOut)
      const passable = new Set<PoolProtocol>([...remembered('in', version).protocols, ...remembered('out', version).protocols])
      const pairs = routePairs(tokenIn, tokenOut, between)
      return kept
        .filter(({ protocol }) => passable.has(protocol))
        .flatMap(({ memory, followed }) => memory.places(pairs).map((place) => ({ followed, key: poolKey(place), about: place })))
    },

    quote(swap: Swap, { version }: QuoteChoice, states, head, left) {
      const lanes = lanesBy(states, head)
      const ways = remembered(swap.exact, version)
      const board = { head, graph: lanes, options: ways, version, wrapped, intermediates, gasPriceRaw: reader.gasPriceRaw(head) }
      const priced = priceSwap(board, swap, left)
      if ('wanted' in priced) {
        const wanting = priced.wanted.map(({ protocol, pool, missing }) => ({
          index: states.findIndex((state) => isCachedPool(state) && state.protocol === protocol && state.pool?.address === pool),
          more: missing,
        }))
        return { wanting }
      }
      made.set(priced.quote, { route: priced.edges, lanes })
      return priced.quote
    },

    conditions: (head) => `${reader.gasPriceRaw(head)} ${isTimed ? head.timestamp : ''}`,

    vet(quote, _states, at: At) {
      const due = checks.due(routers.filter(({ address }) => address === quote.spender))
      const from = made.get(quote)
      const exact = from && requireExact(untrustedTokens(quote.swap, from.route, from.lanes, trusted), at)
      if (due.length === 0) return exact
      return Promise.all([exact, reader.read(checks.calls(due), at).then(({ results }) => checks.verify(due, results))]).then(() => {})
    },
  }
}

/** What an exchange's routes can differ in is the same for every quote. */
function rememberedWays<T>(make: (exact: 'in' | 'out', version: string | undefined) => T) {
  const known = new Map<string, T>()
  return (exact: 'in' | 'out', version: string | undefined): T => {
    const key = `${exact} ${version ?? ''}`
    const found = known.get(key)
    if (found) return found
    const made = make(exact, version)
    // Versions are checked before they come here, so there are few.
    known.set(key, made)
    return made
  }
}

/** What is in memory under the key of a pool. */
export interface CachedPool {
  readonly protocol: PoolProtocol
  /** Null where there is none, or an empty one. */
  readonly pool: Pool | null
}

const isCachedPool = (state: unknown): state is CachedPool =>
  typeof state === 'object' && state !== null && 'protocol' in state && 'pool' in state

const isPlace = (about: unknown): about is Place => typeof about === 'object' && about !== null && 'address' in about

const poolKey = ({ address }: Place): string => address.toLowerCase()

/** The pools of one protocol, for whoever keeps them in memory. */
export function followedPools(protocol: PoolProtocol, memory: PoolMemory, reader: Pick<EvmReader, 'read'>): Followed<Evm, CachedPool> {
  const none: CachedPool = { protocol, pool: null }
  const held = (pool: Pool | null): CachedPool => (pool === null ? none : { protocol, pool })
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
