import type { ExpressionBuilder, Transaction } from 'kysely'
import { pack } from '../../store/compact.ts'
import { storeTime } from '../../store/store-time.ts'
import type { Store } from '../../store/store.ts'
import type { OrderRow, Tables } from '../../store/tables.ts'
import { OrderIdUsedError, orderRows, statusAfter } from '../book-orders.ts'
import type { Entry } from '../entry.ts'
import { entryRow, hashRows } from './entry-rows.ts'
import { eventRow } from './entry-events.ts'
import { stoppedError } from '../../config/stops.ts'
import { readStop, type StopQuery } from '../stops.ts'
import { checkOwnership, type JournalWriter, type KeyClaim, type Lease } from './journal.ts'

type Tx = Transaction<Tables>

/** SQLite takes 32,766 parameters in one statement: https://www.sqlite.org/limits.html. An order has 15. */
const maxOrders = 1_000

/**
 * Writes the journal in the embedded store, one statement after the other. A statement costs microseconds, and there is no other writer.
 */
export function embeddedWriter(store: Store): JournalWriter {
  return {
    open: (entries, lease, claim, orders, stops, reserving) =>
      store.write(async (tx) => {
        checkOwnership({ ownsQueue: await ownsQueue(tx, lease), ownsKey: await ownsKey(tx, claim) })
        await refuseStopped(tx, stops)
        await reserving?.within(tx)
        await insertOrders(tx, orderRows(entries, orders))
        for (const entry of entries) await tx.insertInto('entries').values(entryRow(entry, lease.queue)).execute()
        await insertHashes(tx, entries)
        for (const entry of entries) await tx.insertInto('events').values(eventRow(entry)).execute()
      }),
    withLease: (lease, stops, within) =>
      store.write(async (tx) => {
        checkOwnership({ ownsQueue: await ownsQueue(tx, lease), ownsKey: true })
        await refuseStopped(tx, stops)
        if (within) await within(tx)
      }),
    write: (entries, lease, answer, within) =>
      store.write(async (tx) => {
        checkOwnership({ ownsQueue: await ownsQueue(tx, lease), ownsKey: await ownsKey(tx, answer?.claim) })
        const changed: Entry[] = []
        const rows = entries.map((entry) => ({ entry, row: entryRow(entry, lease.queue) }))
        for (const { entry, row } of rows) {
          const stored = await tx.selectFrom('entries').select(['version', 'shown']).where('key', '=', entry.key).executeTakeFirst()
          if (stored?.version !== entry.version - 1) return false
          if (stored.shown !== row.shown) changed.push(entry)
        }
        for (const { row } of rows) {
          const { key, version, lane, state, final, shown, body } = row
          const ended_at = final ? storeTime : null
          await tx.updateTable('entries').set({ version, lane, state, final, ended_at, shown, body }).where('key', '=', key).execute()
        }
        if (within) await within(tx)
        await insertHashes(tx, entries)
        await endOrders(tx, entries)
        if (answer) {
          const { claim, status, body } = answer
          await tx
            .updateTable('requests')
            .set({ status, body: pack(body), server: '', tag: '', ages_from: null })
            .where(hasKey(claim))
            .execute()
        }
        for (const entry of changed) await tx.insertInto('events').values(eventRow(entry)).execute()
        return true
      }),
  }
}

/** @throws SluiceError STOPPED */
async function refuseStopped(tx: Tx, stops: StopQuery | undefined): Promise<void> {
  const [row] = stops ? (await stops.execute(tx)).rows : []
  if (row) throw stoppedError(readStop(row))
}

async function ownsQueue(tx: Tx, { queue, fencingToken }: Lease): Promise<boolean> {
  const found = await tx.selectFrom('lanes').select('fence').where('lane', '=', queue).executeTakeFirst()
  return found?.fence === fencingToken
}

async function ownsKey(tx: Tx, claim: KeyClaim | undefined): Promise<boolean> {
  if (!claim) return true
  const found = await tx.selectFrom('requests').select('claim').where(hasKey(claim)).executeTakeFirst()
  return found?.claim === claim.claim
}

const hasKey =
  ({ client, path, key }: KeyClaim) =>
  (eb: ExpressionBuilder<Tables, 'requests'>) =>
    eb.and({ client, path, key })

/** A hash that belongs to another entry violates the primary key: nothing is signed twice. */
async function insertHashes(tx: Tx, entries: readonly Entry[]): Promise<void> {
  for (const row of hashRows(entries)) {
    const { hash, chain, network } = row
    const known = await tx
      .selectFrom('hashes')
      .select('entry_key')
      .where((eb) => eb.and({ hash, chain, network }))
      .executeTakeFirst()
    if (known?.entry_key !== row.entry_key) await tx.insertInto('hashes').values(row).execute()
  }
}

/** Each client order id once. Ids of orders that were never signed are reused. @throws OrderIdUsedError */
async function insertOrders(tx: Tx, rows: readonly OrderRow[]): Promise<void> {
  for (let first = 0; first < rows.length; first += maxOrders) {
    const page = rows.slice(first, first + maxOrders)
    const [row] = page
    if (!row) return
    const ids = page.map((each) => each.client_order_id)
    const { chain, network, connector, wallet } = row
    const isSame = (eb: ExpressionBuilder<Tables, 'orders'>) =>
      eb.and([eb.and({ chain, network, connector, wallet }), eb('client_order_id', 'in', ids)])
    const duplicate = ids.find((id, index) => ids.indexOf(id) !== index)
    if (duplicate !== undefined) throw new OrderIdUsedError(duplicate)
    await tx.deleteFrom('orders').where(isSame).where('standing', '=', 'free').execute()
    const known = await tx.selectFrom('orders').select('client_order_id').where(isSame).limit(1).executeTakeFirst()
    if (known) throw new OrderIdUsedError(known.client_order_id)
    await tx.insertInto('orders').values(page).execute()
  }
}

async function endOrders(tx: Tx, entries: readonly Entry[]): Promise<void> {
  for (const entry of entries) {
    const standing = statusAfter(entry)
    if (standing)
      await tx.updateTable('orders').set({ standing }).where('entry_key', '=', entry.key).where('standing', '=', 'open').execute()
  }
}
