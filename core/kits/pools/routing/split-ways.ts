import type { Wanted } from './arrival.ts'
import type { Course } from './explore.ts'
import type { Lane } from './lanes.ts'
import { shareOf, wholeShare } from './share.ts'

/** What came of an amount at the other end of a way. */
export interface Gone {
  readonly otherRaw: bigint
  /** Of the pools. */
  readonly gasUnits: bigint
  /** What must be known of its pools; until then it is what it could be at best. */
  readonly doubts: readonly Wanted[]
}

/** One way that a share of a swap may go. */
export interface Way {
  readonly lanes: readonly Lane[]
  readonly versions: readonly string[]
  /** Undefined where a pool refuses that much. */
  go(amountRaw: bigint): Gone | undefined
  /** The same of a number of twentieths; remembered. */
  of(share: number): Gone | undefined
}

/** @param last what more must be known of counts as unable */
export function wayOf(lanes: readonly Lane[], { exact, amountRaw }: Course, last: boolean): Way {
  const order = exact === 'in' ? lanes : lanes.toReversed()
  const known: (Gone | undefined)[] = [{ otherRaw: 0n, gasUnits: 0n, doubts: [] }]
  function go(fromRaw: bigint): Gone | undefined {
    let [otherRaw, gasUnits] = [fromRaw, 0n]
    const doubts: Wanted[] = []
    for (const lane of order) {
      const passed = lane.pass(exact, otherRaw)
      if (!passed) return undefined
      if ('missing' in passed) {
        if (last || passed.atBestRaw === undefined) return undefined
        doubts.push({ protocol: lane.protocol, pool: lane.pool.address, missing: passed.missing })
        otherRaw = passed.atBestRaw
      } else {
        otherRaw = passed.amountRaw
        gasUnits += passed.gasUnits
      }
      if (otherRaw <= 0n) return undefined
    }
    return { otherRaw, gasUnits, doubts }
  }
  return {
    lanes,
    versions: lanes.map(({ protocol }) => protocol.version),
    go,
    of(share) {
      if (!(share in known)) known[share] = go(shareOf(amountRaw, share))
      return known[share]
    },
  }
}

/** Whether two ways have no pool in common. */
export const areApart = (a: Pick<Way, 'lanes'>, b: Pick<Way, 'lanes'>): boolean =>
  !a.lanes.some(({ pool }) => b.lanes.some((lane) => lane.pool.address === pool.address))

/** How much of a swap goes which way, and what comes of it all together. */
export interface Allotment extends Gone {
  /** In twentieths, in the order of the ways. */
  readonly shares: readonly number[]
}

/**
 * Twentieth by twentieth to the way that gives most for the next, or takes least: the best there is, since none gives more for one that
 * comes later. Undefined where a way gets nothing, or not all of it finds a way.
 */
export function allotted(ways: readonly Way[], exact: 'in' | 'out'): Allotment | undefined {
  const shares = ways.map(() => 0)
  for (let given = 0; given < wholeShare; given += 1) {
    let best: { index: number; stepRaw: bigint } | undefined
    for (const [index, way] of ways.entries()) {
      const share = shares[index] ?? 0
      const [before, after] = [way.of(share), way.of(share + 1)]
      if (!before || !after) continue
      const stepRaw = after.otherRaw - before.otherRaw
      if (!best || (exact === 'in' ? stepRaw > best.stepRaw : stepRaw < best.stepRaw)) best = { index, stepRaw }
    }
    if (!best) return undefined
    shares[best.index] = (shares[best.index] ?? 0) + 1
  }
  let [otherRaw, gasUnits] = [0n, 0n]
  const doubts: Wanted[] = []
  for (const [index, way] of ways.entries()) {
    const share = shares[index] ?? 0
    const gone = way.of(share)
    if (share === 0 || !gone) return undefined
    otherRaw += gone.otherRaw
    gasUnits += gone.gasUnits
    doubts.push(...gone.doubts)
  }
  return { shares, otherRaw, gasUnits, doubts }
}
