import { goneOn, passes, undominated, type Arrival, type Wanted } from './arrival.ts'
import type { Lanes } from './lanes.ts'
import type { IsHopeless } from './prospect.ts'

/** An exact amount that is to go from one token to another, by way of others. All tokens are addresses. */
export interface Course {
  readonly tokenIn: string
  readonly tokenOut: string
  readonly between: readonly string[]
  readonly exact: 'in' | 'out'
  readonly amountRaw: bigint
}

export interface Explored {
  /** At the other end of the course, by whatever pool was the last; those of fewer hops first. */
  readonly arrivals: readonly Arrival[]
  /** Of pools that might give anything. */
  readonly wanted: readonly Wanted[]
  /** Of ways that at their best would be refused, and otherwise perhaps not. */
  readonly unsure: readonly Wanted[]
  /** A pool took the amount and gave nothing for it. */
  readonly tooLittle: boolean
}

export const mostHops = 3

/**
 * Goes from token to token, for an exact amount out from the end to the start, and keeps at each the best way there: which
 * one it was does not matter for what follows, and more of one token never gives less of another. Where gas is to be paid for, those are
 * kept that are the best with as little gas. A pool that more must be known of is gone through as if it were the best that it could be: it is
 * read on only where that would be the best.
 */
export function explore(
  lanes: Lanes,
  { tokenIn, tokenOut, between, exact, amountRaw }: Course,
  versions: ReadonlySet<string>,
  isGasFree: boolean,
  isHopeless: IsHopeless = () => false,
): Explored {
  const forward = exact === 'in'
  const [start, end] = forward ? [tokenIn, tokenOut] : [tokenOut, tokenIn]
  const via = between.filter((token) => token !== start && token !== end)
  const ends: Arrival[] = []
  const best = new Map<string, readonly Arrival[]>()
  const wanted: Wanted[] = []
  const unsure: Wanted[] = []
  let tooLittle = false

  const atStart: Arrival = { amountRaw, gasUnits: 0n, firstWriteUnits: 0n, lanes: [], doubts: [] }
  let here: readonly (readonly [string, readonly Arrival[]])[] = [[start, [atStart]]]
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const next: [string, readonly Arrival[]][] = []
    for (const to of hop < mostHops ? [...via, end] : [end]) {
      const arrivals: Arrival[] = []
      for (const [from, ways] of here) {
        for (const lane of forward ? lanes.between(from, to) : lanes.between(to, from)) {
          const { protocol, pool } = lane
          if (!versions.has(protocol.version)) continue
          for (const way of ways) {
            if (passes(way, pool.address) || isHopeless(way, lane, mostHops - hop)) continue
            const passed = lane.pass(exact, way.amountRaw)
            if (passed === undefined) {
              unsure.push(...way.doubts)
            } else if ('missing' in passed) {
              const { missing, atBestRaw } = passed
              const doubts = [...way.doubts, { protocol, pool: pool.address, missing }]
              if (atBestRaw === undefined) wanted.push(...doubts)
              else if (atBestRaw > 0n || !forward)
                arrivals.push(goneOn(way, lane, { amountRaw: atBestRaw > 0n ? atBestRaw : 1n, gasUnits: 0n }, doubts, exact))
            } else if (passed.amountRaw <= 0n) tooLittle = true
            else arrivals.push(goneOn(way, lane, passed, way.doubts, exact))
          }
        }
      }
      if (to === end) {
        ends.push(...arrivals)
      } else {
        const before = best.get(to) ?? []
        const known = undominated([...before, ...arrivals], exact, isGasFree)
        best.set(to, known)
        // What a shorter way has brought already is gone on from already.
        const further = known.filter((one) => !before.includes(one))
        if (further.length > 0) next.push([to, further])
      }
    }
    here = next
  }
  return { arrivals: ends, wanted, unsure, tooLittle }
}
