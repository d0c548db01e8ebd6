import type { Missing, PoolProtocol } from '../protocol.ts'
import { goneOn, noWorse, passes, undominated, type Arrival } from './arrival.ts'
import type { Lanes } from './lanes.ts'

/** An exact amount that is to go from one token to another, by way of others. All tokens are addresses. */
export interface Course {
  readonly tokenIn: string
  readonly tokenOut: string
  readonly between: readonly string[]
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

/** A pool of which more must be known. */
export interface Wanted {
  readonly protocol: PoolProtocol
  readonly missing: unknown
}

export interface Explored {
  /** At the other end of the course, by whatever pool was the last; those of fewer hops first. */
  readonly arrivals: readonly Arrival[]
  readonly wanted: readonly Wanted[]
  /** A pool took the amount and gave nothing for it. */
  readonly tooLittle: boolean
}

export const mostHops = 3

/**
 * Goes from token to token, for an exact amount out from the end to the start, and keeps at each the best way there: which
 * one it was does not matter for what follows, and more of one token never gives less of another.
 */
export function explore(lanes: Lanes, { tokenIn, tokenOut, between, exact, amountRaw }: Course, versions: ReadonlySet<string>): Explored {
  const forward = exact === 'in'
  const [start, end] = forward ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const via = between.filter((token) => token !== start && token !== end)
  const ends: Arrival[] = []
  const best = new Map<string, readonly Arrival[]>()
  const wanted: Wanted[] = []
  let tooLittle = false

  let here: readonly (readonly [string, readonly Arrival[]])[] = [[start, [{ amountRaw, gasUnits: 0n, lanes: [] }]]]
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const next: [string, readonly Arrival[]][] = []
    for (const to of hop < mostHops ? [...via, end] : [end]) {
      const arrivals: Arrival[] = []
      const wanting: (Missing & { readonly protocol: PoolProtocol })[] = []
      for (const [from, ways] of here) {
        for (const lane of forward ? lanes.between(from, to) : lanes.between(to, from)) {
          const { protocol, pool } = lane
          if (!versions.has(protocol.version)) continue
          for (const way of ways) {
            if (passes(way, pool.address)) continue
            const passed = lane.pass(exact, way.amountRaw)
            if (passed === undefined) continue
            if ('missing' in passed) wanting.push({ protocol, ...passed })
            else if (passed.amountRaw <= 0n) tooLittle = true
            else arrivals.push(goneOn(way, lane, passed, exact))
          }
        }
      }
      const before = to === end ? ends : (best.get(to) ?? [])
      const known = undominated([...before, ...arrivals], exact)
      for (const { protocol, missing, atBestRaw } of wanting)
        if (atBestRaw === undefined || !known.some((one) => noWorse(one.amountRaw, atBestRaw, exact))) wanted.push({ protocol, missing })

      if (to === end) ends.push(...arrivals)
      else {
        best.set(to, known)
        // What a shorter way has brought already is gone on from already.
        const further = known.filter((one) => !before.includes(one))
        if (further.length > 0) next.push([to, further])
      }
    }
    here = next
  }
  return { arrivals: ends, wanted, tooLittle }
}
