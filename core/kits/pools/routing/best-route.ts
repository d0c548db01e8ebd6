import type { Router } from '../router.ts'
import { explore, type Course, type Wanted } from './explore.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Ways } from './ways.ts'

// Measured on the devnet with the router of Uniswap v2 and plain tokens: 88,000 to 113,000 for one hop and 133,000 for
// two through pools that have traded before, 133,000 and 222,000 where they have not; tokens behind proxies cost more.
// Of that the pools' own part is what their protocol says.
const swapUnits = 50_000n

export interface PricedRoute {
  readonly lanes: readonly Lane[]
  readonly router: Router
  /** The other side of the swap. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
}

export interface Comparison {
  /** Undefined where no route gives anything. */
  readonly best: PricedRoute | undefined
  readonly wanted: readonly Wanted[]
  readonly tooLittle: boolean
}

/**
 * The route that leaves the trader most after paying for gas; the shorter of equals. Up to its last hop a route goes by
 * amounts alone: what could be gained net of gas otherwise is less than the gas that the other pools on it would save.
 * @param gasCost what that much gas costs, in the token of the other side
 */
export function bestRoute(lanes: Lanes, course: Course, ways: Ways, gasCost: (gasUnits: bigint) => bigint): Comparison {
  let best: { priced: PricedRoute; gainRaw: bigint } | undefined
  let tooLittle = false
  const wanted: Wanted[] = []
  for (const mix of ways.mixes) {
    const explored = explore(lanes, course, mix)
    // Mixes meet the same pools with the same amounts, and get the same answers.
    wanted.push(...explored.wanted.filter(({ missing }) => !wanted.some((known) => known.missing === missing)))
    tooLittle ||= explored.tooLittle
    for (const arrival of explored.arrivals) {
      const gasUnits = swapUnits + arrival.gasUnits
      const gainRaw = (course.exact === 'in' ? arrival.amountRaw : -arrival.amountRaw) - gasCost(gasUnits)
      if (best && gainRaw <= best.gainRaw) continue
      const router = ways.carrier(arrival.lanes.map(({ protocol }) => protocol.version))
      if (router) best = { priced: { lanes: arrival.lanes, router, amountRaw: arrival.amountRaw, gasUnits }, gainRaw }
    }
  }
  return { best: best?.priced, wanted, tooLittle }
}

/**
 * The other side at the pools' marginal prices and without fees: what the price impact is measured against. Rounded up,
 * so that it is never zero.
 */
export function spotAlong(lanes: readonly Lane[], exact: 'in' | 'out', amountRaw: bigint): bigint {
  let [numerator, denominator] = [amountRaw, 1n]
  for (const { protocol, pool, passage } of lanes) {
    const spot = protocol.spot(pool, passage)
    numerator *= exact === 'in' ? spot.numerator : spot.denominator
    denominator *= exact === 'in' ? spot.denominator : spot.numerator
  }
  return (numerator + denominator - 1n) / denominator
}
