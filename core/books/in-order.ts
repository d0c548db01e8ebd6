// Reads the entries of journal and archive in the order of time, a page at a time: lists of the store are newest first, so stretches of time are read one after
// the other, each so short that what is kept of it fits in memory.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Entry } from '../transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../transactions/journal/journal.ts'

/** Nothing was journaled before, however wrong a clock was. */
const beginning = Date.UTC(2000, 0, 1)
const dayMs = 86_400_000
const mostMs = 4_000 * dayMs
const pageEntries = 25
/** Of one stretch. */
const mostEntries = 20_000

interface Reading<T> {
  list(filter: EntryFilter): Promise<EntryPage>
  readonly filter: Omit<EntryFilter, 'from' | 'to' | 'cursor' | 'limit' | 'archived'>
  /** Milliseconds since the Unix epoch: from then on, and before. */
  readonly from: number | undefined
  readonly to: number
  /** What is kept of an entry; undefined: nothing. */
  extract(entry: Entry): T | undefined
  readonly signal: AbortSignal
}

/** What was read of one stretch of time, oldest first. */
export interface Stretch<T> {
  readonly kept: readonly T[]
  /** Those that were looked at. */
  readonly entries: number
  /** Those that cannot be read. */
  readonly damaged: number
  /** Where it ends. */
  readonly until: number
}

export async function* readInOrder<T>({ list, filter, from = beginning, to, extract, signal }: Reading<T>): AsyncGenerator<Stretch<T>> {
  let [at, spanMs] = [from, dayMs]
  while (at < to) {
    const until = Math.min(at + spanMs, to)
    const stretch = await readStretch(at, until)
    if (!stretch) {
      spanMs = Math.max(1, Math.floor((until - at) / 4))
      continue
    }
    yield stretch
    at = until
    if (stretch.entries < mostEntries / 4) spanMs = Math.min(spanMs * 2, mostMs)
  }

  /** Undefined where it has too many. */
  async function readStretch(start: number, until: number): Promise<Stretch<T> | undefined> {
    const kept: T[] = []
    let [entries, damaged] = [0, 0]
    let cursor: string | undefined
    do {
      signal.throwIfAborted()
      const page = await list({
        ...filter,
        from: start,
        to: until,
        archived: true,
        shownOnly: true,
        limit: pageEntries,
        ...(cursor !== undefined && { cursor }),
      })
      for (const entry of page.entries) {
        const extracted = extract(entry)
        if (extracted !== undefined) kept.push(extracted)
      }
      entries += page.entries.length
      damaged += page.damaged?.length ?? 0
      if (entries > mostEntries && until - start > 1) return undefined
      cursor = page.nextCursor
      await nextTurn()
    } while (cursor !== undefined)
    return { kept: kept.toReversed(), entries, damaged, until }
  }
}
