import type { Kysely } from 'kysely'
import * as Type from 'typebox'
import { fits } from '../base/schema-check.ts'
import { orderStates, SluiceError, type ActionOutcome, type Json, type OrderState } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { OrderRow, StoredBytes, Tables } from '../store/tables.ts'
import { isFinal, type Entry } from './entry.ts'
import { readArchivedBody, readBody } from './journal/entry-rows.ts'
import { addressKey } from '../base/addresses.ts'
import type { Budgets, OrderEnd } from './budgets.ts'
import { countingWriter, type FillsCount, type FillsValue } from './counted-fills.ts'
import {
  noteFills,
  noteOrderIds,
  openOrderMarkets,
  placedBy,
  readFills,
  type FillsReading,
  type OrderFill,
  type OrderMarket,
  type ToldFill,
} from './order-fills.ts'

/**
 * An order in a book, under its client order id. It is journaled in the same write as the entry of its plan's last step. A wallet uses an
 * id once on an exchange, whichever type of book it is for.
 */
export interface ClientOrder {
  readonly clientOrderId: string
  /** CLOB, MARGIN_CLOB or PERP_CLOB. */
  readonly type: string
  /** BASE-QUOTE */
  readonly market: string
  /** Its index in the plan's outcome. */
  readonly index: number
  /** The handler's own data, from which it shows the order to the caller. */
  readonly about: Json
}

/** An order in the journal. */
export interface JournaledOrder extends ClientOrder {
  /** Sorts by age; the cursor of a page. */
  readonly key: string
  /** The transaction or signed action that placed it. */
  readonly entry: Entry
  readonly report?: OrderReport
  /** Oldest first, as far as they are known. */
  readonly fills: readonly OrderFill[]
}

/** What the exchange reported about an order. */
export interface OrderReport extends ActionOutcome {
  /** Milliseconds since the Unix epoch. */
  readonly updatedAt: number
}

/** Client order ids are unique per wallet on an exchange. */
export interface OrderVenue {
  chain: string
  network: string
  connector: string
  /** The owner's. */
  address: string
}

export interface OrderFilter extends OrderVenue {
  type?: string
  market?: string
  clientOrderId?: string
  /** Matches once the exchange has reported one. */
  orderId?: string
  /** Leaves out orders that are known to have ended. */
  openOnly?: boolean
  /** Only those whose id at the exchange is not stored. */
  withoutId?: boolean
  limit: number
  /** Key of the last order on the page before. */
  before?: string
}

/** The book orders in the journal. @throws StoreUnavailable */
export interface ClientOrders {
  /** Newest first. */
  list(filter: OrderFilter): Promise<readonly JournaledOrder[]>
  /**
   * Stores the newest report. The exchange is not asked again about an order that has ended. Older reports, and any after the end, are
   * ignored.
   * @param end of an order of signed actions whose last report it is: by a connector of this release
   */
  note(order: JournaledOrder, report: OrderReport, end?: Omit<OrderEnd, 'entry' | 'index'>): Promise<void>
  /**
   * Adds fills to orders of a wallet: to those whose id at the exchange they name, or which their transaction placed.
   * @param idOf the exchange's ids of orders without a report, by their client order ids
   * @param valueOf what new ones of an order lost; undefined where that cannot be told
   * @param reading of several pages of one reading
   * @returns how many orders have new ones
   */
  noteFills(
    of: OrderMarket,
    told: readonly ToldFill[],
    idOf: ReadonlyMap<string, string>,
    valueOf?: FillsValue,
    reading?: FillsReading,
  ): Promise<number>
  /** Stores the exchange's ids of orders that have none, by their client order ids: of actions that are final. */
  noteIds(of: OrderMarket, ids: ReadonlyMap<string, string>): Promise<void>
  /** Where wallets have orders that may be open, and where one that ended since then lacks fills. */
  openMarkets(endedSince?: number): Promise<readonly (OrderMarket & { readonly isLacking?: true })[]>
  /** Entries with the orders that they have placed. What cannot be read of these is left out. */
  withOrders(entries: readonly Entry[]): Promise<readonly Entry[]>
}

export interface OrderJournal extends ClientOrders {
  /** The first of these ids that is used already, if any. An id is free again if the entry that used it expired unsigned. */
  firstUsed(venue: OrderVenue, clientOrderIds: readonly string[]): Promise<string | undefined>
}

