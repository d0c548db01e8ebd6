import type { At, BookMarket, BookOrder } from '../../../contracts/index.ts'
import type { JournaledOrder } from '../../../transactions/book-orders.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'
import { exchangeOrders, mayBeUnheard } from './exchange-orders.ts'
import type { OrdersPosition } from './orders-cursor.ts'
import type { ShownOrder } from '../../../handlers/clob/order-state.ts'
import type { WalletOrders } from '../../../handlers/clob/wallet-orders.ts'

/** Orders one by one, newest first: each once, where both the journal and the exchange have it. */
export interface MergedOrders {
  next(): Promise<ShownOrder | undefined>
  hasMore(): Promise<boolean>
  position(): OrdersPosition
}

/** @param since how far they were told before */
export async function mergedOrders(
  orders: WalletOrders,
  market: BookMarket | undefined,
  since: OrdersPosition,
  pageSize: number,
  at: At,
): Promise<MergedOrders> {
  const ofMarket = market && { market: nameOf(market) }
  const [exchange, cancels] = await Promise.all([exchangeOrders(orders, market, at), orders.cancelling()])
  const { unnoted } = exchange
  const ours = new Set(unnoted.flatMap((each) => exchange.of(each)?.orderId ?? orders.nameOf(each).orderId ?? []))
  const foreign = exchange.listed.filter(({ createdAt }) => createdAt <= (since.createdAt ?? Infinity))
  let { journalKey, createdAt, told } = since
  let toSkip = told
  let page: JournaledOrder[] = []
  let isJournalRead = false

  async function firstJournaled(): Promise<JournaledOrder | undefined> {
    if (page.length === 0 && !isJournalRead) {
      page = [...(await orders.journaled({ ...ofMarket, limit: pageSize, ...(journalKey !== undefined && { before: journalKey }) }))]
      isJournalRead = page.length < pageSize
    }
    return page[0]
  }

  async function firstForeign(): Promise<BookOrder | undefined> {
    for (let first = foreign[0]; first; first = foreign[0]) {
      const isTold = toSkip > 0 && first.createdAt === since.createdAt
      if (!(await isOurs(first)) && !isTold) return first
      if (isTold && !ours.has(first.orderId)) toSkip--
      foreign.shift()
    }
    return undefined
  }

  /** What the journal has is told at its place there. */
  async function isOurs(order: BookOrder): Promise<boolean> {
    const { orderId } = order
    if (ours.has(orderId)) return true
    const noted = (await orders.journaled({ orderId, limit: 1 })).length > 0
    if (noted || (await orders.madeHere(order)) || mayBeUnheard(order, unnoted)) ours.add(orderId)
    return ours.has(orderId)
  }

  return {
    async next() {
      const [own, other] = [await firstJournaled(), await firstForeign()]
      if (own && own.entry.createdAt >= (other?.createdAt ?? -Infinity)) {
        page.shift()
        journalKey = own.key
        const found = exchange.of(own)
        return orders.show(own, found, cancels({ ...orders.nameOf(own), ...(found && { orderId: found.orderId }) }))
      }
      if (!other) return undefined
      foreign.shift()
      told = other.createdAt === createdAt ? told + 1 : 1
      createdAt = other.createdAt
      return orders.showForeign(other, cancels(other))
    },
    hasMore: async () => ((await firstJournaled()) ?? (await firstForeign())) !== undefined,
    position: () => ({ told, ...(createdAt !== undefined && { createdAt }), ...(journalKey !== undefined && { journalKey }) }),
  }
}
