import type { BookMarket, BookOrder } from '../../contracts/index.ts'
import { normalize } from '../../base/decimal.ts'
import type { JournaledOrder } from '../../transactions/book-orders.ts'
import { canonicalHash } from '../../base/addresses.ts'
import { isFinal } from '../../transactions/entry.ts'
import { badCursor, readLimit } from '../pages.ts'
import { tradingOf } from '../../plugins/index.ts'
import { readAddress } from '../wallets.ts'
import { marketName, marketsOf, type BookHandlerFor } from './markets.ts'
import { readAboutOrder, showForeign, type ShownOrder } from './order-state.ts'
import {
  findOrder,
  idsOf,
  mayBeOnExchange,
  openJournaledOrders,
  pickName,
  unknownOrder,
  walletOrders,
  type WalletOrders,
} from './wallet-orders.ts'

/** Pages of orders that are searched for one page with a given state. If there are more, the page ends early and has a cursor. */
const pagesPerSearch = 10

/** A wallet's orders: those that this server placed, and the others that the exchange knows. */
export const clobListOrders: BookHandlerFor<'Orders'> = (type) => async (request, context) => {
  const { network, venue, services, signal } = context
  tradingOf(type, venue)
  const owner = readAddress(network, request.address)
  const limit = readLimit(request.limit, services.settings)
  const since = readOrdersCursor(request.cursor)
  const market = request.market === undefined ? undefined : (await marketsOf(type, venue, { signal })).find(request.market)
  const hasState = ({ state }: ShownOrder) => request.state === undefined || state === request.state
  const wallet = walletOrders(type, owner, context)
  if (request.orderId !== undefined || request.clientOrderId !== undefined) {
    const found = await findOrder(wallet, pickName(request), market)
    if (!found) throw unknownOrder(type, request, owner)
    return { orders: [found.shown].filter(hasState) }
  }

  const merged = await mergeOrders(wallet, market, since, limit)
  const orders: ShownOrder[] = []
  for (let searched = 0; searched < limit * pagesPerSearch && orders.length < limit; searched++) {
    const next = await merged.next()
    if (!next) return { orders }
    if (hasState(next)) orders.push(next)
  }
  return { orders, ...((await merged.hasMore()) && { nextCursor: writeOrdersCursor(merged.position()) }) }
}

/** How far a list of orders was shown: the journal's up to a key, the exchange's up to a time, which several orders may have. */
interface OrdersPosition {
  journalKey?: string
  createdAt?: number
  /** Orders of that time that were shown. */
  shownCount: number
}

const cursorPattern = /^(\d{1,15})?-(\d{1,6})-([0-9a-z-]{0,128})$/

/** @throws SluiceError INCOMPLETE_PARAMS */
function readOrdersCursor(cursor: string | undefined): OrdersPosition {
  if (cursor === undefined) return { shownCount: 0 }
  const [, createdAt, shownCount, journalKey] = cursorPattern.exec(cursor) ?? []
  if (shownCount === undefined) throw badCursor()
  return {
    shownCount: Number(shownCount),
    ...(createdAt !== undefined && { createdAt: Number(createdAt) }),
    ...(journalKey !== undefined && journalKey !== '' && { journalKey }),
  }
}

const writeOrdersCursor = ({ journalKey = '', createdAt, shownCount }: OrdersPosition): string =>
  `${createdAt ?? ''}-${shownCount}-${journalKey}`

/** The orders of the journal and the exchange, newest first, one at a time. An order that both have comes once. */
interface MergedOrders {
  next(): Promise<ShownOrder | undefined>
  hasMore(): Promise<boolean>
  position(): OrdersPosition
}

