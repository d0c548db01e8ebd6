import type { Hop } from '../../../core/contracts/index.ts'
import { parseDecimal, rescale } from '../../../core/base/decimal.ts'
import {
  maxSteepness,
  takesRoute,
  type Estimate,
  type KnownPool,
  type Missing,
  type Passage,
  type Passed,
  type Pool,
  type PoolMath,
  type RouteTaker,
} from '../protocol.ts'

/** One pool in one direction. */
export interface PoolEdge<Kind extends PoolMath = PoolMath> extends KnownPool<Kind> {
  readonly passage: Passage
  /** What the protocol says; the last answer is cached, because searches over one version and over several ask the same. */
  pass(exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** Undefined where only `pass` can tell. */
  estimate(exact: 'in' | 'out', amount: number): Estimate | undefined
  /** The marginal price with the fee: output per input in smallest units, times 2^128, rounded up. */
  rateX128(): bigint
  /** The same as floating point. Infinite where an amount may get a better price than that. */
  maxRate(): number
  /** The marginal price without fees. */
  spot(): Spot
  /** What a quote says of it. */
  hop(): Hop
}

/** Output per input in smallest units; along a route the other side per exact amount. */
type Spot = ReturnType<PoolMath['spot']>

/** The pools that a swap may pass, after one block. */
export interface PoolGraph<Kind extends PoolMath = PoolMath> {
  readonly isEmpty: boolean
  readonly pools: readonly KnownPool<Kind>[]
  edgesBetween(tokenIn: string, tokenOut: string): readonly PoolEdge<Kind>[]
  /** All edges that a token goes into. */
  edgesFrom(token: string): readonly PoolEdge<Kind>[]
}

const noEdges: readonly never[] = []

export function poolGraphOf<Kind extends PoolMath>(pools: readonly KnownPool<Kind>[]): PoolGraph<Kind> {
  const edges = new Map<string, Map<string, PoolEdge<Kind>[]>>()
  for (const { protocol, pool } of pools) {
    for (const tokenIn of pool.tokens) {
      const byTokenOut = getOrCreate(edges, tokenIn, () => new Map<string, PoolEdge<Kind>[]>())
      for (const tokenOut of pool.tokens) {
        if (tokenOut === tokenIn) continue
        getOrCreate(byTokenOut, tokenOut, (): PoolEdge<Kind>[] => []).push(poolEdge(protocol, pool, { tokenIn, tokenOut }))
      }
    }
  }
  return {
    isEmpty: edges.size === 0,
    pools,
    edgesBetween: (tokenIn, tokenOut) => edges.get(tokenIn)?.get(tokenOut) ?? noEdges,
    edgesFrom: (token) => [...(edges.get(token)?.values() ?? [])].flat(),
  }
}

function poolEdge<Kind extends PoolMath>(protocol: Kind, pool: Pool, passage: Passage): PoolEdge<Kind> {
  let maxRate: number | undefined
  let spot: Spot | undefined
  let hop: Hop | undefined
  let last: { exact: 'in' | 'out'; amountRaw: bigint; answer: Passed | Missing | undefined } | undefined
  return {
    protocol,
    pool,
    passage,
    pass(exact, amountRaw) {
      if (last?.exact === exact && last.amountRaw === amountRaw) return last.answer
      const answer = protocol.pass(pool, passage, exact, amountRaw)
      last = { exact, amountRaw, answer }
      return answer
    },
    estimate: (exact, amount) => protocol.estimate?.(pool, passage, exact, amount),
    rateX128: () => rateX128Of(protocol, pool, passage),
    maxRate: () => (maxRate ??= maxRateOf(protocol, pool, passage)),
    spot: () => (spot ??= protocol.spot(pool, passage)),
    hop: () => (hop ??= hopOf(protocol, pool, passage)),
  }
}

const hopOf = (protocol: PoolMath, pool: Pool, passage: Passage): Hop =>
  Object.freeze({
    pool: pool.address,
    version: protocol.version,
    tokenIn: passage.tokenIn,
    tokenOut: passage.tokenOut,
    fee: protocol.fee(pool, passage),
  })

/** Of a pool whose price is not known to be the best, by its bound where that has no offset: a product of such rates bounds a route. */
function maxRateOf(protocol: PoolMath, pool: Pool, passage: Passage): number {
  if (protocol.spotIsBest) return Number(rateX128Of(protocol, pool, passage)) / 2 ** 128
  const bound = protocol.rateBound?.(pool, passage)
  return bound?.offsetRaw === 0n ? Number(bound.rateX128) / 2 ** 128 : Infinity
}

const oneX18 = 10n ** 18n
/** By pool, then by its tokens. A pool object stays the same until its state changes, which few blocks do. */
const rates = new WeakMap<Pool, Map<string, bigint>>()

/** A pool's marginal price with its fee: output per input in smallest units, times 2^128, rounded up. */
export function rateX128Of(protocol: PoolMath, pool: Pool, passage: Passage): bigint {
  const ofPool = rates.get(pool) ?? new Map<string, bigint>()
  rates.set(pool, ofPool)
  return getOrCreate(ofPool, `${passage.tokenIn} ${passage.tokenOut}`, () => {
    // Whatever its price: nothing comes out.
    if (protocol.mostIn?.(pool, passage) === 0n) return 1n
    const { numerator, denominator } = protocol.spot(pool, passage)
    const { digits, scale } = parseDecimal(protocol.fee(pool, passage))
    const feeX18 = rescale(digits, scale, 18)
    return ((numerator * (oneX18 - feeX18)) << 128n) / (denominator * oneX18) + 1n
  })
}

interface Cache<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
}

