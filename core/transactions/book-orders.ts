import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { type Decimal, type Json, type OrderState, SluiceError, orderStates } from '../contracts/index.ts'
import type { Store } from '../store/store.ts'
import type { OrderRow } from '../store/tables.ts'
import { type Entry, isFinal } from './entry.ts'
import { folded, readBody } from './journal/entry-rows.ts'

/**
 * An order of a book that a plan places: journaled with the entry of the plan's last step, in the same write, under the id that its caller
 * gave it. A wallet uses an id once on a venue, whichever type of book it is for.
 */
export interface ClientOrder {
  readonly clientOrderId: string
  /** CLOB, MARGIN_CLOB or PERP_CLOB. */
  readonly type: string
  /** BASE-QUOTE */
  readonly market: string
  /** Its place among what the plan's outcome tells of. */
  readonly index: number
  /** The verb's: what shows the order in the caller's terms. */
  readonly about: Json
}

/** What an exchange said of an order. */
export interface OrderReport {
  readonly orderId?: string
  readonly state: OrderState
  readonly filledAmount?: Decimal
  readonly averagePrice?: Decimal
  readonly reason?: string
  /** Milliseconds since the Unix epoch. */
  readonly updatedAt: number
}

/** An order in the journal. */
export interface JournaledOrder extends ClientOrder {
  /** Sorts by age; the cursor of a page. */
  readonly key: string
  /** The transaction, or signed action, that placed it. */
  readonly entry: Entry
  readonly report?: OrderReport
}

export interface OrderFilter {
  chain: string
  network: string
  connector: string
  type?: string
  /** The owner's. */
  address: string
  market?: string
  clientOrderId?: string
  /** Once one was noted. */
  orderId?: string
  /** Without those that are known to have ended. */
  openOnly?: boolean
  limit: number
  /** Key of the last of the page before. */
  before?: string
}

/** The orders of books in the journal. @throws StoreUnavailable */
export interface ClientOrders {
  /** Newest first. */
  list(filter: OrderFilter): Promise<readonly JournaledOrder[]>
  /** Keeps what the exchange said last, so that what ended needs not be asked for again. What ended stays as it ended; old news change nothing. */
  note(order: JournaledOrder, said: OrderReport): Promise<void>
}

/** Orders of a venue are told apart by it and by the wallet that they are for. */
export interface OrderVenue {
  chain: string
  network: string
  connector: string
  address: string
}

/** What the way of an order asks, besides. */
export interface OrderJournal extends ClientOrders {
  /** The first of these ids that cannot be used, if any. An id is free again once what used it was given up before it was signed. */
  firstUsed(venue: OrderVenue, clientOrderIds: readonly string[]): Promise<string | undefined>
}

const ends: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

const hasEnded = ({ state }: Pick<OrderReport, 'state'>): boolean => ends.has(state)

/** The wallet has used the id on that venue: nothing was kept, signed or sent. */
export class OrderIdUsed extends SluiceError {
  constructor(clientOrderId: string) {
    super(
      'IDEMPOTENCY_CONFLICT',
      `The clientOrderId ${clientOrderId} was used before by this wallet there: nothing was sent. GET the orders with it to see what became of that one, and give another order another id.`,
      { details: { clientOrderId } },
    )
  }
}

/** Of a plan: they belong to its last step. @throws Error where no connector is there to have them: a defect of the verb */
export function orderRows(entries: readonly Entry[], orders: readonly ClientOrder[]): OrderRow[] {
  const entry = entries.at(-1)
  if (orders.length === 0 || !entry) return []
  const { key, connector, kind } = entry
  if (connector === undefined || kind !== 'order') throw new Error('Only an order of a connector is journaled under a client order id.')
  return orders.map(({ clientOrderId, type, market, index, about }) => ({
    ...venueOf({ ...entry, connector }),
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
  }))
}

/** Where a client order id is used once. */
const venueOf = ({ chain, network, connector, address }: OrderVenue) => ({ chain, network, connector, wallet: folded(address) })

/** What an entry's end means for its orders, where it came to nothing: they ended with it; one that was never signed leaves its id free. */
export function statusAfter(entry: Entry): Exclude<OrderRow['standing'], 'open'> | undefined {
  if (entry.kind !== 'order' || !isFinal(entry) || entry.state === 'CONFIRMED') return undefined
  return entry.attempts.length === 0 ? 'free' : 'ended'
}

