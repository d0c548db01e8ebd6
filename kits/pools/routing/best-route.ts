// The best route: one of those with the best prices where no other can be better, else by branch and bound. Partial routes grow by one pool at a
// time. Those that another route dominates are left out, and so are those whose upper bound is below the incumbent, the best complete route
// known. Routes are compared by what is left after paying for gas.
import type { Passed } from '../protocol.ts'
import { gainOf, gasRateOf, hugeGasUnits, pricedRoute, swapGasUnits, type GasCost, type PricedRoute } from './gas-cost.ts'
import {
  atBest,
  getOrCreate,
  innerTokens,
  maxHops,
  perGraph,
  quoteAlong,
  versionsOf,
  type MissingState,
  type PoolEdge,
  type PoolGraph,
  type RouteOptions,
  type RouteQuery,
  type RouteQuote,
} from './graph.ts'
import { bestByPrice, keyOf, maxRatesOf, ratedRoutes, slack } from './rated-routes.ts'

interface BestRoute {
  /** Undefined where no route gives anything. */
  readonly best: PricedRoute | undefined
  /** State that could show a better route. */
  readonly missing: readonly MissingState[]
  /** A pool took the amount and gave nothing for it. */
  readonly isTooLittle: boolean
}

/** A complete route, and what the trader has of it after paying for gas. */
interface Incumbent {
  readonly route: PricedRoute
  readonly gainRaw: bigint
}

/**
 * The route that leaves the trader most after paying for gas; the shorter of two equal ones.
 * @param gasCost in the token of the other side
 */
export function bestRoute(graph: PoolGraph, query: RouteQuery, options: RouteOptions, gasCost: GasCost): BestRoute {
  const byPrice = bestByPrice(graph, query, options, gasCost)
  if (byPrice) return { best: byPrice, missing: [], isTooLittle: false }
  return bestOfSearch(graph, query, options, gasCost)
}

/** @param fromLast whether the search begins with the best route for the last amount */
function bestOfSearch(graph: PoolGraph, query: RouteQuery, options: RouteOptions, gasCost: GasCost, fromLast = true): BestRoute {
  const last = fromLast ? lastBestOf(graph).get(keyOf(query)) : undefined
  const first = firstIncumbent(graph, query, options, gasCost, last)
  const isPruned = first && pruneBelow(first.gainRaw, graph, query, gasCost)
  const isGasFree = gasCost(hugeGasUnits) === 0n
  const searches = options.searchedSets.map((versions) => search(graph, query, versions, isGasFree, isPruned))
  const routerOf = ({ edges }: PartialRoute) => options.routerFor(versionsOf(edges))
  let incumbent: Incumbent | undefined
  const uncertain: { route: PartialRoute; gainRaw: bigint }[] = []
  for (const { routes } of searches) {
    for (const route of routes) {
      const gainRaw = gainOf(route, query, gasCost)
      if (incumbent && gainRaw <= incumbent.gainRaw) continue
      if (route.unknowns.length > 0) {
        uncertain.push({ route, gainRaw })
        continue
      }
      const router = routerOf(route)
      if (router) incumbent = { route: pricedRoute(route.edges, router, route), gainRaw }
    }
  }
  // The search finds the first incumbent again, unless another route dominated a part of it and used more gas later.
  if (first && (!incumbent || first.gainRaw > incumbent.gainRaw)) {
    // The quote must not depend on the amount that was asked for before.
    if (last) return bestOfSearch(graph, query, options, gasCost, false)
    incumbent = first
  }
  const certainRaw = incumbent?.gainRaw
  const better = uncertain.filter(({ route, gainRaw }) => (certainRaw === undefined || gainRaw > certainRaw) && routerOf(route))
  if (incumbent) lastBestOf(graph).set(keyOf(query), incumbent.route.edges)
  return {
    best: incumbent?.route,
    missing: [
      ...searches.flatMap(({ missing, missingIfNoRoute }) => (incumbent ? missing : [...missing, ...missingIfNoRoute])),
      ...better.flatMap(({ route }) => route.unknowns),
    ],
    isTooLittle: searches.some((each) => each.isTooLittle),
  }
}

/** The best route for the last amount. It is tried first for the next one, because the best price may be that of a nearly empty pool. */
const lastBestOf = perGraph<readonly PoolEdge[]>()

/**
 * The better one of two routes: the best for the last amount, and the one with the best price. Undefined where neither gives anything, or
 * where no pool's price is a bound: then nothing can be pruned.
 */
