import { sql, type RawBuilder } from 'kysely'
import { pack } from '../../store/compact.ts'
import { storeTime } from '../../store/store-time.ts'
import type { Store } from '../../store/store.ts'
import type { ReservationPart } from '../budgets.ts'
import { firstUsedId, OrderIdUsedError, orderRows, statusAfter, type ClientOrder } from '../book-orders.ts'
import type { Entry } from '../entry.ts'
import { entryRow, hashRows } from './entry-rows.ts'
import { eventRow } from './entry-events.ts'
import { stoppedError } from '../../config/stops.ts'
import { readStop, type StopQuery, type StoredStop } from '../stops.ts'
import {
  checkOwnership,
  type JournalWriter,
  type KeyClaim,
  type Lease,
  type LossCheck,
  type LossQuery,
  type RecordedAnswer,
  type WithinWrite,
} from './journal.ts'

/** Undoes what was written beside a statement that wrote nothing. */
class NotWrittenError extends Error {}

/** What the statement reports: whether the lease and the claim hold, and whether it wrote. */
interface Outcome {
  owns_queue: boolean
  owns_key: boolean
  written: boolean
  /** What keeps the entries from being written. */
  stop?: StoredStop | null
  /** A loss that its check asked for. */
  lost?: boolean
  /** Of a budget that is part of the statement. */
  reserved?: unknown
}

/**
 * Writes the journal in PostgreSQL with one statement: one round trip, and a server that is stopped in the middle holds no lock. The
 * statement locks the rows of the lease and of the key before it writes. A server that takes them over either waits for these few
 * milliseconds, or was first, and then nothing is written. So READ COMMITTED is enough: each condition is on a row that is locked when it is
 * checked. A budget is part of the statement where the row that it decided by is still the same. Else, and for what raises or ends, it is a
 * transaction of two statements or more, and a server that is stopped in the middle holds its locks until the database ends its session.
 */
