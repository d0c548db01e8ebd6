import type { Arrival } from './arrival.ts'
import type { Gaining } from './best-route.ts'
import { mostHops, type Course } from '../../../../kits/amm/routing/best-route.ts'
import { gainOf, muchGas, swapUnits, type GasCost } from '../../../../kits/amm/routing/gas-cost.ts'
import type { Lane, Lanes } from '../../../../kits/amm/routing/graph.ts'
import { perLanes } from './per-lanes.ts'
import { ratedRoutes } from './rated-routes.ts'
import { goAlong } from './split-ways.ts'
import type { Ways } from './ways.ts'

/** Whether a way need not go on through a lane, with so many hops left after it. */
export type IsHopeless = (way: Arrival, lane: Lane, left: number) => boolean

/** By token, out per in between it and the end from which no amount comes or to which it goes, at best; absent where nothing leads there. */
type Reach = ReadonlyMap<string, number>

/** More than floating point loses on the way. */
const slack = 1e-9

const known = perLanes<readonly Reach[]>()
const winners = perLanes<readonly Lane[]>()

/**
 * Whether a way could not come near that gain though it got nothing but the best prices from where it is, and paid no more gas.
 * @param gasCost what that much gas costs, in the token of the other side
 */
export function hopelessBy(lanes: Lanes, course: Course, gainRaw: bigint, gasCost: GasCost): IsHopeless {
  const reaches = reachesOf(lanes, course)
  const forward = course.exact === 'in'
  // Gas is rounded down, and floating point to either side.
  const gain = Number(gainRaw) - Math.abs(Number(gainRaw)) * slack - 1
  const gasRate = (Number(gasCost(muchGas)) / Number(muchGas)) * (1 - slack)
  return ({ amountRaw, gasUnits }, { passage, bestRate }, left) => {
    const rate = bestRate() * (reaches[left]?.get(forward ? passage.tokenOut : passage.tokenIn) ?? 0)
    const worth = forward ? Number(amountRaw) * rate * (1 + slack) : (-Number(amountRaw) / rate) * (1 - slack)
    return worth - Number(swapUnits + gasUnits) * gasRate < gain
  }
}

/** Tried first for the next amount: the best price may be that of a pool which holds next to nothing. */
export function rememberWinner(lanes: Lanes, course: Course, route: readonly Lane[]): void {
  winners(lanes).set(keyOf(course), route)
}

/**
 * The better of the way that was the best for the last amount and the one with the best price; undefined where neither gives anything, and
 * where amounts may get better prices than those of the pools, so that nothing can be left out for it.
 */
export function tryFirst(lanes: Lanes, course: Course, { mixes, protocols, carrier }: Ways, gasCost: GasCost): Gaining | undefined {
  if (!protocols.some(({ spotIsBest }) => spotIsBest)) return undefined
  const { exact, amountRaw } = course
  const first = ratedRoutes(lanes, course)[0]?.lanes
  const winner = winners(lanes).get(keyOf(course))
  const isOne = first?.length === winner?.length && first?.every((lane, index) => lane === winner?.[index])
  let best: Gaining | undefined
  for (const route of isOne ? [first] : [winner, first]) {
    const versions = route?.map(({ protocol }) => protocol.version)
    if (!route || !versions || !mixes.some((mix) => versions.every((each) => mix.has(each)))) continue
    const router = carrier(versions)
    const gone = router && goAlong(route, exact, amountRaw, true)
    if (!gone) continue
    const { otherRaw, firstWriteUnits } = gone
    const gasUnits = swapUnits + gone.gasUnits
    const gainRaw = gainOf(exact, otherRaw, gasUnits, gasCost)
    if (!best || gainRaw > best.gainRaw)
      best = { priced: { lanes: route, router, amountRaw: otherRaw, gasUnits, firstWriteUnits }, gainRaw }
  }
  return best
}

const keyOf = ({ exact, tokenIn, tokenOut }: Course): string => `${exact} ${tokenIn} ${tokenOut}`

/** By the number of hops that may be gone yet: the same for all amounts, and remembered. */
function reachesOf(lanes: Lanes, course: Course): readonly Reach[] {
  const ofLanes = known(lanes)
  const key = keyOf(course)
  const found = ofLanes.get(key) ?? reckonReaches(lanes, course)
  ofLanes.set(key, found)
  return found
}

function reckonReaches(lanes: Lanes, { exact, tokenIn, tokenOut, between }: Course): readonly Reach[] {
  const forward = exact === 'in'
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  let reach: Reach = new Map([[forward ? tokenOut : tokenIn, 1]])
  const reaches = [reach]
  for (let left = 1; left < mostHops; left += 1) {
    const next = new Map(reach)
    for (const from of via) {
      for (const [to, rate] of reach) {
        for (const lane of forward ? lanes.between(from, to) : lanes.between(to, from)) {
          next.set(from, Math.max(next.get(from) ?? 0, lane.bestRate() * rate))
        }
      }
    }
    reaches.push((reach = next))
  }
  return reaches
}
