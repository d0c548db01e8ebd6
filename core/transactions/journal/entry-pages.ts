// Reads rows of entries newest first, a page at a time: of one query, or of several whose rows are put in order.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import { firstKeyAt } from '../submit-request.ts'
import type { EntryFilter } from './journal.ts'

export type Query<R> = SelectQueryBuilder<Tables, 'entries', R>
/** Starts a query of entries. */
export type Select<R> = (db: Kysely<Tables>) => Query<R>

/** Rows that one statement reads where only some of them match: about a millisecond. */
const pageRows = 250
/** Queries that one statement reads. */
export const maxQueries = 50

export const keysIn: Select<{ key: string }> = (db) => db.selectFrom('entries').select('key')

/** Newest first: the `count` entries before a key. */
export type ReadPage<R> = (before: string | undefined, count: number) => Promise<readonly R[]>

type Condition<R> = (row: R, filter: EntryFilter) => boolean

export const collect = <R extends { key: string }>(
  readPage: ReadPage<R>,
  filter: EntryFilter,
  limit: number,
  isWanted: Condition<R> = () => true,
) => collectFirst([readPage], filter, limit, isWanted)

/**
 * Several indexes lead to the same entries, and one of them past few others: they are read in turns, a page of each, and the first that is through
 * has all. So it takes as many times as long as by the best of them as there are indexes, and nobody has to guess which that is.
 */
export async function collectFirst<R extends { key: string }>(
  indexes: readonly ReadPage<R>[],
  filter: EntryFilter,
  limit: number,
  isWanted: Condition<R>,
): Promise<readonly string[]> {
  const lowest = filter.from === undefined ? '' : firstKeyAt(filter.from)
  const readers = indexes.map((readPage) => ({ readPage, keys: [] as string[], before: filter.cursor }))
  for (let count = limit; ; count = pageRows)
    for (const reader of readers) {
      const { readPage, keys, before } = reader
      const rows = await readPage(before, count)
      for (const row of rows) {
        if (row.key < lowest) return keys
        if (keys.length < limit && isWanted(row, filter)) keys.push(row.key)
      }
      if (rows.length < count || keys.length === limit) return keys
      reader.before = rows.at(-1)?.key
      await nextTurn()
    }
}

/** All entries. */
export const pagesOf =
  <R>(store: Store, select: Select<R>): ReadPage<R> =>
  (before, count) =>
    store.read((db) => newest(select(db), before, count).execute())

export const newest = <R>(query: Query<R>, before: string | undefined, count: number): Query<R> =>
  (before === undefined ? query : query.where('key', '<', before)).orderBy('key', 'desc').limit(count)

/** Some entries, and what was read of them and not given yet. */
interface Head<R> {
  readonly select: Select<R>
  rows: R[]
  /** The key that was read last. */
  before: string | undefined
  ended: boolean
}

/** Reads what several queries find, none of which finds what another one does, in the order of keys: of each only as much as is needed. */
export function createMerge<R extends { key: string }>(store: Store, selects: readonly Select<R>[]): ReadPage<R> {
  const heads = selects.map((select): Head<R> => ({ select, rows: [], before: undefined, ended: false }))

  async function fill(empty: readonly Head<R>[], count: number): Promise<void> {
    for (let start = 0; start < empty.length; start += maxQueries) {
      if (start > 0) await nextTurn()
      await readNext(store, empty.slice(start, start + maxQueries), count)
    }
  }

  return async (before, count) => {
    for (const head of heads) head.before ??= before
    const merged: R[] = []
    while (merged.length < count) {
      const empty = heads.filter(({ rows, ended }) => rows.length === 0 && !ended)
      // Of many groups each has a few of the newest entries.
      if (empty.length > 0) await fill(empty, Math.ceil((2 * (count - merged.length)) / empty.length))
      const first = heads.reduce((a, b) => ((a.rows[0]?.key ?? '') < (b.rows[0]?.key ?? '') ? b : a))
      const row = first.rows.shift()
      if (!row) break
      merged.push(row)
    }
    return merged
  }
}

async function readNext<R extends { key: string }>(store: Store, heads: readonly Head<R>[], count: number): Promise<void> {
  const parts = await store.read(async (db) => {
    const queries = heads.map(({ select, before }) => newest(select(db), before, count))
    const [only, ...others] = queries
    if (only && others.length === 0) return (await only.execute()).map((row) => ({ part: 0, row }))
    const numbered = queries.map((query, index) => sql`select ${sql.lit(index)} as part, each.* from ${query} as each`)
    const { rows } = await sql<R & { part: number }>`${sql.join(numbered, sql` union all `)}`.execute(db)
    return rows.map((row) => ({ part: row.part, row }))
  })
  for (const { part, row } of parts) heads[part]?.rows.push(row)
  for (const head of heads) {
    head.ended = head.rows.length < count
    head.before = head.rows.at(-1)?.key ?? head.before
  }
}
