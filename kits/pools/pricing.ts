// Quotes by pools that the server keeps in memory, on whatever chain: which pools a swap may pass, the graph of their states, and what it gives.
import { badFields, type At, type Head, type PoolsChoice, type PoolView } from '../../core/contracts/index.ts'
import type { MissingState, Quote, QuoteBound, QuoteChoice, Swap, Token } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { viewPools } from './pool-views.ts'
import { poolToken, priceSwap, type StoppedPool } from './price.ts'
import type { KnownPool, Pair, Passage, Pool, PoolMath, RouteTaker } from './protocol.ts'
import { swapBound } from './routing/bound.ts'
import { getOrCreate, innerTokens, poolGraphOf, routeOptionsOf, type PoolGraph, type RouteOptions } from './routing/graph.ts'

/** The state that is in memory under the key of a pool. */
export interface CachedPool<Kind extends PoolMath = PoolMath> {
  readonly protocol: Kind
  /** Null if there is none, or if it is empty. */
  readonly pool: Pool | null
  /** The address of a contract that reverts when it is read as the pool. */
  readonly reverts?: string
}

/** What the server gives back of what `Followed.load` and `apply` made. */
export const isCachedPool = <Kind extends PoolMath>(state: unknown): state is CachedPool<Kind> =>
  isObject(state) && 'protocol' in state && 'pool' in state

/** Which pools an exchange has, and what takes routes through them. */
interface PoolsAndTakers<Kind extends PoolMath, Taker extends RouteTaker> {
  readonly protocols: readonly Kind[]
  /** In order of preference, where several take a route. */
  readonly routers: readonly Taker[]
}

export interface PricedExchange<Kind extends PoolMath, Taker extends RouteTaker> {
  readonly exchange: PoolsAndTakers<Kind, Taker>
  readonly wrapped: Token
  /** Tokens that routes may pass through. */
  readonly intermediates: readonly Token[]
  /** Smallest units of the native coin per gas; 0 where routes are compared without it. */
  gasPriceRaw(head: Head): bigint
  /** A pool after a block, where it depends on the block or its time. Null if it cannot swap. Absent: where no pool does. */
  readonly asOf?: ((cached: CachedPool<Kind>, head: Head) => Pool | null) | undefined
  /** What an error adds where none of the pools of a swap exists. */
  readonly ifNoPool?: string
  /** Another number whenever one of the routers may take other routes than before. Absent: they never do. */
  readonly changesOfTakers?: () => number
}

/** Quotes by states of pools. Pure. */
export interface PoolPricing<Kind extends PoolMath, Taker extends RouteTaker> {
  /** The graph of some states. It is the same one until a state changes. */
  graphOf(states: readonly unknown[], head: Head): PoolGraph<Kind>
  options(exact: 'in' | 'out', version: string | undefined, spenders?: readonly string[]): RouteOptions<Kind, Taker>
  /** The protocols whose pools a swap of these two tokens may pass, and every two tokens that may follow one another on its way. */
  reach(tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, version: string | undefined): { protocols: ReadonlySet<Kind>; pairs: readonly Pair[] }
  quote(
    swap: Swap,
    choice: QuoteChoice,
    states: readonly unknown[],
    head: Head,
    left: number,
  ): Quote | { readonly missing: readonly MissingState[] }
  bound(swap: Swap, choice: QuoteChoice, states: readonly unknown[], head: Head): QuoteBound | undefined
  pools(
    tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>,
    choice: PoolsChoice,
    states: readonly unknown[],
    head: Head,
    at: At,
  ): Promise<readonly PoolView[]>
  conditions(head: Head): string
}

