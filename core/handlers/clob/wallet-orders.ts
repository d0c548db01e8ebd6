import { SluiceError, type BookSet, badFields } from '../../api/index.ts'
import type { At, BookMarket, BookOrder, OrderName } from '../../contracts/index.ts'
import type { JournaledOrder, OrderFilter } from '../../transactions/book-orders.ts'
import { isFinal, type Entry, type TransactionState } from '../../transactions/entry.ts'
import { mayBeOnExchange } from './list-orders.ts'
import { bookOf, basePaths, marketName } from './markets.ts'
import { readAboutCancels, hasEnded, showForeign, showJournaled, type ShownOrder } from './order-state.ts'
import { type ConnectorContext, readOutcomes } from './submit-actions.ts'

/** What a chain's exchange says may still be undone for so long, where nothing tells of which block it is. */
const settledMs = 15 * 60_000
/** Of what is under way, at a time. */
const pageSize = 500

type Context = Pick<ConnectorContext, 'network' | 'venue' | 'services' | 'signal'>

/** The orders of one wallet on one exchange: what the journal has of them, and what the exchange says. */
export function walletOrders(type: BookSet, owner: string, { network: site, venue, services: { transactions }, signal }: Context) {
  const book = bookOf(type, venue)
  const { chain, network } = site
  const { connector } = venue

  const outcomeOf = ({ entry: { landed, memo }, index }: JournaledOrder) =>
    landed?.ok === true ? readOutcomes(book, landed.receipt, memo)?.[index] : undefined

  let head: ReturnType<typeof site.impl.head> | undefined
  /** By this machine's clock, and by the chain's, which may have stood still; where that cannot be asked now, another time. */
  async function isSettled({ updatedAt }: BookOrder): Promise<boolean> {
    const isPast = (nowMs: number) => nowMs - updatedAt >= settledMs
    if (!isPast(Date.now())) return false
    return (head ??= site.impl.head({ signal })).then(
      ({ timestamp }) => isPast(timestamp * 1000),
      () => false,
    )
  }

  /** Keeps what cannot be undone any more, so that the exchange needs not be asked again. */
  async function note(order: JournaledOrder, shown: ShownOrder, exchange: BookOrder | undefined): Promise<void> {
    const { entry, report: said } = order
    const { orderId, state, filledAmount, averagePrice, reason, updatedAt } = shown
    if (state === 'PENDING_OPEN' || state === 'PENDING_CANCEL') return
    if (said && said.state === state && said.orderId === orderId && said.filledAmount === filledAmount) return
    if (entry.signer === undefined) {
      if (!isFinal(entry)) return
      if (exchange !== undefined && hasEnded(state) && !(await isSettled(exchange))) return
    }
    const now = {
      state,
      filledAmount,
      updatedAt,
      ...(orderId !== undefined && { orderId }),
      ...(averagePrice !== undefined && { averagePrice }),
      ...(reason !== undefined && { reason }),
    }
    // What a store does not take that is away is asked for again, and is no error of a request that may have sent something.
    await transactions.orders.note(order, now).catch(unlessAway)
  }

  async function allOf(state: TransactionState): Promise<readonly Entry[]> {
    const found: Entry[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await transactions.list({
        chain,
        network,
        address: owner,
        state,
        limit: pageSize,
        ...(cursor !== undefined && { cursor }),
      })
      found.push(...page.entries)
      cursor = page.nextCursor
    }
    return found
  }

  return {
    /** In the journal, newest first. */
    journaled: (filter: Pick<OrderFilter, 'market' | 'clientOrderId' | 'orderId' | 'openOnly' | 'limit' | 'before'>) =>
      transactions.orders.list({ chain, network, connector, type, address: owner, ...filter }),
    /** Whether the wallet has used the id there, for whichever kind of book: one that was given up before it was signed is free. */
    async isTaken(clientOrderId: string): Promise<boolean> {
      const [used] = await transactions.orders.list({ chain, network, connector, address: owner, clientOrderId, limit: 1 })
      return used !== undefined && (used.entry.attempts.length > 0 || !isFinal(used.entry))
    },
    /** Whether a transaction of this server's placed it. */
    madeHere: async ({ txHash }: BookOrder): Promise<boolean> =>
      txHash !== undefined && (await transactions.find(chain, network, txHash)) !== undefined,
    /** Asks the exchange. */
    onExchange: (query: { market?: BookMarket; names?: readonly OrderName[] }, at: At) => book.orders(owner, query, at),
    /** By what an order is known, as far as the journal has it. */
    nameOf(order: JournaledOrder): OrderName & { clientOrderId: string } {
      const orderId = order.report?.orderId ?? outcomeOf(order)?.orderId
      return { clientOrderId: order.clientOrderId, ...(orderId !== undefined && { orderId }) }
    },
    /** By its receipt, or by what was kept of it. */
    hasEnded: (order: JournaledOrder) => hasEnded(showJournaled(order, { outcome: outcomeOf(order), cancelling: false }).state),
    /** As it is now, and kept so where nothing can change that. */
    async show(order: JournaledOrder, exchange: BookOrder | undefined, cancelling: boolean): Promise<ShownOrder> {
      const shown = showJournaled(order, { exchange, outcome: outcomeOf(order), cancelling })
      await note(order, shown, exchange)
      return shown
    },
    showForeign,
    /** Which orders cancels of ours that are under way name. */
    async cancelling(): Promise<(order: OrderName) => boolean> {
      const under = await Promise.all((['QUEUED', 'SIGNED', 'BROADCAST'] as const).map(allOf))
      const ids = new Set<string>()
      for (const entry of under.flat()) {
        const about = entry.connector === connector ? readAboutCancels(entry) : undefined
        if (about?.type !== type) continue
        for (const { orderId, clientOrderId } of about.cancels)
          for (const id of [idOf({ orderId }), idOf({ clientOrderId })]) if (id !== undefined) ids.add(id)
      }
      return ({ orderId, clientOrderId }) => ids.has(idOf({ orderId }) ?? '') || ids.has(idOf({ clientOrderId }) ?? '')
    },
  }
}

