import { badFields, SluiceError } from 'sluice/plugin'
import type { ActionOutcome, ActionPlan, At, BookAction, BookMarket, Json, NewOrder, VenuePlan } from 'sluice/plugin'
import { activeAsset, readPerpState, readSpotState } from './accounts.ts'
import type { L1Action, Step, Trace, WireOrder } from './actions.ts'
import type { QueryInfo } from './api.ts'
import { compare, divide, subtract, normalize, add, multiply } from 'sluice/decimal'
import type { Listing, MarketEntry } from './markets.ts'
import { cloidOf, oidOf, type OrderOwner } from './orders.ts'
import { errorOf, isReceipt, type ActionStatus } from './send.ts'
import { array, decimal, is, literal, object, text, union, type Infer } from './shape.ts'

/** With more orders an action counts more against the rate limit. */
const maxPerPlan = 39

interface PlanContext {
  readonly owner: OrderOwner
  /** The agent that signs, where the wallet has one. */
  readonly signer?: string
  readonly listing: Listing
  /** Milliseconds since the Unix epoch. */
  readonly expiresAfter: number
}

/** Orders are always signed actions of the exchange, never transactions of its chain. */
export type VenueActions = Pick<ActionPlan, 'covers'> & { readonly plan: VenuePlan }

type Create = Extract<BookAction, { do: 'create' }>
type Cancel = Extract<BookAction, { do: 'cancel' }>

/** An action with its index in the caller's list. */
interface IndexedAction<T> {
  readonly index: number
  readonly action: T
}

/** As few plans as possible: one for the orders, one for cancels by order id, one for cancels by client order id; each in parts of 39. */
export function planActions(actions: readonly BookAction[], context: PlanContext): readonly VenueActions[] {
  const creates: IndexedAction<Create>[] = []
  const cancelsById: IndexedAction<Cancel>[] = []
  const cancelsByCloid: IndexedAction<Cancel>[] = []
  for (const [index, action] of actions.entries()) {
    if (action.do === 'create') creates.push({ index, action })
    else (action.order.orderId === undefined ? cancelsByCloid : cancelsById).push({ index, action })
  }
  const plans = <A extends BookAction>(
    some: readonly IndexedAction<A>[],
    contentOf: (part: readonly A[]) => { action: L1Action; trace: Trace; memo: Memo['actions'] },
  ) =>
    parts(some).flatMap((part): VenueActions[] => {
      const [first, ...others] = part.map(({ index }) => index)
      if (first === undefined) return []
      const { memo, ...content } = contentOf(part.map(({ action }) => action))
      return [{ covers: [first, ...others], plan: venuePlan(content, context, { actions: memo }) }]
    })
  return [
    ...plans(cancelsById, (part) => cancelById(part, context)),
    ...plans(cancelsByCloid, (part) => cancelByCloid(part, context)),
    ...plans(creates, (part) => createOrders(part, context)),
  ]
}

const parts = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / maxPerPlan) }, (_, index) => all.slice(index * maxPerPlan, (index + 1) * maxPerPlan))

function createOrders(creates: readonly Create[], context: PlanContext) {
  const orders = creates.map((create) => wireOrder(create, context))
  return {
    action: { type: 'order', orders, grouping: 'na' } as const,
    trace: { of: 'orders', cloids: orders.map(({ c }) => c) } as const,
    memo: creates.map(({ order: { amount, timeInForce } }) => ({ do: 'create' as const, amount, timeInForce })),
  }
}

function cancelById(some: readonly Cancel[], { listing }: PlanContext) {
  const cancels = some.map(({ market, order }) => ({ a: marketEntryOf(market.id, listing).asset, o: requireOid(order.orderId) }))
  return { action: { type: 'cancel', cancels } as const, ...cancelled(cancels.map(({ o }) => o)) }
}

function cancelByCloid(some: readonly Cancel[], { owner, listing }: PlanContext) {
  const cancels = some.map(({ market, order }) => ({
    asset: marketEntryOf(market.id, listing).asset,
    cloid: cloidOf(owner, order.clientOrderId ?? ''),
  }))
  return { action: { type: 'cancelByCloid', cancels } as const, ...cancelled(cancels.map(({ cloid }) => cloid)) }
}

const cancelled = (orders: readonly (string | number)[]) => ({
  trace: { of: 'cancels', orders } as const,
  memo: orders.map(() => ({ do: 'cancel' as const })),
})

/** A plan of one action, which the exchange refuses after `expiresAfter`. */
export function venuePlan(
  { action, trace }: { action: L1Action; trace: Trace },
  { owner, signer, expiresAfter }: Omit<PlanContext, 'listing'>,
  memo: Json,
): VenuePlan {
  const step: Step = { user: owner.user, action, trace, expiresAfter }
  return { via: 'venue', ...(signer !== undefined && { signer }), steps: [step], deadline: Math.floor(expiresAfter / 1000), memo }
}

