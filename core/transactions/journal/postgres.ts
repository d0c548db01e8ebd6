import { sql, type RawBuilder } from 'kysely'
import type { Store } from '../../store/store.ts'
import { type ClientOrder, type OrderJournal, type OrderVenue, orderRows, statusAfter, OrderIdUsed } from '../book-orders.ts'
import type { Entry } from '../entry.ts'
import { entryRow, eventRow, hashRows, readBody } from './entry-rows.ts'
import {
  type Lease,
  type RecordedAnswer,
  type KeyClaim,
  checkOwnership,
  type JournalWriter,
  type Journal,
  type JournalEvent,
} from './journal.ts'

interface Verdict {
  owns_lane: boolean
  owns_key: boolean
  kept: boolean
}

/**
 * In PostgreSQL: one statement for all, so one round trip, and a server that is stopped in the middle holds no lock. The rows of
 * the lane and of the key are locked by it before anything is written: whoever takes them over waits for the few
 * milliseconds, or was first, and then nothing is written. That is why READ COMMITTED is enough: each condition is on a
 * row that is locked when it is judged.
 */
export function postgresWriter(store: Store, orders: Pick<OrderJournal, 'firstUsed'>): JournalWriter {
  async function run(statement: RawBuilder<Verdict>): Promise<boolean> {
    const { rows } = await store.writeOnce((db) => statement.execute(db))
    const [verdict] = rows
    if (!verdict) throw new Error('The database did not say whether it kept the entries.')
    checkOwnership({ ownsLane: verdict.owns_lane, ownsKey: verdict.owns_key })
    return verdict.kept
  }

  /** Which of them it was. */
  async function takenOf(entries: readonly Entry[], given: readonly ClientOrder[]): Promise<OrderIdUsed> {
    const ids = given.map(({ clientOrderId }) => clientOrderId)
    const [entry] = entries
    const venue: OrderVenue | undefined = entry?.connector === undefined ? undefined : { ...entry, connector: entry.connector }
    const known = venue && (await orders.firstUsed(venue, ids))
    return new OrderIdUsed(known ?? ids.find((id, index) => ids.indexOf(id) !== index) ?? ids[0] ?? '')
  }

  return {
    async open(entries, guard, claim, given) {
      const opened = run(sql<Verdict>`
        with ${inputs(entries, guard)}, ${holds(guard, claim)},
        verdict as materialized (select owns_lane, owns_key, owns_lane and owns_key as kept from holds),
        opened as (
          insert into entries (${entryColumns}) select ${entryColumns} from given, verdict where kept
          returning key
        ),
        ${hashes},
        ${placed(entries, given)}
        barrier as materialized (select ${eventBarrier.enter} from (select count(*) as n from opened) as done where n > 0),
        told as (insert into events (${eventColumns}) select ${eventColumns} from barrier, given_events order by entry_key)
        select owns_lane, owns_key, kept from verdict`)
      const kept = await opened.catch(async (error: unknown) => {
        throw (isOrderTaken(error) && (await takenOf(entries, given))) || error
      })
      if (!kept) throw new Error('The journal did not keep new entries.')
    },
    write: (entries, guard, answer) =>
      run(sql<Verdict>`
        with ${inputs(entries, guard)}, ${holds(guard, answer?.claim)},
        before as materialized (
          select entries.key, entries.shown <> given.shown as is_news
          from given join entries on entries.key = given.key and entries.version = given.version - 1
          for update of entries
        ),
        verdict as materialized (
          select owns_lane, owns_key, owns_lane and owns_key and (select count(*) from before) = ${entries.length} as kept from holds
        ),
        changed as (
          update entries set version = given.version, state = given.state, final = given.final, shown = given.shown, body = given.body
          from given, verdict where kept and entries.key = given.key
          returning entries.key
        ),
        ${hashes},
        ${answered(answer)}
        ${endedOrders(entries)}
        news as materialized (select before.key from before join changed on changed.key = before.key where is_news),
        barrier as materialized (select ${eventBarrier.enter} from (select count(*) as n from news) as done where n > 0),
        told as (
          insert into events (${eventColumns})
          select ${eventColumns} from barrier, given_events where entry_key in (select key from news) order by entry_key
        )
        select owns_lane, owns_key, kept from verdict`),
  }
}

const columns = {
  given: `key text, version bigint, lane text, chain text, network text, address text, state text, final bigint, nonce bigint,
    via text, signer text, client text, request_id text, idempotency_key text, created_at bigint, shown text, body text`,
  hashes: 'hash text, chain text, network text, entry_key text',
  orders: `chain text, network text, connector text, wallet text, client_order_id text, key text, type text, market text, entry_key text,
    place bigint, about text, standing text, order_id text, said_at bigint, said text`,
  events: 'entry_key text, chain text, network text, address text, at bigint, body text',
}
const namesOf = (list: string) =>
  list
    .split(',')
    .map((each) => each.trim().split(' ')[0])
    .join(', ')
const entryColumns = sql.raw(namesOf(columns.given))
const orderColumns = sql.raw(namesOf(columns.orders))
const eventColumns = sql.raw(namesOf(columns.events))

/** The rows, each list as one parameter. */
const inputs = (entries: readonly Entry[], guard: Lease) => sql`
  given as materialized (
    select * from json_to_recordset(${JSON.stringify(entries.map((each) => entryRow(each, guard.queue)))}::json) as t(${sql.raw(columns.given)})
  ),
  given_hashes as materialized (
    select * from json_to_recordset(${JSON.stringify(hashRows(entries))}::json) as t(${sql.raw(columns.hashes)})
  ),
  given_events as materialized (
    select * from json_to_recordset(${JSON.stringify(entries.map(eventRow))}::json) as t(${sql.raw(columns.events)})
  )`

