import type { At, BookMarket, BookOrder, OrderName } from '../../../contracts/index.ts'
import { isFinal, type JournaledOrder } from '../../../transactions/index.ts'
import type { WalletOrders } from './wallet-orders.ts'

/** The exchange is asked by name for no more than so many that it does not list: they are noted then, and others come the next time. */
const mostNamed = 100

/** What an exchange says of a wallet's orders. */
export interface ExchangeOrders {
  /** Newest first. */
  readonly listed: readonly BookOrder[]
  of(name: OrderName): BookOrder | undefined
}

/**
 * All that an exchange lists, and what it says by name of those that it does not list.
 * @param unnoted what the journal does not know to have ended
 */
export async function exchangeOrders(
  orders: WalletOrders,
  unnoted: readonly JournaledOrder[],
  market: BookMarket | undefined,
  at: At,
): Promise<ExchangeOrders> {
  const where = market && { market }
  const listed = await orders.onExchange({ ...where }, at)
  const byId = new Map<string, BookOrder>()
  const byClientId = new Map<string, BookOrder>()
  const learn = (order: BookOrder) => {
    byId.set(order.orderId, order)
    if (order.clientOrderId !== undefined) byClientId.set(order.clientOrderId, order)
  }
  const of = ({ orderId, clientOrderId }: OrderName) =>
    (orderId === undefined ? undefined : byId.get(orderId)) ?? (clientOrderId === undefined ? undefined : byClientId.get(clientOrderId))
  for (const each of listed) learn(each)

  const names = unnoted.flatMap((each) => {
    const name = orders.nameOf(each)
    return of(name) || !mayBeThere(each) || orders.hasEnded(each) ? [] : [name]
  })
  if (names.length > 0) for (const each of await orders.onExchange({ ...where, names: names.slice(0, mostNamed) }, at)) learn(each)
  return { listed: listed.toSorted((a, b) => b.createdAt - a.createdAt || (a.orderId < b.orderId ? 1 : -1)), of }
}

/** Of what is to be mined the exchange knows nothing before; of what it takes by itself it may, although nobody heard of it. */
export const mayBeThere = ({ entry }: JournaledOrder) => entry.landed !== undefined || (entry.signer !== undefined && !isFinal(entry))
