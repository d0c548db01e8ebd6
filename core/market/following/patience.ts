import type { Trail } from './trail.ts'

const [leastMs, mostMs] = [2_000, 30_000]

/**
 * How long nothing is heard of a network before it is asked whether it is still there: the time of as many blocks as a state may be behind,
 * by what the newest took.
 */
export function patienceMs({ tip, oldest }: Pick<Trail, 'tip' | 'oldest'>, staleBlocks: number): number {
  const blocks = tip && oldest ? Number(tip.number - oldest.number) : 0
  if (!tip || !oldest || blocks === 0) return leastMs
  const perBlockMs = ((tip.timestamp - oldest.timestamp) * 1000) / blocks
  return Math.min(mostMs, Math.max(leastMs, perBlockMs * (staleBlocks + 1)))
}
