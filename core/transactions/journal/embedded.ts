import type { ExpressionBuilder, Transaction } from 'kysely'
import type { Store } from '../../store/store.ts'
import type { Tables, OrderRow } from '../../store/tables.ts'
import type { Entry } from '../entry.ts'
import { type Lease, type KeyClaim, checkOwnership, type JournalWriter } from './journal.ts'
import { OrderIdUsed, orderRows, statusAfter } from '../book-orders.ts'
import { entryRow, eventRow, hashRows } from './entry-rows.ts'

type Tx = Transaction<Tables>

/** SQLite takes 32,766 parameters in one statement. */
const ordersAtOnce = 1_000

/** In the embedded store: a statement costs microseconds, and nobody else writes. */
export function embeddedWriter(store: Store): JournalWriter {
  return {
    open: (entries, guard, claim, orders) =>
      store.write(async (tx) => {
        checkOwnership({ ownsLane: await ownsLane(tx, guard), ownsKey: await ownsKey(tx, claim) })
        await keepOrders(tx, orderRows(entries, orders))
        for (const entry of entries) await tx.insertInto('entries').values(entryRow(entry, guard.queue)).execute()
        await keepHashes(tx, entries)
        for (const entry of entries) await tx.insertInto('events').values(eventRow(entry)).execute()
      }),
    write: (entries, guard, answer) =>
      store.write(async (tx) => {
        checkOwnership({ ownsLane: await ownsLane(tx, guard), ownsKey: await ownsKey(tx, answer?.claim) })
        const told: Entry[] = []
        const rows = entries.map((entry) => ({ entry, row: entryRow(entry, guard.queue) }))
        for (const { entry, row } of rows) {
          const kept = await tx.selectFrom('entries').select(['version', 'shown']).where('key', '=', entry.key).executeTakeFirst()
          if (kept?.version !== entry.version - 1) return false
          if (kept.shown !== row.shown) told.push(entry)
        }
        for (const { row } of rows) {
          const { key, version, state, final, shown, body } = row
          await tx.updateTable('entries').set({ version, state, final, shown, body }).where('key', '=', key).execute()
        }
        await keepHashes(tx, entries)
        await endOrders(tx, entries)
        if (answer) {
          const { claim, status, body } = answer
          await tx
            .updateTable('requests')
            .set({ status, body })
            .where('client', '=', claim.client)
            .where('path', '=', claim.path)
            .where('key', '=', claim.key)
            .execute()
        }
        for (const entry of told) await tx.insertInto('events').values(eventRow(entry)).execute()
        return true
      }),
  }
}

async function ownsLane(tx: Tx, { queue: lane, fencingToken: fence }: Lease): Promise<boolean> {
  const found = await tx.selectFrom('lanes').select('fence').where('lane', '=', lane).executeTakeFirst()
  return found?.fence === fence
}

async function ownsKey(tx: Tx, claim: KeyClaim | undefined): Promise<boolean> {
  if (!claim) return true
  const { client, path, key } = claim
  const found = await tx
    .selectFrom('requests')
    .select('claim')
    .where('client', '=', client)
    .where('path', '=', path)
    .where('key', '=', key)
    .executeTakeFirst()
  return found?.claim === claim.claim
}

/** One that another entry has is refused: nothing is signed twice. */
async function keepHashes(tx: Tx, entries: readonly Entry[]): Promise<void> {
  for (const row of hashRows(entries)) {
    const known = await tx
      .selectFrom('hashes')
      .select('entry_key')
      .where('hash', '=', row.hash)
      .where('chain', '=', row.chain)
      .where('network', '=', row.network)
      .executeTakeFirst()
    if (known?.entry_key !== row.entry_key) await tx.insertInto('hashes').values(row).execute()
  }
}

/** Each id once: but for those of orders that were never signed, whose place it takes. */
async function keepOrders(tx: Tx, rows: readonly OrderRow[]): Promise<void> {
  for (let first = 0; first < rows.length; first += ordersAtOnce) await keepSome(tx, rows.slice(first, first + ordersAtOnce))
}

async function keepSome(tx: Tx, rows: readonly OrderRow[]): Promise<void> {
  const [row] = rows
  if (!row) return
  const ids = rows.map((each) => each.client_order_id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new OrderIdUsed(twice)
  await tx.deleteFrom('orders').where(isAmong(row, ids)).where('standing', '=', 'free').execute()
  const known = await tx.selectFrom('orders').select('client_order_id').where(isAmong(row, ids)).limit(1).executeTakeFirst()
  if (known) throw new OrderIdUsed(known.client_order_id)
  await tx
    .insertInto('orders')
    .values([...rows])
    .execute()
}

const isAmong =
  ({ chain, network, connector, wallet }: OrderRow, ids: readonly string[]) =>
  (eb: ExpressionBuilder<Tables, 'orders'>) =>
    eb.and([
      eb('chain', '=', chain),
      eb('network', '=', network),
      eb('connector', '=', connector),
      eb('wallet', '=', wallet),
      eb('client_order_id', 'in', [...ids]),
    ])

async function endOrders(tx: Tx, entries: readonly Entry[]): Promise<void> {
  for (const entry of entries) {
    const standing = statusAfter(entry)
    if (standing)
      await tx.updateTable('orders').set({ standing }).where('entry_key', '=', entry.key).where('standing', '=', 'open').execute()
  }
}
