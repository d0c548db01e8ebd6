import type { Router } from '../router.ts'
import type { Arrival, Wanted } from './arrival.ts'
import { explore, type Course } from './explore.ts'
import type { Lane, Lanes } from './lanes.ts'
import type { Ways } from './ways.ts'

// Measured on the devnet with the router of Uniswap v2 and plain tokens: 88,000 to 113,000 for one hop and 133,000 for
// two through pools that have traded before, 133,000 and 222,000 where they have not; tokens behind proxies cost more.
// Of that the pools' own part is what their protocol says.
export const swapUnits = 50_000n

/** More than any swap takes: where that costs nothing, no gas does. */
const muchGas = 10n ** 9n

export interface PricedRoute {
  readonly lanes: readonly Lane[]
  readonly router: Router
  /** The other side of the swap. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

export interface Comparison {
  /** Undefined where no route gives anything. */
  readonly best: PricedRoute | undefined
  /** What must be known to be sure that there is none better. */
  readonly wanted: readonly Wanted[]
  readonly tooLittle: boolean
}

/**
 * The route that leaves the trader most after paying for gas; the shorter of equals.
 * @param gasCost what that much gas costs, in the token of the other side
 */
export function bestRoute(lanes: Lanes, course: Course, ways: Ways, gasCost: (gasUnits: bigint) => bigint): Comparison {
  let best: { priced: PricedRoute; gainRaw: bigint } | undefined
  const isGasFree = gasCost(muchGas) === 0n
  const explored = ways.mixes.map((mix) => explore(lanes, course, mix, isGasFree))
  const carrierOf = (arrival: Arrival) => ways.carrier(arrival.lanes.map(({ protocol }) => protocol.version))
  const hopes: { arrival: Arrival; gainRaw: bigint }[] = []
  for (const { arrivals } of explored) {
    for (const arrival of arrivals) {
      const { amountRaw, firstWriteUnits } = arrival
      const gasUnits = swapUnits + arrival.gasUnits
      const gainRaw = (course.exact === 'in' ? amountRaw : -amountRaw) - gasCost(gasUnits)
      if (best && gainRaw <= best.gainRaw) continue
      if (arrival.doubts.length > 0) {
        hopes.push({ arrival, gainRaw })
        continue
      }
      const router = carrierOf(arrival)
      if (router) best = { priced: { lanes: arrival.lanes, router, amountRaw, gasUnits, firstWriteUnits }, gainRaw }
    }
  }
  const certainRaw = best?.gainRaw
  const better = hopes.filter(({ arrival, gainRaw }) => (certainRaw === undefined || gainRaw > certainRaw) && carrierOf(arrival))
  const wanted = [
    ...explored.flatMap((each) => (best ? each.wanted : [...each.wanted, ...each.unsure])),
    ...better.flatMap(({ arrival }) => arrival.doubts),
  ]
  return { best: best?.priced, wanted, tooLittle: explored.some((each) => each.tooLittle) }
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
