import type { BookSet } from '../../api/index.ts'
import type { At, BookMarket, BookOrder } from '../../contracts/index.ts'
import { normalize } from '../../decimal.ts'
import type { JournaledOrder } from '../../transactions/book-orders.ts'
import { canonicalHash, isFinal } from '../../transactions/entry.ts'
import { readLimit, badCursor } from '../pages.ts'
import { readAddress } from '../wallets.ts'
import { bookOf, type BookHandlerFor, marketsOf, marketName } from './markets.ts'
import { type ShownOrder, readAboutOrder } from './order-state.ts'
import type { ConnectorContext } from './submit-actions.ts'
import { findOrder, unknownOrder, walletOrders, type WalletOrders, openJournaledOrders } from './wallet-orders.ts'

/** So many more than a page are looked at for those of one state: whoever wants more of them comes again. */
const lookedAtPerPage = 10

/** A wallet's orders: what this server placed, and what the exchange knows besides. */
export const clobListOrders: BookHandlerFor<'Orders'> = (type) => async (request, context) => {
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

  const merged = await mergeOrders(walletOrders(type, owner, context), market, since, limit, at)
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
  context: ConnectorContext,
): Promise<readonly ShownOrder[]> {
  const name = { ...(orderId !== undefined && { orderId }), ...(clientOrderId !== undefined && { clientOrderId }) }
  const found = await findOrder(walletOrders(type, owner, context), name, market, { signal: context.signal })
  if (!found) throw unknownOrder(type, name, owner)
  return [found.shown]
}

/** Orders one by one, newest first: each once, where both the journal and the exchange have it. */
interface MergedOrders {
  next(): Promise<ShownOrder | undefined>
  hasMore(): Promise<boolean>
  position(): OrdersPosition
}

/** @param since how far they were told before */
export async function mergeOrders(
  orders: WalletOrders,
  market: BookMarket | undefined,
  since: OrdersPosition,
  pageSize: number,
  at: At,
): Promise<MergedOrders> {
  const ofMarket = market && { market: marketName(market) }
  const [exchange, cancels] = await Promise.all([exchangeOrders(orders, market, at), orders.cancelling()])
  const { openJournaled: unnoted } = exchange
  const ours = new Set(unnoted.flatMap((each) => exchange.of(each)?.orderId ?? orders.nameOf(each).orderId ?? []))
  const foreign = exchange.listed.filter(({ createdAt }) => createdAt <= (since.createdAt ?? Infinity))
  let { journalKey, createdAt, shownCount: told } = since
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
    if (noted || (await orders.madeHere(order)) || mayBeOurs(order, unnoted)) ours.add(orderId)
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
    position: () => ({ shownCount: told, ...(createdAt !== undefined && { createdAt }), ...(journalKey !== undefined && { journalKey }) }),
  }
}

/** The exchange is asked by name for no more than so many that it does not list: they are noted then, and others come the next time. */
const mostNamed = 100
/** So far may the clock of an exchange be behind ours. */
const clocksMs = 10_000

/** What an exchange says of a wallet's orders, beside what the journal does not know to have ended. */
interface ExchangeOrders {
  /** Newest first. */
  readonly listed: readonly BookOrder[]
  readonly openJournaled: readonly JournaledOrder[]
  of(order: JournaledOrder): BookOrder | undefined
}

/** All that an exchange lists, and what it says by name of those that it does not list. */
async function exchangeOrders(orders: WalletOrders, market: BookMarket | undefined, at: At): Promise<ExchangeOrders> {
  const where = market && { market }
  // The journal is read after the exchange: what is there is in the journal before.
  const listed = await orders.onExchange({ ...where }, at)
  const unnoted = await openJournaledOrders(orders, market, (found) => {
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

  const names = unnoted.flatMap((each) => (of(each) || !mayBeOnExchange(each) || orders.hasEnded(each) ? [] : [orders.nameOf(each)]))
  if (names.length > 0) for (const each of await orders.onExchange({ ...where, names: names.slice(0, mostNamed) }, at)) learn(each)
  return { listed: listed.toSorted((a, b) => b.createdAt - a.createdAt || (a.orderId < b.orderId ? 1 : -1)), openJournaled: unnoted, of }
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
export const mayBeOnExchange = ({ entry }: JournaledOrder) => entry.landed !== undefined || (entry.signer !== undefined && !isFinal(entry))

/**
 * Whether it may be one of ours that nobody has heard of yet: such an exchange names orders as it likes, and tells of them before it has
 * answered, or before the journal has read its block.
 */
const mayBeOurs = (order: BookOrder, unnoted: readonly JournaledOrder[]): boolean =>
  unnoted.some((each) => {
    const { side, price, amount } = readAboutOrder(each)
    const { landed, createdAt } = each.entry
    const isUnheard = landed === undefined && !isFinal(each.entry) && order.createdAt > createdAt - clocksMs
    const isLike =
      each.market === marketName(order.market) &&
      side === order.side &&
      normalize(order.price) === price &&
      normalize(order.amount) === amount
    return isUnheard && isLike
  })

/** How far a list of orders was told: of the journal's up to a key, of the exchange's up to a time, several of whose orders may be told already. */
interface OrdersPosition {
  journalKey?: string
  createdAt?: number
  /** So many of that very time. */
  shownCount: number
}

const pattern = /^(\d{1,15})?-(\d{1,6})-([0-9a-z-]{0,128})$/

/** @throws SluiceError INCOMPLETE_PARAMS */
function readOrdersCursor(cursor: string | undefined): OrdersPosition {
  if (cursor === undefined) return { shownCount: 0 }
  const [, createdAt, told, journalKey] = pattern.exec(cursor) ?? []
  if (told === undefined) throw badCursor()
  return {
    shownCount: Number(told),
    ...(createdAt !== undefined && { createdAt: Number(createdAt) }),
    ...(journalKey !== undefined && journalKey !== '' && { journalKey }),
  }
}

const writeOrdersCursor = ({ journalKey = '', createdAt, shownCount: told }: OrdersPosition): string =>
  `${createdAt ?? ''}-${told}-${journalKey}`
