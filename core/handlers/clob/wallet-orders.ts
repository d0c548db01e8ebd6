import { SluiceError, type BookSet } from '../../api/index.ts'
import type { At, BookMarket, BookOrder, OrderName } from '../../contracts/index.ts'
import { isFinal, type Entry, type TransactionState } from '../../transactions/entry.ts'
import { type JournaledOrder, type OrderFilter } from '../../transactions/book-orders.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import { readAboutCancels } from '../../verbs/clob/orders/about-order.ts'
import type { BookContext } from './submit-actions.ts'
import { hasEnded } from '../../verbs/clob/orders/order-state.ts'
import { showForeign, showJournaled, type ShownOrder } from './order-state.ts'
import { toldBy } from '../../verbs/clob/orders/told-by.ts'

/** What a chain's exchange says may still be undone for so long, where nothing tells of which block it is. */
const settledMs = 15 * 60_000
/** Of what is under way, at a time. */
const pageSize = 500

type Context = Pick<BookContext, 'network' | 'venue' | 'services' | 'signal'>

/** The orders of one wallet on one exchange: what the journal has of them, and what the exchange says. */
export function walletOrders(type: BookSet, owner: string, { network: site, venue, services: { transactions }, signal }: Context) {
  const book = bookOf(type, venue)
  const { chain, network } = site
  const { connector } = venue

  const outcomeOf = ({ entry: { landed, memo }, index }: JournaledOrder) =>
    landed?.ok === true ? toldBy(book, landed.receipt, memo)?.[index] : undefined

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
    const { entry, said } = order
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
      const orderId = order.said?.orderId ?? outcomeOf(order)?.orderId
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