const Said = Compile(
  Type.Object({
    orderId: Type.Optional(Type.String()),
    state: Type.Union(orderStates.map((each) => Type.Literal(each))),
    filledAmount: Type.Optional(Type.String()),
    averagePrice: Type.Optional(Type.String()),
    reason: Type.Optional(Type.String()),
    updatedAt: Type.Number(),
  }),
)

/** @throws Error naming the key, where a row is not what was written */
function readOrder(row: OrderRow & { body: string }): JournaledOrder {
  const { key, client_order_id: clientOrderId, type, market, place: index, entry_key, body } = row
  const order = { key, clientOrderId, type, market, index, about: JSON.parse(row.about), entry: readBody(entry_key, body) }
  return row.said === null ? order : { ...order, report: readSaid(key, row.said) }
}

function readSaid(key: string, text: string): OrderReport {
  const said: unknown = JSON.parse(text)
  if (Said.Check(said)) return said
  throw new Error(`What was said of the journal's order ${key} cannot be read: restore the store from a copy, or remove that row.`)
}

/** Both kinds of database take this many parameters, and more. */
const idsAtOnce = 5_000

/**
 * Orders in the store's tables; the journal's writers put them there.
 * @param damaged told of a row that cannot be read: the others are
 */
export function sqlOrders(store: Store, damaged: (error: unknown) => void): OrderJournal {
  return {
    async firstUsed(venue, clientOrderIds) {
      for (let first = 0; first < clientOrderIds.length; first += idsAtOnce) {
        const [found] = await among(venue, clientOrderIds.slice(first, first + idsAtOnce))
        if (found !== undefined) return found
      }
      return undefined
    },
    async list(filter) {
      const rows = await rowsOf(filter)
      return rows.flatMap((row): JournaledOrder[] => {
        try {
          return [readOrder(row)]
        } catch (error) {
          damaged(error)
          return []
        }
      })
    },
    async note({ clientOrderId, entry }, said) {
      const { connector, key } = entry
      if (connector === undefined) throw new Error(`${key} is no order of a connector.`)
      const venue = venueOf({ ...entry, connector })
      const ended = hasEnded(said)
      await store.writeOnce((db) => {
        const open = db
          .updateTable('orders')
          .set({ said: JSON.stringify(said), said_at: said.updatedAt, ...(said.orderId !== undefined && { order_id: said.orderId }) })
          .where('chain', '=', venue.chain)
          .where('network', '=', venue.network)
          .where('connector', '=', venue.connector)
          .where('wallet', '=', venue.wallet)
          .where('client_order_id', '=', clientOrderId)
          // Another order may have the id by now, where this one was never signed.
          .where('entry_key', '=', key)
          .where('standing', '=', 'open')
        if (ended) return open.set({ standing: 'ended' }).execute()
        return open.where((eb) => eb.or([eb('said_at', 'is', null), eb('said_at', '<=', said.updatedAt)])).execute()
      })
    },
  }

  async function among(venue: OrderVenue, ids: readonly string[]): Promise<readonly string[]> {
    const { chain, network, connector, wallet } = venueOf(venue)
    const rows = await store.read((db) =>
      db
        .selectFrom('orders')
        .select('client_order_id')
        .where('chain', '=', chain)
        .where('network', '=', network)
        .where('connector', '=', connector)
        .where('wallet', '=', wallet)
        .where('client_order_id', 'in', [...ids])
        .where('standing', '!=', 'free')
        .limit(1)
        .execute(),
    )
    return rows.map(({ client_order_id }) => client_order_id)
  }

  function rowsOf({ chain, network, connector, address, type, market, clientOrderId, orderId, openOnly, before, limit }: OrderFilter) {
    const { wallet } = venueOf({ chain, network, connector, address })
    return store.read((db) => {
      let query = db
        .selectFrom('orders')
        .innerJoin('entries', 'entries.key', 'orders.entry_key')
        .selectAll('orders')
        .select('entries.body')
        .where('orders.chain', '=', chain)
        .where('orders.network', '=', network)
        .where('orders.connector', '=', connector)
        .where('orders.wallet', '=', wallet)
      if (type !== undefined) query = query.where('orders.type', '=', type)
      if (market !== undefined) query = query.where('orders.market', '=', market)
      if (clientOrderId !== undefined) query = query.where('orders.client_order_id', '=', clientOrderId)
      if (orderId !== undefined) query = query.where('orders.order_id', '=', orderId)
      if (openOnly) query = query.where('orders.standing', '=', 'open')
      if (before !== undefined) query = query.where('orders.key', '<', before)
      return query.orderBy('orders.key', 'desc').limit(limit).execute()
    })
  }
}
