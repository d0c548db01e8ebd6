import { lookAt, type Look } from './pool-lens.ts'
import type { KnownTicks, Reach } from './range-pool-state.ts'

/**
 * From one to the next where a swap goes beyond what is known. The first is enough for nearly all swaps and costs a node
 * 170,000 gas where all ticks around the price are initialised, as measured on anvil; the last is all that any pool has
 * of the bitmap.
 */
const reaches: readonly Reach[] = [
  { words: 8, ticks: 6 },
  { words: 128, ticks: 64 },
  { words: 1024, ticks: 512 },
  { words: 7000, ticks: 4096 },
]
const firstReach: Reach = reaches[0] ?? { words: 1, ticks: 1 }

/** A pool and a direction in which more must be known of it. */
class Unread {
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
export function unreadOf(pool: string, zeroForOne: boolean, { reach }: KnownTicks): Unread | undefined {
  const next = reaches.find(({ words }) => words > reach.words)
  return next && new Unread(pool, zeroForOne, next)
}

/** How far to look from a pool's price where nothing is known yet. */
export const firstLook = (pool: string): Look => lookAt(pool, firstReach, firstReach)

/** As far as swaps found wanting; undefined where none did. */
export function fartherLook(pool: string, missing: readonly unknown[]): Look | undefined {
  const unread = missing.filter((each) => each instanceof Unread).filter((each) => each.pool === pool)
  const reach = (zeroForOne: boolean) =>
    unread.reduce<Reach>((a, b) => (b.zeroForOne === zeroForOne && b.reach.words > a.words ? b.reach : a), firstReach)
  return unread.length > 0 ? lookAt(pool, reach(true), reach(false)) : undefined
}
