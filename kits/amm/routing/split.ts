import type { Swap } from '../../../core/contracts/index.ts'
import type { Router } from '../protocol.ts'
import { type PricedRoute, netGain, swapGasUnits, type GasCost } from './best-route.ts'
import {
  amountAtRate,
  quoteAlong,
  ratedRoutes,
  versionsOf,
  type MissingState,
  type PoolEdge,
  type PoolGraph,
  type RouteQuery,
  type RouteQuote,
} from './graph.ts'

/** A swap is split in twentieths. */
export const wholeShare = 20

/** A share of an amount, in twentieths, rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** 7 → "0.35" */
export const shareDecimal = (share: number): string => String((share * 5) / 100)

/**
 * The gas of each further route of a split, without its pools. Measured on the devnet with SwapRouter02: another call of its multicall through
 * one pool of concentrated liquidity uses 68,000 to 81,000, of which some 55,000 are the pool's.
 */
const partGasUnits = 20_000n
/** How many candidates are the best for a twentieth, and how many more have no pool in common with the best ones. */
const [maxBestCandidates, maxDisjointCandidates] = [12, 2]
/** Of more candidates than `fewCandidates`, only sets with at least one of the leading ones are compared. */
const [fewCandidates, maxLeading] = [12, 4]

/** What is to be split, and by which routers. */
interface SplitQuery {
  readonly swap: Swap
  readonly query: RouteQuery
  readonly routers: readonly Router[]
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
 * where there are none. If one of them has missing state, returns that state.
 */
export function bestSplit(graph: PoolGraph, split: SplitQuery): SplitRoute | { readonly missing: readonly MissingState[] } | undefined {
  const { query, best, gasCost, routers, swap } = split
  if (shareOf(query.amountRaw, 1) === 0n) return undefined
  let choice: (Choice & { readonly router: Router }) | undefined
  for (const router of routers) {
    const found = router.splits && chooseRoutes(graph, split, (parts) => router.splits?.(parts, swap) === true)
    if (found && (!choice || found.gainRaw > choice.gainRaw)) choice = { ...found, router }
  }
  if (!choice) return undefined
  const { routes, allocation, gasUnits, router } = choice
  if (allocation.unknowns.length > 0) return { missing: allocation.unknowns }
  const parts = partsOf(routes, allocation.shares, query)
  if (!parts) return undefined
  const amountRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const firstWriteUnits = parts.reduce((sum, part) => sum + part.firstWriteUnits, 0n)
  // The last part has what rounding left, which matters where a twentieth is only a few units.
  return netGain(query.exact, amountRaw, gasUnits, gasCost) > netGain(query.exact, best.amountRaw, best.gasUnits, gasCost)
    ? { parts, router, amountRaw, gasUnits, firstWriteUnits }
    : undefined
}

/** The last part has what rounding left. Undefined where that is too much for its pools. */
function partsOf(routes: readonly Candidate[], shares: readonly number[], { amountRaw }: RouteQuery): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const [index, { edges, quote }] of routes.entries()) {
    const share = shares[index] ?? 0
    const exactRaw = index === routes.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const quoted = quote(exactRaw)
    if (!quoted || quoted.unknowns.length > 0) return undefined
    parts.push({ edges, share, exactRaw, otherRaw: quoted.amountRaw, firstWriteUnits: quoted.firstWriteUnits })
  }
  return parts
}

/** Whether a router takes routes of these versions together; of a single one, whether it takes it beside others. */
type AcceptsParts = (parts: readonly (readonly string[])[]) => boolean

interface Choice {
  readonly routes: readonly Candidate[]
  readonly allocation: Allocation
  readonly gasUnits: bigint
  readonly gainRaw: bigint
}