function wireOrder({ market, order }: Create, { owner, listing }: PlanContext): WireOrder {
  return {
    a: marketEntryOf(market.id, listing).asset,
    b: order.side === 'BUY',
    p: normalize(order.price),
    s: normalize(order.amount),
    r: order.reduceOnly ?? false,
    t: { limit: { tif: tifOf(order) } },
    c: cloidOf(owner, order.clientOrderId),
  }
}

function tifOf({ orderType, timeInForce }: NewOrder): 'Gtc' | 'Ioc' | 'Alo' {
  if (orderType === 'LIMIT_MAKER') return 'Alo'
  return timeInForce === 'GTC' ? 'Gtc' : 'Ioc'
}

/** @throws SluiceError UNKNOWN_ORDER where the exchange does not list the market any more */
function marketEntryOf(id: string, { byId }: Listing): MarketEntry {
  const entry = byId.get(id)
  if (entry) return entry
  throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid does not list the market ${id} any more.`)
}

function requireOid(orderId = ''): number {
  const oid = oidOf(orderId)
  if (oid !== undefined) return oid
  throw new SluiceError('UNKNOWN_ORDER', `There is no order ${orderId} at Hyperliquid: its order ids are whole numbers.`)
}

/**
 * Sets the leverage of a wallet in a market. Without `marginMode` the mode of margin stays as it is.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export async function leverageAction(
  { id }: BookMarket,
  leverage: string,
  marginMode: 'cross' | 'isolated' | undefined,
  { queryInfo, user, markets }: { queryInfo: QueryInfo; user: string; markets: (at: At) => Promise<Listing> },
  at: At,
): Promise<{ action: L1Action; trace: Trace }> {
  if (!/^[1-9]\d{0,3}$/.test(leverage))
    throw badFields([{ field: 'leverage', problem: 'must be a whole number of 1 or more at Hyperliquid' }])
  const [listing, current] = await Promise.all([markets(at), queryInfo({ type: 'activeAssetData', user, coin: id }, activeAsset, at)])
  const { asset, onlyIsolated } = marketEntryOf(id, listing)
  if (onlyIsolated && marginMode === 'cross') throw badFields([{ field: 'marginMode', problem: `${id} supports isolated margin only` }])
  const isCross = marginMode === undefined ? !onlyIsolated && current.leverage.type === 'cross' : marginMode === 'cross'
  const value = Number(leverage)
  return {
    action: { type: 'updateLeverage', asset, isCross, leverage: value },
    trace: { of: 'leverage', coin: id, isCross, leverage: value },
  }
}

/**
 * Checks that the leverage of the orders is that of the wallet in their markets. The exchange keeps it by market, an order has none.
 * @throws SluiceError TRADE_FAILED
 */
export async function requireLeverage(queryInfo: QueryInfo, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const expected = new Map(
    createsIn(actions).flatMap(({ market, order }) => (order.leverage === undefined ? [] : [[market.id, order.leverage] as const])),
  )
  await Promise.all(
    [...expected].map(async ([coin, leverage]) => {
      const { leverage: current } = await queryInfo({ type: 'activeAssetData', user, coin }, activeAsset, at)
      if (String(current.value) === leverage) return
      throw new SluiceError(
        'TRADE_FAILED',
        `The leverage of ${coin} is ${current.value} for this wallet, but the order says ${leverage}: set it by POST /clob/perp/leverage first, or leave leverage out.`,
        { details: { reason: 'leverage', leverage: String(current.value) } },
      )
    }),
  )
}

const createsIn = (actions: readonly BookAction[]): readonly Create[] =>
  actions.flatMap((action) => (action.do === 'create' ? [action] : []))

/**
 * Checks that the wallet can pay for the orders, each at the worst price that it allows, since the exchange may fill it there.
 * @throws SluiceError INSUFFICIENT_BALANCE
 */
export async function requireSpotFunds(queryInfo: QueryInfo, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const neededByToken = new Map<string, string>()
  const atLimitPrice = new Set<string>()
  for (const { market, order } of createsIn(actions)) {
    const [token, amount] = order.side === 'BUY' ? [market.quote, multiply(order.price, order.amount)] : [market.base, order.amount]
    neededByToken.set(token, add(neededByToken.get(token) ?? '0', amount))
    if (order.orderType === 'MARKET' && order.side === 'BUY') atLimitPrice.add(token)
  }
  if (neededByToken.size === 0) return
  const { balances } = await readSpotState(queryInfo, user, at)
  for (const [token, needed] of neededByToken) {
    const { total = '0', hold = '0' } = balances.find(({ coin }) => coin === token) ?? {}
    requireBalance(token, subtract(total, hold), needed, atLimitPrice.has(token) ? ', for a MARKET order at its limitPrice' : '')
  }
}

/** @throws SluiceError INSUFFICIENT_BALANCE */
export function requireBalance(token: string, current: string, needed: string, why = ''): void {
  if (compare(needed, current) <= 0) return
  throw new SluiceError('INSUFFICIENT_BALANCE', `The wallet has ${current} ${token} free at Hyperliquid, but needs ${needed}${why}.`, {
    details: { token, current, needed },
  })
}

/**
 * Checks that there is enough margin. One cheap query decides for most orders: those that the free margin covers at the market's highest
 * leverage. For each of the others the exchange is asked how much is available on that side of its market.
 * @throws SluiceError INSUFFICIENT_MARGIN
 */
export async function requireMargin(queryInfo: QueryInfo, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const orders = createsIn(actions).filter(({ order }) => order.reduceOnly !== true)
  if (orders.length === 0) return
  const { marginSummary, withdrawable } = await readPerpState(queryInfo, user, at)
  const unused = subtract(marginSummary.accountValue, marginSummary.totalMarginUsed)
  const free = compare(unused, withdrawable) > 0 ? unused : withdrawable
  const uncovered = orders.filter(({ market, order }) => compare(marginAt(market.maxLeverage ?? '1', order), free) > 0)
  await Promise.all(uncovered.map(({ market, order }) => requireSideMargin(queryInfo, user, market, order, at)))
}

async function requireSideMargin(queryInfo: QueryInfo, user: string, { id }: BookMarket, order: NewOrder, at: At): Promise<void> {
  const { leverage, availableToTrade } = await queryInfo({ type: 'activeAssetData', user, coin: id }, activeAsset, at)
  const [toBuy, toSell] = availableToTrade
  const free = order.side === 'BUY' ? toBuy : toSell
  const needed = marginAt(String(leverage.value), order)
  if (compare(needed, free) <= 0) return
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `The order needs ${needed} of margin at a leverage of ${leverage.value}, but only ${free} is free.`,
    { details: { free, needed } },
  )
}

const marginScale = 12
const marginAt = (leverage: string, { price, amount }: NewOrder): string => divide(multiply(price, amount), leverage, marginScale, 'up')

const memoAction = union(object({ do: literal('create'), amount: decimal, timeInForce: text }), object({ do: literal('cancel') }))
type MemoAction = Infer<typeof memoAction>
const memoShape = object({ actions: array(memoAction) })
/** What the journal keeps of a plan's actions, to derive the outcome of each from the receipt. */
type Memo = Infer<typeof memoShape>

/** The outcome of each action of a plan. @throws where receipt or memo are not of a plan of this plugin */
export function outcomeOf(receipt: Json, memo: Json): readonly ActionOutcome[] {
  if (!isReceipt(receipt) || !is(memoShape, memo)) throw new Error("The journal's entry is not an action of Hyperliquid.")
  const { statuses } = receipt
  const [only] = statuses
  // Some refusals are one status for all orders.
  const common = statuses.length === 1 && only !== undefined && errorOf(only) !== undefined ? only : undefined
  return memo.actions.map((action, index) => {
    const status = common ?? (statuses.length === memo.actions.length ? statuses[index] : undefined)
    // Outcomes and actions cannot be matched when their numbers differ. The orders are then queried one by one.
    if (status === undefined) throw new Error('Hyperliquid returned a different number of statuses than it was given orders.')
    return outcome(action, status)
  })
}

function outcome(action: MemoAction, status: ActionStatus): ActionOutcome {
  const reason = errorOf(status)
  if (reason !== undefined) return { state: 'REJECTED', reason }
  if (typeof status === 'object' && 'found' in status) {
    const { oid, ...progress } = status.found
    return { orderId: String(oid), ...progress }
  }
  if (action.do === 'cancel') return { state: 'CANCELED' }
  if (typeof status === 'object' && 'filled' in status) {
    const { oid, totalSz, avgPx } = status.filled
    // Only a GTC order leaves its rest in the book.
    const partly = action.timeInForce === 'GTC' ? 'PARTIALLY_FILLED' : 'CANCELED'
    const state = compare(totalSz, action.amount) < 0 ? partly : 'FILLED'
    return { orderId: String(oid), state, filledAmount: normalize(totalSz), averagePrice: normalize(avgPx) }
  }
  return typeof status === 'object' && 'resting' in status ? { orderId: String(status.resting.oid), state: 'OPEN' } : { state: 'OPEN' }
}
