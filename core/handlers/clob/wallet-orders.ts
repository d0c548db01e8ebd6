import type { BookSet } from '../../api/index.ts'
import type { ActionOutcome, BookMarket, BookOrder, OrderName } from '../../contracts/index.ts'
import { isLess, multiply, subtract, toCommonScale } from '../../base/decimal.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import type { JournaledOrder, OrderFilter } from '../../transactions/book-orders.ts'
import type { OrderEnd } from '../../transactions/budgets.ts'
import { isFinal, type Entry, type TransactionState } from '../../transactions/entry.ts'
import type { ConnectorContext, Services } from '../context.ts'
import { readActionOutcomes } from '../fills.ts'
import { tradingOf } from '../../plugins/index.ts'
import { basePaths, marketName } from './markets.ts'
import { lacksFills } from '../../transactions/order-fills.ts'
import { hasEnded, readAboutCancels, showForeign, showJournaled, type ShownOrder } from './order-state.ts'

/** If the block of an exchange's statement is unknown, the chain may still reorganise it away for this time. */
const settlementMs = 15 * 60_000
/** Pending transactions that are read at a time. */
const pendingPageSize = 500

/** Open orders whose ids are read at a time, and how often of one wallet in a market. */
const idPageSize = 1_000
const maxIdPages = 10

type Context = Pick<ConnectorContext, 'network' | 'venue' | 'signal'> & {
  readonly services: Pick<Services, 'transactions' | 'registry'> & { readonly orderFills: Pick<Services['orderFills'], 'want'> }
}

export type WalletOrders = ReturnType<typeof walletOrders>

