import type { Router, Passed, PoolProtocol } from '../protocol.ts'
import { netGain, hugeGasUnits, swapGasUnits, type GasCost } from './gas-cost.ts'
import { type PoolEdge, type PoolGraph, type RouteOptions, perGraph } from './graph.ts'
import { quoteAlong } from './split.ts'

/** An exact amount that is to go from one token to another, by way of others. All tokens are addresses. */
export interface RouteQuery {
  readonly tokenIn: string
  readonly tokenOut: string
  readonly intermediates: readonly string[]
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

interface SearchResult {
  /** At the other end of the course, by whatever pool was the last; those of fewer hops first. */
  readonly routes: readonly PartialRoute[]
  /** Of pools that might give anything. */
  readonly missing: readonly MissingState[]
  /** Of ways that at their best would be refused, and otherwise perhaps not. */
  readonly missingIfNoRoute: readonly MissingState[]
  /** A pool took the amount and gave nothing for it. */
  readonly isTooLittle: boolean
}

export const maxHops = 3

/**
 * Goes from token to token, for an exact amount out from the end to the start, and keeps at each the best way there: which
 * one it was does not matter for what follows, and more of one token never gives less of another; where a pool refuses it, it is less that
 * goes through. Where gas is to be paid for, those are kept that are the best with as little gas. A pool that more must be known of is gone
 * through as if it were the best that it could be: it is read on only where that would be the best.
 */
export function search(
  lanes: PoolGraph,
  { tokenIn, tokenOut, intermediates: between, exact, amountRaw }: RouteQuery,
  versions: ReadonlySet<string>,
  isGasFree: boolean,
  isHopeless: IsPruned = () => false,
): SearchResult {
  const forward = exact === 'in'
  const [start, end] = forward ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const via = between.filter((token) => token !== start && token !== end)
  const ends: PartialRoute[] = []
  const best = new Map<string, readonly PartialRoute[]>()
  const wanted: MissingState[] = []
  const unsure: MissingState[] = []
  let tooLittle = false

  const foremost = new ParetoFront(exact, isGasFree)
  const lesser = new Map<PartialRoute, readonly PartialRoute[]>()

  function goThrough(lane: PoolEdge, way: PartialRoute, arrivals: PartialRoute[]): void {
    const { protocol, pool, passage } = lane
    const left = maxHops - way.edges.length - 1
    const isEnd = (forward ? passage.tokenOut : passage.tokenIn) === end
    if (left < (isEnd ? 0 : 1) || visits(way, pool.address) || isHopeless(way, lane, left)) return
    const passed = lane.pass(exact, way.amountRaw)
    if (passed === undefined) {
      unsure.push(...way.unknowns)
      // Where an exact amount is to come out, others need even more of the pool.
      if (forward) for (const less of lesserThan(way)) goThrough(lane, less, arrivals)
    } else if ('missing' in passed) {
      const { missing, atBestRaw } = passed
      const doubts = [...way.unknowns, { protocol, pool: pool.address, missing }]
      if (atBestRaw === undefined) wanted.push(...doubts)
      else if (atBestRaw > 0n || !forward)
        arrivals.push(extendRoute(way, lane, { amountRaw: atBestRaw > 0n ? atBestRaw : 1n, gasUnits: 0n }, doubts, exact))
    } else if (passed.amountRaw <= 0n) tooLittle = true
    else arrivals.push(extendRoute(way, lane, passed, way.unknowns, exact))
  }

  /** Ways that were left out for one that brings too much, or for one that it goes on from. */
  function lesserThan(way: PartialRoute): readonly PartialRoute[] {
    const known = lesser.get(way)
    if (known) return known
    const found = [...foremost.dominatedBy(way)]
    lesser.set(way, found)
    const lane = way.edges.at(-1)
    if (way.parent && lane) for (const less of lesserThan(way.parent)) goThrough(lane, less, found)
    return found
  }

  const atStart: PartialRoute = { amountRaw, gasUnits: 0n, firstWriteUnits: 0n, edges: [], unknowns: [] }
  let here: readonly (readonly [string, readonly PartialRoute[]])[] = [[start, [atStart]]]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next: [string, readonly PartialRoute[]][] = []
    for (const to of hop < maxHops ? [...via, end] : [end]) {
      const arrivals: PartialRoute[] = []
      for (const [from, ways] of here) {
        for (const lane of forward ? lanes.edgesBetween(from, to) : lanes.edgesBetween(to, from)) {
          if (versions.has(lane.protocol.version)) for (const way of ways) goThrough(lane, way, arrivals)
        }
      }
      if (to === end) {
        ends.push(...arrivals)
      } else {
        const before = best.get(to) ?? []
        const known = foremost.add([...before, ...arrivals])
        best.set(to, known)
        // What a shorter way has brought already is gone on from already.
        const further = known.filter((one) => !before.includes(one))
        if (further.length > 0) next.push([to, further])
      }
    }
    here = next
  }
  return { routes: ends, missing: wanted, missingIfNoRoute: unsure, isTooLittle: tooLittle }
}

