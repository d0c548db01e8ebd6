import { isDeepStrictEqual } from 'node:util'
import type { At, Basis, FollowedPricing, Head, Quote, QuoteChoice, Swap, Followed } from '../../core/contracts/index.ts'
import type { Evm, EvmReader } from '../evm/types.ts'
import { untrustedTokens } from './fee-on-transfer.ts'
import { poolToken, priceSwap } from './price.ts'
import { poolAsOf, type Pool, type PoolProtocol, type Place, type PoolMemory, type Router } from './protocol.ts'
import { type QuoterOptions, routePairs, requireDifferentTokens } from './quoter.ts'
import { getOrCreate, poolGraphOf, type PoolEdge, type PoolGraph, type RouteOptions, routeOptionsOf } from './routing/graph.ts'
import { isObject } from '../../core/json.ts'

/** The graph of some states, and the time that it is valid for. */
interface CachedGraph {
  readonly graph: PoolGraph
  readonly pools: readonly { readonly protocol: PoolProtocol; readonly pool: Pool }[]
  readonly timestamp: number
}

/** Quotes by pools that the server keeps in memory. Undefined if the pools of some protocol cannot be followed. */
export function followedPricing(options: QuoterOptions): FollowedPricing<Evm> | undefined {
  const { exchange, reader, checks, requireExactTransfers, trusted } = options
  const { protocols, routers } = exchange
  const followable = protocols.flatMap((protocol) => {
    const { memory } = protocol
    return memory ? [{ protocol, memory, followed: followedPools(protocol, memory, reader) }] : []
  })
  if (followable.length < protocols.length) return undefined
  const { wrapped, intermediates } = reader
  const intermediateAddresses = intermediates.map(({ address }) => address)
  const isTimed = followable.some(({ memory }) => memory.asOf)
  // A graph is valid for every amount until one of the states changes.
  const graphs = new WeakMap<readonly unknown[], CachedGraph>()
  /** The route and graph of a quote, to check the transfers of its tokens. */
  const origins = new WeakMap<Quote, { readonly edges: readonly PoolEdge[]; readonly graph: PoolGraph }>()
  // The core has checked the version, so there are few entries.
  const routeOptions = new Map<string, RouteOptions>()
  const routeOptionsFor = (exact: 'in' | 'out', version: string | undefined) =>
    getOrCreate(routeOptions, `${exact} ${version ?? ''}`, () => routeOptionsOf(exchange, exact, version))

  function graphOf(states: readonly unknown[], head: Head): PoolGraph {
    const cached = graphs.get(states)
    if (cached && (!isTimed || cached.timestamp === head.timestamp)) return cached.graph
    const pools = states.flatMap((state) => {
      if (!isCachedPool(state)) return []
      const pool = poolAsOf(state, head)
      return pool ? [{ protocol: state.protocol, pool }] : []
    })
    const isSame = cached?.pools.length === pools.length && cached.pools.every(({ pool }, index) => pool === pools[index]?.pool)
    const graph = cached && isSame ? cached.graph : poolGraphOf(pools)
    graphs.set(states, { graph, pools, timestamp: head.timestamp })
    return graph
  }

  async function checkRouters(due: readonly Router[], exact: Promise<void> | undefined, at: At): Promise<void> {
    const verified = reader.read(checks.calls(due), at).then(({ results }) => checks.verify(due, results))
    await Promise.all([exact ?? Promise.resolve(), verified])
  }

  return {
    basis(tokens, { version }): readonly Basis<Evm>[] {
      const [tokenIn, tokenOut] = [poolToken(tokens.tokenIn, wrapped), poolToken(tokens.tokenOut, wrapped)]
      requireDifferentTokens(tokenIn, tokenOut)
      const usable = new Set([...routeOptionsFor('in', version).protocols, ...routeOptionsFor('out', version).protocols])
      const pairs = routePairs(tokenIn, tokenOut, intermediateAddresses)
      return followable
        .filter(({ protocol }) => usable.has(protocol))
        .flatMap(({ memory, followed }) => memory.places(pairs).map((place) => ({ followed, key: poolKey(place), about: place })))
    },

    quote(swap: Swap, { version }: QuoteChoice, states, head, left) {
      const graph = graphOf(states, head)
      const gasPriceRaw = reader.gasPriceRaw(head)
      const snapshot = { head, graph, options: routeOptionsFor(swap.exact, version), version, wrapped, intermediates, gasPriceRaw }
      const priced = priceSwap(snapshot, swap, left)
      if ('missing' in priced) {
        const wanting = priced.missing.map(({ protocol, pool, missing }) => ({
          index: states.findIndex((state) => isCachedPool(state) && state.protocol === protocol && state.pool?.address === pool),
          more: missing,
        }))
        return { wanting }
      }
      origins.set(priced.quote, { edges: priced.edges, graph })
      return priced.quote
    },

    conditions: (head) => `${reader.gasPriceRaw(head)} ${isTimed ? head.timestamp : ''}`,

    vet(quote, _states, at: At) {
      const due = checks.due(routers.filter(({ address }) => address === quote.spender))
      const origin = origins.get(quote)
      const exact = origin && requireExactTransfers(untrustedTokens(quote.swap, origin.edges, origin.graph, trusted), at)
      return due.length === 0 ? exact : checkRouters(due, exact, at)
    },
  }
}

/** The state that is in memory under the key of a pool. */
export interface CachedPool {
  readonly protocol: PoolProtocol
  /** Null if there is none, or if it is empty. */
  readonly pool: Pool | null
}

const isCachedPool = (state: unknown): state is CachedPool => isObject(state) && 'protocol' in state && 'pool' in state

const isPlace = (about: unknown): about is Place => isObject(about) && 'address' in about

const poolKey = ({ address }: Place): string => address.toLowerCase()

/** How the pools of one protocol are followed. */
export function followedPools(protocol: PoolProtocol, memory: PoolMemory, reader: Pick<EvmReader, 'read'>): Followed<Evm, CachedPool> {
  const none: CachedPool = { protocol, pool: null }
  const cachedPool = (pool: Pool | null): CachedPool => (pool === null ? none : { protocol, pool })
  return {
    follow: memory.follow,
    emitters: (keys) => [...keys, ...(memory.emitters ?? [])],
    keysOf: (log) => memory.poolsOf(log),
    async load(keys, after, at, known) {
      const places = keys.map((key) => {
        const about = known?.get(key)?.about
        if (!isPlace(about)) throw new Error(`The place of the pool ${key} was not given.`)
        return about
      })
      const missing = known ? [...known.values()].flatMap(({ more }) => more) : []
      const reading = memory.read(places, missing)
      const { head, results } = await reader.read(reading.calls, at, after)
      const pools = reading.pools(results)
      return { head, states: new Map(keys.map((key, index) => [key, cachedPool(pools[index] ?? null)])) }
    },
    apply(state, log, head) {
      const next = memory.apply(state.pool, log, head)
      return next === 'reload' ? next : next === state.pool ? state : cachedPool(next)
    },
    same(inMemory, loaded) {
      if (inMemory.pool === null || loaded.pool === null) return inMemory.pool === loaded.pool
      return memory.same ? memory.same(inMemory.pool, loaded.pool) : isDeepStrictEqual(inMemory.pool, loaded.pool)
    },
  }
}