export function poolPricing<Kind extends PoolMath, Taker extends RouteTaker>({
  exchange,
  wrapped,
  intermediates,
  gasPriceRaw,
  asOf,
  ifNoPool,
  changesOfTakers,
}: PricedExchange<Kind, Taker>): PoolPricing<Kind, Taker> {
  const intermediateAddresses = intermediates.map(({ address }) => address)
  const options = cachedRouteOptions(exchange, changesOfTakers)
  const graphOf = cachedGraphs(asOf)
  const stoppedPools = (states: readonly unknown[], head: Head) =>
    states.flatMap((state): readonly StoppedPool[] => {
      if (!isCachedPool<Kind>(state)) return []
      const { protocol, pool, reverts } = state
      if (pool === null) return reverts === undefined ? [] : [{ address: reverts }]
      return asOf?.(state, head) === null ? [{ address: pool.address, known: { protocol, pool } }] : []
    })

  return {
    graphOf,
    options,
    reach(tokens, version) {
      const { tokenIn, tokenOut } = passageOf(tokens, wrapped)
      requireDifferentTokens(tokenIn, tokenOut)
      return {
        protocols: new Set([...options('in', version).protocols, ...options('out', version).protocols]),
        pairs: routePairs(tokenIn, tokenOut, intermediateAddresses),
      }
    },
    quote(swap, { version }, states, head, left) {
      const graph = graphOf(states, head)
      const snapshot = {
        head,
        graph,
        options: options(swap.exact, version),
        version,
        wrapped,
        intermediates,
        intermediateAddresses,
        gasPriceRaw: gasPriceRaw(head),
        ifNoPool,
        stopped: () => stoppedPools(states, head),
      }
      const priced = priceSwap(snapshot, swap, left)
      if (!('missing' in priced)) return priced
      const indexOf = (protocol: PoolMath, pool: string) =>
        states.findIndex((state) => isCachedPool(state) && state.protocol === protocol && state.pool?.address === pool)
      return { missing: priced.missing.map(({ protocol, pool, missing }) => ({ index: indexOf(protocol, pool), more: missing })) }
    },
    bound(swap, { version }, states, head) {
      const { tokenIn, tokenOut } = passageOf(swap, wrapped)
      const query = { tokenIn, tokenOut, intermediates: intermediateAddresses, exact: swap.exact, amountRaw: swap.amountRaw }
      return swapBound(graphOf(states, head), query, options(swap.exact, version))
    },
    pools: (tokens, choice, states, head, at) => viewPools(graphOf(states, head).pools, [passageOf(tokens, wrapped)], choice, at),
    conditions: (head) => `${gasPriceRaw(head)} ${asOf ? blockName(head) : ''}`,
  }
}

/** The graph of some states, and the block that it is valid for. */
interface CachedGraph<Kind extends PoolMath> {
  readonly graph: PoolGraph<Kind>
  readonly pools: readonly KnownPool<Kind>[]
  readonly block: string
}

/** A graph is valid for every amount until one of the states changes. */
function cachedGraphs<Kind extends PoolMath>(asOf: PricedExchange<Kind, RouteTaker>['asOf']): PoolPricing<Kind, RouteTaker>['graphOf'] {
  const graphs = new WeakMap<readonly unknown[], CachedGraph<Kind>>()
  return (states, head) => {
    const cached = graphs.get(states)
    const block = asOf ? blockName(head) : ''
    if (cached?.block === block) return cached.graph
    const pools = states.flatMap((state): readonly KnownPool<Kind>[] => {
      if (!isCachedPool<Kind>(state)) return []
      const pool = asOf ? asOf(state, head) : state.pool
      return pool ? [{ protocol: state.protocol, pool }] : []
    })
    const isSame = cached?.pools.length === pools.length && cached.pools.every(({ pool }, index) => pool === pools[index]?.pool)
    const graph = cached && isSame ? cached.graph : poolGraphOf(pools)
    graphs.set(states, { graph, pools, block })
    return graph
  }
}

/**
 * `routeOptionsOf` by the two that it depends on. The version was checked before, so there are few entries. Whatever is kept of routes is kept by
 * these objects, and goes with them where routers take other routes than before.
 */
export function cachedRouteOptions<Kind extends PoolMath, Taker extends RouteTaker>(
  exchange: PoolsAndTakers<Kind, Taker>,
  changesOfTakers: () => number = () => 0,
): PoolPricing<Kind, Taker>['options'] {
  const cache = new Map<string, RouteOptions<Kind, Taker>>()
  let changes = changesOfTakers()
  return (exact, version, spenders) => {
    const now = changesOfTakers()
    if (now !== changes) cache.clear()
    changes = now
    if (!spenders) return getOrCreate(cache, `${exact} ${version ?? ''}`, () => routeOptionsOf(exchange, exact, version))
    const routers = exchange.routers.filter(({ address }) => spenders.includes(address))
    return routeOptionsOf({ ...exchange, routers }, exact, version, true)
  }
}

/** Tells a block from others, those of the same number too where the chain has hashes. */
export const blockName = ({ hash, number, timestamp }: Head): string => hash ?? `${number} ${timestamp}`

export const passageOf = ({ tokenIn, tokenOut }: Pick<Swap, 'tokenIn' | 'tokenOut'>, wrapped: Token): Passage => ({
  tokenIn: poolToken(tokenIn, wrapped),
  tokenOut: poolToken(tokenOut, wrapped),
})

/** @throws SluiceError INCOMPLETE_PARAMS if a swap's tokens are the same one in pools */
export function requireDifferentTokens(tokenIn: string, tokenOut: string): void {
  if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])
}

/** Every two tokens that may follow one another on a route of up to three hops; each two once. */
export function routePairs(tokenIn: string, tokenOut: string, intermediates: readonly string[]): readonly Pair[] {
  const inner = innerTokens({ tokenIn, tokenOut, intermediates })
  return [
    [tokenIn, tokenOut],
    ...inner.flatMap((token): readonly Pair[] => [
      [tokenIn, token],
      [token, tokenOut],
    ]),
    ...inner.flatMap((first, index) => inner.slice(index + 1).map((second): Pair => [first, second])),
  ]
}