export function postgresWriter(store: Store): JournalWriter {
  async function run(statement: RawBuilder<Outcome>, within?: WithinWrite, lossCheck?: LossCheck): Promise<boolean> {
    if (!within) return outcomeOf(await store.writeOnce((db) => statement.execute(db)), lossCheck)
    return store
      .write(async (tx) => {
        // First: the statement holds the barrier of the events until the commit, and this may wait for others.
        await within(tx)
        if (!outcomeOf(await statement.execute(tx), lossCheck)) throw new NotWrittenError()
        return true
      })
      .catch((error: unknown) => {
        if (error instanceof NotWrittenError) return false
        throw error
      })
  }

  function outcomeOf({ rows: [outcome] }: { rows: readonly Outcome[] }, lossCheck?: LossCheck): boolean {
    if (!outcome) throw new Error('The database did not say whether it wrote the entries.')
    checkOwnership({ ownsQueue: outcome.owns_queue, ownsKey: outcome.owns_key })
    if (outcome.stop) throw stoppedError(readStop(outcome.stop))
    if (lossCheck && outcome.lost === true) throw lossCheck.refuse()
    return outcome.written
  }

  /** The error that names the id. */
  async function orderIdUsed([entry]: readonly Entry[], orders: readonly ClientOrder[]): Promise<OrderIdUsedError> {
    const ids = orders.map(({ clientOrderId }) => clientOrderId)
    const used = entry?.connector === undefined ? undefined : await firstUsedId(store, { ...entry, connector: entry.connector }, ids)
    return new OrderIdUsedError(used ?? ids.find((id, index) => ids.indexOf(id) !== index) ?? ids[0] ?? '')
  }

  return {
    async open(entries, lease, claim, orders, stops, reserving, lossCheck) {
      const statement = (part?: ReservationPart) => sql<Outcome>`
        with ${inputs(entries, lease)}, ${ownership(lease, claim)}, ${stopRow(stops)},
        ${lossRow(lossCheck?.query)}
        ${part ? sql`budget_row as materialized (${part.holds}),` : sql``}
        outcome as materialized (
          select owns_queue, owns_key, owns_queue and owns_key and not exists (select 1 from stop_row)
            ${lossCheck ? sql`and not exists (select 1 from loss_row)` : sql``}
            ${part ? sql`and exists (select 1 from budget_row)` : sql``} as written
          from ownership
        ),
        ${part ? sql`${part.writes},` : sql``}
        opened as (
          insert into entries (${entryColumns}) select ${entryColumns} from given, outcome where written
          returning key
        ),
        ${insertHashes},
        ${insertOrders(entries, orders)}
        barrier as materialized (select ${enterBarrier} from (select count(*) as n from opened) as done where n > 0),
        events_added as (insert into events (${eventColumns}) select ${eventColumns} from barrier, given_events order by entry_key)
        select owns_queue, owns_key, written, ${shownStop} as stop
          ${lossCheck ? sql`, exists (select 1 from loss_row) as lost` : sql``}
          ${part ? sql`, (select row_to_json(budget_changed) from budget_changed) as reserved` : sql``}
        from outcome`
      async function writeWith(part: ReservationPart): Promise<boolean> {
        const result = await store.writeOnce((db) => statement(part).execute(db))
        if (!outcomeOf(result, lossCheck)) return false
        part.written(result.rows[0]?.reserved)
        return true
      }
      const write = async (part = reserving?.part()) => (part && (await writeWith(part))) || run(statement(), reserving?.within, lossCheck)
      const isWritten = await write().catch(async (error: unknown) => {
        throw isDuplicateOrder(error) ? await orderIdUsed(entries, orders) : error
      })
      if (!isWritten) throw new Error('The journal did not write new entries.')
    },
    async withLease(lease, stops, within) {
      const statement = sql<Outcome>`with ${ownership(lease, undefined)}, ${stopRow(stops)}
        select owns_queue, owns_key, true as written, ${shownStop} as stop from ownership`
      await run(statement, within)
    },
    write: (entries, lease, answer, within) =>
      run(
        sql<Outcome>`
        with ${inputs(entries, lease)}, ${ownership(lease, answer?.claim)},
        before as materialized (
          select entries.key, entries.shown <> given.shown as is_visible
          from given join entries on entries.key = given.key and entries.version = given.version - 1
          for update of entries
        ),
        outcome as materialized (
          select owns_queue, owns_key, owns_queue and owns_key and (select count(*) from before) = ${entries.length} as written
          from ownership
        ),
        changed as (
          update entries set version = given.version, lane = given.lane, state = given.state, final = given.final, shown = given.shown,
            body = given.body, ended_at = case when given.final = 1 then ${storeTime} end
          from given, outcome where written and entries.key = given.key
          returning entries.key
        ),
        ${insertHashes},
        ${recordAnswer(answer)}
        ${endOrders(entries)}
        visible as materialized (select before.key from before join changed on changed.key = before.key where is_visible),
        barrier as materialized (select ${enterBarrier} from (select count(*) as n from visible) as done where n > 0),
        events_added as (
          insert into events (${eventColumns})
          select ${eventColumns} from barrier, given_events where entry_key in (select key from visible) order by entry_key
        )
        select owns_queue, owns_key, written from outcome`,
        within,
      ),
    async settledEventId() {
      const { rows } = await store.read((db) => passBarrier.execute(db))
      return rows[0]?.last ?? 0
    },
  }
}

/** The letters of "Sluice": no other program uses this lock. */
const lockId = sql.lit(0x53_6c_75_69_63_65)

/**
 * PostgreSQL assigns ids before a commit, so a lower id may become visible after a higher one. A writer holds this lock shared from before
 * its ids are assigned until it commits. A reader waits once for all of them, then reads up to the last id that was assigned by then.
 * Writers do not wait for one another.
 */
const enterBarrier = sql`pg_advisory_xact_lock_shared(${lockId})`
const passBarrier = sql<{ last: number }>`select last_value as last, pg_advisory_xact_lock(${lockId}) from events_id_seq`

const columns = {
  given: `key text, version integer, lane text, chain text, network text, address text, state text, final integer,
    nonce bigint, via text, signer text, request_id text, idempotency_key text, shown text, client text, kind text, connector text, pair text, body bytea`,
  hashes: 'hash bytea, chain text, network text, entry_key text',
  orders: `chain text, network text, connector text, wallet text, client_order_id text, key text, type text, market text, entry_key text,
    place bigint, about text, standing text, order_id text, said_at bigint, said text`,
  events: 'entry_key text, wallet integer, change text',
}
const namesOf = (list: string) =>
  list
    .split(',')
    .map((each) => each.trim().split(' ')[0])
    .join(', ')
const entryColumns = sql.raw(namesOf(columns.given))
const orderColumns = sql.raw(namesOf(columns.orders))
const eventColumns = sql.raw(namesOf(columns.events))

/** SQL: rows as a table, passed as one parameter. */
const table = (rows: readonly object[], types: string) =>
  sql`select * from json_to_recordset(${JSON.stringify(rows.map(withBytesAsText))}::json) as t(${sql.raw(types)})`