/** The orders of one wallet on one exchange, from the journal and from the exchange. */
export function walletOrders(type: BookSet, owner: string, { network: on, venue, services, signal }: Context) {
  const { chain, network, impl } = on
  const { transactions, registry } = services
  const book = tradingOf(type, venue)
  const { connector } = venue

  const outcomes = new WeakMap<JournaledOrder, ActionOutcome>()
  const outcomeOf = (order: JournaledOrder) => outcomes.get(order)

  /** Reads an order's outcome from its receipt. The report of an archived one is stored: its order had ended. */
  async function readOutcome(order: JournaledOrder): Promise<void> {
    const { landed, archived } = order.entry
    if (landed?.ok !== true || archived) return
    const outcome = (await readActionOutcomes(order.entry, type, { venue, network: on, registry }))?.[order.index]
    if (outcome) outcomes.set(order, outcome)
  }

  async function journaled(
    filter: Pick<OrderFilter, 'market' | 'clientOrderId' | 'orderId' | 'openOnly' | 'withoutId' | 'limit' | 'before'>,
  ): Promise<readonly JournaledOrder[]> {
    const found = await transactions.orders.list({ chain, network, connector, type, address: owner, ...filter })
    await Promise.all(found.map(readOutcome))
    return found
  }

  let head: ReturnType<typeof impl.head> | undefined
  /** By this machine's clock and by the chain's, which may have stood still. False if the chain's cannot be read now. */
  async function isSettled({ updatedAt }: BookOrder): Promise<boolean> {
    const isPast = (nowMs: number) => nowMs - updatedAt >= settlementMs
    if (!isPast(Date.now())) return false
    return (head ??= impl.head({ signal })).then(
      ({ timestamp }) => isPast(timestamp * 1000),
      () => false,
    )
  }

  /** Stores what can no longer change, so that the exchange need not be asked again. */
  async function storeReport(order: JournaledOrder, shown: ShownOrder, exchange: BookOrder | undefined): Promise<void> {
    const { entry, report } = order
    const { orderId, state, filledAmount, averagePrice, reason, updatedAt } = shown
    if (state === 'PENDING_OPEN' || state === 'PENDING_CANCEL') return
    if (report && report.state === state && report.orderId === orderId && report.filledAmount === filledAmount) return
    // What it holds of limits is not settled before its action is final: its end would be told too early.
    if (!isFinal(entry) && (entry.signer === undefined || hasEnded(state))) return
    if (entry.signer === undefined) {
      if (exchange !== undefined && hasEnded(state) && !(await isSettled(exchange))) return
    }
    const newReport = {
      state,
      filledAmount,
      updatedAt,
      ...(orderId !== undefined && { orderId }),
      ...(averagePrice !== undefined && { averagePrice }),
      ...(reason !== undefined && { reason }),
    }
    // If the store is unavailable, the exchange is asked again: the request may have sent something and must not fail for this.
    await transactions.orders.note(order, newReport, endOf(order, shown, outcomes.get(order), venue)).catch((error: unknown) => {
      if (!(error instanceof SluiceError)) throw error
    })
  }

  async function entriesIn(state: TransactionState): Promise<readonly Entry[]> {
    const filter = { chain, network, address: owner, state, limit: pendingPageSize }
    const found: Entry[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await transactions.list({ ...filter, ...(cursor !== undefined && { cursor }) })
      found.push(...page.entries)
      cursor = page.nextCursor
    }
    return found
  }

  return {
    /** From the journal, newest first. */
    journaled,
    /**
     * The exchange's ids of open orders in a market for which the journal has none yet, by their client order ids. Stores those that stay, so that what is younger
     * hides no order.
     */
    async newIds(market: string): Promise<ReadonlyMap<string, string>> {
      const [ids, stored] = [new Map<string, string>(), new Map<string, string>()]
      let before: string | undefined
      for (let page = 0; page < maxIdPages; page += 1) {
        const filter = { market, openOnly: true, withoutId: true, limit: idPageSize }
        const open = await journaled({ ...filter, ...(before !== undefined && { before }) })
        for (const order of open) {
          const { orderId } = outcomeOf(order) ?? {}
          if (orderId === undefined) continue
          ids.set(order.clientOrderId, orderId)
          // A block that goes back takes the id with it.
          if (isFinal(order.entry)) stored.set(order.clientOrderId, orderId)
        }
        before = open.at(-1)?.key
        if (open.length < idPageSize) break
      }
      await transactions.orders.noteIds({ chain, network, connector, address: owner, type, market }, stored)
      return ids
    },
    /**
     * Whether the wallet has used the id on this exchange, for any kind of book. An id is free again if its order was given up before it
     * was signed.
     */
    async isTaken(clientOrderId: string): Promise<boolean> {
      const [order] = await transactions.orders.list({ chain, network, connector, address: owner, clientOrderId, limit: 1 })
      return order !== undefined && (order.entry.attempts.length > 0 || !isFinal(order.entry))
    },
    /** Whether its transaction, or signed action, places no other order. */
    async isAlone({ entry: { key } }: JournaledOrder): Promise<boolean> {
      const found = await transactions.orders.list({ chain, network, connector, address: owner, before: `${key}-zzzz`, limit: 2 })
      return found.filter(({ entry }) => entry.key === key).length <= 1
    },
    /** Whether a transaction of this server placed the order. */
    isPlacedHere: async ({ txHash }: BookOrder): Promise<boolean> =>
      txHash !== undefined && (await transactions.find(chain, network, txHash)) !== undefined,
    /** Asks the exchange. */
    onExchange: (query: { market?: BookMarket; names?: readonly OrderName[] }) => book.orders(owner, query, { signal }),
    /** The ids of an order, as far as the journal has them. */
    nameOf(order: JournaledOrder): OrderName & { clientOrderId: string } {
      const orderId = order.report?.orderId ?? outcomeOf(order)?.orderId
      return { clientOrderId: order.clientOrderId, ...(orderId !== undefined && { orderId }) }
    },
    /** By the receipt or the stored report. */
    hasEnded: (order: JournaledOrder) => hasEnded(showJournaled(order, { outcome: outcomeOf(order), cancelling: false }).state),
    /** Shows the order, and stores what can no longer change. */
    async show(order: JournaledOrder, exchange: BookOrder | undefined, cancelling: boolean): Promise<ShownOrder> {
      const shown = showJournaled(order, { exchange, outcome: outcomeOf(order), cancelling })
      await storeReport(order, shown, exchange)
      if (lacksFills(shown.filledAmount, order.fills))
        services.orderFills.want(
          { chain, network, connector, address: owner, type, market: order.market },
          { clientOrderId: order.clientOrderId, filledAmount: shown.filledAmount },
        )
      return shown
    },
    /** Tells whether a pending cancel from this server names an order. */
    async cancelling(): Promise<(order: OrderName) => boolean> {
      const pending = await Promise.all((['QUEUED', 'SIGNED', 'BROADCAST'] as const).map(entriesIn))
      const ids = new Set<string>()
      for (const entry of pending.flat()) {
        const about = entry.connector === connector ? readAboutCancels(entry) : undefined
        if (about?.type === type) for (const name of about.cancels) for (const id of idsOf(name)) ids.add(id)
      }
      return (name) => idsOf(name).some((id) => ids.has(id))
    },
  }
}

