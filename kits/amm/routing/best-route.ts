import { Foremost, goneOn, passes, type Arrival, type Wanted } from '../../../core/kits/pools/routing/arrival.ts'
import type { Lane, Lanes } from './graph.ts'
import type { IsHopeless } from '../../../core/kits/pools/routing/prospect.ts'

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
 * one it was does not matter for what follows, and more of one token never gives less of another; where a pool refuses it, it is less that
 * goes through. Where gas is to be paid for, those are kept that are the best with as little gas. A pool that more must be known of is gone
 * through as if it were the best that it could be: it is read on only where that would be the best.
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

  const foremost = new Foremost(exact, isGasFree)
  const lesser = new Map<Arrival, readonly Arrival[]>()

  function goThrough(lane: Lane, way: Arrival, arrivals: Arrival[]): void {
    const { protocol, pool, passage } = lane
    const left = mostHops - way.lanes.length - 1
    const isEnd = (forward ? passage.tokenOut : passage.tokenIn) === end
    if (left < (isEnd ? 0 : 1) || passes(way, pool.address) || isHopeless(way, lane, left)) return
    const passed = lane.pass(exact, way.amountRaw)
    if (passed === undefined) {
      unsure.push(...way.doubts)
      // Where an exact amount is to come out, others need even more of the pool.
      if (forward) for (const less of lesserThan(way)) goThrough(lane, less, arrivals)
    } else if ('missing' in passed) {
      const { missing, atBestRaw } = passed
      const doubts = [...way.doubts, { protocol, pool: pool.address, missing }]
      if (atBestRaw === undefined) wanted.push(...doubts)
      else if (atBestRaw > 0n || !forward)
        arrivals.push(goneOn(way, lane, { amountRaw: atBestRaw > 0n ? atBestRaw : 1n, gasUnits: 0n }, doubts, exact))
    } else if (passed.amountRaw <= 0n) tooLittle = true
    else arrivals.push(goneOn(way, lane, passed, way.doubts, exact))
  }

  /** Ways that were left out for one that brings too much, or for one that it goes on from. */
  function lesserThan(way: Arrival): readonly Arrival[] {
    const known = lesser.get(way)
    if (known) return known
    const found = [...foremost.refused(way)]
    lesser.set(way, found)
    const lane = way.lanes.at(-1)
    if (way.from && lane) for (const less of lesserThan(way.from)) goThrough(lane, less, found)
    return found
  }

  const atStart: Arrival = { amountRaw, gasUnits: 0n, firstWriteUnits: 0n, lanes: [], doubts: [] }
  let here: readonly (readonly [string, readonly Arrival[]])[] = [[start, [atStart]]]
  for (let hop = 1; hop <= mostHops; hop += 1) {
    const next: [string, readonly Arrival[]][] = []
    for (const to of hop < mostHops ? [...via, end] : [end]) {
      const arrivals: Arrival[] = []
      for (const [from, ways] of here) {
        for (const lane of forward ? lanes.between(from, to) : lanes.between(to, from)) {
          if (versions.has(lane.protocol.version)) for (const way of ways) goThrough(lane, way, arrivals)
        }
      }
      if (to === end) {
        ends.push(...arrivals)
      } else {
        const before = best.get(to) ?? []
        const known = foremost.of([...before, ...arrivals])
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