const holds = ({ queue: lane, fencingToken: fence }: Lease, claim: KeyClaim | undefined) => sql`
  lane_row as materialized (select 1 from lanes where lane = ${lane} and fence = ${fence} for share),
  key_row as materialized (${claim ? keyRow(claim) : sql`select 1`}),
  holds as materialized (select exists (select 1 from lane_row) as owns_lane, exists (select 1 from key_row) as owns_key)`

const answered = (answer: RecordedAnswer | undefined) =>
  answer
    ? sql`answered as (
          update requests set status = ${answer.status}, body = ${answer.body} from verdict
          where kept and client = ${answer.claim.client} and path = ${answer.claim.path} and key = ${answer.claim.key}
        ),`
    : sql``

const keyRow = ({ client, path, key, claim }: KeyClaim) => sql`
  select 1 from requests where client = ${client} and path = ${path} and key = ${key} and claim = ${claim} for update`

/** One that another entry has is refused: nothing is signed twice. */
const hashes = sql`
  signed as (
    insert into hashes (hash, chain, network, entry_key)
    select hash, chain, network, entry_key from given_hashes, verdict
    where kept and not exists (
      select 1 from hashes known where known.hash = given_hashes.hash and known.chain = given_hashes.chain
        and known.network = given_hashes.network and known.entry_key = given_hashes.entry_key
    )
  )`

/**
 * Each id once: a violated key undoes all of the statement. What was never signed gives its id up first: the insertion asks how many did. In
 * order, so that two that place the same ids wait for one another and not both.
 */
function placed(entries: readonly Entry[], orders: readonly ClientOrder[]) {
  if (orders.length === 0) return sql``
  const rows = orderRows(entries, orders)
  return sql`
        given_orders as materialized (
          select * from json_to_recordset(${JSON.stringify(rows)}::json) as t(${sql.raw(columns.orders)})
        ),
        freed as (
          delete from orders using given_orders g, verdict
          where kept and orders.chain = g.chain and orders.network = g.network and orders.connector = g.connector
            and orders.wallet = g.wallet and orders.client_order_id = g.client_order_id and orders.standing = 'free'
          returning 1
        ),
        placed as (
          insert into orders (${orderColumns}) select ${orderColumns} from given_orders, verdict
          where kept and (select count(*) from freed) >= 0 order by client_order_id
        ),`
}

function isOrderTaken(error: unknown): boolean {
  return error instanceof Object && Reflect.get(error, 'code') === '23505' && Reflect.get(error, 'constraint') === 'orders_pk'
}

function endedOrders(entries: readonly Entry[]) {
  const ends = entries.flatMap((entry) => {
    const standing = statusAfter(entry)
    return standing ? [{ entry_key: entry.key, standing }] : []
  })
  if (ends.length === 0) return sql``
  return sql`ended_orders as (
          update orders set standing = ends.standing
          from verdict, json_to_recordset(${JSON.stringify(ends)}::json) as ends(entry_key text, standing text)
          where kept and orders.entry_key = ends.entry_key and orders.standing = 'open'
        ),`
}

/** The letters of "Sluice": no other program's. */
const lockId = sql.lit(0x53_6c_75_69_63_65)

/**
 * In PostgreSQL ids are given before a commit, so a lower one may become visible after a higher one. Who adds events holds the lock
 * shared, from before it is given ids until it has committed; who reads waits for all of these once, and then reads up to the
 * last id that was given by then. Writers do not wait for one another.
 */
const eventBarrier = {
  enter: sql`pg_advisory_xact_lock_shared(${lockId})`,
  pass: sql<{ last: number }>`select last_value as last, pg_advisory_xact_lock(${lockId}) from events_id_seq`,
}

type EventReader = Pick<Journal, 'eventsAfter' | 'lastEventId'>

/** @param damaged told of an event that cannot be read: the others are */
export function journalEvents(store: Store, damaged: (error: unknown) => void): EventReader {
  /** No event up to it can still appear. */
  async function settledUpTo(): Promise<number> {
    if (store.kind === 'embedded') return Number.MAX_SAFE_INTEGER
    const { rows } = await store.read((db) => eventBarrier.pass.execute(db))
    return rows[0]?.last ?? 0
  }

  return {
    async eventsAfter(id, { addresses, chain, network, limit }) {
      const after = (upTo: number, most: number) =>
        store.read((db) => {
          let query = db.selectFrom('events').select(['id', 'entry_key', 'body']).where('id', '>', id).where('id', '<=', upTo)
          if (addresses) query = query.where('address', 'in', [...addresses])
          if (chain !== undefined) query = query.where('chain', '=', chain)
          if (network !== undefined) query = query.where('network', '=', network)
          return query.orderBy('id').limit(most).execute()
        })
      if (addresses?.size === 0) return []
      // Most of the time there is nothing new, and nobody has to be waited for.
      if (store.kind === 'postgres' && (await after(Number.MAX_SAFE_INTEGER, 1)).length === 0) return []
      const rows = await after(await settledUpTo(), limit)
      return rows.flatMap(({ id, entry_key, body }): JournalEvent[] => {
        try {
          return [{ id, entry: readBody(entry_key, body) }]
        } catch (error) {
          damaged(error)
          return []
        }
      })
    },
    async lastEventId() {
      const upTo = await settledUpTo()
      const newest = await store.read((db) =>
        db
          .selectFrom('events')
          .select(({ fn }) => fn.max('id').as('id'))
          .where('id', '<=', upTo)
          .executeTakeFirst(),
      )
      return newest?.id ?? 0
    },
  }
}
