import type { Wanted } from './arrival.ts'
import type { Course } from '../../../../kits/amm/routing/best-route.ts'
import type { Lane } from '../../../../kits/amm/routing/graph.ts'
import { shareOf, wholeShare } from './share.ts'

/** What came of an amount at the other end of a way. */
export interface Gone {
  readonly otherRaw: bigint
  /** Of the pools. */
  readonly gasUnits: bigint
  /** As of a pass. */
  readonly firstWriteUnits: bigint
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
  /** What one twentieth more is worth after so many: what comes out for it, or less than nothing of what must go in; remembered. */
  step(share: number): bigint | undefined
}

/**
 * Along all lanes of a way. Undefined where a pool refuses that much.
 * @param last what more must be known of counts as unable
 */
export function goAlong(lanes: readonly Lane[], exact: 'in' | 'out', amountRaw: bigint, last: boolean): Gone | undefined {
  let [otherRaw, gasUnits, firstWriteUnits] = [amountRaw, 0n, 0n]
  const doubts: Wanted[] = []
  for (const lane of exact === 'in' ? lanes : lanes.toReversed()) {
    const passed = lane.pass(exact, otherRaw)
    if (!passed) return undefined
    if ('missing' in passed) {
      if (last || passed.atBestRaw === undefined) return undefined
      doubts.push({ protocol: lane.protocol, pool: lane.pool.address, missing: passed.missing })
      otherRaw = passed.atBestRaw
    } else {
      otherRaw = passed.amountRaw
      gasUnits += passed.gasUnits
      firstWriteUnits += passed.firstWriteUnits ?? 0n
    }
    if (otherRaw <= 0n) return undefined
  }
  return { otherRaw, gasUnits, firstWriteUnits, doubts }
}

/** @param last what more must be known of counts as unable */
export function wayOf(lanes: readonly Lane[], { exact, amountRaw }: Course, last: boolean): Way {
  const known: (Gone | undefined)[] = [{ otherRaw: 0n, gasUnits: 0n, firstWriteUnits: 0n, doubts: [] }]
  const go = (fromRaw: bigint) => goAlong(lanes, exact, fromRaw, last)
  function of(share: number): Gone | undefined {
    if (!(share in known)) known[share] = go(shareOf(amountRaw, share))
    return known[share]
  }
  const steps: (bigint | undefined)[] = []
  function step(share: number): bigint | undefined {
    if (share in steps || share >= wholeShare) return steps[share]
    const [before, after] = [of(share), of(share + 1)]
    const stepRaw = before && after && after.otherRaw - before.otherRaw
    return (steps[share] = stepRaw === undefined || exact === 'in' ? stepRaw : -stepRaw)
  }
  return { lanes, versions: lanes.map(({ protocol }) => protocol.version), go, of, step }
}

/** Whether two ways have no pool in common. */
export const areApart = (a: Pick<Way, 'lanes'>, b: Pick<Way, 'lanes'>): boolean =>
  !a.lanes.some(({ pool }) => b.lanes.some((lane) => lane.pool.address === pool.address))

/** How much of a swap goes which way, and what comes of it all together. */
export interface Allotment extends Omit<Gone, 'firstWriteUnits'> {
  /** In twentieths, in the order of the ways; some may have none. */
  readonly shares: readonly number[]
  /** What the twentieth is worth that is worth the least: another way must do better to have any. */
  readonly leastRaw: bigint
}

/**
 * Twentieth by twentieth to the way that does best with the next: the best there is, since none does better with one that comes later.
 * Undefined where not all of it finds a way. It is asked for hundreds of sets of ways, so nothing is made on the way.
 */
export function allotted(ways: readonly Way[]): Allotment | undefined {
  const shares = ways.map(() => 0)
  const steps = ways.map((way) => way.step(0))
  let leastRaw = 0n
  for (let given = 0; given < wholeShare; given += 1) {
    let best = -1
    let mostRaw: bigint | undefined
    for (let index = 0; index < steps.length; index += 1) {
      const stepRaw = steps[index]
      if (stepRaw === undefined || (mostRaw !== undefined && stepRaw <= mostRaw)) continue
      best = index
      mostRaw = stepRaw
    }
    if (mostRaw === undefined) return undefined
    leastRaw = mostRaw
    const share = (shares[best] ?? 0) + 1
    shares[best] = share
    steps[best] = ways[best]?.step(share)
  }
  const gone = ways.map((way, index) => way.of(shares[index] ?? 0))
  return {
    shares,
    leastRaw,
    otherRaw: gone.reduce((sum, each) => sum + (each?.otherRaw ?? 0n), 0n),
    gasUnits: gone.reduce((sum, each) => sum + (each?.gasUnits ?? 0n), 0n),
    doubts: gone.flatMap((each) => each?.doubts ?? []),
  }
}
