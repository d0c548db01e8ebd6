import type { BookSet } from '../../api/index.ts'
import { readAddress } from '../wallets.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import type { ForBook } from '../../verbs/clob/book-verb.ts'
import { marketsOf } from './markets.ts'
import { readLimit } from '../pages.ts'
import type { BookContext } from './submit-actions.ts'
import { findOrder, unknownOrder } from '../../verbs/clob/orders/find-order.ts'
import { readOrdersCursor, writeOrdersCursor } from '../../verbs/clob/orders/orders-cursor.ts'
import { mergedOrders } from '../../verbs/clob/orders/merged-orders.ts'
import type { ShownOrder } from './order-state.ts'
import { walletOrders } from './wallet-orders.ts'

/** So many more than a page are looked at for those of one state: whoever wants more of them comes again. */
const lookedAtPerPage = 10

/** A wallet's orders: what this server placed, and what the exchange knows besides. */
export const listOrders: ForBook<'Orders'> = (type) => async (request, context) => {
  const { network, venue, services, signal } = context
  const at = { signal }
  bookOf(type, venue)
  const owner = readAddress(network, request.address)
  const limit = readLimit(request.limit, services.settings)
  const since = readOrdersCursor(request.cursor)
  const market = request.market === undefined ? undefined : (await marketsOf(type, venue, at)).find(request.market)
  const isWanted = ({ state }: ShownOrder) => request.state === undefined || state === request.state
  if (request.orderId !== undefined || request.clientOrderId !== undefined)
    return { orders: (await one(type, owner, request, market, context)).filter(isWanted) }

  const merged = await mergedOrders(walletOrders(type, owner, context), market, since, limit, at)
  const orders: ShownOrder[] = []
  for (let seen = 0; seen < limit * lookedAtPerPage && orders.length < limit; seen++) {
    const next = await merged.next()
    if (!next) return { orders }
    if (isWanted(next)) orders.push(next)
  }
  return { orders, ...((await merged.hasMore()) && { nextCursor: writeOrdersCursor(merged.position()) }) }
}

async function one(
  type: BookSet,
  owner: string,
  { orderId, clientOrderId }: { orderId?: string; clientOrderId?: string },
  market: Parameters<typeof findOrder>[2],
  context: BookContext,
): Promise<readonly ShownOrder[]> {
  const name = { ...(orderId !== undefined && { orderId }), ...(clientOrderId !== undefined && { clientOrderId }) }
  const found = await findOrder(walletOrders(type, owner, context), name, market, { signal: context.signal })
  if (!found) throw unknownOrder(type, name, owner)
  return [found.shown]
}