function firstIncumbent(
  graph: PoolGraph,
  query: RouteQuery,
  options: RouteOptions,
  gasCost: GasCost,
  lastBest: readonly PoolEdge[] | undefined,
): Incumbent | undefined {
  if (!options.protocols.some(({ spotIsBest, rateBound }) => spotIsBest || rateBound)) return undefined
  const byRate = ratedRoutes(graph, query, options).routes[0]?.edges
  const isSame = byRate?.length === lastBest?.length && byRate?.every((edge, index) => edge === lastBest?.[index])
  let incumbent: Incumbent | undefined
  for (const edges of isSame ? [byRate] : [lastBest, byRate]) {
    const versions = edges && versionsOf(edges)
    if (!versions || !options.versionSets.some((set) => versions.every((each) => set.has(each)))) continue
    const router = options.routerFor(versions)
    const quote = router && quoteAlong(edges, query.exact, query.amountRaw, true)
    if (!quote) continue
    const gainRaw = gainOf(quote, query, gasCost)
    if (!incumbent || gainRaw > incumbent.gainRaw) incumbent = { route: pricedRoute(edges, router, quote), gainRaw }
  }
  return incumbent
}

/** A route from the start of the search to some token. */
interface PartialRoute extends RouteQuote {
  /** In the order in which the tokens go. */
  readonly edges: readonly PoolEdge[]
  /** The route that this one extends by an edge. */
  readonly parent?: PartialRoute
}

interface SearchResult {
  /** Complete routes, by whatever pool is the last; those of fewer hops first. */
  readonly routes: readonly PartialRoute[]
  /** Of pools about which nothing is known. */
  readonly missing: readonly MissingState[]
  /** Of routes whose amount is only a bound: a pool refuses the bound, and perhaps takes the amount. */
  readonly missingIfNoRoute: readonly MissingState[]
  /** A pool took the amount and gave nothing for it. */
  readonly isTooLittle: boolean
}

/**
 * Goes from token to token (from the end to the start for an exact amount out) and keeps the best routes to each token: the rest of a route
 * does not depend on its beginning, and more of one token never gives less of another. Where a pool refuses the best amount, the smaller
 * amounts of dominated routes are tried. Where gas costs something, routes that use less gas are kept, too.
 * A pool with missing state counts as the best that it can be: its state is read only if the route would then be the best.
 * @param versions the route passes pools of these only
 */
export function search(
  graph: PoolGraph,
  query: RouteQuery,
  versions: ReadonlySet<string>,
  isGasFree: boolean,
  isPruned: PruneRule = () => false,
): SearchResult {
  const { tokenIn, tokenOut, exact, amountRaw } = query
  const isForward = exact === 'in'
  const [start, end] = isForward ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const inner = innerTokens(query)
  const complete: PartialRoute[] = []
  const bestTo = new Map<string, readonly PartialRoute[]>()
  const missing: MissingState[] = []
  const missingIfNoRoute: MissingState[] = []
  let isTooLittle = false

  const targets = [...inner, end]
  const last = [end]
  const front = new ParetoFront(exact, isGasFree)
  let smaller: Map<PartialRoute, readonly PartialRoute[]> | undefined

  function extend(route: PartialRoute, edge: PoolEdge, extended: PartialRoute[]): void {
    const { protocol, pool, passage } = edge
    const hopsLeft = maxHops - route.edges.length - 1
    const isEnd = (isForward ? passage.tokenOut : passage.tokenIn) === end
    if (hopsLeft < (isEnd ? 0 : 1) || visits(route, pool.address) || isPruned(route, edge, hopsLeft)) return
    const passed = edge.pass(exact, route.amountRaw)
    if (passed === undefined) {
      const given = atBest(edge, exact, route.amountRaw, undefined, route.unknowns.length > 0)
      if (given) extended.push(extendedBy(edge, route, given, route.unknowns, exact))
      else missingIfNoRoute.push(...route.unknowns)
      // For an exact amount out, dominated routes need even more of the pool.
      if (isForward) for (const each of smallerThan(route)) extend(each, edge, extended)
    } else if ('missing' in passed) {
      const given = atBest(edge, exact, route.amountRaw, passed, false)
      const unknowns = [...route.unknowns, { protocol, pool: pool.address, missing: passed.missing }]
      if (!given) missing.push(...unknowns)
      else if (given.amountRaw > 0n) extended.push(extendedBy(edge, route, given, unknowns, exact))
    } else if (passed.amountRaw <= 0n) isTooLittle = true
    else extended.push(extendedBy(edge, route, passed, route.unknowns, exact))
  }

  /** Routes that were left out for one that brings too much for a pool, or for one that it extends. */
  function smallerThan(route: PartialRoute): readonly PartialRoute[] {
    smaller ??= new Map()
    const known = smaller.get(route)
    if (known) return known
    const found = [...front.disqualify(route)]
    smaller.set(route, found)
    const edge = route.edges.at(-1)
    if (route.parent && edge) for (const each of smallerThan(route.parent)) extend(each, edge, found)
    return found
  }

  const empty: PartialRoute = { amountRaw, gasUnits: 0n, firstWriteUnits: 0n, edges: [], unknowns: [] }
  let open: readonly (readonly [string, readonly PartialRoute[]])[] = [[start, [empty]]]
  for (let hop = 1; hop <= maxHops && open.length > 0; hop += 1) {
    const next: [string, readonly PartialRoute[]][] = []
    for (const to of hop < maxHops ? targets : last) {
      const extended: PartialRoute[] = []
      for (const [from, routes] of open) {
        for (const edge of isForward ? graph.edgesBetween(from, to) : graph.edgesBetween(to, from)) {
          if (versions.has(edge.protocol.version)) for (const route of routes) extend(route, edge, extended)
        }
      }
      if (extended.length === 0) continue
      if (to === end) {
        complete.push(...extended)
      } else {
        const shorter = bestTo.get(to) ?? []
        const best = front.of([...shorter, ...extended])
        bestTo.set(to, best)
        // The shorter ones were extended already.
        const added = best.filter((route) => !shorter.includes(route))
        if (added.length > 0) next.push([to, added])
      }
    }
    open = next
  }
  return { routes: complete, missing, missingIfNoRoute, isTooLittle }
}

