import { lookAt, type Look, type Reach } from '../../../../kits/amm/v3/lens.ts'
import type { RangePoolState } from './range-pool-state.ts'

/**
 * Enough for nearly all swaps: it costs a node 170,000 gas where all ticks around the price are initialised, as measured on
 * anvil.
 */
export const firstReach: Reach = { words: 8, ticks: 6 }
/** From one to the next where a swap goes beyond what is known. The last is all that any pool has of the bitmap. */
const farReaches: readonly Reach[] = [
  { words: 128, ticks: 64 },
  { words: 1024, ticks: 512 },
  { words: 7000, ticks: 4096 },
]
export const ticksPerWord = 256

/** A pool and a direction in which more must be known of it. */
export interface Unread {
  readonly pool: string
  readonly zeroForOne: boolean
  readonly reach: Reach
}

/** What to read next; undefined where all that can be asked for was read. */
export function unreadOf(pool: string, zeroForOne: boolean, state: RangePoolState): Unread | undefined {
  const known = reachOf(state, zeroForOne)
  // The price may have gone on since they were read. Who asks for little more than is known asks again with its next step.
  const reach =
    farReaches.find(({ words, ticks }) => words >= 2 * known.words && ticks >= 2 * known.ticks) ??
    farReaches.findLast(({ words, ticks }) => words > known.words && ticks > known.ticks)
  return reach && { pool, zeroForOne, reach }
}

/** As much of a pool as would be known if it had been read from its price: less than nothing where that has left what is known. */
function reachOf({ tick, tickSpacing, ticks }: RangePoolState, zeroForOne: boolean): Reach {
  const below = Math.floor(tick / tickSpacing)
  const upTo = ticks.upTo(tick)
  return zeroForOne
    ? { words: wordOf(below) - wordOf(ticks.from / tickSpacing), ticks: upTo }
    : { words: wordOf(ticks.to / tickSpacing) - wordOf(below + 1), ticks: ticks.ticks.length - upTo }
}

const wordOf = (compressed: number) => Math.floor(compressed / ticksPerWord)

/** How far to look from a pool's price where nothing is known yet. */
export const firstLook = (pool: string): Look => lookAt(pool, firstReach, firstReach)

/** As far as swaps found wanting; undefined where none did. */
export function fartherLook(pool: string, missing: readonly unknown[]): Look | undefined {
  const unread = missing.filter(isUnread).filter((each) => each.pool === pool)
  const reach = (zeroForOne: boolean) =>
    unread.reduce<Reach>((a, b) => (b.zeroForOne === zeroForOne && b.reach.words > a.words ? b.reach : a), firstReach)
  return unread.length > 0 ? lookAt(pool, reach(true), reach(false)) : undefined
}

const isUnread = (value: unknown): value is Unread => typeof value === 'object' && value !== null && 'pool' in value && 'reach' in value
