import type { At, BookMarket, BookOrder } from '../../../contracts/index.ts'
import { canonicalHash } from '../../../transactions/canonical-hash.ts'
import { isFinal } from '../../../transactions/entry.ts'
import { type JournaledOrder } from '../../../transactions/book-orders.ts'
import { plain } from '../figures/exact.ts'
import { nameOf } from '../../../handlers/clob/markets.ts'
import { readAboutOrder } from './about-order.ts'
import { unnotedOrders } from './unnoted.ts'
import type { WalletOrders } from '../../../handlers/clob/wallet-orders.ts'

/** The exchange is asked by name for no more than so many that it does not list: they are noted then, and others come the next time. */
const mostNamed = 100
/** So far may the clock of an exchange be behind ours. */
const clocksMs = 10_000

/** What an exchange says of a wallet's orders, beside what the journal does not know to have ended. */
export interface ExchangeOrders {
  /** Newest first. */
  readonly listed: readonly BookOrder[]
  readonly unnoted: readonly JournaledOrder[]
  of(order: JournaledOrder): BookOrder | undefined
}

/** All that an exchange lists, and what it says by name of those that it does not list. */
export async function exchangeOrders(orders: WalletOrders, market: BookMarket | undefined, at: At): Promise<ExchangeOrders> {
  const where = market && { market }
  // The journal is read after the exchange: what is there is in the journal before.
  const listed = await orders.onExchange({ ...where }, at)
  const unnoted = await unnotedOrders(orders, market, (found) => {
    const ours = new Set(found.flatMap((each) => keysOf(orders.nameOf(each))))
    return listed.every((each) => keysOf(each).some((key) => ours.has(key)))
  })
  const ofEntry = new Map<string, number>()
  for (const { entry } of unnoted) ofEntry.set(entry.key, (ofEntry.get(entry.key) ?? 0) + 1)
  const known = new Map<string, BookOrder>()
  const learn = (order: BookOrder) => {
    for (const key of keysOf(order)) known.set(key, order)
  }
  const of = (order: JournaledOrder) => {
    const { key, attempts } = order.entry
    // Where a transaction placed several, one of them is not told from another by it.
    const byTransaction = ofEntry.get(key) === 1 ? attempts.map(({ id }) => ofTransaction(id)) : []
    return [...keysOf(orders.nameOf(order)), ...byTransaction].flatMap((key) => known.get(key) ?? [])[0]
  }
  for (const each of listed) learn(each)

  const names = unnoted.flatMap((each) => (of(each) || !mayBeThere(each) || orders.hasEnded(each) ? [] : [orders.nameOf(each)]))
  if (names.length > 0) for (const each of await orders.onExchange({ ...where, names: names.slice(0, mostNamed) }, at)) learn(each)
  return { listed: listed.toSorted((a, b) => b.createdAt - a.createdAt || (a.orderId < b.orderId ? 1 : -1)), unnoted, of }
}

const ofTransaction = (txHash: string) => `transaction ${canonicalHash(txHash)}`

/** Ids of one kind are never taken for those of another. */
const keysOf = ({
  orderId,
  clientOrderId,
  txHash,
}: Partial<Pick<BookOrder, 'orderId' | 'clientOrderId' | 'txHash'>>): readonly string[] => [
  ...(orderId === undefined ? [] : [`orderId ${orderId}`]),
  ...(clientOrderId === undefined ? [] : [`clientOrderId ${clientOrderId}`]),
  ...(txHash === undefined ? [] : [ofTransaction(txHash)]),
]

/** Of what is to be mined the exchange knows nothing before; of what it takes by itself it may, although nobody heard of it. */
export const mayBeThere = ({ entry }: JournaledOrder) => entry.landed !== undefined || (entry.signer !== undefined && !isFinal(entry))

/**
 * Whether it may be one of ours that nobody has heard of yet: such an exchange names orders as it likes, and tells of them before it has
 * answered, or before the journal has read its block.
 */
export const mayBeUnheard = (order: BookOrder, unnoted: readonly JournaledOrder[]): boolean =>
  unnoted.some((each) => {
    const { side, price, amount } = readAboutOrder(each)
    const { landed, createdAt } = each.entry
    const isUnheard = landed === undefined && !isFinal(each.entry) && order.createdAt > createdAt - clocksMs
    const isLike =
      each.market === nameOf(order.market) && side === order.side && plain(order.price) === price && plain(order.amount) === amount
    return isUnheard && isLike
  })
