import type { Look } from './pool-lens.ts'
import type { KnownTicks, Reach } from './range-pool-state.ts'

/**
 * From one to the next where a swap goes beyond what is known. The first is enough for nearly all swaps and costs a node
 * some 100,000 gas a pool; the last is all of it where nothing but the bitmap is long.
 */
const reaches: readonly Reach[] = [
  { words: 16, ticks: 6 },
  { words: 128, ticks: 64 },
  { words: 1024, ticks: 512 },
  { words: 7000, ticks: 4096 },
]
export const firstReach: Reach = reaches[0] ?? { words: 1, ticks: 1 }

/** A pool and a direction in which more must be known of it. */
export class Unread {
  readonly pool: string
  readonly zeroForOne: boolean
  readonly reach: Reach

  constructor(pool: string, zeroForOne: boolean, reach: Reach) {
    this.pool = pool
    this.zeroForOne = zeroForOne
    this.reach = reach
  }
}

/** What to read next; undefined where all that can be asked for was read. */
export function beyond(pool: string, zeroForOne: boolean, { reach }: KnownTicks): Unread | undefined {
  const next = reaches.find(({ words }) => words > reach.words)
  return next && new Unread(pool, zeroForOne, next)
}

// Swaps that went far come again: their pools are read so far at once, for so many times after it was last needed.
const timesRemembered = 32
const mostRemembered = 1000
/** What is farther is read when it is needed only: it would make every quote dear. */
const farthestRemembered = reaches[1] ?? firstReach

/** How far to read each pool, with what earlier swaps found wanting. */
export function reachMemory(): (pools: readonly string[], missing: readonly unknown[]) => readonly Look[] {
  const remembered = new Map<string, { below: Reach; above: Reach; times: number }>()

  return (pools, missing) => {
    const unread = missing.filter((each) => each instanceof Unread)
    return pools.map((pool) => {
      const known = remembered.get(pool)
      let [below, above] = [known?.below ?? firstReach, known?.above ?? firstReach]
      const wanted = unread.filter((each) => each.pool === pool)
      for (const { zeroForOne, reach } of wanted) {
        if (zeroForOne) below = farther(below, reach)
        else above = farther(above, reach)
      }
      if (wanted.length > 0) {
        if (remembered.size >= mostRemembered) remembered.clear()
        remembered.set(pool, { below: nearer(below, farthestRemembered), above: nearer(above, farthestRemembered), times: timesRemembered })
      } else if (known && (known.times -= 1) <= 0) remembered.delete(pool)
      return { pool, below, above }
    })
  }
}

const farther = (a: Reach, b: Reach) => (a.words > b.words ? a : b)
const nearer = (a: Reach, b: Reach) => (a.words < b.words ? a : b)
