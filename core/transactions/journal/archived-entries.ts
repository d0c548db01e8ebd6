// What leaves the journal: which entries ended long ago, how they are moved, and what is found of them afterwards.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql, type ExpressionBuilder } from 'kysely'
import { hashBytes } from '../../store/compact.ts'
import { storeTime } from '../../store/store-time.ts'
import type { Store } from '../../store/store.ts'
import type { Tables } from '../../store/tables.ts'
import type { Entry } from '../entry.ts'
import { archivedRow, bodyColumns, type BodyRow, readArchivedBody } from './entry-rows.ts'
import type { EndedEntry, EndedPosition, EntryFilter, EntryPlace } from './journal.ts'
import { pagesOfKeys, readBodies } from './list-entries.ts'
import { canonicalHash } from '../../base/addresses.ts'
import type { createTurns } from '../../base/async.ts'

/** Final entries without outstanding permits, oldest end first, which ended at least so long ago by the store's time. */
export async function selectEnded(
  store: Store,
  { olderThanMs, after, limit }: { olderThanMs: number; after?: EndedPosition; limit: number },
): Promise<readonly EndedEntry[]> {
  const further = after ? sql`and (ended_at, key) > (${after.endedAt}, ${after.key})` : sql``
  const { rows } = await store.read((db) =>
    sql<{ key: string; ended_at: number; orders: number }>`
      select key, ended_at,
        (select count(*) from orders where orders.entry_key = entries.key and orders.standing = 'open') as orders
      from entries where final = 1 and lane = '' and ended_at <= ${storeTime} - ${olderThanMs} ${further}
      order by ended_at, key limit ${limit}`.execute(db),
  )
  return rows.map(({ key, ended_at: endedAt, orders }) => ({ key, endedAt, hasOpenOrder: orders > 0 }))
}

export async function openPlaces(store: Store): Promise<readonly EntryPlace[]> {
  const rows = await store.read((db) =>
    db
      .selectFrom('entries')
      .select(['chain', 'network', 'via', 'address', 'signer', 'nonce'])
      .where(sql<boolean>`final = 0`)
      .execute(),
  )
  return rows.map(({ chain, network, via, address, signer, nonce }) => {
    return { chain, network, ...(via !== null && { connector: via }), signer: signer ?? address, nonce }
  })
}

/** Moves entries, which are in a file by now, out of the journal. Returns the keys of those that were still there as they were read. */
export async function moveOut(store: Store, entries: readonly Entry[]): Promise<readonly string[]> {
  const isOne = (eb: ExpressionBuilder<Tables, 'entries'>) => eb.or(entries.map(({ key, version }) => eb.and({ key, version })))
  return store.write(async (tx) => {
    const moved = await tx.deleteFrom('entries').where(isOne).where('final', '=', 1).returning('key').execute()
    const keys = new Set(moved.map(({ key }) => key))
    const rows = entries.filter(({ key }) => keys.has(key)).map(archivedRow)
    if (rows.length > 0)
      await tx
        .insertInto('archived')
        .values(rows)
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute()
    return [...keys]
  })
}

/** Of the entry, open or archived, of which the hash is that of any attempt. */
export const rowOfHash = (store: Store, table: 'entries' | 'archived', chain: string, network: string, txHash: string) =>
  store.read((db) =>
    db
      .selectFrom(table)
      .select(bodyColumns)
      .where('key', 'in', (from) =>
        from
          .selectFrom('hashes')
          .select('entry_key')
          .where('hash', '=', hashBytes(canonicalHash(txHash)))
          .where('hashes.chain', '=', chain)
          .where('hashes.network', '=', network),
      )
      .executeTakeFirst(),
  )

/** Newest first. */
interface ArchivedPage {
  entries: readonly Entry[]
  /** Keys of those that cannot be read. */
  damaged: readonly string[]
  /** Everything with this key or a newer one was looked at; absent: everything was. */
  upTo?: string
}