export interface PricedRoute {
  readonly edges: readonly PoolEdge[]
  readonly router: Router
  /** The other side of the swap. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

/** With what the trader has of it after paying for gas. */
interface Incumbent {
  readonly route: PricedRoute
  readonly gainRaw: bigint
}

interface BestRoute {
  /** Undefined where no route gives anything. */
  readonly best: PricedRoute | undefined
  /** What must be known to be sure that there is none better. */
  readonly missing: readonly MissingState[]
  readonly isTooLittle: boolean
}

/**
 * The route that leaves the trader most after paying for gas; the shorter of equals.
 * @param gasCost what that much gas costs, in the token of the other side
 */
export function bestRoute(lanes: PoolGraph, course: RouteQuery, ways: RouteOptions, gasCost: GasCost): BestRoute {
  const tried = firstIncumbent(lanes, course, ways, gasCost)
  const isHopeless = tried && pruneBelow(lanes, course, tried.gainRaw, gasCost)
  const isGasFree = gasCost(hugeGasUnits) === 0n
  const explored = ways.versionSets.map((mix) => search(lanes, course, mix, isGasFree, isHopeless))
  let best: Incumbent | undefined
  const hopes: { arrival: PartialRoute; gainRaw: bigint }[] = []
  for (const { routes: arrivals } of explored) {
    for (const arrival of arrivals) {
      const { amountRaw, firstWriteUnits } = arrival
      const gasUnits = swapGasUnits + arrival.gasUnits
      const gainRaw = netGain(course.exact, amountRaw, gasUnits, gasCost)
      if (best && gainRaw <= best.gainRaw) continue
      if (arrival.unknowns.length > 0) {
        hopes.push({ arrival, gainRaw })
        continue
      }
      const router = carrierOf(ways, arrival)
      if (router) best = { route: { edges: arrival.edges, router, amountRaw, gasUnits, firstWriteUnits }, gainRaw }
    }
  }
  // It is found again, but where a way was kept for it that costs more gas farther on.
  if (tried && (!best || tried.gainRaw > best.gainRaw)) best = tried
  const certainRaw = best?.gainRaw
  const better = hopes.filter(({ arrival, gainRaw }) => (certainRaw === undefined || gainRaw > certainRaw) && carrierOf(ways, arrival))
  const wanted = [
    ...explored.flatMap((each) => (best ? each.missing : [...each.missing, ...each.missingIfNoRoute])),
    ...better.flatMap(({ arrival }) => arrival.unknowns),
  ]
  if (best) rememberBest(lanes, course, best.route.edges)
  return { best: best?.route, missing: wanted, isTooLittle: explored.some((each) => each.isTooLittle) }
}

const carrierOf = (ways: RouteOptions, { edges: lanes }: PartialRoute): Router | undefined =>
  ways.routerFor(lanes.map(({ protocol }) => protocol.version))

/**
 * The other side at the pools' marginal prices and without fees: what the price impact is measured against. Rounded up,
 * so that it is never zero.
 */
export function spotAlong(lanes: readonly PoolEdge[], exact: 'in' | 'out', amountRaw: bigint): bigint {
  let [numerator, denominator] = [amountRaw, 1n]
  for (const { protocol, pool, passage } of lanes) {
    const spot = protocol.spot(pool, passage)
    numerator *= exact === 'in' ? spot.numerator : spot.denominator
    denominator *= exact === 'in' ? spot.denominator : spot.numerator
  }
  return (numerator + denominator - 1n) / denominator
}

/** A pool of which more must be known. */
export interface MissingState {
  readonly protocol: PoolProtocol
  /** Its address. */
  readonly pool: string
  readonly missing: unknown
}

/** A way that has been gone, with what came of the amount at its end. */
interface PartialRoute {
  readonly amountRaw: bigint
  /** Of the pools. */
  readonly gasUnits: bigint
  /** As of a pass. */
  readonly firstWriteUnits: bigint
  /** In the order in which the tokens go. */
  readonly edges: readonly PoolEdge[]
  /** What must be known of its pools; until then the amount is what it could be at best. */
  readonly unknowns: readonly MissingState[]
  /** The way that it goes on from. */
  readonly parent?: PartialRoute
}

/** A way and one more lane: behind it, or before it where an exact amount out is followed from its end. */
function extendRoute(
  way: PartialRoute,
  lane: PoolEdge,
  passed: Passed,
  doubts: readonly MissingState[],
  exact: 'in' | 'out',
): PartialRoute {
  return {
    amountRaw: passed.amountRaw,
    gasUnits: way.gasUnits + passed.gasUnits,
    firstWriteUnits: way.firstWriteUnits + (passed.firstWriteUnits ?? 0n),
    edges: exact === 'in' ? [...way.edges, lane] : [lane, ...way.edges],
    unknowns: doubts,
    parent: way,
  }
}

/** More out, or less in, or the same. */
const noWorse = (aRaw: bigint, bRaw: bigint, exact: 'in' | 'out') => (exact === 'in' ? aRaw >= bRaw : aRaw <= bRaw)

/**
 * Those to the same token than which no other is as good beyond doubt, takes as little gas where that costs anything, and leaves as many
 * pools to go on through: a pool of more than two tokens could be met again, and must not be, since its second pass would find another
 * state than was read.
 */
class ParetoFront {
  readonly #exact: 'in' | 'out'
  readonly #isGasFree: boolean
  readonly #behind = new Map<PartialRoute, PartialRoute[]>()
  readonly #refused = new Set<PartialRoute>()

