import type { Trail } from './trail.ts'

const [leastMs, mostMs] = [2_000, 30_000]

type Ends = Pick<Trail, 'tip' | 'oldest'>

/**
 * How long nothing is heard of a network before it is asked whether it is still there: the time of as many blocks as a state may be behind,
 * by what the newest took.
 */
export const patienceMs = (trail: Ends, staleBlocks: number): number =>
  Math.min(mostMs, Math.max(leastMs, blockSeconds(trail) * 1000 * (staleBlocks + 1)))

/** What the newest blocks took each, by their own time; 0 where too few are known. */
export function blockSeconds({ tip, oldest }: Ends): number {
  const blocks = tip && oldest ? Number(tip.number - oldest.number) : 0
  return tip && oldest && blocks > 0 ? (tip.timestamp - oldest.timestamp) / blocks : 0
}
