import type { Head, HeadChanges } from '../../contracts/index.ts'
import { mostBlocks, type Trail } from './trail.ts'

/** How to come to a head: back to a block that is known, and on from there; undefined where that is too far. */
export interface Way {
  readonly back: Head
  readonly blocks: readonly HeadChanges[]
}

type Changes = (after: Head, to: Head) => Promise<readonly HeadChanges[] | 'forked'>

/** So far back it is looked for the block where another fork began: most forks are of one block. */
const steps = [0, 1, 4, 16, mostBlocks - 1]

/**
 * A block further back than the fork's beginning does as well: what is known of those between is then read again. What directly follows
 * takes one round trip.
 */
export async function findWay(trail: Trail, to: Head, changes: Changes): Promise<Way | undefined> {
  const { tip } = trail
  if (!tip || to.number - tip.number > BigInt(mostBlocks)) return undefined
  const below = trail.heads().filter(({ number }) => number < to.number)
  const tries = new Set(steps.map((step) => below[Math.min(step, below.length - 1)]))
  for (const back of tries) {
    if (!back) continue
    const blocks = await changes(back, to)
    if (blocks === 'forked') continue
    if (blocks.at(-1)?.head.hash !== to.hash) throw new Error('the chain gave other blocks than those that it was asked for')
    return { back, blocks }
  }
  return undefined
}