function unlessAway(error: unknown): void {
  if (!(error instanceof SluiceError)) throw error
}

export type WalletOrders = ReturnType<typeof walletOrders>

/** No orderId is taken for a clientOrderId. */
const idOf = ({ orderId, clientOrderId }: OrderName): string | undefined =>
  orderId !== undefined ? `orderId ${orderId}` : clientOrderId !== undefined ? `clientOrderId ${clientOrderId}` : undefined

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
  const [journaled] = await orders.journaled({ ...name, ...(market && { market: marketName(market) }), limit: 1 })
  const found = journaled ? await ofJournal(orders, journaled, market, at) : await ofExchange(orders, name, market, at)
  return found && isNamed(found.shown, name) ? found : undefined
}

async function ofJournal(orders: WalletOrders, journaled: JournaledOrder, market: BookMarket | undefined, at: At): Promise<FoundOrder> {
  const name = orders.nameOf(journaled)
  const exchange = mayBeOnExchange(journaled) && !orders.hasEnded(journaled) ? await asked(orders, name, market, at) : undefined
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
  const unnoted = await openJournaledOrders(orders, undefined, (found) => found.some(isIt))
  const placed = unnoted.filter(({ entry }) => entry.attempts.some(({ id }) => id === txHash))
  return unnoted.find(isIt) ?? (placed.length === 1 ? placed[0] : undefined)
}

/** Both ids, where both are given, must be of one order. */
const isNamed = (shown: ShownOrder, { orderId, clientOrderId }: OrderName) =>
  (orderId === undefined || shown.orderId === orderId) && (clientOrderId === undefined || shown.clientOrderId === clientOrderId)

export function unknownOrder(type: BookSet, { orderId, clientOrderId }: OrderName, owner: string): SluiceError {
  const name = orderId === undefined ? `clientOrderId ${clientOrderId}` : `orderId ${orderId}`
  return new SluiceError('UNKNOWN_ORDER', `${owner} has no order with the ${name} there; GET ${basePaths[type]}/orders lists what it has.`)
}

/** So many are read at a time, and so often at most: they are looked through in memory. */
const [pageSizeOfUnnoted, mostPages] = [1_000, 5]

/**
 * A wallet's orders that are not known to have ended, newest first. Almost always that is one page.
 * @param isEnough whether those further back are not wanted
 */
export async function openJournaledOrders(
  orders: Pick<WalletOrders, 'journaled'>,
  market: BookMarket | undefined,
  isEnough: (found: readonly JournaledOrder[]) => boolean,
): Promise<readonly JournaledOrder[]> {
  const found: JournaledOrder[] = []
  for (let pages = 0; pages < mostPages; pages += 1) {
    const before = found.at(-1)?.key
    const where = { ...(market && { market: marketName(market) }), ...(before !== undefined && { before }) }
    const page = await orders.journaled({ ...where, openOnly: true, limit: pageSizeOfUnnoted })
    found.push(...page)
    if (page.length < pageSizeOfUnnoted || isEnough(found)) break
  }
  return found
}
