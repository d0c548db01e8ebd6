import type { Swap } from '../../../core/contracts/index.ts'
import type { Router } from '../protocol.ts'
import { type MissingState, type RouteQuery, type PricedRoute, amountAtRate, ratedRoutes } from './best-route.ts'
import { netGain, swapGasUnits, type GasCost } from './gas-cost.ts'
import type { PoolEdge, PoolGraph } from './graph.ts'

/** So few candidates are compared with each other; where there are more, only with so many of the best. */
const [fewCandidates, mostLeading] = [12, 4]

/** One of several ways that a swap goes at once. */
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
 * Several ways at once, no pool on two of them, that leave the trader more after paying for gas than the best single one; undefined where
 * there are none. Of a way of which more must be known and that could be one of them, that.
 */
export function bestSplit(lanes: PoolGraph, question: SplitQuery): SplitRoute | { readonly wanted: readonly MissingState[] } | undefined {
  const { query: course, best, gasCost } = question
  if (shareOf(course.amountRaw, 1) === 0n) return undefined
  let found: (Chosen & { readonly router: Router }) | undefined
  for (const router of question.routers) {
    const chosen = router.splits && choose(lanes, question, (parts) => router.splits?.(parts, question.swap) === true)
    if (chosen && (!found || chosen.gainRaw > found.gainRaw)) found = { ...chosen, router }
  }
  if (!found) return undefined
  const { ways, allotment, gasUnits, router } = found
  if (allotment.unknowns.length > 0) return { wanted: allotment.unknowns }
  const parts = partsOf(ways, allotment.shares, course)
  if (!parts) return undefined
  const amountRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const firstWriteUnits = parts.reduce((sum, part) => sum + part.firstWriteUnits, 0n)
  // Of few units a twentieth is not what rounding makes of it.
  return netGain(course.exact, amountRaw, gasUnits, gasCost) > netGain(course.exact, best.amountRaw, best.gasUnits, gasCost)
    ? { parts, router, amountRaw, gasUnits, firstWriteUnits }
    : undefined
}

interface Chosen {
  readonly ways: readonly CandidateRoute[]
  readonly allotment: Allocation
  readonly gasUnits: bigint
  readonly gainRaw: bigint
}

/**
 * Every two and every three ways without a common pool are compared; of many candidates those of which one at least is among the best.
 * @param takes whether the router takes such routes together, or one of them among others
 */
function choose(lanes: PoolGraph, question: SplitQuery, takes: AcceptsParts): Chosen | undefined {
  const candidates = splitCandidates(lanes, question, takes)
  if (candidates.length === 0) return undefined
  const { query: course, gasCost, best } = question
  const partCost = gasCost(partGasUnits)
  let most: Chosen | undefined
  let mostRaw = netGain(course.exact, best.amountRaw, best.gasUnits, gasCost)
  const together = (ways: readonly CandidateRoute[], allotment: Allocation | undefined): Chosen | undefined => {
    if (!allotment || allotment.shares.includes(0)) return undefined
    const gasUnits = swapGasUnits + allotment.gasUnits + partGasUnits * BigInt(ways.length - 1)
    const gainRaw = netGain(course.exact, allotment.otherRaw, gasUnits, gasCost)
    return gainRaw > mostRaw && takes(ways.map(({ versions }) => versions)) ? { ways, allotment, gasUnits, gainRaw } : undefined
  }
  const leading = candidates.length > fewCandidates ? mostLeading : candidates.length
  for (const [index, a] of candidates.slice(0, leading).entries()) {
    const besideA = candidates.slice(index + 1).filter((way) => areDisjoint(a, way))
    for (const [next, b] of besideA.entries()) {
      const ofTwo = allocate([a, b])
      const two = together([a, b], ofTwo)
      if (two) [most, mostRaw] = [two, two.gainRaw]
      for (const c of besideA.slice(next + 1)) {
        // All but a share that is better there must pay for another call.
        const first = c.marginalGain(0)
        if (ofTwo && (first === undefined || (first - ofTwo.minGainRaw) * BigInt(wholeShare) <= partCost)) continue
        if (!areDisjoint(b, c)) continue
        const three = together([a, b, c], allocate([a, b, c]))
        if (three) [most, mostRaw] = [three, three.gainRaw]
      }
    }
  }
  return most
}

