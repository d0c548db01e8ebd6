import type { Swap } from '../../../contracts/index.ts'
import type { Router } from '../router.ts'
import type { PricedRoute } from './best-route.ts'
import type { Course } from '../../../../kits/amm/routing/best-route.ts'
import type { GasCost } from '../../../../kits/amm/routing/gas-cost.ts'
import type { Lanes } from '../../../../kits/amm/routing/graph.ts'
import { atBest, ratedRoutes } from './rated-routes.ts'
import { shareOf, wholeShare } from './share.ts'
import { areApart, goAlong, wayOf, type Way } from './split-ways.ts'

/** What is to be split, and by which routers. */
export interface SplitQuestion {
  readonly swap: Swap
  readonly course: Course
  readonly routers: readonly Router[]
  /** What that much gas costs, in the token of the other side. */
  readonly gasCost: GasCost
  /** The best single way. */
  readonly best: PricedRoute
  /** What more must be known of counts as unable. */
  readonly last: boolean
}

/** Whether a router takes routes of these versions together; of one alone, among others. */
export type Takes = (parts: readonly (readonly string[])[]) => boolean

// Measured on the devnet with SwapRouter02: another call of its multicall through one pool of concentrated liquidity takes 68,000 to 81,000,
// of which some 55,000 are the pool's.
export const partUnits = 20_000n
/** How many of the best for that are candidates, and of those that pass other pools than the ones before. */
const [mostByRate, mostApart] = [12, 2]

/**
 * Ways that might have a share, the best single one among them; none where it is certain that no other has. A twentieth of the swap must do
 * better on another than the last of it does on the best single one. They are asked in the order of their prices, and most swaps are so
 * small that none comes near: nothing is gone through for them.
 */
export function splitCandidates(lanes: Lanes, { course, gasCost, best, last }: SplitQuestion, takes: Takes): readonly Way[] {
  const { exact, amountRaw } = course
  const worth = (otherRaw: bigint) => (exact === 'in' ? otherRaw : -otherRaw)
  const isPart = takes([best.lanes.map(({ protocol }) => protocol.version)])
  const nearly = isPart ? goAlong(best.lanes, exact, shareOf(amountRaw, wholeShare - 1), last) : undefined
  const lastRaw = nearly ? worth(best.amountRaw) - worth(nearly.otherRaw) : worth(best.amountRaw) / BigInt(wholeShare)
  const partCost = gasCost(partUnits)
  // All but a twentieth of the swap at that price must pay for another call.
  const pays = (otherRaw: bigint) => (worth(otherRaw) - lastRaw) * BigInt(wholeShare - 1) > partCost

  const rated = ratedRoutes(lanes, course)
  const tried: Way[] = []
  for (const route of rated) {
    if (!pays(atBest(route.rateX128, exact, shareOf(amountRaw, 1)))) break
    if (isSame(route, best) || !takes([route.versions])) continue
    const way = wayOf(route.lanes, course, last)
    const gone = way.of(1)
    if (gone && pays(gone.otherRaw)) tried.push(way)
  }
  const byRate = tried.toSorted(bestFirst(1, worth))
  const [first] = byRate
  if (!first) return []
  const single = wayOf(best.lanes, course, last)
  // So few are all of them candidates: nothing is left to a rule of thumb.
  if (rated.length <= mostByRate) {
    const others = rated.filter((route) => takes([route.versions])).map(({ lanes }) => wayOf(lanes, course, last))
    return distinct([...(nearly ? [single] : []), ...others])
  }

  const apart = (from: Way) => peeled(from, tried, worth)
  // Without the best single way, what goes best beside the best for a twentieth.
  const beside = areApart(first, single)
    ? []
    : rated
        .filter((route) => areApart(route, first) && takes([route.versions]))
        .map((route) => wayOf(route.lanes, course, last))
        .toSorted(bestFirst(wholeShare - 1, worth))
        .slice(0, 1)
  return distinct([...(nearly ? [single] : []), ...byRate.slice(0, mostByRate), ...apart(single), ...apart(first), ...beside])
}

type Lined = Pick<Way, 'lanes'>
const isSame = (a: Lined, b: Lined) => poolsOf(a) === poolsOf(b)
const distinct = (ways: readonly Way[]): readonly Way[] => [...new Map(ways.map((way) => [poolsOf(way), way])).values()]
const poolsOf = ({ lanes }: Lined) => lanes.map(({ pool }) => pool.address).join()

/** The best for a quarter by other pools than those of a way, the best by others than those of both, and so on. */
function peeled(from: Way, ways: readonly Way[], worth: (otherRaw: bigint) => bigint): readonly Way[] {
  const order = ways.filter((way) => areApart(way, from)).toSorted(bestFirst(wholeShare / 4, worth))
  const found: Way[] = []
  for (const way of order) if (found.length < mostApart && found.every((other) => areApart(other, way))) found.push(way)
  return found
}

/** For so many twentieths; those that do not take as much last. */
const bestFirst = (share: number, worth: (otherRaw: bigint) => bigint) => (a: Way, b: Way) => {
  const [one, other] = [a.of(share), b.of(share)]
  if (!one || !other) return one ? -1 : other ? 1 : 0
  const [oneRaw, otherRaw] = [worth(one.otherRaw), worth(other.otherRaw)]
  return oneRaw === otherRaw ? 0 : oneRaw > otherRaw ? -1 : 1
}