/**
 * By the last word of an exchange of signed actions, whose connector is of this release. Those of a chain end by their transactions.
 * @param outcome what it answered to the order
 */
function endOf(
  { entry, market }: JournaledOrder,
  shown: ShownOrder,
  outcome: ActionOutcome | undefined,
  { builtIn }: Context['venue'],
): Omit<OrderEnd, 'entry' | 'index'> | undefined {
  const { state, amount, filledAmount } = shown
  if (!builtIn || entry.signer === undefined || !hasEnded(state)) return undefined
  const { aRaw: amountRaw, bRaw: filledRaw } = toCommonScale(amount, filledAmount)
  if (amountRaw === 0n) return undefined
  const leftRaw = amountRaw > filledRaw ? amountRaw - filledRaw : 0n
  const saved = outcome && savedBy(outcome, shown, market)
  return { unfilled: { numerator: leftRaw, denominator: amountRaw }, ...(saved && { saved }) }
}

/** Of what was filled at once: the answer has its amount and its price. The rest of the order waits at its own price. */
function savedBy(
  { filledAmount, averagePrice }: ActionOutcome,
  { side, price, amount }: ShownOrder,
  market: string,
): OrderEnd['saved'] | undefined {
  if (filledAmount === undefined || averagePrice === undefined) return undefined
  const better = side === 'BUY' ? subtract(price, averagePrice) : subtract(averagePrice, price)
  if (!isLess('0', better)) return undefined
  const saved = multiply(better, filledAmount)
  const { aRaw: numerator, bRaw: denominator } = toCommonScale(saved, multiply(price, amount))
  return {
    amount: saved,
    quote: market.slice(market.lastIndexOf('-') + 1),
    ...(side === 'BUY' && denominator > 0n && { ofOffer: { numerator, denominator } }),
  }
}

/** Prefixed, so that an orderId is never taken for a clientOrderId. */
export const idsOf = ({ orderId, clientOrderId }: OrderName): readonly string[] => [
  ...(orderId === undefined ? [] : [`orderId ${orderId}`]),
  ...(clientOrderId === undefined ? [] : [`clientOrderId ${clientOrderId}`]),
]

/** @throws SluiceError INCOMPLETE_PARAMS without any id */
export function readName(name: OrderName): OrderName {
  if (name.orderId === undefined && name.clientOrderId === undefined)
    throw badFields([{ field: 'orderId', problem: 'is required, or clientOrderId instead: one of them must name the order' }])
  return pickName(name)
}

export const pickName = ({ orderId, clientOrderId }: OrderName): OrderName => ({
  ...(orderId !== undefined && { orderId }),
  ...(clientOrderId !== undefined && { clientOrderId }),
})

export interface FoundOrder {
  shown: ShownOrder
  /** If this server placed it. */
  journaled?: JournaledOrder
}

/** A wallet's order by its name, in a market if one is given. Undefined if neither the journal nor the exchange has it. */
export async function findOrder(orders: WalletOrders, name: OrderName, market?: BookMarket): Promise<FoundOrder | undefined> {
  const [journaled] = await orders.journaled({ ...name, ...(market && { market: marketName(market) }), limit: 1 })
  const found = journaled ? await fromJournal(orders, journaled, market) : await fromExchange(orders, name, market)
  return found && isNamed(found.shown, name) ? found : undefined
}

/** By the journal alone, where the exchange cannot be asked now. */
export async function findInJournal(orders: WalletOrders, name: OrderName, market: BookMarket): Promise<FoundOrder | undefined> {
  const [journaled] = await orders.journaled({ ...name, market: marketName(market), limit: 1 })
  const found = journaled && { journaled, shown: await orders.show(journaled, undefined, false) }
  return found && isNamed(found.shown, name) ? found : undefined
}

async function fromJournal(orders: WalletOrders, journaled: JournaledOrder, market: BookMarket | undefined): Promise<FoundOrder> {
  const name = orders.nameOf(journaled)
  const exchange = mayBeOnExchange(journaled) && !orders.hasEnded(journaled) ? await queryOrder(orders, name, market) : undefined
  const isCancelling = await orders.cancelling()
  const fullName = { ...name, ...(exchange && { orderId: exchange.orderId }) }
  return { journaled, shown: await orders.show(journaled, exchange, isCancelling(fullName)) }
}