export function getOrCreate<K, V>(map: Cache<K, V>, key: K, create: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create()
  map.set(key, created)
  return created
}

/** A cache of what depends on the pools alone and not on the amount. It lives as long as the graph, or as the graph and the options. */
export function perGraph<T>(): (graph: PoolGraph, options?: RouteOptions) => Map<string, T> {
  const caches = new WeakMap<PoolGraph | RouteOptions, WeakMap<PoolGraph, Map<string, T>>>()
  return (graph, options) => {
    const ofOptions = getOrCreate(caches, options ?? graph, () => new WeakMap<PoolGraph, Map<string, T>>())
    return getOrCreate(ofOptions, graph, () => new Map<string, T>())
  }
}

/** The swap that a route is searched for: an exact amount of one side. All tokens are addresses. */
export interface RouteQuery {
  readonly tokenIn: string
  readonly tokenOut: string
  /** Tokens that the route may pass through. They may include the two ends, which are left out. */
  readonly intermediates: readonly string[]
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

export type RouteEnds = Pick<RouteQuery, 'tokenIn' | 'tokenOut' | 'intermediates'>

export const maxHops = 3

/** The intermediates that are not an end of the route. */
export const innerTokens = ({ tokenIn, tokenOut, intermediates }: RouteEnds): readonly string[] =>
  intermediates.filter((token) => token !== tokenIn && token !== tokenOut)

/** Which routes an exchange can trade: pools of which versions, and through which router. */
export interface RouteOptions<Kind extends PoolMath = PoolMath, Taker extends RouteTaker = RouteTaker> {
  /** Versions that one route may mix: each alone, and those that one router takes together. */
  readonly versionSets: readonly ReadonlySet<string>[]
  /** Those of them that have to be searched: where any mix can be traded, its search finds the routes of one version, too. */
  readonly searchedSets: readonly ReadonlySet<string>[]
  /** The protocols that occur in a version set. */
  readonly protocols: readonly Kind[]
  readonly routers: readonly Taker[]
  /** Those that some route of these versions would take. */
  readonly chosen: readonly Taker[]
  /** The first router that takes a route through pools of these versions. */
  routerFor(versions: readonly string[]): Taker | undefined
  /** All that the exchange has, also those that no route of these versions would be given to. */
  all: readonly Taker[]
}

/**
 * @param version if given, routes pass pools of this version only
 * @param isChoice the routers are those that a wallet has approved: each is given what it takes, whether it is preferred for that or not
 */
export function routeOptionsOf<Kind extends PoolMath, Taker extends RouteTaker>(
  { protocols, routers: all }: { readonly protocols: readonly Kind[]; readonly routers: readonly Taker[] },
  exact: 'in' | 'out',
  version: string | undefined,
  isChoice = false,
): RouteOptions<Kind, Taker> {
  const routers = isChoice ? all.map(withAllItTakes) : all
  const versions = [...new Set(protocols.map((protocol) => protocol.version))].filter((each) => version === undefined || each === version)
  const routerFor = (route: readonly string[]) => routers.find((router) => router.carries(route, exact))
  const single = versions.filter((each) => routerFor([each])).map((each) => new Set([each]))
  const versionSets = [...single, ...mixedVersionSets(versions, routers, exact)]
  const usable = routers.filter((router) => versions.some((each) => router.carries([each], exact)))
  const routes = versionSets.flatMap((set) => mixesOf([...set]))
  const isAnyMixCarried = (set: ReadonlySet<string>) => mixesOf([...set]).every(routerFor)
  return {
    versionSets,
    searchedSets: versionSets.filter(
      (set) => !versionSets.some((other) => other.size > set.size && [...set].every((each) => other.has(each)) && isAnyMixCarried(other)),
    ),
    protocols: protocols.filter((protocol) => versionSets.some((set) => set.has(protocol.version))),
    routers: usable,
    chosen: usable.filter((router) => router.splits || routes.some((route) => routerFor(route) === router)),
    routerFor,
    all,
  }
}

const withAllItTakes = <Taker extends RouteTaker>(router: Taker): Taker => ({
  ...router,
  carries: (versions, exact) => takesRoute(router, versions, exact),
})

function mixedVersionSets(
  versions: readonly string[],
  routers: readonly RouteTaker[],
  exact: 'in' | 'out',
): readonly ReadonlySet<string>[] {
  const sets = new Map<string, ReadonlySet<string>>()
  for (const router of routers) {
    const mixed = versions.filter((one) =>
      versions.some((other) => other !== one && (router.carries([one, other], exact) || router.carries([other, one], exact))),
    )
    if (mixed.length > 1) sets.set(mixed.join(), new Set(mixed))
  }
  return [...sets.values()]
}

/** The versions of all routes that pass pools of some. */
function mixesOf(versions: readonly string[]): readonly (readonly string[])[] {
  let longest: readonly (readonly string[])[] = [[]]
  const mixes: (readonly string[])[] = []
  for (let hop = 1; hop <= maxHops; hop += 1) {
    longest = longest.flatMap((mix) => versions.map((each) => [...mix, each]))
    mixes.push(...longest)
  }
  return mixes
}

export const versionsOf = (edges: readonly PoolEdge[]): readonly string[] => edges.map(({ protocol }) => protocol.version)

/** State of a pool that was not read and that the result depends on. */
export interface MissingState {
  readonly protocol: PoolMath
  /** The pool's address. */
  readonly pool: string
  /** As the protocol names it. */
  readonly missing: unknown
}

/** The result of passing an amount through a route. */
export interface RouteQuote {
  /** The amount at the route's other end. Only a bound that is too good while there are `unknowns`. */
  readonly amountRaw: bigint
  /** Gas of the pools alone; the least that it can be while there are `unknowns`. */
  readonly gasUnits: bigint
  /** Additional gas if the swap is the first to write some storage: for limits, not for estimates. */
  readonly firstWriteUnits: bigint
  readonly unknowns: readonly MissingState[]
}

/**
 * Passes an amount through all pools of a route. Undefined where a pool refuses the amount.
 * @param isCertain a pool with missing state counts as one that refuses
 */
export function quoteAlong(edges: readonly PoolEdge[], exact: 'in' | 'out', exactRaw: bigint, isCertain = false): RouteQuote | undefined {
  let [amountRaw, gasUnits, firstWriteUnits] = [exactRaw, 0n, 0n]
  const unknowns: MissingState[] = []
  for (let index = 0; index < edges.length; index += 1) {
    const edge = edges[exact === 'in' ? index : edges.length - 1 - index]
    if (!edge) return undefined
    const passed = edge.pass(exact, amountRaw)
    const isKnown = passed && !('missing' in passed)
    const given = isKnown ? passed : isCertain ? undefined : atBest(edge, exact, amountRaw, passed, unknowns.length > 0)
    if (!given) return undefined
    if (passed && !isKnown) unknowns.push({ protocol: edge.protocol, pool: edge.pool.address, missing: passed.missing })
    amountRaw = given.amountRaw
    gasUnits += given.gasUnits
    firstWriteUnits += given.firstWriteUnits ?? 0n
    if (amountRaw <= 0n) return undefined
  }
  return { amountRaw, gasUnits, firstWriteUnits, unknowns }
}

/**
 * What a pool gives at best, with the least gas, where it cannot tell: its state is missing; or it refuses an amount that is only the most that an
 * earlier pool may give, and may take less. Undefined where nothing is known, and for an exact output that it refuses: it would have to give even more.
 * @param isBound whether the amount is such a bound
 */
export function atBest(
  { protocol, rateX128 }: PoolEdge,
  exact: 'in' | 'out',
  amountRaw: bigint,
  passed: Missing | undefined,
  isBound: boolean,
): Passed | undefined {
  const gasUnits = protocol.leastGasUnits ?? 0n
  if (!passed)
    return isBound && exact === 'in' && protocol.spotIsBest ? { amountRaw: ((amountRaw * rateX128()) >> 128n) + 1n, gasUnits } : undefined
  const { atBestRaw } = passed
  if (atBestRaw === undefined) return undefined
  return { amountRaw: exact === 'out' && atBestRaw <= 0n ? 1n : atBestRaw, gasUnits }
}

/** The same in floating point. Undefined where a pool on the way cannot tell. */
export function estimateAlong(edges: readonly PoolEdge[], exact: 'in' | 'out', exactAmount: number): Estimate | undefined {
  if (edges.length === 1) return edges[0]?.estimate(exact, exactAmount)
  const isIn = exact === 'in'
  let [amount, error, gasUnits] = [exactAmount, 0, 0]
  for (let index = 0; index < edges.length; index += 1) {
    const passed = edges[isIn ? index : edges.length - 1 - index]?.estimate(exact, amount)
    if (!passed) return undefined
    amount = passed.amount
    // More of an input gives less than that much more.
    error = passed.error + (isIn ? error : maxSteepness * error)
    gasUnits += passed.gasUnits
  }
  return { amount, error, gasUnits }
}

/** A route's marginal price without fees: the amount at the other end for an exact amount. */
export function spotAlong(edges: readonly PoolEdge[], exact: 'in' | 'out'): Spot {
  let along: Spot | undefined
  for (const edge of edges) {
    const { numerator, denominator } = edge.spot()
    const [upper, lower] = exact === 'in' ? [numerator, denominator] : [denominator, numerator]
    along = along
      ? { numerator: along.numerator * upper, denominator: along.denominator * lower }
      : { numerator: upper, denominator: lower }
  }
  return along ?? { numerator: 1n, denominator: 1n }
}

/** The amount at the other end by that price. The price impact is measured against it. Rounded up, so that it is never zero. */
export const atSpot = ({ numerator, denominator }: Spot, amountRaw: bigint): bigint =>
  (amountRaw * numerator + denominator - 1n) / denominator