/** Compares every two and every three candidates without a common pool; of many candidates only sets with at least one of the best. */
function chooseRoutes(graph: PoolGraph, split: SplitQuery, accepts: AcceptsParts): Choice | undefined {
  const candidates = splitCandidates(graph, split, accepts)
  if (candidates.length === 0) return undefined
  const { query, gasCost, best } = split
  const partCost = gasCost(partGasUnits)
  let choice: Choice | undefined
  let maxGainRaw = netGain(query.exact, best.amountRaw, best.gasUnits, gasCost)
  const consider = (routes: readonly Candidate[], allocation: Allocation | undefined): void => {
    if (!allocation || allocation.shares.includes(0)) return
    const gasUnits = swapGasUnits + allocation.gasUnits + partGasUnits * BigInt(routes.length - 1)
    const gainRaw = netGain(query.exact, allocation.amountRaw, gasUnits, gasCost)
    if (gainRaw <= maxGainRaw || !accepts(routes.map(({ versions }) => versions))) return
    choice = { routes, allocation, gasUnits, gainRaw }
    maxGainRaw = gainRaw
  }
  const leading = candidates.length > fewCandidates ? maxLeading : candidates.length
  for (const [index, a] of candidates.slice(0, leading).entries()) {
    const besideA = candidates.slice(index + 1).filter((candidate) => areDisjoint(a, candidate))
    for (const [next, b] of besideA.entries()) {
      const ofTwo = allocate([a, b])
      consider([a, b], ofTwo)
      for (const c of besideA.slice(next + 1)) {
        // A bound: if each share of the third route gained as much as its first one, that must pay for another call.
        const firstGainRaw = c.marginalGain(0)
        if (ofTwo && (firstGainRaw === undefined || (firstGainRaw - ofTwo.minGainRaw) * BigInt(wholeShare) <= partCost)) continue
        if (areDisjoint(b, c)) consider([a, b, c], allocate([a, b, c]))
      }
    }
  }
  return choice
}

/** How much of a swap each of some routes takes, and what that gives together. */
interface Allocation extends Omit<RouteQuote, 'firstWriteUnits'> {
  /** In twentieths, in the order of the routes; some may have none. */
  readonly shares: readonly number[]
  /** The gain of the least valuable twentieth: another route needs a larger first gain to get a share. */
  readonly minGainRaw: bigint
}

/**
 * Gives twentieth by twentieth to the route that gains most with the next one. That is the best allocation, because no route gains more with
 * a later twentieth than with an earlier one. Undefined where no route takes some of it. Called for hundreds of sets of routes for a swap,
 * so it allocates little memory.
 */
function allocate(routes: readonly Candidate[]): Allocation | undefined {
  const shares = routes.map(() => 0)
  const gains = routes.map((route) => route.marginalGain(0))
  let minGainRaw = 0n
  for (let allocated = 0; allocated < wholeShare; allocated += 1) {
    let best = -1
    let maxGainRaw: bigint | undefined
    for (let index = 0; index < gains.length; index += 1) {
      const gainRaw = gains[index]
      if (gainRaw === undefined || (maxGainRaw !== undefined && gainRaw <= maxGainRaw)) continue
      best = index
      maxGainRaw = gainRaw
    }
    if (maxGainRaw === undefined) return undefined
    minGainRaw = maxGainRaw
    const share = (shares[best] ?? 0) + 1
    shares[best] = share
    gains[best] = routes[best]?.marginalGain(share)
  }
  const quotes = routes.map((route, index) => route.quoteShare(shares[index] ?? 0))
  return {
    shares,
    minGainRaw,
    amountRaw: quotes.reduce((sum, quote) => sum + (quote?.amountRaw ?? 0n), 0n),
    gasUnits: quotes.reduce((sum, quote) => sum + (quote?.gasUnits ?? 0n), 0n),
    unknowns: quotes.flatMap((quote) => quote?.unknowns ?? []),
  }
}

/** A route that may take a share of a swap. */
interface Candidate {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** Undefined where a pool refuses that much. */
  quote(amountRaw: bigint): RouteQuote | undefined
  /** The same for a number of twentieths; cached. */
  quoteShare(share: number): RouteQuote | undefined
  /** The gain of the next twentieth after `share`: its output, or its input as a negative number; cached. */
  marginalGain(share: number): bigint | undefined
}

function candidateOf(edges: readonly PoolEdge[], { exact, amountRaw }: RouteQuery): Candidate {
  const quotes: (RouteQuote | undefined)[] = [{ amountRaw: 0n, gasUnits: 0n, firstWriteUnits: 0n, unknowns: [] }]
  const gains: (bigint | undefined)[] = []
  const quote = (exactRaw: bigint) => quoteAlong(edges, exact, exactRaw)
  function quoteShare(share: number): RouteQuote | undefined {
    if (!(share in quotes)) quotes[share] = quote(shareOf(amountRaw, share))
    return quotes[share]
  }
  function marginalGain(share: number): bigint | undefined {
    if (share in gains || share >= wholeShare) return gains[share]
    const [before, after] = [quoteShare(share), quoteShare(share + 1)]
    const addedRaw = before && after && after.amountRaw - before.amountRaw
    return (gains[share] = addedRaw === undefined || exact === 'in' ? addedRaw : -addedRaw)
  }
  return { edges, versions: versionsOf(edges), quote, quoteShare, marginalGain }
}