async function fromExchange(orders: WalletOrders, name: OrderName, market: BookMarket | undefined): Promise<FoundOrder | undefined> {
  const exchange = await queryOrder(orders, name, market)
  if (!exchange) return undefined
  const isCancelling = await orders.cancelling()
  const journaled = await journaledAs(orders, exchange)
  if (!journaled) return { shown: showForeign(exchange, isCancelling(exchange)) }
  const fullName = { ...orders.nameOf(journaled), orderId: exchange.orderId }
  return { journaled, shown: await orders.show(journaled, exchange, isCancelling(fullName)) }
}

/** An exchange has no order before its transaction is mined. It may have one whose signed action nobody knows the result of. */
export const mayBeOnExchange = ({ entry }: JournaledOrder) => entry.landed !== undefined || (entry.signer !== undefined && !isFinal(entry))

async function queryOrder(orders: WalletOrders, name: OrderName, market: BookMarket | undefined): Promise<BookOrder | undefined> {
  const found = await orders.onExchange({ ...(market && { market }), names: [name] })
  return found.find(
    (each) => (market === undefined || each.market.id === market.id) && (name.orderId === undefined || each.orderId === name.orderId),
  )
}

/** The journal learns the exchange's id of an order with its first report. Orders without a report are searched one by one. */
async function journaledAs(orders: WalletOrders, { orderId, txHash }: BookOrder): Promise<JournaledOrder | undefined> {
  const [reported] = await orders.journaled({ orderId, limit: 1 })
  if (reported) return reported
  const hasId = (each: JournaledOrder) => orders.nameOf(each).orderId === orderId
  const open = await openJournaledOrders(orders, undefined, (found) => found.some(hasId))
  const ofTransaction = open.filter(({ entry }) => entry.attempts.some(({ id }) => id === txHash))
  return open.find(hasId) ?? (ofTransaction.length === 1 ? ofTransaction[0] : undefined)
}

/** Stores how orders have ended: by what the exchange says now, and of those that it refused or filled at once by its answer. */
export async function storeEnds(
  orders: WalletOrders,
  { asked: names, answered }: { asked: readonly OrderName[]; answered: readonly string[] },
): Promise<void> {
  for (const clientOrderId of answered)
    for (const order of await orders.journaled({ clientOrderId, limit: 1 })) await orders.show(order, undefined, false)
  if (names.length === 0) return
  for (const exchange of await orders.onExchange({ names })) {
    const { clientOrderId } = exchange
    const [named] = clientOrderId === undefined ? [] : await orders.journaled({ clientOrderId, limit: 1 })
    const order = named ?? (await journaledAs(orders, exchange))
    if (order) await orders.show(order, exchange, false)
  }
}

/** If a name has both ids, both must be of this order. */
const isNamed = (shown: ShownOrder, { orderId, clientOrderId }: OrderName) =>
  (orderId === undefined || shown.orderId === orderId) && (clientOrderId === undefined || shown.clientOrderId === clientOrderId)

export function unknownOrder(type: BookSet, { orderId, clientOrderId }: OrderName, owner: string): SluiceError {
  const name = orderId === undefined ? `clientOrderId ${clientOrderId}` : `orderId ${orderId}`
  return new SluiceError('UNKNOWN_ORDER', `${owner} has no order with the ${name} there; GET ${basePaths[type]}/orders lists its orders.`)
}

/** Open orders that are read at a time, and how often at most: the callers search them in memory. */
const openPageSize = 1_000
const maxPages = 5

/**
 * A wallet's journaled orders that are not known to have ended, newest first. Almost always one page.
 * @param isEnough whether older orders are not needed
 */
export async function openJournaledOrders(
  orders: Pick<WalletOrders, 'journaled'>,
  market: BookMarket | undefined,
  isEnough: (found: readonly JournaledOrder[]) => boolean,
): Promise<readonly JournaledOrder[]> {
  const found: JournaledOrder[] = []
  for (let pages = 0; pages < maxPages; pages += 1) {
    const before = found.at(-1)?.key
    const filter = { ...(market && { market: marketName(market) }), ...(before !== undefined && { before }) }
    const page = await orders.journaled({ ...filter, openOnly: true, limit: openPageSize })
    found.push(...page)
    if (page.length < openPageSize || isEnough(found)) break
  }
  return found
}
