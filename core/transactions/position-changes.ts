// Which positions of perpetuals on a chain were changed before a moment, however many changes there were: what each is about stands in columns of its row, so a
// change is read only until one of its wallet and pair has told its market.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { addressKey } from '../base/addresses.ts'
import { isOfPair } from '../store/entry-filters.ts'
import type { Store } from '../store/store.ts'
import type { Entry } from './entry.ts'
import { isNoTrade } from './journal/list-entries.ts'
import { bodyColumns, readShown, type BodyRow } from './journal/entry-rows.ts'
import type { EntryFilter } from './journal/journal.ts'
import { keysBefore } from './journal/key-leads.ts'
import { withKnownAliases } from './journal/pair-names.ts'

export type ChangeFilter = Pick<
  EntryFilter,
  'chain' | 'network' | 'address' | 'addresses' | 'client' | 'connector' | 'pair' | 'pairAliases' | 'hasUnlisted' | 'isOfNoPair'
>

/** Rows without their bodies, and bodies, that one statement reads: about a millisecond. */
const rowsAtOnce = 500
const bodiesAtOnce = 50

const columns = ['key', 'chain', 'network', 'address', 'client', 'connector', 'pair'] as const
type ChangeRow = Awaited<ReturnType<typeof selectChanges>>[number]

/**
 * Of all changes that were requested before a moment, newest first, and of some later ones where keys are ahead of the clock.
 * @param tells receives a change, and says whether it has told its position: then older ones of the same wallet and pair are not read
 * @returns whether changes are damaged whose position no other one has told
 * @throws StoreUnavailable
 */
export async function readChangesBefore(
  store: Store,
  filter: ChangeFilter,
  beforeMs: number,
  tells: (entry: Entry) => boolean,
  signal: AbortSignal,
): Promise<{ readonly lacksSome: boolean }> {
  const told = new Set<string>()
  const untold = new Set<string>()
  const ranges = await keysBefore(store, beforeMs)
  for (const table of ['entries', 'archived'] as const) {
    const wanted = await withKnownAliases(store, table, filter)
    for (const range of ranges)
      for await (const rows of pagesIn(store, table, range, signal))
        await readUntold(
          store,
          table,
          rows.filter((row) => isOf(row, wanted)),
        )
  }
  return { lacksSome: [...untold].some((name) => !told.has(name)) }

  /** The newest of each position that is not told, then the next older one of those that still are not. */
  async function readUntold(from: Store, table: Table, rows: readonly ChangeRow[]): Promise<void> {
    const left = new Map<string, ChangeRow[]>()
    for (const row of rows) {
      const name = nameOf(row)
      if (told.has(name)) continue
      const same = left.get(name)
      if (same) same.push(row)
      else left.set(name, [row])
    }
    while (left.size > 0) {
      signal.throwIfAborted()
      const newest = [...left].slice(0, bodiesAtOnce)
      const keys = newest.flatMap(([, [row]]) => row?.key ?? [])
      const bodies = new Map((await selectBodies(from, table, keys)).map((body) => [body.key, body]))
      for (const [name, [row, ...older]] of newest) {
        const body = row && bodies.get(row.key)
        const entry = body && readOr(body)
        if (body && !entry) untold.add(name)
        if (entry && tells(entry)) {
          if (row.pair !== null) told.add(name)
          left.delete(name)
        } else if (older.length === 0) left.delete(name)
        else left.set(name, older)
      }
      await nextTurn()
    }
  }
}

type Table = 'entries' | 'archived'

/** Newest first. */
async function* pagesIn(store: Store, table: Table, { first, end }: { first: string; end: string }, signal: AbortSignal) {
  for (let before = end; ;) {
    signal.throwIfAborted()
    const rows = await selectChanges(store, table, first, before)
    yield rows
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    before = last.key
    await nextTurn()
  }
}

const selectChanges = (store: Store, table: Table, first: string, before: string) =>
  store.read((db) =>
    db
      .selectFrom(table)
      .select(columns)
      .where('kind', '=', 'position')
      .where(isNoTrade)
      .where('key', '>=', first)
      .where('key', '<', before)
      .orderBy('key', 'desc')
      .limit(rowsAtOnce)
      .execute(),
  )

const selectBodies = (store: Store, table: Table, keys: readonly string[]): Promise<readonly BodyRow[]> =>
  store.read((db) => db.selectFrom(table).select(bodyColumns).where('key', 'in', keys).execute())

/** Undefined where it is damaged. Lists of it say so in the log. */
function readOr(row: BodyRow): Entry | undefined {
  try {
    return readShown(row)
  } catch {
    return undefined
  }
}

/** A change of no pair may be of any market: it stands for itself. */
const nameOf = ({ key, chain, network, address, connector, pair }: ChangeRow): string =>
  JSON.stringify([chain, network, address, connector, pair ?? [key]])

function isOf(row: ChangeRow, { chain, network, address, addresses, client, connector, ...filter }: ChangeFilter): boolean {
  return (
    (chain ?? row.chain) === row.chain &&
    (network ?? row.network) === row.network &&
    (address === undefined || addressKey(address) === row.address) &&
    (addresses?.has(row.address) ?? true) &&
    (client ?? row.client) === row.client &&
    (connector ?? row.connector) === row.connector &&
    isOfPair(filter, row)
  )
}