/** Binary data as PostgreSQL reads it from text: https://www.postgresql.org/docs/current/datatype-binary.html. */
const withBytesAsText = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : value,
    ]),
  )

const inputs = (entries: readonly Entry[], { queue }: Lease) => sql`
  given as materialized (${table(
    entries.map((each) => entryRow(each, queue)),
    columns.given,
  )}),
  given_hashes as materialized (${table(hashRows(entries), columns.hashes)}),
  given_events as materialized (${table(entries.map(eventRow), columns.events)})`

const ownership = ({ queue, fencingToken }: Lease, claim: KeyClaim | undefined) => sql`
  lease_row as materialized (select 1 from lanes where lane = ${queue} and fence = ${fencingToken} for share),
  key_row as materialized (${claim ? selectKey(claim) : sql`select 1`}),
  ownership as materialized (select exists (select 1 from lease_row) as owns_queue, exists (select 1 from key_row) as owns_key)`

/** Read in the same statement: a stop that was committed before it began is seen, and `waitForWriters` waits for the others. */
const stopRow = (stops: StopQuery | undefined) => sql`stop_row as materialized (${stops ?? sql`select 1 where false`})`
const shownStop = sql`(select row_to_json(stop_row) from stop_row)`

/**
 * A server that stores a loss at this moment was first, or waits until the entries are there. Locked first, then asked: the statement's own view of them may be older.
 */
const lossRow = (query: LossQuery | undefined) =>
  query
    ? sql`equal_rows as materialized (${query.equal} for share),
        loss_row as materialized (select 1 from equal_rows where ${query.isLost} limit 1),`
    : sql``

/**
 * Returns when every write that was under way has ended, on all servers: they lock the rows of their leases. Those that come later wait for
 * this, and read what was committed before it.
 */
export const waitForWriters = (store: Store): Promise<unknown> => store.write((tx) => sql`lock table lanes in exclusive mode`.execute(tx))

const selectKey = ({ client, path, key, claim }: KeyClaim) => sql`
  select 1 from requests where client = ${client} and path = ${path} and key = ${key} and claim = ${claim} for update`

const recordAnswer = (answer: RecordedAnswer | undefined) =>
  answer
    ? sql`answered as (
          update requests set status = ${answer.status}, body = ${pack(answer.body)}, server = '', tag = '', ages_from = null from outcome
          where written and client = ${answer.claim.client} and path = ${answer.claim.path} and key = ${answer.claim.key}
        ),`
    : sql``

/** A hash that belongs to another entry violates the primary key: nothing is signed twice. */
const insertHashes = sql`
  hashes_added as (
    insert into hashes (hash, chain, network, entry_key)
    select hash, chain, network, entry_key from given_hashes, outcome
    where written and not exists (
      select 1 from hashes known where known.hash = given_hashes.hash and known.chain = given_hashes.chain
        and known.network = given_hashes.network and known.entry_key = given_hashes.entry_key
    )
  )`

/**
 * Each client order id once: a duplicate key undoes the whole statement. Ids of orders that were never signed are deleted first; the
 * insertion counts them, so it runs after. Sorted, so that of two statements with the same ids one waits for the other, and there is no
 * deadlock.
 */
function insertOrders(entries: readonly Entry[], orders: readonly ClientOrder[]) {
  if (orders.length === 0) return sql``
  return sql`
        given_orders as materialized (${table(orderRows(entries, orders), columns.orders)}),
        freed as (
          delete from orders using given_orders g, outcome
          where written and orders.chain = g.chain and orders.network = g.network and orders.connector = g.connector
            and orders.wallet = g.wallet and orders.client_order_id = g.client_order_id and orders.standing = 'free'
          returning 1
        ),
        placed as (
          insert into orders (${orderColumns}) select ${orderColumns} from given_orders, outcome
          where written and (select count(*) from freed) >= 0 order by client_order_id
        ),`
}

/** A violated unique constraint: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
function isDuplicateOrder(error: unknown): boolean {
  return error instanceof Object && Reflect.get(error, 'code') === '23505' && Reflect.get(error, 'constraint') === 'orders_pk'
}

function endOrders(entries: readonly Entry[]) {
  const ends = entries.flatMap((entry) => {
    const standing = statusAfter(entry)
    return standing ? [{ entry_key: entry.key, standing }] : []
  })
  if (ends.length === 0) return sql``
  return sql`ended_orders as (
          update orders set standing = ends.standing
          from outcome, (${table(ends, 'entry_key text, standing text')}) as ends
          where written and orders.entry_key = ends.entry_key and orders.standing = 'open'
        ),`
}