/** The wallet has used the id on that exchange. Nothing was written, signed or sent. */
export class OrderIdUsedError extends SluiceError {
  constructor(clientOrderId: string) {
    super(
      'IDEMPOTENCY_CONFLICT',
      `This wallet has already used the clientOrderId ${clientOrderId} on this exchange: nothing was sent. GET the orders with this id to see that order, and use a new id for a new one.`,
      { details: { clientOrderId } },
    )
  }
}

const endStates: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

/** PostgreSQL and SQLite take at least this many parameters in one statement. */
const maxIds = 5_000

/**
 * Orders in the store's tables. The journal's writers insert them.
 * @param onDamage receives the error of a row that cannot be read; the list has the others
 * @param told called in the write that ends an order, or stores fills; undefined while nobody has to be told
 */
export function sqlOrders(
  store: Store,
  onDamage: (error: unknown) => void,
  { endOrder, countFills }: { endOrder?: () => Budgets['endOrder']; countFills?: () => FillsCount | undefined } = {},
): OrderJournal {
  return {
    firstUsed: (venue, ids) => firstUsedId(store, venue, ids),
    async list(filter) {
      const rows = await selectOrders(store, filter)
      return rows.flatMap((row): JournaledOrder[] => {
        try {
          return [readOrder(row)]
        } catch (error) {
          onDamage(error)
          return []
        }
      })
    },
    noteFills(of, told, idOf, valueOf, reading) {
      const count = valueOf && countFills?.()
      return noteFills(store, of, told, idOf, count && countingWriter(store, valueOf, count), reading)
    },
    noteIds: (of, ids) => noteOrderIds(store, of, ids),
    openMarkets: (endedSince) => openOrderMarkets(store, endedSince),
    async withOrders(entries) {
      // Before that no exchange has them.
      const keys = entries.flatMap(({ kind, key, landed }) => (kind === 'order' && landed ? [key] : []))
      if (keys.length === 0) return entries
      const placed = await placedBy(store, keys, { readReport, onDamage })
      return entries.map((entry) => {
        const orders = placed.get(entry.key)
        return orders ? { ...entry, orders } : entry
      })
    },
    async note({ clientOrderId, entry, index }, report, end) {
      const { connector, key } = entry
      if (connector === undefined) throw new Error(`${key} is not an order of a connector.`)
      const { orderId, state, updatedAt } = report
      const open = (db: Pick<Kysely<Tables>, 'updateTable'>) =>
        db
          .updateTable('orders')
          .set({ said: JSON.stringify(report), said_at: updatedAt, ...(orderId !== undefined && { order_id: orderId }) })
          .where((eb) => eb.and({ ...venueColumns({ ...entry, connector }), client_order_id: clientOrderId }))
          // Another order may have the id by now, if this one expired unsigned.
          .where('entry_key', '=', key)
          .where('standing', '=', 'open')
      const told = end && endOrder?.()
      if (told)
        await store
          .write(async (tx) => {
            // First, as in every write of the journal: budgets are locked before orders, so that no two transactions wait for each other.
            await told({ entry, index, ...end }, tx)
            const { numUpdatedRows } = await open(tx).set({ standing: 'ended' }).executeTakeFirst()
            if (numUpdatedRows === 0n) throw new EndedBefore()
          })
          .catch((error: unknown) => {
            if (!(error instanceof EndedBefore)) throw error
          })
      else if (endStates.has(state)) await store.writeOnce((db) => open(db).set({ standing: 'ended' }).execute())
      else
        await store.writeOnce((db) =>
          open(db)
            .where((eb) => eb.or([eb('said_at', 'is', null), eb('said_at', '<=', updatedAt)]))
            .execute(),
        )
    },
  }
}

/** Undoes what the end of an order would change: it has ended before, or another order has its id. */
class EndedBefore extends Error {}

export async function firstUsedId(store: Store, venue: OrderVenue, clientOrderIds: readonly string[]): Promise<string | undefined> {
  for (let first = 0; first < clientOrderIds.length; first += maxIds) {
    const row = await store.read((db) =>
      db
        .selectFrom('orders')
        .select('client_order_id')
        .where((eb) => eb.and(venueColumns(venue)))
        .where('client_order_id', 'in', clientOrderIds.slice(first, first + maxIds))
        .where('standing', '!=', 'free')
        .limit(1)
        .executeTakeFirst(),
    )
    if (row) return row.client_order_id
  }
  return undefined
}

