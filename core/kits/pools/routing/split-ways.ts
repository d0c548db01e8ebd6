import type { Course } from './explore.ts'
import type { Lane } from './lanes.ts'
import { shareOf, wholeShare } from './share.ts'

/** One way that a share of a swap may go. */
export interface Way {
  readonly lanes: readonly Lane[]
  readonly gasUnits: bigint
  /** What comes of an amount, or what it takes; undefined where a pool refuses it, or is not known so far. */
  through(exact: 'in' | 'out', amountRaw: bigint): bigint | undefined
  /** The same of a number of twentieths. */
  of(share: number): bigint | undefined
}

export function wayOf(lanes: readonly Lane[], { exact, amountRaw }: Course): Way {
  const order = exact === 'in' ? lanes : lanes.toReversed()
  const known: (bigint | undefined)[] = [0n]
  let gasUnits = 0n
  for (const lane of order) {
    const passed = lane.pass(exact, shareOf(amountRaw, 1))
    gasUnits += passed && !('missing' in passed) ? passed.gasUnits : 0n
  }
  function through(asked: 'in' | 'out', fromRaw: bigint): bigint | undefined {
    let otherRaw = fromRaw
    for (const lane of order) {
      const passed = lane.pass(asked, otherRaw)
      if (!passed || 'missing' in passed || passed.amountRaw <= 0n) return undefined
      otherRaw = passed.amountRaw
    }
    return otherRaw
  }
  return {
    lanes,
    gasUnits,
    through,
    of(share) {
      if (!(share in known)) known[share] = through(exact, shareOf(amountRaw, share))
      return known[share]
    },
  }
}

/** Every two and every three of them that share no pool. */
export function disjointSets(ways: readonly Way[]): readonly (readonly Way[])[] {
  const pools = ways.map(({ lanes }) => new Set(lanes.map(({ pool }) => pool.address)))
  const areApart = (a: number, b: number) => [...(pools[a] ?? [])].every((pool) => !pools[b]?.has(pool))
  const sets: Way[][] = []
  for (const [a, first] of ways.entries()) {
    for (const [b, second] of ways.entries()) {
      if (b <= a || !areApart(a, b)) continue
      sets.push([first, second])
      for (const [c, third] of ways.entries()) if (c > b && areApart(a, c) && areApart(b, c)) sets.push([first, second, third])
    }
  }
  return sets
}

/**
 * Twentieth by twentieth to the way that gives most for the next, or takes least: the best there is, since none gives more for one that
 * comes later. Undefined where a way gets nothing, or not all of it finds a way.
 */
export function allotted(ways: readonly Way[], exact: 'in' | 'out'): { shares: readonly number[]; otherRaw: bigint } | undefined {
  const shares = ways.map(() => 0)
  for (let given = 0; given < wholeShare; given += 1) {
    let best: { index: number; stepRaw: bigint } | undefined
    for (const [index, way] of ways.entries()) {
      const share = shares[index] ?? 0
      const [before, after] = [way.of(share), way.of(share + 1)]
      if (before === undefined || after === undefined) continue
      const stepRaw = after - before
      if (!best || (exact === 'in' ? stepRaw > best.stepRaw : stepRaw < best.stepRaw)) best = { index, stepRaw }
    }
    if (!best) return undefined
    shares[best.index] = (shares[best.index] ?? 0) + 1
  }
  let otherRaw = 0n
  for (const [index, way] of ways.entries()) {
    const share = shares[index] ?? 0
    const partRaw = way.of(share)
    if (share === 0 || partRaw === undefined) return undefined
    otherRaw += partRaw
  }
  return { shares, otherRaw }
}
