import type { Store } from '../../store/store.ts'
import { isEnd } from '../book-orders.ts'
import type { JournaledOrder, OrderFilter, OrderJournal, OrderVenue } from '../book-orders.ts'
import { readOrder } from './order-read.ts'
import { venueOf } from './order-rows.ts'

/** Both kinds of database take this many parameters, and more. */
const idsAtOnce = 5_000

/**
 * Orders in the store's tables; the journal's writers put them there.
 * @param damaged told of a row that cannot be read: the others are
 */
export function sqlOrders(store: Store, damaged: (error: unknown) => void): OrderJournal {
  return {
    async taken(venue, clientOrderIds) {
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
      const ended = isEnd(said)
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
