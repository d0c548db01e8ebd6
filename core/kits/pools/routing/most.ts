import { explore, mostHops, type Course } from '../../../../kits/amm/routing/best-route.ts'
import type { Lane, Lanes } from '../../../../kits/amm/routing/graph.ts'

/** The most that an exact amount in may be, by the pools that it could go into first; undefined where one of them does not say. */
export function mostIn(lanes: Lanes, { tokenIn, tokenOut, between }: Course, versions: ReadonlySet<string>): bigint | undefined {
  const first = [tokenOut, ...between].flatMap((token) => taking(lanes, tokenIn, token, versions))
  return greatest(first.map(roomOf))
}

/**
 * The most that an exact amount out may be, whatever it costs: all that goes into the first pools, and what comes of it at
 * the end. Undefined where a pool does not say what goes into it, or the result cannot be had after all.
 */
export function mostOut(lanes: Lanes, course: Course, versions: ReadonlySet<string>): bigint | undefined {
  const { tokenIn, tokenOut, between } = course
  const via = between.filter((token) => token !== tokenIn && token !== tokenOut)
  let here = new Map<string, bigint | 'unlimited'>([[tokenIn, 'unlimited']])
  let mostRaw = 0n
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const next = new Map<string, bigint>()
    for (const to of hop < mostHops ? [...via, tokenOut] : [tokenOut]) {
      const given: (bigint | undefined)[] = [...here].flatMap(([from, heldRaw]) =>
        taking(lanes, from, to, versions).map((lane) => givenAtMost(lane, heldRaw)),
      )
      const reachedRaw = greatest(given)
      if (reachedRaw === undefined) return undefined
      if (to !== tokenOut) next.set(to, reachedRaw)
      else if (reachedRaw > mostRaw) mostRaw = reachedRaw
    }
    here = next
  }
  const had =
    mostRaw > 0n && explore(lanes, { ...course, amountRaw: mostRaw }, versions, true).arrivals.some(({ doubts }) => doubts.length === 0)
  return had ? mostRaw : undefined
}

const taking = (lanes: Lanes, from: string, to: string, versions: ReadonlySet<string>) =>
  from === to ? [] : lanes.between(from, to).filter(({ protocol }) => versions.has(protocol.version))

const roomOf = ({ protocol, pool, passage }: Lane) => protocol.mostIn?.(pool, passage)

function givenAtMost(lane: Lane, heldRaw: bigint | 'unlimited'): bigint | undefined {
  const roomRaw = roomOf(lane)
  if (roomRaw === undefined) return undefined
  // One less than fits, since contracts ask for one more than they need.
  const amountInRaw = (heldRaw === 'unlimited' || heldRaw > roomRaw ? roomRaw : heldRaw) - 1n
  if (amountInRaw <= 0n) return 0n
  const passed = lane.pass('in', amountInRaw)
  return passed && !('missing' in passed) ? passed.amountRaw : 0n
}

/** Nothing of none; undefined where one is unknown. */
function greatest(amounts: readonly (bigint | undefined)[]): bigint | undefined {
  return amounts.reduce((a, b) => (a === undefined || b === undefined ? undefined : a > b ? a : b), 0n)
}
