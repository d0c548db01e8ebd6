import { mostHops, type Course } from '../../../../kits/amm/routing/best-route.ts'
import type { Lane, Lanes } from '../../../../kits/amm/routing/graph.ts'
import { perLanes } from './per-lanes.ts'

/** A way with the price of its pools, fees included: no amount gets a better one. */
export interface RatedRoute {
  readonly lanes: readonly Lane[]
  readonly versions: readonly string[]
  /** Out per in, in smallest units, rounded up. */
  readonly rateX128: bigint
}

type Started = Pick<RatedRoute, 'lanes' | 'rateX128'> & { readonly token: string }

const oneX128 = 2n ** 128n
/** Of the ways to each token between, only so many are gone on. */
const mostOnward = 6
/** Of all, only so many are ever tried. */
const mostRated = 32

const known = perLanes<readonly RatedRoute[]>()

/** The ways from one token to another, those with the best price for next to nothing first: the same for all amounts, and remembered. */
export function ratedRoutes(lanes: Lanes, course: Pick<Course, 'tokenIn' | 'tokenOut' | 'between'>): readonly RatedRoute[] {
  const ofLanes = known(lanes)
  const key = `${course.tokenIn} ${course.tokenOut}`
  const found = ofLanes.get(key) ?? rate(lanes, course)
  ofLanes.set(key, found)
  return found
}

/** What an amount would be at that price: no less in, no more out. */
export const atBest = (rateX128: bigint, exact: 'in' | 'out', amountRaw: bigint): bigint =>
  exact === 'in' ? ((amountRaw * rateX128) >> 128n) + 1n : (amountRaw << 128n) / rateX128

function rate(lanes: Lanes, { tokenIn, tokenOut, between }: Pick<Course, 'tokenIn' | 'tokenOut' | 'between'>): readonly RatedRoute[] {
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  const goOn = (way: Started, lane: Lane, token: string): Started => ({
    token,
    lanes: [...way.lanes, lane],
    rateX128: ((way.rateX128 * lane.rateX128()) >> 128n) + 1n,
  })
  const found: Started[] = []
  let here: readonly Started[] = [{ token: tokenIn, lanes: [], rateX128: oneX128 }]
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const next: Started[] = []
    for (const to of hop < mostHops ? [...via, tokenOut] : [tokenOut]) {
      const arrived = here.flatMap((way) =>
        way.lanes.some(({ passage }) => passage.tokenIn === to) || way.token === to
          ? []
          : lanes
              .between(way.token, to)
              .filter(({ pool }) => !way.lanes.some((lane) => lane.pool.address === pool.address))
              .map((lane) => goOn(way, lane, to)),
      )
      if (to === tokenOut) found.push(...arrived)
      else next.push(...arrived.toSorted(byRate).slice(0, mostOnward))
    }
    here = next
  }
  return found
    .toSorted(byRate)
    .slice(0, mostRated)
    .map((way) => ({ lanes: way.lanes, rateX128: way.rateX128, versions: way.lanes.map(({ protocol }) => protocol.version) }))
}

const byRate = (a: Started, b: Started) => (a.rateX128 === b.rateX128 ? 0 : a.rateX128 > b.rateX128 ? -1 : 1)
