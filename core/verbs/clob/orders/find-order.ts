import { badFields, SluiceError, type BookSet } from '../../../api/index.ts'
import type { At, BookMarket, BookOrder, OrderName } from '../../../contracts/index.ts'
import type { JournaledOrder } from '../../../transactions/book-orders.ts'
import { rootOf } from '../book-type.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'
import { mayBeThere } from './exchange-orders.ts'
import type { ShownOrder } from '../../../handlers/clob/order-state.ts'
import { unnotedOrders } from './unnoted.ts'
import type { WalletOrders } from '../../../handlers/clob/wallet-orders.ts'

/** @throws SluiceError INCOMPLETE_PARAMS where neither id is given */
export function readName({ orderId, clientOrderId }: OrderName): OrderName {
  if (orderId === undefined && clientOrderId === undefined)
    throw badFields([{ field: 'orderId', problem: 'is required, or else clientOrderId: one of them says which order is meant' }])
  return { ...(orderId !== undefined && { orderId }), ...(clientOrderId !== undefined && { clientOrderId }) }
}

/** An order, with what the journal has of it where this server placed it. */
export interface FoundOrder {
  shown: ShownOrder
  journaled?: JournaledOrder
}

/** A wallet's order by its name, in a market where one is given; undefined where neither the journal nor the exchange knows it. */
export async function findOrder(
  orders: WalletOrders,
  name: OrderName,
  market: BookMarket | undefined,
  at: At,
): Promise<FoundOrder | undefined> {
  const [journaled] = await orders.journaled({ ...name, ...(market && { market: nameOf(market) }), limit: 1 })
  const found = journaled ? await ofJournal(orders, journaled, market, at) : await ofExchange(orders, name, market, at)
  return found && isNamed(found.shown, name) ? found : undefined
}

async function ofJournal(orders: WalletOrders, journaled: JournaledOrder, market: BookMarket | undefined, at: At): Promise<FoundOrder> {
  const name = orders.nameOf(journaled)
  const exchange = mayBeThere(journaled) && !orders.hasEnded(journaled) ? await asked(orders, name, market, at) : undefined
  const cancels = await orders.cancelling()
  return { journaled, shown: await orders.show(journaled, exchange, cancels({ ...name, ...(exchange && { orderId: exchange.orderId }) })) }
}

async function ofExchange(orders: WalletOrders, name: OrderName, market: BookMarket | undefined, at: At): Promise<FoundOrder | undefined> {
  const exchange = await asked(orders, name, market, at)
  if (!exchange) return undefined
  const cancels = await orders.cancelling()
  const journaled = await journaledAs(orders, exchange)
  if (!journaled) return { shown: orders.showForeign(exchange, cancels(exchange)) }
  return { journaled, shown: await orders.show(journaled, exchange, cancels({ ...orders.nameOf(journaled), orderId: exchange.orderId })) }
}

async function asked(orders: WalletOrders, name: OrderName, market: BookMarket | undefined, at: At): Promise<BookOrder | undefined> {
  const found = await orders.onExchange({ ...(market && { market }), names: [name] }, at)
  return found.find(
    (each) => (market === undefined || each.market.id === market.id) && (name.orderId === undefined || each.orderId === name.orderId),
  )
}

/** The journal learns what an exchange calls an order when that is noted: what was not yet is looked through. */
async function journaledAs(orders: WalletOrders, { orderId, txHash }: BookOrder): Promise<JournaledOrder | undefined> {
  const [noted] = await orders.journaled({ orderId, limit: 1 })
  if (noted) return noted
  const isIt = (each: JournaledOrder) => orders.nameOf(each).orderId === orderId
  const unnoted = await unnotedOrders(orders, undefined, (found) => found.some(isIt))
  const placed = unnoted.filter(({ entry }) => entry.attempts.some(({ id }) => id === txHash))
  return unnoted.find(isIt) ?? (placed.length === 1 ? placed[0] : undefined)
}

/** Both ids, where both are given, must be of one order. */
const isNamed = (shown: ShownOrder, { orderId, clientOrderId }: OrderName) =>
  (orderId === undefined || shown.orderId === orderId) && (clientOrderId === undefined || shown.clientOrderId === clientOrderId)

export function unknownOrder(type: BookSet, { orderId, clientOrderId }: OrderName, owner: string): SluiceError {
  const name = orderId === undefined ? `clientOrderId ${clientOrderId}` : `orderId ${orderId}`
  return new SluiceError('UNKNOWN_ORDER', `${owner} has no order with the ${name} there; GET ${rootOf[type]}/orders lists what it has.`)
}
