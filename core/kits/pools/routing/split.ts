import type { Router } from '../router.ts'
import { swapUnits, type PricedRoute } from './best-route.ts'
import { goneOn, type Arrival } from './arrival.ts'
import { explore, type Course } from './explore.ts'
import type { Lane, Lanes } from './lanes.ts'
import { shareOf, wholeShare } from './share.ts'
import { allotted, disjointSets, wayOf, type Way } from './split-ways.ts'
import type { Ways } from './ways.ts'

// Measured on anvil with SwapRouter02: what another call of its multicall takes besides the pools.
const partUnits = 35_000n
/** How many of the best for a twentieth are tried, and of those that pass other pools than the ones before. */
const [mostByRate, mostApart] = [8, 2]

/** One of several ways that a swap goes at once. */
export interface Part {
  readonly lanes: readonly Lane[]
  /** In twentieths. */
  readonly share: number
  /** Of the exact amount; those of all parts add up to it. */
  readonly exactRaw: bigint
  readonly otherRaw: bigint
}

export interface SplitRoute {
  readonly parts: readonly Part[]
  readonly router: Router
  /** The other side of the swap, all parts together. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
}

/**
 * Several ways at once, no pool on two of them, that leave the trader more after paying for gas than the best single one; undefined where
 * there are none, or its router takes one way only. Another way pays where it has a better price for little, so the few that are best for
 * a twentieth are tried together, with those that pass other pools.
 */
export function bestSplit(
  lanes: Lanes,
  course: Course,
  ways: Ways,
  gasCost: (gasUnits: bigint) => bigint,
  best: PricedRoute,
): SplitRoute | undefined {
  const { router } = best
  const { exact, amountRaw } = course
  if (router.splits?.(exact) !== true || shareOf(amountRaw, 1) === 0n) return undefined
  const gainOf = (otherRaw: bigint, gasUnits: bigint) => (exact === 'in' ? otherRaw : -otherRaw) - gasCost(gasUnits)
  const single = gainOf(best.amountRaw, best.gasUnits)

  const littleRaw = shareOf(amountRaw, 1)
  const someRaw = shareOf(amountRaw, wholeShare / 4)
  const byRate = routesFor(lanes, course, ways, router, littleRaw, shortRoutes(lanes, course, littleRaw))
  const [rate] = byRate
  // Nowhere does more of it go at a better price than a twentieth does on the best way for that.
  if (!rate || gainOf(rate.amountRaw * BigInt(wholeShare), best.gasUnits + partUnits) <= single) return undefined
  const apart = (first: { readonly lanes: readonly Lane[] }) =>
    peeled(lanes, first, (rest) => routesFor(rest, course, ways, router, someRaw)[0])
  const candidates = distinct([best, ...byRate.slice(0, mostByRate), ...apart(best), ...apart(rate)])

  let found: { chosen: readonly Way[]; shares: readonly number[]; gasUnits: bigint } | undefined
  let most = single
  for (const chosen of disjointSets(candidates.map((each) => wayOf(each.lanes, course)))) {
    const gasUnits = swapUnits + chosen.reduce((sum, way) => sum + way.gasUnits, 0n) + partUnits * BigInt(chosen.length)
    const allotment = allotted(chosen, exact)
    const gain = allotment && gainOf(allotment.otherRaw, gasUnits)
    if (gain === undefined || gain <= most) continue
    most = gain
    found = { chosen, shares: allotment?.shares ?? [], gasUnits }
  }
  const parts = found && partsOf(found.chosen, found.shares, course)
  return found && parts && { parts, router, amountRaw: parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n), gasUnits: found.gasUnits }
}

/** Those that the router takes for so much of it, the best first. */
function routesFor(lanes: Lanes, course: Course, ways: Ways, router: Router, amountRaw: bigint, besides: readonly Arrival[] = []) {
  const { exact } = course
  const found = ways.mixes.flatMap((mix) => explore(lanes, { ...course, amountRaw }, mix).arrivals)
  return distinct([...found, ...besides])
    .filter((each) => each.doubts.length === 0)
    .filter((each) =>
      router.carries(
        each.lanes.map(({ protocol }) => protocol.version),
        exact,
      ),
    )
    .toSorted((a, b) => (a.amountRaw === b.amountRaw ? 0 : a.amountRaw > b.amountRaw === (exact === 'in') ? -1 : 1))
}

/** All of one hop or two, also those to whose first token a better way leads. */
function shortRoutes(lanes: Lanes, { tokenIn, tokenOut, between, exact }: Course, amountRaw: bigint): readonly Arrival[] {
  const [start, end] = exact === 'in' ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const from = (a: string, b: string) => (exact === 'in' ? lanes.between(a, b) : lanes.between(b, a))
  const none: Arrival = { amountRaw, gasUnits: 0n, lanes: [], doubts: [] }
  const goOn = (way: Arrival, a: string, b: string): readonly Arrival[] =>
    from(a, b).flatMap((lane) => {
      if (way.lanes.some(({ pool }) => pool.address === lane.pool.address)) return []
      const passed = lane.pass(exact, way.amountRaw)
      return passed && !('missing' in passed) && passed.amountRaw > 0n ? [goneOn(way, lane, passed, [], exact)] : []
    })
  const via = between.filter((token) => token !== start && token !== end)
  return [...goOn(none, start, end), ...via.flatMap((token) => goOn(none, start, token).flatMap((way) => goOn(way, token, end)))]
}

/** Each way once: mixes of versions share some. */
const distinct = <T extends { readonly lanes: readonly Lane[] }>(routes: readonly T[]): readonly T[] => [
  ...new Map(routes.map((each) => [each.lanes.map(({ pool }) => pool.address).join(), each])).values(),
]

/** The best by other pools than those of a way, the best by others than those of both, and so on. */
function peeled<T extends { readonly lanes: readonly Lane[] }>(
  lanes: Lanes,
  first: { readonly lanes: readonly Lane[] },
  bestOf: (rest: Lanes) => T | undefined,
): readonly T[] {
  const passed = new Set(first.lanes.map(({ pool }) => pool.address))
  const found: T[] = []
  while (found.length < mostApart) {
    const next = bestOf(without(lanes, passed))
    if (!next) break
    found.push(next)
    for (const { pool } of next.lanes) passed.add(pool.address)
  }
  return found
}

function without(lanes: Lanes, pools: ReadonlySet<string>): Lanes {
  const others = (found: readonly Lane[]) => found.filter(({ pool }) => !pools.has(pool.address))
  return { none: lanes.none, between: (a, b) => others(lanes.between(a, b)), from: (token) => others(lanes.from(token)) }
}

/** The last has what rounding left. Undefined where that is too much for it. */
function partsOf(chosen: readonly Way[], shares: readonly number[], { exact, amountRaw }: Course): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const [index, { lanes, through }] of chosen.entries()) {
    const share = shares[index] ?? 0
    const exactRaw = index === chosen.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const otherRaw = through(exact, exactRaw)
    if (otherRaw === undefined) return undefined
    parts.push({ lanes, share, exactRaw, otherRaw })
  }
  return parts
}
