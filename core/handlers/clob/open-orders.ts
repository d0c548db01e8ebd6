// Learns what became of open orders that nobody asks about.
import type { JournaledOrder } from '../../transactions/book-orders.ts'
import { lacksFills } from '../../transactions/order-fills.ts'
import { readAboutOrder } from './order-state.ts'
import { mayBeOnExchange, storeEnds, type WalletOrders } from './wallet-orders.ts'

/** Orders whose state is asked for at a time, and whose own answer is read. */
const maxAsked = 8
const maxAnswered = 100
const maxOpen = 1_000

/**
 * Stores what became of open orders in a market: of those that ended with their own answer, and by asking the exchange, of some: first of those whose fills are
 * all of it, then rather of those that were never asked about. Chance keeps none waiting behind others that the exchange does not know.
 */
export async function storeStates(orders: WalletOrders, market: string): Promise<void> {
  const open = await orders.journaled({ market, openOnly: true, limit: maxOpen })
  const [ended, resting] = [open.filter(orders.hasEnded), open.filter((each) => !orders.hasEnded(each) && mayBeOnExchange(each))]
  const rank = (order: JournaledOrder): number => {
    if (!lacksFills(readAboutOrder(order).amount, order.fills)) return 0
    return (order.report ? 1.5 : 1) + Math.random()
  }
  const ranked = resting.map((order) => ({ order, rank: rank(order) })).toSorted((one, other) => one.rank - other.rank)
  for (const order of ended.slice(0, maxAnswered)) await orders.show(order, undefined, false)
  await storeEnds(orders, { asked: ranked.slice(0, maxAsked).map(({ order }) => orders.nameOf(order)), answered: [] })
}
