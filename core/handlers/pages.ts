import { badFields } from '../api/index.ts'
import type { Settings } from '../config/settings.ts'

const usualLimit = 100

/** How many a page may have. @throws SluiceError INCOMPLETE_PARAMS */
export function readLimit(limit: number | undefined, { limits: { pageSize } }: Pick<Settings, 'limits'>): number {
  if (limit === undefined) return Math.min(usualLimit, pageSize)
  if (limit > pageSize) throw badFields([{ field: 'limit', problem: `is above this server's limits.pageSize of ${pageSize}` }])
  return limit
}

export const badCursor = () => badFields([{ field: 'cursor', problem: 'is no nextCursor of an earlier answer' }])

/** A page of what comes newest first, and is told from before a time on: several may be of one millisecond. */
interface TimedPage {
  limit: number
  before?: number
  /** So many of the first ones were on the page before. */
  skip: number
}

export function readTimedPage(request: { limit?: number; cursor?: string }, settings: Pick<Settings, 'limits'>): TimedPage {
  const limit = readLimit(request.limit, settings)
  if (request.cursor === undefined) return { limit, skip: 0 }
  const [, time, skip] = /^(\d{1,15})-(\d{1,6})$/.exec(request.cursor) ?? []
  if (time === undefined || skip === undefined) throw badCursor()
  return { limit, before: Number(time) + 1, skip: Number(skip) }
}

/** One more than is shown tells whether there are more. */
export const askedOf = ({ limit, skip }: TimedPage) => limit + skip + 1

/**
 * What is on a page, and where the next begins.
 * @param found newest first: as many as `askedOf` says, where there are so many
 */
export function cutTimedPage<T extends { readonly timestamp: number }>(
  found: readonly T[],
  page: TimedPage,
): { shown: readonly T[]; nextCursor?: string } {
  const until = found.slice(0, page.skip + page.limit)
  const shown = until.slice(page.skip)
  const last = shown.at(-1)
  if (!last || found.length < askedOf(page)) return { shown }
  const ofThatTime = until.filter(({ timestamp }) => timestamp === last.timestamp).length
  return { shown, nextCursor: `${last.timestamp}-${ofThatTime}` }
}