/** Rows that one page looks at where only some of them match, and bodies that one statement reads. */
const maxRows = 2_000
const bodiesAtOnce = 100

/**
 * Archived entries that match, at most `limit`. By hash, request or Idempotency-Key there are few. Otherwise a page may end early: networks have no
 * index there.
 * @param inTurn of all that is read of the archive: other work waits for one statement, however many lists are read
 */
export async function listArchived(
  store: Store,
  filter: EntryFilter,
  limit: number,
  { inTurn, onDamage }: { inTurn: ReturnType<typeof createTurns>; onDamage: (error: unknown) => void },
): Promise<ArchivedPage> {
  const areFew = [filter.txHash, filter.requestId, filter.idempotencyKey].some((each) => each !== undefined)
  const read: Store['read'] = async (work) => {
    const select = async () => {
      await nextTurn()
      return store.read(work)
    }
    return areFew ? select() : inTurn(select)
  }
  const reader = { read, kind: store.kind }
  const entries: Entry[] = []
  const damaged: string[] = []
  let looked = 0
  for await (const { keys, last, looked: rows } of pagesOfKeys(reader, 'archived', filter, limit)) {
    for (let start = 0; start < keys.length; start += bodiesAtOnce)
      for (const row of await readBodies(reader, 'archived', keys.slice(start, start + bodiesAtOnce))) {
        const entry = readOr(row, onDamage, damaged)
        if (entry && isSame(filter.state, entry.state) && isSame(filter.nonce, entry.nonce)) entries.push(entry)
        if (entries.length === limit) return { entries, damaged, upTo: row.key }
      }
    looked += rows
    if (last !== undefined && looked >= maxRows) return { entries, damaged, upTo: last }
  }
  return { entries, damaged }
}

const isSame = <T>(wanted: T | undefined, value: T): boolean => wanted === undefined || wanted === value

/** @param damaged receives the key of one that cannot be read */
function readOr(row: BodyRow, onDamage: (error: unknown) => void, damaged: string[]): Entry | undefined {
  try {
    return readArchivedBody(row)
  } catch (error) {
    onDamage(error)
    damaged.push(row.key)
    return undefined
  }
}

/** Marks of events are this far apart. */
const markEveryMs = 6 * 3_600_000
/** Rows that one statement deletes: an embedded database does nothing else while it runs. */
const maxDeleted = 200

/** Notes which event is the newest now, from time to time: so that it is known later which events are old. */
export async function markEvents(store: Store, lastEventId: number): Promise<void> {
  if (lastEventId === 0) return
  await store.writeOnce((db) =>
    sql`insert into event_marks (id, elapsed) select ${sql.lit(lastEventId)}, ${storeTime}
      where not exists (select 1 from event_marks where elapsed > ${storeTime} - ${markEveryMs})
      on conflict (id) do nothing`.execute(db),
  )
}

/**
 * Deletes some events that are older by the store's time. The newest one stays: positions in the stream are compared with its id. Returns
 * whether there may be more.
 */
export async function deleteEvents(store: Store, olderThanMs: number): Promise<boolean> {
  const { rows } = await store.read((db) =>
    sql<{ id: number | null; newest: number | null }>`
      select (select max(id) from event_marks where elapsed <= ${storeTime} - ${olderThanMs}) as id,
        (select max(id) from events) as newest`.execute(db),
  )
  const [{ id, newest } = { id: null, newest: null }] = rows
  if (id === null || newest === null) return false
  const upTo = Math.min(id, newest - 1)
  const { numAffectedRows = 0n } = await store.writeOnce((db) =>
    sql`delete from events where id in (select id from events where id <= ${upTo} order by id limit ${maxDeleted})`.execute(db),
  )
  if (numAffectedRows === BigInt(maxDeleted)) return true
  await store.writeOnce((db) => db.deleteFrom('event_marks').where('id', '<', id).execute())
  return false
}