/** The last has what rounding left. Undefined where that is too much for it. */
function partsOf(ways: readonly CandidateRoute[], shares: readonly number[], { amountRaw }: RouteQuery): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const [index, way] of ways.entries()) {
    const share = shares[index] ?? 0
    const exactRaw = index === ways.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const gone = way.quote(exactRaw)
    if (!gone || gone.unknowns.length > 0) return undefined
    parts.push({ edges: way.edges, share, exactRaw, otherRaw: gone.otherRaw, firstWriteUnits: gone.firstWriteUnits })
  }
  return parts
}

/** What is to be split, and by which routers. */
interface SplitQuery {
  readonly swap: Swap
  readonly query: RouteQuery
  readonly routers: readonly Router[]
  /** What that much gas costs, in the token of the other side. */
  readonly gasCost: GasCost
  /** The best single way. */
  readonly best: PricedRoute
  /** What more must be known of counts as unable. */
  readonly isLastRead: boolean
}

/** Whether a router takes routes of these versions together; of one alone, among others. */
type AcceptsParts = (parts: readonly (readonly string[])[]) => boolean

// Measured on the devnet with SwapRouter02: another call of its multicall through one pool of concentrated liquidity takes 68,000 to 81,000,
// of which some 55,000 are the pool's.
const partGasUnits = 20_000n
/** How many of the best for that are candidates, and of those that pass other pools than the ones before. */
const [mostByRate, mostApart] = [12, 2]

/**
 * Ways that might have a share, the best single one among them; none where it is certain that no other has. A twentieth of the swap must do
 * better on another than the last of it does on the best single one. They are asked in the order of their prices, and most swaps are so
 * small that none comes near: nothing is gone through for them.
 */
function splitCandidates(
  lanes: PoolGraph,
  { query: course, gasCost, best, isLastRead: last }: SplitQuery,
  takes: AcceptsParts,
): readonly CandidateRoute[] {
  const { exact, amountRaw } = course
  const worth = (otherRaw: bigint) => (exact === 'in' ? otherRaw : -otherRaw)
  const isPart = takes([best.edges.map(({ protocol }) => protocol.version)])
  const nearly = isPart ? quoteAlong(best.edges, exact, shareOf(amountRaw, wholeShare - 1), last) : undefined
  const lastRaw = nearly ? worth(best.amountRaw) - worth(nearly.otherRaw) : worth(best.amountRaw) / BigInt(wholeShare)
  const partCost = gasCost(partGasUnits)
  // All but a twentieth of the swap at that price must pay for another call.
  const pays = (otherRaw: bigint) => (worth(otherRaw) - lastRaw) * BigInt(wholeShare - 1) > partCost

  const rated = ratedRoutes(lanes, course)
  const tried: CandidateRoute[] = []
  for (const route of rated) {
    if (!pays(amountAtRate(route.rateX128, exact, shareOf(amountRaw, 1)))) break
    if (isSame(route, best) || !takes([route.versions])) continue
    const way = candidateOf(route.edges, course, last)
    const gone = way.quoteShare(1)
    if (gone && pays(gone.otherRaw)) tried.push(way)
  }
  const byRate = tried.toSorted(bestFirst(1, worth))
  const [first] = byRate
  if (!first) return []
  const single = candidateOf(best.edges, course, last)
  // So few are all of them candidates: nothing is left to a rule of thumb.
  if (rated.length <= mostByRate) {
    const others = rated.filter((route) => takes([route.versions])).map(({ edges: lanes }) => candidateOf(lanes, course, last))
    return distinct([...(nearly ? [single] : []), ...others])
  }

  const apart = (from: CandidateRoute) => peeled(from, tried, worth)
  // Without the best single way, what goes best beside the best for a twentieth.
  const beside = areDisjoint(first, single)
    ? []
    : rated
        .filter((route) => areDisjoint(route, first) && takes([route.versions]))
        .map((route) => candidateOf(route.edges, course, last))
        .toSorted(bestFirst(wholeShare - 1, worth))
        .slice(0, 1)
  return distinct([...(nearly ? [single] : []), ...byRate.slice(0, mostByRate), ...apart(single), ...apart(first), ...beside])
}

