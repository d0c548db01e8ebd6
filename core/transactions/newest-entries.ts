// The newest entries of the journal and the archive. A page of these may end early, even without any entry, where few of the archive's match: a chain, a
// network and what is asked besides have no index there. So one page tells nothing of what there is.
import type { EntryFilter, EntryPage } from './journal/journal.ts'

interface NewestEntries extends Pick<EntryPage, 'entries'> {
  readonly damaged: readonly string[]
  /** There may be older ones. */
  readonly isCut: boolean
}

/**
 * @param filter with `limit`, of all pages together
 * @param maxPages of which each looks at some thousands of the archive's
 */
export async function newestEntries(
  list: (filter: EntryFilter) => Promise<EntryPage>,
  filter: EntryFilter & { readonly limit: number },
  { maxPages = Infinity, signal }: { readonly maxPages?: number; readonly signal: AbortSignal },
): Promise<NewestEntries> {
  const { limit } = filter
  const entries: EntryPage['entries'][number][] = []
  const damaged: string[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < maxPages && entries.length < limit; pages += 1) {
    signal.throwIfAborted()
    const page = await list({ ...filter, limit: Math.min(limit - entries.length, maxInPage), ...(cursor !== undefined && { cursor }) })
    entries.push(...page.entries)
    damaged.push(...(page.damaged ?? []))
    cursor = page.nextCursor
    if (cursor === undefined) return { entries, damaged, isCut: false }
  }
  return { entries, damaged, isCut: true }
}

/** The most that the journal lists at a time. */
const maxInPage = 500