/**
 * Routes that might have a share, the best single one among them. None where it is certain that no other route has one: a twentieth of the
 * swap must do better on another route than the last twentieth does on the best single one. Routes are tried in the order of their prices;
 * most swaps are so small that none comes near, and then no pool is passed.
 */
/** Each share of the amount would be asked of the chain. */
const isAsked = ({ edges }: HasEdges): boolean => edges.some(({ protocol, pool }) => protocol.asksChain?.(pool))

function splitCandidates(graph: PoolGraph, { query, gasCost, best }: SplitQuery, accepts: AcceptsParts): readonly Candidate[] {
  const { exact, amountRaw } = query
  const candidate = ({ edges }: HasEdges) => candidateOf(edges, query)
  const worth = (otherRaw: bigint) => (exact === 'in' ? otherRaw : -otherRaw)
  const isPart = !isAsked(best) && accepts([versionsOf(best.edges)])
  const allButOne = isPart ? quoteAlong(best.edges, exact, shareOf(amountRaw, wholeShare - 1)) : undefined
  const lastShareRaw = allButOne ? worth(best.amountRaw) - worth(allButOne.amountRaw) : worth(best.amountRaw) / BigInt(wholeShare)
  const partCost = gasCost(partGasUnits)
  // The gain of a twentieth, times nineteen, must pay for another call.
  const pays = (otherRaw: bigint) => (worth(otherRaw) - lastShareRaw) * BigInt(wholeShare - 1) > partCost

  const rated = ratedRoutes(graph, query).filter((route) => !isAsked(route))
  const paying: Candidate[] = []
  for (const route of rated) {
    if (!pays(amountAtRate(route.rateX128, exact, shareOf(amountRaw, 1)))) break
    if (poolsOf(route) === poolsOf(best) || !accepts([route.versions])) continue
    const tried = candidate(route)
    const quote = tried.quoteShare(1)
    if (quote && pays(quote.amountRaw)) paying.push(tried)
  }
  const bestForOne = paying.toSorted(bestFirst(1, worth))
  const [first] = bestForOne
  if (!first) return []
  const single = candidate(best)
  const accepted = () => rated.filter((route) => accepts([route.versions]))
  // With so few routes, all are candidates.
  if (rated.length <= maxBestCandidates) return distinct([...(allButOne ? [single] : []), ...accepted().map(candidate)])

  // If the best for a twentieth has a pool in common with the best single route: the best route for the other nineteen twentieths beside
  // it.
  const partner = areDisjoint(first, single)
    ? []
    : accepted()
        .filter((route) => areDisjoint(route, first))
        .map(candidate)
        .toSorted(bestFirst(wholeShare - 1, worth))
        .slice(0, 1)
  return distinct([
    ...(allButOne ? [single] : []),
    ...bestForOne.slice(0, maxBestCandidates),
    ...bestDisjoint(single, paying, worth),
    ...bestDisjoint(first, paying, worth),
    ...partner,
  ])
}

type HasEdges = Pick<Candidate, 'edges'>

const poolsOf = ({ edges }: HasEdges) => edges.map(({ pool }) => pool.address).join()

const distinct = (routes: readonly Candidate[]): readonly Candidate[] => [
  ...new Map(routes.map((route) => [poolsOf(route), route])).values(),
]

/** Whether two routes have no pool in common. */
const areDisjoint = (a: HasEdges, b: HasEdges): boolean =>
  !a.edges.some(({ pool }) => b.edges.some((edge) => edge.pool.address === pool.address))

/** The best for a quarter of the swap by other pools than those of a route, the best by others than those of both, and so on. */
function bestDisjoint(from: Candidate, routes: readonly Candidate[], worth: (otherRaw: bigint) => bigint): readonly Candidate[] {
  const found: Candidate[] = []
  for (const route of routes.filter((each) => areDisjoint(each, from)).toSorted(bestFirst(wholeShare / 4, worth)))
    if (found.length < maxDisjointCandidates && found.every((other) => areDisjoint(other, route))) found.push(route)
  return found
}

/** By what so many twentieths give. Routes that refuse that much come last. */
const bestFirst = (share: number, worth: (otherRaw: bigint) => bigint) => (a: Candidate, b: Candidate) => {
  const [ofA, ofB] = [a.quoteShare(share), b.quoteShare(share)]
  if (!ofA || !ofB) return ofA ? -1 : ofB ? 1 : 0
  const [aRaw, bRaw] = [worth(ofA.amountRaw), worth(ofB.amountRaw)]
  return aRaw === bRaw ? 0 : aRaw > bRaw ? -1 : 1
}
