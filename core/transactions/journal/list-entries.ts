// Lists entries of the journal, newest first. However large it is, only rows of an index that match are read, a page at a time.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hashBytes } from '../../store/compact.ts'
import type { Store } from '../../store/store.ts'
import { canonicalHash } from '../../base/addresses.ts'
import { firstKeyAt } from '../submit-request.ts'
import {
  byColumn,
  byOneColumn,
  byOwnFilter,
  filterColumns,
  hasOwnFilter,
  matches,
  withinTime,
  type FilteredRow,
  type Narrow,
  type Narrowings,
} from './entry-conditions.ts'
import { byWalletAlone, groupsOf, groupsOfPage, inGroups, newestOfWallets } from './entry-groups.ts'
import { collect, collectFirst, createMerge, keysIn, newest, pagesOf, type ReadPage, type Select } from './entry-pages.ts'
import { bodyColumns, type BodyRow } from './entry-rows.ts'
import { withKnownAliases } from './pair-names.ts'
import type { EntryFilter } from './journal.ts'

/** Bodies that are read before other work has its turn, not decoded: half a millisecond. */
const statementBodies = 125
/** With more wallets, their newest entries are found first: most have none that the page shows. */
const manyGroups = 16

/** @returns what is read of the newest entries that match, at most `limit` */
export async function listEntries(store: Store, asked: EntryFilter, limit: number): Promise<readonly BodyRow[]> {
  const filter = await withKnownAliases(store, 'entries', withinTime(asked))
  const alone = filter.txHash === undefined ? (byOneColumn(filter) ?? byWalletAlone(filter)) : undefined
  if (alone) return rowsOfIndex(store, alone, filter, limit)
  const keys = await (filter.txHash === undefined ? listKeys(store, filter, limit) : keysOfHash(store, filter, limit))
  const rowOf = new Map<string, BodyRow>()
  for (let start = 0; start < keys.length; start += statementBodies) {
    if (start > 0) await nextTurn()
    const part = keys.slice(start, start + statementBodies)
    const rows = await store.read((db) => db.selectFrom('entries').select(bodyColumns).where('key', 'in', part).execute())
    for (const row of rows) rowOf.set(row.key, row)
  }
  return keys.flatMap((key) => rowOf.get(key) ?? [])
}

/** All that an index has of a value is wanted: its rows are read with their bodies, by one statement where they are few. */
async function rowsOfIndex(store: Store, narrow: Narrow, { cursor, from }: EntryFilter, limit: number): Promise<readonly BodyRow[]> {
  const rows: BodyRow[] = []
  for (let before = cursor; ;) {
    const count = Math.min(statementBodies, limit - rows.length)
    const found = await store.read((db) => {
      const ofValue = newest(narrow(db.selectFrom('entries').select(bodyColumns)), before, count)
      return (from === undefined ? ofValue : ofValue.where('key', '>=', firstKeyAt(from))).execute()
    })
    rows.push(...found)
    if (found.length < count || rows.length === limit) return rows
    before = found.at(-1)?.key
    await nextTurn()
  }
}

/** A hash is signed once on a network. */
async function keysOfHash(store: Store, filter: EntryFilter, limit: number): Promise<readonly string[]> {
  const { txHash = '', cursor, from } = filter
  const lowest = from === undefined ? '' : firstKeyAt(from)
  const rows = await store.read((db) => {
    const keys = db
      .selectFrom('hashes')
      .select('entry_key')
      .where('hash', '=', hashBytes(canonicalHash(txHash)))
    return rowsIn(db).where('key', 'in', keys).execute()
  })
  return rows
    .filter((row) => matches(row, filter) && (cursor === undefined || row.key < cursor) && row.key >= lowest)
    .map(({ key }) => key)
    .toSorted((a, b) => (a < b ? 1 : -1))
    .slice(0, limit)
}

async function listKeys(store: Store, filter: EntryFilter, limit: number): Promise<readonly string[]> {
  const ofColumn = byColumn(filter)
  if (ofColumn) return collect(pagesOfAny(store, ofColumn), filter, limit, matches)
  const groups = await groupsOf(store, filter)
  if (groups?.length === 0) return []
  if (hasOwnFilter(filter)) {
    const ofGroups = groups ? createMerge(store, inGroups(groups, rowsIn)) : pagesOf(store, rowsIn)
    const ofFilter = byOwnFilter(filter)
    if (!ofFilter) return collect(ofGroups, filter, limit, matches)
    const pages = pagesOfAny(store, ofFilter)
    return collectFirst(groups && groups.length > manyGroups ? [pages, ofGroups] : [ofGroups, pages], filter, limit, matches)
  }
  // Every row of the groups matches, and their index has the key.
  if (!groups) return collect(pagesOf(store, keysIn), filter, limit)
  if (groups.length <= manyGroups || groups.some(({ address }) => address === undefined))
    return collect(createMerge(store, inGroups(groups, keysIn)), filter, limit)
  const found = await groupsOfPage(store, groups, filter.cursor, limit)
  if (found.length === 0) return []
  // Where there are as many as the page has entries, it ends with the newest of the last of them at the latest.
  const lowest = [filter.from === undefined ? '' : firstKeyAt(filter.from), found[limit - 1]?.key ?? ''].reduce((a, b) => (a > b ? a : b))
  const ofPage = found.map(({ group }) => group)
  return newestOfWallets(store, ofPage, { lowest, cursor: filter.cursor, limit })
}

const rowsIn: Select<FilteredRow> = (db) => db.selectFrom('entries').select(filterColumns)

/** Those of any of these: no entry is of two. */
function pagesOfAny(store: Store, [first, ...others]: Narrowings): ReadPage<FilteredRow> {
  const selects = [first, ...others].map(
    (narrow): Select<FilteredRow> =>
      (db) =>
        narrow(rowsIn(db)),
  )
  return selects[0] && others.length === 0 ? pagesOf(store, selects[0]) : createMerge(store, selects)
}
