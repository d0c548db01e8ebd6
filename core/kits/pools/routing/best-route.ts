import type { Router } from '../router.ts'
import type { Arrival, Wanted } from './arrival.ts'
import { explore, type Course } from '../../../../kits/amm/routing/best-route.ts'
import { gainOf, muchGas, swapUnits, type GasCost } from '../../../../kits/amm/routing/gas-cost.ts'
import type { Lane, Lanes } from '../../../../kits/amm/routing/graph.ts'
import { hopelessBy, rememberWinner, tryFirst } from './prospect.ts'
import type { Ways } from './ways.ts'

export interface PricedRoute {
  readonly lanes: readonly Lane[]
  readonly router: Router
  /** The other side of the swap. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

/** With what the trader has of it after paying for gas. */
export interface Gaining {
  readonly priced: PricedRoute
  readonly gainRaw: bigint
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
export function bestRoute(lanes: Lanes, course: Course, ways: Ways, gasCost: GasCost): Comparison {
  const tried = tryFirst(lanes, course, ways, gasCost)
  const isHopeless = tried && hopelessBy(lanes, course, tried.gainRaw, gasCost)
  const isGasFree = gasCost(muchGas) === 0n
  const explored = ways.mixes.map((mix) => explore(lanes, course, mix, isGasFree, isHopeless))
  let best: Gaining | undefined
  const hopes: { arrival: Arrival; gainRaw: bigint }[] = []
  for (const { arrivals } of explored) {
    for (const arrival of arrivals) {
      const { amountRaw, firstWriteUnits } = arrival
      const gasUnits = swapUnits + arrival.gasUnits
      const gainRaw = gainOf(course.exact, amountRaw, gasUnits, gasCost)
      if (best && gainRaw <= best.gainRaw) continue
      if (arrival.doubts.length > 0) {
        hopes.push({ arrival, gainRaw })
        continue
      }
      const router = carrierOf(ways, arrival)
      if (router) best = { priced: { lanes: arrival.lanes, router, amountRaw, gasUnits, firstWriteUnits }, gainRaw }
    }
  }
  // It is found again, but where a way was kept for it that costs more gas farther on.
  if (tried && (!best || tried.gainRaw > best.gainRaw)) best = tried
  const certainRaw = best?.gainRaw
  const better = hopes.filter(({ arrival, gainRaw }) => (certainRaw === undefined || gainRaw > certainRaw) && carrierOf(ways, arrival))
  const wanted = [
    ...explored.flatMap((each) => (best ? each.wanted : [...each.wanted, ...each.unsure])),
    ...better.flatMap(({ arrival }) => arrival.doubts),
  ]
  if (best) rememberWinner(lanes, course, best.priced.lanes)
  return { best: best?.priced, wanted, tooLittle: explored.some((each) => each.tooLittle) }
}

const carrierOf = (ways: Ways, { lanes }: Arrival): Router | undefined => ways.carrier(lanes.map(({ protocol }) => protocol.version))

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