const visits = ({ edges }: PartialRoute, pool: string) => edges.some((edge) => edge.pool.address === pool)

/** For an exact amount out, routes grow from their end. */
function extendedBy(
  edge: PoolEdge,
  route: PartialRoute,
  passed: Passed,
  unknowns: readonly MissingState[],
  exact: 'in' | 'out',
): PartialRoute {
  return {
    amountRaw: passed.amountRaw,
    gasUnits: route.gasUnits + passed.gasUnits,
    firstWriteUnits: route.firstWriteUnits + (passed.firstWriteUnits ?? 0n),
    edges: exact === 'in' ? [...route.edges, edge] : [edge, ...route.edges],
    unknowns,
    parent: route,
  }
}

/**
 * The routes to one token that no other route dominates. A route dominates another if its amount is certain and at least as good, if it uses
 * no more gas where gas costs something, and if it leaves as many pools to pass. The last counts for pools of more than two tokens only,
 * which a route could meet again: a second pass would find another state than the one that was read.
 */
class ParetoFront {
  readonly #exact: 'in' | 'out'
  readonly #isGasFree: boolean
  #dominated: Map<PartialRoute, PartialRoute[]> | undefined
  #disqualified: Set<PartialRoute> | undefined

  constructor(exact: 'in' | 'out', isGasFree: boolean) {
    this.#exact = exact
    this.#isGasFree = isGasFree
  }

  of(routes: readonly PartialRoute[]): readonly PartialRoute[] {
    const front: PartialRoute[] = []
    for (const route of routes) {
      const better = front.find((other) => this.#dominates(other, route))
      if (better) {
        this.#leaveOut(route, better)
        continue
      }
      for (let index = front.length - 1; index >= 0; index -= 1) {
        const other = front[index]
        if (!other || !this.#dominates(route, other)) continue
        front.splice(index, 1)
        this.#leaveOut(other, route)
      }
      front.push(route)
    }
    return front
  }

  /** Says that a pool refuses a route's amount. The route dominates no other from now on. @returns those that were left out for it */
  disqualify(route: PartialRoute): readonly PartialRoute[] {
    this.#disqualified ??= new Set()
    this.#disqualified.add(route)
    return this.#dominated?.get(route) ?? []
  }

  #leaveOut(route: PartialRoute, better: PartialRoute): void {
    this.#dominated ??= new Map()
    getOrCreate(this.#dominated, better, (): PartialRoute[] => []).push(route)
  }

  #dominates(a: PartialRoute, b: PartialRoute): boolean {
    return (
      a.unknowns.length === 0 &&
      !this.#disqualified?.has(a) &&
      (this.#exact === 'in' ? a.amountRaw >= b.amountRaw : a.amountRaw <= b.amountRaw) &&
      (this.#isGasFree || a.gasUnits <= b.gasUnits) &&
      a.edges.every(({ pool }) => pool.tokens.length === 2 || visits(b, pool.address))
    )
  }
}

/** Whether a route need not be extended by an edge, with so many hops left after it. */
type PruneRule = (route: PartialRoute, edge: PoolEdge, hopsLeft: number) => boolean

/**
 * Prunes routes whose upper bound is below a gain: the best price from their token to the end, and no more gas.
 * @param gasCost in the token of the other side
 */
function pruneBelow(gainRaw: bigint, graph: PoolGraph, query: RouteQuery, gasCost: GasCost): PruneRule {
  const rates = maxRatesOf(graph, query)
  const isForward = query.exact === 'in'
  // Gas is rounded down, and floating point to either side.
  const minGain = Number(gainRaw) - Math.abs(Number(gainRaw)) * slack - 1
  const gasRate = gasRateOf(gasCost) * (1 - slack)
  return ({ amountRaw, gasUnits }, { passage, maxRate }, hopsLeft) => {
    const rate = maxRate() * (rates[hopsLeft]?.get(isForward ? passage.tokenOut : passage.tokenIn) ?? 0)
    const maxWorth = isForward ? Number(amountRaw) * rate * (1 + slack) : (-Number(amountRaw) / rate) * (1 - slack)
    const upperBound = maxWorth - Number(swapGasUnits + gasUnits) * gasRate
    return upperBound < minGain
  }
}
