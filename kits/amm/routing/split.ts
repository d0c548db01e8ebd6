import type { Swap } from '../../../core/contracts/index.ts'
import type { Estimate, Router } from '../protocol.ts'
import { areDisjoint, Candidate, isAsked, isSameRoute, shareOf, wholeShare, type HasEdges } from './candidate.ts'
import { gasRateOf, type PricedRoute, netGain, swapGasUnits, type GasCost } from './gas-cost.ts'
import { quoteAlong, type MissingState, type PoolEdge, type PoolGraph, type RouteOptions, type RouteQuery } from './graph.ts'
import { ratedRoutes, slack, type RatedRoute } from './rated-routes.ts'

/** 7 → "0.35" */
export const shareDecimal = (share: number): string => String((share * 5) / 100)

/**
 * The gas of each further route of a split, without its pools. Measured on the devnet with SwapRouter02: another call of its multicall through
 * one pool of concentrated liquidity uses 68,000 to 81,000, of which some 55,000 are the pool's.
 */
const partGasUnits = 20_000n
/** How many candidates are the best for a twentieth, and how many more have no pool in common with the best ones. */
const [maxBestCandidates, maxDisjointCandidates] = [12, 2]

/** What is to be split. */
interface SplitQuery {
  readonly swap: Swap
  readonly query: RouteQuery
  readonly options: RouteOptions
  /** In the token of the other side. */
  readonly gasCost: GasCost
  /** The best single route. */
  readonly best: PricedRoute
}

/** One of several routes that a swap takes at once. */
interface Part {
  readonly edges: readonly PoolEdge[]
  /** In twentieths. */
  readonly share: number
  /** Of the exact amount; those of all parts add up to it. */
  readonly exactRaw: bigint
  readonly otherRaw: bigint
  /** Of its pools alone. */
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

interface SplitRoute {
  readonly parts: readonly Part[]
  readonly router: Router
  /** The other side of the swap, all parts together. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

/**
 * Two or three routes at once, without a common pool, that leave the trader more after paying for gas than the best single one. Undefined
 * where there are none. If one of them has missing state, returns that state. They are chosen by estimates, and then passed exactly.
 */
export function bestSplit(graph: PoolGraph, split: SplitQuery): SplitRoute | { readonly missing: readonly MissingState[] } | undefined {
  const { query, best, gasCost, options } = split
  if (shareOf(query.amountRaw, 1) === 0n || !options.routers.some(({ splits }) => splits)) return undefined
  const single = new Candidate(best.edges, query)
  const isPart = !isAsked(best) && routerOf([single], split) !== undefined
  const terms = new Terms(split, isPart ? single.share(wholeShare - 1) : undefined)
  const rated = ratedRoutes(graph, query, options).routes
  const paying = payingRoutes(rated, split, terms)
  if (paying.length === 0) return undefined
  const choice = chooseRoutes(splitCandidates(rated, paying, isPart ? single : undefined, split, terms), split, terms)
  if (!choice) return undefined
  if (choice.unknowns.length > 0) return { missing: choice.unknowns }
  const parts = partsOf(choice, query)
  if (!parts) return undefined
  const sumOf = (field: 'otherRaw' | 'gasUnits' | 'firstWriteUnits') => parts.reduce((sum, part) => sum + part[field], 0n)
  const amountRaw = sumOf('otherRaw')
  const gasUnits = swapGasUnits + sumOf('gasUnits') + partGasUnits * BigInt(parts.length - 1)
  // The last part has what rounding left, which matters where a twentieth is only a few units.
  return netGain(query.exact, amountRaw, gasUnits, gasCost) > netGain(query.exact, best.amountRaw, best.gasUnits, gasCost)
    ? { parts, router: choice.router, amountRaw, gasUnits, firstWriteUnits: sumOf('firstWriteUnits') }
    : undefined
}

/** The first router that takes these routes together; of a single one, that takes it beside others. */
function routerOf(routes: readonly Candidate[], { options: { routers }, swap }: SplitQuery): Router | undefined {
  const versions = routes.map((route) => route.versions)
  return routers.find((router) => router.splits?.(versions, swap))
}

/** The last part has what rounding left. Undefined where that is too much for its pools. */
function partsOf({ routes, shares }: Choice, { exact, amountRaw }: RouteQuery): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const [index, { edges }] of routes.entries()) {
    const share = shares[index] ?? 0
    const exactRaw = index === routes.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const quote = quoteAlong(edges, exact, exactRaw, true)
    if (!quote) return undefined
    const { amountRaw: otherRaw, gasUnits, firstWriteUnits } = quote
    parts.push({ edges, share, exactRaw, otherRaw, gasUnits, firstWriteUnits })
  }
  return parts
}

