import type { Arrival } from './arrival.ts'
import { mostHops, type Course } from './explore.ts'
import { muchGas, swapUnits, type GasCost } from './gas-cost.ts'
import type { Lane, Lanes } from './lanes.ts'
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
 * The way that was the best for the last amount and the one with the best price are tried first: which of them gives more is to be beaten.
 * What could not come near that though it got nothing but the best prices from where it is, and paid no more gas, is hopeless; undefined where
 * neither gives anything.
 * @param gasCost what that much gas costs, in the token of the other side
 */
export function hopelessBy(lanes: Lanes, course: Course, ways: Ways, gasCost: GasCost): IsHopeless | undefined {
  const mostRaw = mostOfTried(lanes, course, ways, gasCost)
  if (mostRaw === undefined) return undefined
  const reaches = reachesOf(lanes, course)
  const forward = course.exact === 'in'
  // Gas is rounded down, and floating point to either side.
  const most = Number(mostRaw) - Math.abs(Number(mostRaw)) * slack - 1
  const gasRate = (Number(gasCost(muchGas)) / Number(muchGas)) * (1 - slack)
  return ({ amountRaw, gasUnits }, { passage, bestRate }, left) => {
    const rate = bestRate() * (reaches[left]?.get(forward ? passage.tokenOut : passage.tokenIn) ?? 0)
    const worth = forward ? Number(amountRaw) * rate * (1 + slack) : (-Number(amountRaw) / rate) * (1 - slack)
    return worth - Number(swapUnits + gasUnits) * gasRate < most
  }
}

/** Tried first for the next amount: the best price may be that of a pool which holds next to nothing. */
export function rememberWinner(lanes: Lanes, course: Course, route: readonly Lane[]): void {
  winners(lanes).set(keyOf(course), route)
}

/** What the trader has of the better one after paying for gas. */
function mostOfTried(lanes: Lanes, course: Course, { mixes, carrier }: Ways, gasCost: GasCost): bigint | undefined {
  const { exact, amountRaw } = course
  const first = ratedRoutes(lanes, course)[0]?.lanes
  const winner = winners(lanes).get(keyOf(course))
  const isOne = first?.length === winner?.length && first?.every((lane, index) => lane === winner?.[index])
  let mostRaw: bigint | undefined
  for (const route of isOne ? [first] : [winner, first]) {
    const versions = route?.map(({ protocol }) => protocol.version)
    if (!route || !versions || !carrier(versions) || !mixes.some((mix) => versions.every((each) => mix.has(each)))) continue
    const gone = goAlong(route, exact, amountRaw, true)
    if (!gone) continue
    const gainRaw = (exact === 'in' ? gone.otherRaw : -gone.otherRaw) - gasCost(swapUnits + gone.gasUnits)
    if (mostRaw === undefined || gainRaw > mostRaw) mostRaw = gainRaw
  }
  return mostRaw
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
  let reach: Reach = new Map([[forward ? tokenOut : tokenIn, 1]])
  const reaches = [reach]
  for (let left = 1; left < mostHops; left += 1) {
    const next = new Map(reach)
    for (const from of between) {
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