type Lined = Pick<CandidateRoute, 'edges'>
const isSame = (a: Lined, b: Lined) => poolsOf(a) === poolsOf(b)
const distinct = (ways: readonly CandidateRoute[]): readonly CandidateRoute[] => [
  ...new Map(ways.map((way) => [poolsOf(way), way])).values(),
]
const poolsOf = ({ edges: lanes }: Lined) => lanes.map(({ pool }) => pool.address).join()

/** The best for a quarter by other pools than those of a way, the best by others than those of both, and so on. */
function peeled(from: CandidateRoute, ways: readonly CandidateRoute[], worth: (otherRaw: bigint) => bigint): readonly CandidateRoute[] {
  const order = ways.filter((way) => areDisjoint(way, from)).toSorted(bestFirst(wholeShare / 4, worth))
  const found: CandidateRoute[] = []
  for (const way of order) if (found.length < mostApart && found.every((other) => areDisjoint(other, way))) found.push(way)
  return found
}

/** For so many twentieths; those that do not take as much last. */
const bestFirst = (share: number, worth: (otherRaw: bigint) => bigint) => (a: CandidateRoute, b: CandidateRoute) => {
  const [one, other] = [a.quoteShare(share), b.quoteShare(share)]
  if (!one || !other) return one ? -1 : other ? 1 : 0
  const [oneRaw, otherRaw] = [worth(one.otherRaw), worth(other.otherRaw)]
  return oneRaw === otherRaw ? 0 : oneRaw > otherRaw ? -1 : 1
}

/** What came of an amount at the other end of a way. */
interface RouteQuote {
  readonly otherRaw: bigint
  /** Of the pools. */
  readonly gasUnits: bigint
  /** As of a pass. */
  readonly firstWriteUnits: bigint
  /** What must be known of its pools; until then it is what it could be at best. */
  readonly unknowns: readonly MissingState[]
}

/** One way that a share of a swap may go. */
interface CandidateRoute {
  readonly edges: readonly PoolEdge[]
  readonly versions: readonly string[]
  /** Undefined where a pool refuses that much. */
  quote(amountRaw: bigint): RouteQuote | undefined
  /** The same of a number of twentieths; remembered. */
  quoteShare(share: number): RouteQuote | undefined
  /** What one twentieth more is worth after so many: what comes out for it, or less than nothing of what must go in; remembered. */
  marginalGain(share: number): bigint | undefined
}

/**
 * Along all lanes of a way. Undefined where a pool refuses that much.
 * @param last what more must be known of counts as unable
 */
export function quoteAlong(lanes: readonly PoolEdge[], exact: 'in' | 'out', amountRaw: bigint, last: boolean): RouteQuote | undefined {
  let [otherRaw, gasUnits, firstWriteUnits] = [amountRaw, 0n, 0n]
  const doubts: MissingState[] = []
  for (const lane of exact === 'in' ? lanes : lanes.toReversed()) {
    const passed = lane.pass(exact, otherRaw)
    if (!passed) return undefined
    if ('missing' in passed) {
      if (last || passed.atBestRaw === undefined) return undefined
      doubts.push({ protocol: lane.protocol, pool: lane.pool.address, missing: passed.missing })
      otherRaw = passed.atBestRaw
    } else {
      otherRaw = passed.amountRaw
      gasUnits += passed.gasUnits
      firstWriteUnits += passed.firstWriteUnits ?? 0n
    }
    if (otherRaw <= 0n) return undefined
  }
  return { otherRaw, gasUnits, firstWriteUnits, unknowns: doubts }
}