/** What is compared, in floating point and in the token of the other side. */
class Terms {
  readonly exact: 'in' | 'out'
  readonly gasRate: number
  readonly partCost: number
  /** What the best single route leaves after paying for gas. */
  readonly gainOfBest: number
  /** What the last twentieth brings on the best single route; what any brings, where the route is no part. */
  readonly lastShare: number
  /** How far that may be off. */
  readonly #error: number

  constructor({ query: { exact }, best, gasCost }: SplitQuery, allButOne: Estimate | undefined) {
    const amount = Number(best.amountRaw)
    this.exact = exact
    this.gasRate = gasRateOf(gasCost)
    this.partCost = Number(partGasUnits) * this.gasRate
    this.gainOfBest = this.worth(amount) - Number(best.gasUnits) * this.gasRate
    this.lastShare = allButOne ? this.worth(amount) - this.worth(allButOne.amount) : this.worth(amount) / wholeShare
    this.#error = allButOne ? allButOne.error * allButOne.amount : 0
  }

  /** The other side as a gain: an output, or an input as a negative number. */
  worth(amount: number): number {
    return this.exact === 'in' ? amount : -amount
  }

  /** Whether a twentieth gains so much more than the last one of the best route that, times nineteen, it pays for another call. */
  pays(amount: number, error: number): boolean {
    return (this.worth(amount) + error * amount - this.lastShare + this.#error) * (wholeShare - 1) > this.partCost
  }
}

/**
 * The routes that pay with a twentieth. A twentieth of the swap must do better on another route than the last twentieth does on the best single
 * one. Routes are tried in the order of their prices; most swaps are so small that none comes near, and then no pool is passed.
 */
function payingRoutes(rated: readonly RatedRoute[], split: SplitQuery, terms: Terms): readonly Candidate[] {
  const { query, best } = split
  const amount = Number(query.amountRaw) / wholeShare
  const paying: Candidate[] = []
  for (const route of rated) {
    if (!terms.pays(query.exact === 'in' ? amount * route.rate : amount / route.rate, slack)) break
    if (isAsked(route) || isSameRoute(route.edges, best.edges)) continue
    const candidate = new Candidate(route.edges, query)
    const share = candidate.share(1)
    if (share && terms.pays(share.amount, share.error) && routerOf([candidate], split)) paying.push(candidate)
  }
  return paying
}

interface Choice {
  readonly routes: readonly Candidate[]
  readonly router: Router
  /** In twentieths, in the order of the routes. */
  readonly shares: readonly number[]
  readonly unknowns: readonly MissingState[]
}

/**
 * The best two or three candidates without a common pool. A set is compared only where its bound is above the best one known: what its routes
 * gain with their twentieths beyond a price of a twentieth, whatever that is, and twenty times that price.
 */
function chooseRoutes(candidates: readonly Candidate[], split: SplitQuery, terms: Terms): Choice | undefined {
  const { gasRate, partCost } = terms
  const ofSwap = Number(swapGasUnits) * gasRate
  let choice: Choice | undefined
  let maxGain = terms.gainOfBest
  const consider = (routes: readonly Candidate[], found = allocate(routes)): void => {
    if (!found || found.shares.includes(0)) return
    const parts = routes.map((route, index) => route.share(found.shares[index] ?? 0))
    const gasUnits = parts.reduce((sum, part) => sum + (part?.gasUnits ?? 0), 0)
    const amount = parts.reduce((sum, part) => sum + (part?.amount ?? 0), 0)
    const gain = terms.worth(amount) - ofSwap - gasUnits * gasRate - partCost * (routes.length - 1)
    const router = gain > maxGain ? routerOf(routes, split) : undefined
    if (!router) return
    choice = { routes, router, shares: found.shares, unknowns: parts.flatMap((part) => part?.unknowns ?? []) }
    maxGain = gain
  }
  const first = firstDisjoint(candidates)
  const found = allocate(first)
  if (first.length > 1) consider(first, found)
  const priceOfShare = found?.minGain ?? terms.lastShare
  const bounds = candidates.map((each) => each.gainBeyond(priceOfShare) - (each.share(1)?.gasUnits ?? 0) * gasRate - partCost)
  const ofAll = wholeShare * priceOfShare - ofSwap + partCost
  for (const [index, a] of candidates.entries()) {
    const ofOne = ofAll + (bounds[index] ?? 0)
    for (let second = index + 1; second < candidates.length; second += 1) {
      const b = candidates[second]
      if (!b || !areDisjoint(a, b)) continue
      const ofTwo = ofOne + (bounds[second] ?? 0)
      if (ofTwo > maxGain) consider([a, b])
      for (let third = second + 1; third < candidates.length; third += 1) {
        const c = candidates[third]
        if (c && ofTwo + (bounds[third] ?? 0) > maxGain && areDisjoint(a, c) && areDisjoint(b, c)) consider([a, b, c])
      }
    }
  }
  return choice
}

/** Up to three candidates without a common pool, of which none is left out for a later one. */
function firstDisjoint(candidates: readonly Candidate[]): readonly Candidate[] {
  const found: Candidate[] = []
  for (const each of candidates) if (found.length < 3 && found.every((other) => areDisjoint(each, other))) found.push(each)
  return found
}

/**
 * Gives twentieth by twentieth to the route that gains most with the next one. That is the best allocation, because no route gains more with
 * a later twentieth than with an earlier one. Undefined where no route takes some of it.
 */
function allocate(routes: readonly Candidate[]): { readonly shares: readonly number[]; readonly minGain: number } | undefined {
  const shares = routes.map(() => 0)
  let minGain = 0
  for (let allocated = 0; allocated < wholeShare; allocated += 1) {
    let best = -1
    let maxGain = -Infinity
    for (let index = 0; index < routes.length; index += 1) {
      const gain = routes[index]?.marginalGain(shares[index] ?? 0) ?? -Infinity
      if (gain <= maxGain) continue
      best = index
      maxGain = gain
    }
    if (best < 0) return undefined
    minGain = maxGain
    shares[best] = (shares[best] ?? 0) + 1
  }
  return { shares, minGain }
}

/** Routes that might have a share, the best single one among them where it may be a part. */
function splitCandidates(
  rated: readonly RatedRoute[],
  paying: readonly Candidate[],
  single: Candidate | undefined,
  split: SplitQuery,
  terms: Terms,
): readonly Candidate[] {
  const { query, best } = split
  const accepted = rated.flatMap((route): readonly Candidate[] => {
    const known = [...paying, ...(single ? [single] : [])].find(({ edges }) => isSameRoute(edges, route.edges))
    const candidate = known ?? new Candidate(route.edges, query)
    return isAsked(route) || !routerOf([candidate], split) ? [] : [candidate]
  })
  const ofBest = single?.share(wholeShare - 1) ? [single] : []
  // With so few routes, all are candidates.
  if (accepted.length <= maxBestCandidates) return [...new Set([...ofBest, ...accepted])]

  const bestForOne = paying.toSorted(bestFirst(1, terms))
  const [first = best] = bestForOne
  // If the best for a twentieth has a pool in common with the best single route: the best route for the other nineteen twentieths beside
  // it.
  const partner = areDisjoint(first, best)
    ? []
    : accepted
        .filter((route) => areDisjoint(route, first))
        .toSorted(bestFirst(wholeShare - 1, terms))
        .slice(0, 1)
  return [
    ...new Set([
      ...ofBest,
      ...bestForOne.slice(0, maxBestCandidates),
      ...bestDisjoint(best, paying, terms),
      ...bestDisjoint(first, paying, terms),
      ...partner,
    ]),
  ]
}

/**
 * The best for a quarter of the swap by other pools than those of a route, the best by others than those of both, and so on; and the same of those
 * that refuse a quarter, for a tenth. These have less liquidity, or nobody knows yet: a quote must not depend on what was read of them before.
 */
function bestDisjoint(from: HasEdges, routes: readonly Candidate[], terms: Terms): readonly Candidate[] {
  const disjoint = routes.filter((each) => areDisjoint(each, from))
  const bestFor = (count: number, among: readonly Candidate[]): readonly Candidate[] => {
    const found: Candidate[] = []
    for (const route of among.toSorted(bestFirst(count, terms)))
      if (found.length < maxDisjointCandidates && found.every((other) => areDisjoint(other, route))) found.push(route)
    return found
  }
  const [quarter, tenth] = [wholeShare / 4, wholeShare / 10]
  const refusing = disjoint.filter((route) => !route.share(quarter))
  return [...bestFor(quarter, disjoint), ...(refusing.length > 0 ? bestFor(tenth, refusing) : [])]
}

/** By what so many twentieths give. Routes that refuse that much come last. */
const bestFirst = (count: number, terms: Terms) => (a: Candidate, b: Candidate) => {
  const [ofA, ofB] = [a.share(count), b.share(count)]
  if (!ofA || !ofB) return ofA ? -1 : ofB ? 1 : 0
  return terms.worth(ofB.amount) - terms.worth(ofA.amount)
}