  constructor(exact: 'in' | 'out', isGasFree: boolean) {
    this.#exact = exact
    this.#isGasFree = isGasFree
  }

  add(arrivals: readonly PartialRoute[]): readonly PartialRoute[] {
    const kept: PartialRoute[] = []
    for (const arrival of arrivals) {
      const better = kept.find((other) => this.#dominates(other, arrival))
      if (better) {
        this.#putBehind(better, arrival)
        continue
      }
      for (let index = kept.length - 1; index >= 0; index -= 1) {
        const other = kept[index]
        if (!other || !this.#dominates(arrival, other)) continue
        kept.splice(index, 1)
        this.#putBehind(arrival, other)
      }
      kept.push(arrival)
    }
    return kept
  }

  /** Of one that brings too much for a pool: those that bring less, and were left out for it. From now on none is. */
  dominatedBy(arrival: PartialRoute): readonly PartialRoute[] {
    this.#refused.add(arrival)
    return this.#behind.get(arrival) ?? []
  }

  #putBehind(better: PartialRoute, worse: PartialRoute): void {
    const behind = this.#behind.get(better)
    if (behind) behind.push(worse)
    else this.#behind.set(better, [worse])
  }

  #dominates(a: PartialRoute, b: PartialRoute): boolean {
    return (
      a.unknowns.length === 0 &&
      !this.#refused.has(a) &&
      noWorse(a.amountRaw, b.amountRaw, this.#exact) &&
      // That a way in doubt may be cheaper is no reason to read on.
      (this.#isGasFree || b.unknowns.length > 0 || a.gasUnits <= b.gasUnits) &&
      a.edges.every(({ pool }) => pool.tokens.length === 2 || visits(b, pool.address))
    )
  }
}

const visits = ({ edges: lanes }: PartialRoute, pool: string) => lanes.some((lane) => lane.pool.address === pool)

/** Whether a way need not go on through a lane, with so many hops left after it. */
type IsPruned = (way: PartialRoute, lane: PoolEdge, left: number) => boolean

/** By token, out per in between it and the end from which no amount comes or to which it goes, at best; absent where nothing leads there. */
type Reach = ReadonlyMap<string, number>

/** More than floating point loses on the way. */
const slack = 1e-9

const known = perGraph<readonly Reach[]>()
const winners = perGraph<readonly PoolEdge[]>()

/**
 * Whether a way could not come near that gain though it got nothing but the best prices from where it is, and paid no more gas.
 * @param gasCost what that much gas costs, in the token of the other side
 */
function pruneBelow(lanes: PoolGraph, course: RouteQuery, gainRaw: bigint, gasCost: GasCost): IsPruned {
  const reaches = reachesOf(lanes, course)
  const forward = course.exact === 'in'
  // Gas is rounded down, and floating point to either side.
  const gain = Number(gainRaw) - Math.abs(Number(gainRaw)) * slack - 1
  const gasRate = (Number(gasCost(hugeGasUnits)) / Number(hugeGasUnits)) * (1 - slack)
  return ({ amountRaw, gasUnits }, { passage, bestRate }, left) => {
    const rate = bestRate() * (reaches[left]?.get(forward ? passage.tokenOut : passage.tokenIn) ?? 0)
    const worth = forward ? Number(amountRaw) * rate * (1 + slack) : (-Number(amountRaw) / rate) * (1 - slack)
    return worth - Number(swapGasUnits + gasUnits) * gasRate < gain
  }
}

/** Tried first for the next amount: the best price may be that of a pool which holds next to nothing. */
function rememberBest(lanes: PoolGraph, course: RouteQuery, route: readonly PoolEdge[]): void {
  winners(lanes).set(keyOf(course), route)
}

/**
 * The better of the way that was the best for the last amount and the one with the best price; undefined where neither gives anything, and
 * where amounts may get better prices than those of the pools, so that nothing can be left out for it.
 */
function firstIncumbent(
  lanes: PoolGraph,
  course: RouteQuery,
  { versionSets: mixes, protocols, routerFor: carrier }: RouteOptions,
  gasCost: GasCost,
): Incumbent | undefined {
  if (!protocols.some(({ spotIsBest }) => spotIsBest)) return undefined
  const { exact, amountRaw } = course
  const first = ratedRoutes(lanes, course)[0]?.edges
  const winner = winners(lanes).get(keyOf(course))
  const isOne = first?.length === winner?.length && first?.every((lane, index) => lane === winner?.[index])
  let best: Incumbent | undefined
  for (const route of isOne ? [first] : [winner, first]) {
    const versions = route?.map(({ protocol }) => protocol.version)
    if (!route || !versions || !mixes.some((mix) => versions.every((each) => mix.has(each)))) continue
    const router = carrier(versions)
    const gone = router && quoteAlong(route, exact, amountRaw, true)
    if (!gone) continue
    const { otherRaw, firstWriteUnits } = gone
    const gasUnits = swapGasUnits + gone.gasUnits
    const gainRaw = netGain(exact, otherRaw, gasUnits, gasCost)
    if (!best || gainRaw > best.gainRaw) best = { route: { edges: route, router, amountRaw: otherRaw, gasUnits, firstWriteUnits }, gainRaw }
  }
  return best
}

const keyOf = ({ exact, tokenIn, tokenOut }: RouteQuery): string => `${exact} ${tokenIn} ${tokenOut}`

/** By the number of hops that may be gone yet: the same for all amounts, and remembered. */
function reachesOf(lanes: PoolGraph, course: RouteQuery): readonly Reach[] {
  const ofLanes = known(lanes)
  const key = keyOf(course)
  const found = ofLanes.get(key) ?? reckonReaches(lanes, course)
  ofLanes.set(key, found)
  return found
}

function reckonReaches(lanes: PoolGraph, { exact, tokenIn, tokenOut, intermediates: between }: RouteQuery): readonly Reach[] {
  const forward = exact === 'in'
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  let reach: Reach = new Map([[forward ? tokenOut : tokenIn, 1]])
  const reaches = [reach]
  for (let left = 1; left < maxHops; left += 1) {
    const next = new Map(reach)
    for (const from of via) {
      for (const [to, rate] of reach) {
        for (const lane of forward ? lanes.edgesBetween(from, to) : lanes.edgesBetween(to, from)) {
          next.set(from, Math.max(next.get(from) ?? 0, lane.bestRate() * rate))
        }
      }
    }
    reaches.push((reach = next))
  }
  return reaches
}

/** A way with the price of its pools, fees included: no amount gets a better one. */
interface RatedRoute {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** Out per in, in smallest units, rounded up. */
  readonly rateX128: bigint
}

type Started = Pick<RatedRoute, 'edges' | 'rateX128'> & { readonly token: string }

const oneX128 = 2n ** 128n
/** Of the ways to each token between, only so many are gone on. */
const mostOnward = 6
/** Of all, only so many are ever tried. */
const mostRated = 32

const knownOfRatedRoutes = perGraph<readonly RatedRoute[]>()

/** The ways from one token to another, those with the best price for next to nothing first: the same for all amounts, and remembered. */
export function ratedRoutes(lanes: PoolGraph, course: Pick<RouteQuery, 'tokenIn' | 'tokenOut' | 'intermediates'>): readonly RatedRoute[] {
  const ofLanes = knownOfRatedRoutes(lanes)
  const key = `${course.tokenIn} ${course.tokenOut}`
  const found = ofLanes.get(key) ?? rate(lanes, course)
  ofLanes.set(key, found)
  return found
}

/** What an amount would be at that price: no less in, no more out. */
export const amountAtRate = (rateX128: bigint, exact: 'in' | 'out', amountRaw: bigint): bigint =>
  exact === 'in' ? ((amountRaw * rateX128) >> 128n) + 1n : (amountRaw << 128n) / rateX128

function rate(
  lanes: PoolGraph,
  { tokenIn, tokenOut, intermediates: between }: Pick<RouteQuery, 'tokenIn' | 'tokenOut' | 'intermediates'>,
): readonly RatedRoute[] {
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  const goOn = (way: Started, lane: PoolEdge, token: string): Started => ({
    token,
    edges: [...way.edges, lane],
    rateX128: ((way.rateX128 * lane.rateX128()) >> 128n) + 1n,
  })
  const found: Started[] = []
  let here: readonly Started[] = [{ token: tokenIn, edges: [], rateX128: oneX128 }]
  for (let hop = 1; hop <= maxHops; hop += 1) {
    const next: Started[] = []
    for (const to of hop < maxHops ? [...via, tokenOut] : [tokenOut]) {
      const arrived = here.flatMap((way) =>
        way.edges.some(({ passage }) => passage.tokenIn === to) || way.token === to
          ? []
          : lanes
              .edgesBetween(way.token, to)
              .filter(({ pool }) => !way.edges.some((lane) => lane.pool.address === pool.address))
              .map((lane) => goOn(way, lane, to)),
      )
      if (to === tokenOut) found.push(...arrived)
      else next.push(...arrived.toSorted(byRate).slice(0, mostOnward))
    }
    here = next
  }
  return found
    .toSorted(byRate)
    .slice(0, mostRated)
    .map((way) => ({ edges: way.edges, rateX128: way.rateX128, versions: way.edges.map(({ protocol }) => protocol.version) }))
}

const byRate = (a: Started, b: Started) => (a.rateX128 === b.rateX128 ? 0 : a.rateX128 > b.rateX128 ? -1 : 1)