export async function mergeOrders(
  orders: WalletOrders,
  market: BookMarket | undefined,
  since: OrdersPosition,
  pageSize: number,
): Promise<MergedOrders> {
  const ofMarket = market && { market: marketName(market) }
  const [exchange, isCancelling] = await Promise.all([queryExchange(orders, market), orders.cancelling()])
  const { openJournaled } = exchange
  const ownIds = new Set(openJournaled.flatMap((each) => exchange.find(each)?.orderId ?? orders.nameOf(each).orderId ?? []))
  const foreign = exchange.listed.filter(({ createdAt }) => createdAt <= (since.createdAt ?? Infinity))
  let { journalKey, createdAt, shownCount } = since
  let toSkip = shownCount
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
      const wasShown = toSkip > 0 && first.createdAt === since.createdAt
      if (!(await isOwn(first)) && !wasShown) return first
      if (wasShown && !ownIds.has(first.orderId)) toSkip--
      foreign.shift()
    }
    return undefined
  }

  /** An order that the journal has comes at its place in the journal. */
  async function isOwn(order: BookOrder): Promise<boolean> {
    const { orderId } = order
    if (ownIds.has(orderId)) return true
    const isReported = (await orders.journaled({ orderId, limit: 1 })).length > 0
    if (isReported || (await orders.isPlacedHere(order)) || mayBeOwn(order, openJournaled)) ownIds.add(orderId)
    return ownIds.has(orderId)
  }

  return {
    async next() {
      const [own, other] = [await firstJournaled(), await firstForeign()]
      if (own && own.entry.createdAt >= (other?.createdAt ?? -Infinity)) {
        page.shift()
        journalKey = own.key
        const found = exchange.find(own)
        return orders.show(own, found, isCancelling({ ...orders.nameOf(own), ...(found && { orderId: found.orderId }) }))
      }
      if (!other) return undefined
      foreign.shift()
      shownCount = other.createdAt === createdAt ? shownCount + 1 : 1
      createdAt = other.createdAt
      return showForeign(other, isCancelling(other))
    },
    hasMore: async () => ((await firstJournaled()) ?? (await firstForeign())) !== undefined,
    position: () => ({ shownCount, ...(createdAt !== undefined && { createdAt }), ...(journalKey !== undefined && { journalKey }) }),
  }
}

/**
 * Unlisted orders that the exchange is asked for by name in one request. The journal stores their reports, so the next request asks for
 * others.
 */
const maxNames = 100

/** A wallet's orders on an exchange, and those that the journal does not know to have ended. */
interface ExchangeOrders {
  /** Newest first. */
  readonly listed: readonly BookOrder[]
  readonly openJournaled: readonly JournaledOrder[]
  find(order: JournaledOrder): BookOrder | undefined
}

/** All orders that an exchange lists, and by name those of the journal that it does not list. */
async function queryExchange(orders: WalletOrders, market: BookMarket | undefined): Promise<ExchangeOrders> {
  const ofMarket = market && { market }
  // The exchange is read before the journal: an order that the exchange has is in the journal by then.
  const listed = await orders.onExchange({ ...ofMarket })
  const openJournaled = await openJournaledOrders(orders, market, (found) => {
    const own = new Set(found.flatMap((each) => idsOf(orders.nameOf(each))))
    return listed.every((each) => keysOf(each).some((key) => own.has(key)))
  })
  const ordersOfEntry = new Map<string, number>()
  for (const { entry } of openJournaled) ordersOfEntry.set(entry.key, (ordersOfEntry.get(entry.key) ?? 0) + 1)
  const byKey = new Map<string, BookOrder>()
  const add = (order: BookOrder) => {
    for (const key of keysOf(order)) byKey.set(key, order)
  }
  const find = (order: JournaledOrder) => {
    const { key, attempts } = order.entry
    // If a transaction placed several orders, its hash does not tell which is which.
    const byTransaction = ordersOfEntry.get(key) === 1 ? attempts.map(({ id }) => transactionKey(id)) : []
    return [...idsOf(orders.nameOf(order)), ...byTransaction].flatMap((each) => byKey.get(each) ?? [])[0]
  }
  for (const each of listed) add(each)

  const unlisted = openJournaled.filter((each) => !find(each) && mayBeOnExchange(each) && !orders.hasEnded(each))
  const names = unlisted.slice(0, maxNames).map(orders.nameOf)
  if (names.length > 0) for (const each of await orders.onExchange({ ...ofMarket, names })) add(each)
  return { listed: listed.toSorted((a, b) => b.createdAt - a.createdAt || (a.orderId < b.orderId ? 1 : -1)), openJournaled, find }
}

const transactionKey = (txHash: string) => `transaction ${canonicalHash(txHash)}`

const keysOf = (order: BookOrder): readonly string[] => [
  ...idsOf(order),
  ...(order.txHash === undefined ? [] : [transactionKey(order.txHash)]),
]

/** How far the clock of an exchange may be behind this machine's. */
const maxClockSkewMs = 10_000

/**
 * Whether an order of the exchange may be one of the journal without a known id: some exchanges choose the ids, and list an order before
 * they respond or before the journal has read its block.
 */
const mayBeOwn = (order: BookOrder, openJournaled: readonly JournaledOrder[]): boolean =>
  openJournaled.some(({ entry, market, about }) => {
    const { side, price, amount } = readAboutOrder({ about })
    return (
      entry.landed === undefined &&
      !isFinal(entry) &&
      order.createdAt > entry.createdAt - maxClockSkewMs &&
      market === marketName(order.market) &&
      side === order.side &&
      normalize(order.price) === price &&
      normalize(order.amount) === amount
    )
  })
