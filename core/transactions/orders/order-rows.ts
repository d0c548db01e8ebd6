import type { OrderRow } from '../../store/tables.ts'
import { isFinal } from '../entry.ts'
import type { Entry } from '../entry.ts'
import { folded } from '../journal/folded.ts'
import type { ClientOrder, OrderVenue } from '../book-orders.ts'

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
export const venueOf = ({ chain, network, connector, address }: OrderVenue) => ({ chain, network, connector, wallet: folded(address) })

/** What an entry's end means for its orders, where it came to nothing: they ended with it; one that was never signed leaves its id free. */
export function standingAfter(entry: Entry): Exclude<OrderRow['standing'], 'open'> | undefined {
  if (entry.kind !== 'order' || !isFinal(entry) || entry.state === 'CONFIRMED') return undefined
  return entry.attempts.length === 0 ? 'free' : 'ended'
}
