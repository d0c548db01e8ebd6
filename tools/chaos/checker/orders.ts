import type { Orders, ToldOrder } from '../history.ts'
import { groupBy, violation, type IndexedHistory, type Violation } from './known.ts'

const never: ReadonlySet<string> = new Set(['FAILED', 'REJECTED'])

/** I1 and I5 of orders: each is placed once, and what is told of it at the end is what the chain has of it. */
export function orders(known: IndexedHistory): Violation[] {
  const { orders } = known
  if (!orders) return []
  const told = groupBy(orders.told, ({ clientOrderId }) => clientOrderId)
  return [
    ...[...told].flatMap(([clientOrderId, orders]) =>
      orders.length > 1 ? [violation('I1', 'an order is listed more than once', { clientOrderId, orders })] : [],
    ),
    ...known.requests.flatMap((request) => {
      if (request.op !== 'order') return []
      const [order] = told.get(orderIdOf(request)) ?? []
      const mined = known.minedOf(request).filter(({ ok }) => ok)
      if (!order) return mined.length > 0 ? [violation('I1', 'an order was placed that is not listed', { request, mined })] : []
      const wrong = wrongIn(order, mined[0]?.txHash, orders)
      return wrong === undefined
        ? []
        : [violation('I5', wrong, { request, order, mined, events: orders.events.filter(({ orderId }) => orderId === order.orderId) })]
    }),
  ]
}

/** The id under which a bot places the order of a request. */
export const orderIdOf = ({ id }: { id: number }) => `chaos-${id}`

function wrongIn(order: ToldOrder, txHash: string | undefined, { events, left }: Orders): string | undefined {
  const { state, orderId, filledRaw, wallet } = order
  if (txHash === undefined) return never.has(state) ? undefined : `said ${state} of an order that was never placed`
  if (never.has(state)) return `said ${state} of an order that was placed`
  const own = events.filter((event) => event.txHash === txHash)
  const made = own.filter(({ is, maker }) => is === 'made' && maker === wallet)
  if (made.length > 1) return 'one order made two offers'
  const offer = made[0]?.orderId
  if (offer !== orderId) return `said that its id is ${orderId ?? 'none'} where it is ${offer ?? 'none'}`
  const later = events.filter((event) => event.orderId === offer)
  const taking = own.filter(({ is, taker }) => is === 'taken' && taker === wallet)
  const taken = later.filter(({ is, txHash: by }) => is === 'taken' && by !== txHash)
  const filled = [...taking, ...taken].reduce((sum, { baseRaw = 0n }) => sum + baseRaw, 0n)
  if (filled !== filledRaw) return `said that ${filledRaw} was filled where ${filled} was`
  const isKilled = later.some(({ is }) => is === 'killed')
  const states =
    offer === undefined
      ? atOnce(order)
      : isKilled
        ? ['CANCELED']
        : !left.has(offer)
          ? ['FILLED']
          : [filled > 0n ? 'PARTIALLY_FILLED' : 'OPEN']
  return states.includes(state) ? undefined : `said ${state} of an order that is ${states.join(' or ')}`
}

/** A SELL is done when it got what it asked for, be it for less than its amount. */
const atOnce = ({ side }: ToldOrder) => (side === 'SELL' ? ['FILLED', 'CANCELED'] : ['FILLED'])
