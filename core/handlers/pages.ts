import type { Settings } from '../config/settings.ts'
import { leftOutOf, type LeftOutItem } from '../contracts/answers/contract.ts'
import { badFields } from '../base/errors.ts'

const defaultLimit = 100

/** The size of a page. @throws SluiceError INCOMPLETE_PARAMS above `limits.pageSize` */
export function readLimit(limit: number | undefined, { limits: { pageSize } }: Pick<Settings, 'limits'>): number {
  if (limit === undefined) return Math.min(defaultLimit, pageSize)
  if (limit > pageSize) throw badFields([{ field: 'limit', problem: `is above this server's limits.pageSize of ${pageSize}` }])
  return limit
}

export const badCursor = () => badFields([{ field: 'cursor', problem: 'is not the nextCursor of an earlier response' }])

/** A page of a list that is sorted newest first, continued by time: several items may have the same millisecond. */
interface TimedPage {
  limit: number
  /** Exclusive, in milliseconds. */
  before?: number
  /** Items before that time that the previous page had already. */
  skip: number
}

/** The cursor is "<time>-<items of that time that were shown>". @throws SluiceError INCOMPLETE_PARAMS */
export function readTimedPage(request: { limit?: number; cursor?: string }, settings: Pick<Settings, 'limits'>): TimedPage {
  const limit = readLimit(request.limit, settings)
  if (request.cursor === undefined) return { limit, skip: 0 }
  const [, time, skip] = /^(\d{1,15})-(\d{1,6})$/.exec(request.cursor) ?? []
  if (time === undefined || skip === undefined) throw badCursor()
  return { limit, before: Number(time) + 1, skip: Number(skip) }
}

/** How many items to query for a page: one more than it shows tells whether there is a next page. */
export const queryLimit = ({ limit, skip }: TimedPage) => limit + skip + 1

/**
 * Cuts a page out of what was queried for it.
 * @param found newest first, `queryLimit` items if there are so many
 */
export function cutTimedPage<T extends { readonly timestamp: number }>(
  found: readonly T[],
  page: TimedPage,
): { shown: readonly T[]; nextCursor?: string } {
  const upToEnd = found.slice(0, page.skip + page.limit)
  const shown = upToEnd.slice(page.skip)
  const last = shown.at(-1)
  // What was left out of a full page does not make it the last one.
  if (!last || found.length + leftOutOf(found).length < queryLimit(page)) return { shown }
  const ofLastTime = upToEnd.filter(({ timestamp }) => timestamp === last.timestamp).length
  return { shown, nextCursor: `${last.timestamp}-${ofLastTime}` }
}

/** What an answer lacks of a list of a plugin's. @param names the fields that say which entry it is */
export function missingIn<N extends object>(
  entries: readonly unknown[],
  names: (name: string) => N,
  more: readonly LeftOutItem[] = [],
): { unavailable?: (N & { reason: string })[] } {
  const leftOut = [...leftOutOf(entries), ...more]
  return leftOut.length === 0 ? {} : { unavailable: leftOut.map(({ name, reason }) => ({ ...names(name), reason })) }
}