function selectOrders(store: Store, { type, market, clientOrderId, orderId, openOnly, withoutId, before, limit, ...venue }: OrderFilter) {
  const { chain, network, connector, wallet } = venueColumns(venue)
  return store.read((db) => {
    let query = db
      .selectFrom('orders')
      .leftJoin('entries', 'entries.key', 'orders.entry_key')
      .leftJoin('archived', 'archived.key', 'orders.entry_key')
      .selectAll('orders')
      .select(['entries.body', 'archived.body as archived_body'])
      .select(({ fn }) => fn.coalesce('entries.request_id', 'archived.request_id').as('request_id'))
      .select(({ fn }) => fn.coalesce('entries.idempotency_key', 'archived.idempotency_key').as('idempotency_key'))
      .where('orders.chain', '=', chain)
      .where('orders.network', '=', network)
      .where('orders.connector', '=', connector)
      .where('orders.wallet', '=', wallet)
    if (type !== undefined) query = query.where('orders.type', '=', type)
    if (market !== undefined) query = query.where('orders.market', '=', market)
    if (clientOrderId !== undefined) query = query.where('orders.client_order_id', '=', clientOrderId)
    if (orderId !== undefined) query = query.where('orders.order_id', '=', orderId)
    if (openOnly) query = query.where('orders.standing', '=', 'open')
    if (withoutId) query = query.where('orders.order_id', 'is', null)
    if (before !== undefined) query = query.where('orders.key', '<', before)
    return query.orderBy('orders.key', 'desc').limit(limit).execute()
  })
}

const venueColumns = ({ chain, network, connector, address }: OrderVenue) => ({
  chain,
  network,
  connector,
  wallet: addressKey(address),
})

/** The rows of a plan's orders. They belong to its last step. @throws Error if the entry has no connector: a defect of the handler */
export function orderRows(entries: readonly Entry[], orders: readonly ClientOrder[]): OrderRow[] {
  const entry = entries.at(-1)
  if (orders.length === 0 || !entry) return []
  const { key, connector, kind } = entry
  if (connector === undefined || kind !== 'order') throw new Error('Only an order of a connector is journaled under a client order id.')
  return orders.map(({ clientOrderId, type, market, index, about }) => ({
    ...venueColumns({ ...entry, connector }),
    client_order_id: clientOrderId,
    key: `${key}-${index.toString(36).padStart(4, '0')}`,
    type,
    market,
    entry_key: key,
    place: index,
    about: JSON.stringify(about),
    standing: 'open',
    order_id: null,
    said_at: null,
    said: null,
    fills: null,
  }))
}

/** The status of an entry's orders after the entry failed: its orders ended with it. If it was never signed, their ids are free again. */
export function statusAfter(entry: Entry): Exclude<OrderRow['standing'], 'open'> | undefined {
  if (entry.kind !== 'order' || !isFinal(entry) || entry.state === 'CONFIRMED') return undefined
  return entry.attempts.length === 0 ? 'free' : 'ended'
}

const Report = Type.Object({
  orderId: Type.Optional(Type.String()),
  state: Type.Union(orderStates.map((each) => Type.Literal(each))),
  filledAmount: Type.Optional(Type.String()),
  averagePrice: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String()),
  updatedAt: Type.Number(),
})

type OrderedRow = OrderRow & {
  body: StoredBytes | null
  archived_body: StoredBytes | null
  request_id: string | null
  idempotency_key: string | null
}

/** @throws Error that names the key, if a row is not what was written */
function readOrder(row: OrderedRow): JournaledOrder {
  const { key, client_order_id: clientOrderId, type, market, place: index, entry_key, body, archived_body } = row
  const { request_id, idempotency_key } = row
  const ids = { key: entry_key, request_id: request_id ?? '', idempotency_key }
  const entry = body === null ? readArchivedBody({ ...ids, body: archived_body ?? new Uint8Array() }) : readBody({ ...ids, body })
  const order = { key, clientOrderId, type, market, index, about: JSON.parse(row.about), entry, fills: readFills(key, row.fills) }
  return row.said === null ? order : { ...order, report: readReport(key, row.said) }
}

function readReport(key: string, text: string): OrderReport {
  const report: unknown = JSON.parse(text)
  if (fits(Report, report)) return report
  throw new Error(`The exchange's report on the journal's order ${key} cannot be read: restore the store from a copy, or remove that row.`)
}