/** @param last what more must be known of counts as unable */
function candidateOf(lanes: readonly PoolEdge[], { exact, amountRaw }: RouteQuery, last: boolean): CandidateRoute {
  const known: (RouteQuote | undefined)[] = [{ otherRaw: 0n, gasUnits: 0n, firstWriteUnits: 0n, unknowns: [] }]
  const go = (fromRaw: bigint) => quoteAlong(lanes, exact, fromRaw, last)
  function of(share: number): RouteQuote | undefined {
    if (!(share in known)) known[share] = go(shareOf(amountRaw, share))
    return known[share]
  }
  const steps: (bigint | undefined)[] = []
  function step(share: number): bigint | undefined {
    if (share in steps || share >= wholeShare) return steps[share]
    const [before, after] = [of(share), of(share + 1)]
    const stepRaw = before && after && after.otherRaw - before.otherRaw
    return (steps[share] = stepRaw === undefined || exact === 'in' ? stepRaw : -stepRaw)
  }
  return { edges: lanes, versions: lanes.map(({ protocol }) => protocol.version), quote: go, quoteShare: of, marginalGain: step }
}

/** Whether two ways have no pool in common. */
const areDisjoint = (a: Pick<CandidateRoute, 'edges'>, b: Pick<CandidateRoute, 'edges'>): boolean =>
  !a.edges.some(({ pool }) => b.edges.some((lane) => lane.pool.address === pool.address))

/** How much of a swap goes which way, and what comes of it all together. */
interface Allocation extends Omit<RouteQuote, 'firstWriteUnits'> {
  /** In twentieths, in the order of the ways; some may have none. */
  readonly shares: readonly number[]
  /** What the twentieth is worth that is worth the least: another way must do better to have any. */
  readonly minGainRaw: bigint
}

/**
 * Twentieth by twentieth to the way that does best with the next: the best there is, since none does better with one that comes later.
 * Undefined where not all of it finds a way. It is asked for hundreds of sets of ways, so nothing is made on the way.
 */
function allocate(ways: readonly CandidateRoute[]): Allocation | undefined {
  const shares = ways.map(() => 0)
  const steps = ways.map((way) => way.marginalGain(0))
  let leastRaw = 0n
  for (let given = 0; given < wholeShare; given += 1) {
    let best = -1
    let mostRaw: bigint | undefined
    for (let index = 0; index < steps.length; index += 1) {
      const stepRaw = steps[index]
      if (stepRaw === undefined || (mostRaw !== undefined && stepRaw <= mostRaw)) continue
      best = index
      mostRaw = stepRaw
    }
    if (mostRaw === undefined) return undefined
    leastRaw = mostRaw
    const share = (shares[best] ?? 0) + 1
    shares[best] = share
    steps[best] = ways[best]?.marginalGain(share)
  }
  const gone = ways.map((way, index) => way.quoteShare(shares[index] ?? 0))
  return {
    shares,
    minGainRaw: leastRaw,
    otherRaw: gone.reduce((sum, each) => sum + (each?.otherRaw ?? 0n), 0n),
    gasUnits: gone.reduce((sum, each) => sum + (each?.gasUnits ?? 0n), 0n),
    unknowns: gone.flatMap((each) => each?.unknowns ?? []),
  }
}

/** A twentieth of a swap is the least that goes a way of its own. */
export const wholeShare = 20

/** A share of an amount, in twentieths and rounded down. */
export const shareOf = (amountRaw: bigint, share: number): bigint => (amountRaw * BigInt(share)) / BigInt(wholeShare)

/** 7 → "0.35" */
export const shareDecimal = (share: number): string => String((share * 5) / 100)
