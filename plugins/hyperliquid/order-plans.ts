import {
  SluiceError,
  type ActionPlan,
  type BookAction,
  type Json,
  type NewOrder,
  type VenuePlan,
  type At,
  type BookMarket,
  type ActionOutcome,
} from 'sluice/plugin'
import { activeAsset, readPerpState, readSpotState } from './accounts.ts'
import type { L1Action, Step, WireOrder, Trace } from './actions.ts'
import type { QueryInfo } from './api.ts'
import { normalize, compare, divide, subtract, add, multiply } from 'sluice/decimal'
import type { MarketEntry, Listing } from './markets.ts'
import { cloidOf, type OrderOwner, oidOf } from './orders.ts'
import { errorOf, isReceipt, type ActionStatus } from './send.ts'
import { decimal, union, is, array, object, text, literal, type Infer } from './shape.ts'

/** An action with more orders weighs more. */
const mostPerPlan = 39

interface PlanContext {
  readonly owner: OrderOwner
  /** The agent that signs, where the wallet has one. */
  readonly signer?: string
  readonly listing: Listing
  /** Milliseconds since the Unix epoch. */
  readonly expiresAfter: number
}

/** Orders of the exchange never go by its chain. */
export type VenueActions = Pick<ActionPlan, 'covers'> & { readonly plan: VenuePlan }

/** An action with its place in the list. */
interface IndexedAction<T> {
  readonly at: number
  readonly action: T
}

type Create = Extract<BookAction, { do: 'create' }>
type Cancel = Extract<BookAction, { do: 'cancel' }>

/** As few plans as can be: orders together, cancels by their kind of name. */
export function planActions(actions: readonly BookAction[], acting: PlanContext): readonly VenueActions[] {
  const placed = actions.map((action, at) => ({ at, action }))
  const creates = placed.flatMap(({ at, action }) => (action.do === 'create' ? [{ at, action }] : []))
  const cancels = placed.flatMap(({ at, action }) => (action.do === 'cancel' ? [{ at, action }] : []))
  const byId = cancels.filter(({ action }) => action.order.orderId !== undefined)
  const byClientId = cancels.filter(({ action }) => action.order.orderId === undefined)
  return [
    ...chunks(byId).map((each) => cancelPlan(each, acting)),
    ...chunks(byClientId).map((each) => cancelByCloidPlan(each, acting)),
    ...chunks(creates).map((each) => createPlan(each, acting)),
  ].flat()
}

function createPlan(some: readonly IndexedAction<Create>[], acting: PlanContext): readonly VenueActions[] {
  const orders = some.map(({ action }) => wireOrder(action, acting))
  const action: L1Action = { type: 'order', orders, grouping: 'na' }
  const memo = some.map(({ action: { order } }) => ({ do: 'create' as const, amount: order.amount, timeInForce: order.timeInForce }))
  return plan(some, acting, action, { of: 'orders', cloids: orders.map(({ c }) => c) }, memo)
}

function cancelPlan(some: readonly IndexedAction<Cancel>[], acting: PlanContext): readonly VenueActions[] {
  const cancels = some.map(({ action: { market, order } }) => ({ a: assetOf(market.id, acting), o: numberOf(order.orderId) }))
  const orders = cancels.map(({ o }) => o)
  return plan(
    some,
    acting,
    { type: 'cancel', cancels },
    { of: 'cancels', orders },
    some.map(() => ({ do: 'cancel' as const })),
  )
}

function cancelByCloidPlan(some: readonly IndexedAction<Cancel>[], acting: PlanContext): readonly VenueActions[] {
  const cancels = some.map(({ action: { market, order } }) => ({
    asset: assetOf(market.id, acting),
    cloid: cloidOf(acting.owner, order.clientOrderId ?? ''),
  }))
  const orders = cancels.map(({ cloid }) => cloid)
  return plan(
    some,
    acting,
    { type: 'cancelByCloid', cancels },
    { of: 'cancels', orders },
    some.map(() => ({ do: 'cancel' as const })),
  )
}

function plan(
  [first, ...others]: readonly IndexedAction<BookAction>[],
  acting: PlanContext,
  action: L1Action,
  trace: Trace,
  actions: Memo['actions'],
): readonly VenueActions[] {
  if (!first) return []
  return [{ covers: [first.at, ...others.map(({ at }) => at)], plan: venuePlan({ action, trace }, acting, { actions }) }]
}

/** A plan of one action that dies after a while. */
export function venuePlan(
  { action, trace }: { action: L1Action; trace: Trace },
  { owner, signer, expiresAfter }: Omit<PlanContext, 'listing'>,
  memo: Json,
): VenuePlan {
  const step: Step = { user: owner.user, action, trace, expiresAfter }
  return { via: 'venue', ...(signer !== undefined && { signer }), steps: [step], deadline: Math.floor(expiresAfter / 1000), memo }
}

function wireOrder({ market, order }: Create, acting: PlanContext): WireOrder {
  return {
    a: assetOf(market.id, acting),
    b: order.side === 'BUY',
    p: normalize(order.price),
    s: normalize(order.amount),
    r: order.reduceOnly ?? false,
    t: { limit: { tif: tifOf(order) } },
    c: cloidOf(acting.owner, order.clientOrderId),
  }
}

function tifOf({ orderType, timeInForce }: NewOrder): 'Gtc' | 'Ioc' | 'Alo' {
  if (orderType === 'LIMIT_MAKER') return 'Alo'
  return timeInForce === 'GTC' ? 'Gtc' : 'Ioc'
}

function assetOf(id: string, { listing }: Pick<PlanContext, 'listing'>): number {
  return marketEntryOf(id, listing).asset
}

export function marketEntryOf(id: string, { byId }: Listing): MarketEntry {
  const listed = byId.get(id)
  if (listed) return listed
  throw new SluiceError('UNKNOWN_ORDER', `Hyperliquid has no market ${id} any more.`)
}

function numberOf(orderId: string | undefined): number {
  const oid = orderId === undefined ? undefined : oidOf(orderId)
  if (oid !== undefined) return oid
  throw new SluiceError('UNKNOWN_ORDER', `There is no order ${orderId} at Hyperliquid: its ids are whole numbers.`)
}

function chunks<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / mostPerPlan) }, (_, index) =>
    all.slice(index * mostPerPlan, (index + 1) * mostPerPlan),
  )
}

const scale = 12

type CreateOfRequireFunds = Extract<BookAction, { do: 'create' }>
const created = (actions: readonly BookAction[]): readonly CreateOfRequireFunds[] =>
  actions.flatMap((action) => (action.do === 'create' ? [action] : []))

/**
 * That the wallet has what the orders pay with, at the worst price that each allows: the exchange may fill them at it.
 * @throws SluiceError INSUFFICIENT_BALANCE
 */
export async function requireSpotFunds(ask: QueryInfo, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const needed = new Map<string, string>()
  const atBounds = new Set<string>()
  for (const { market, order } of created(actions)) {
    const [token, amount] = order.side === 'BUY' ? [market.quote, multiply(order.price, order.amount)] : [market.base, order.amount]
    needed.set(token, add(needed.get(token) ?? '0', amount))
    if (order.orderType === 'MARKET' && order.side === 'BUY') atBounds.add(token)
  }
  if (needed.size === 0) return
  const { balances } = await readSpotState(ask, user, at)
  for (const [token, amount] of needed) {
    const { total = '0', hold = '0' } = balances.find(({ coin }) => coin === token) ?? {}
    const current = subtract(total, hold)
    if (compare(amount, current) <= 0) continue
    const bound = atBounds.has(token) ? ', for a MARKET order at its limitPrice' : ''
    throw new SluiceError(
      'INSUFFICIENT_BALANCE',
      `The wallet has ${current} ${token} free at Hyperliquid, and ${amount} are needed${bound}.`,
      { details: { token, current, needed: amount } },
    )
  }
}

/**
 * That there can be margin enough. What is free tells a cheap question for the most usual; where that is too little even at the market's
 * highest leverage, the exchange is asked how much this very side of the market may have.
 * @throws SluiceError INSUFFICIENT_MARGIN
 */
export async function requireMargin(ask: QueryInfo, user: string, actions: readonly BookAction[], at: At): Promise<void> {
  const orders = created(actions).filter(({ order }) => order.reduceOnly !== true)
  if (orders.length === 0) return
  const { marginSummary, withdrawable } = await readPerpState(ask, user, at)
  const unused = subtract(marginSummary.accountValue, marginSummary.totalMarginUsed)
  const free = compare(unused, withdrawable) > 0 ? unused : withdrawable
  const doubtful = orders.filter(({ market, order }) => compare(marginAt(market.maxLeverage ?? '1', order), free) > 0)
  await Promise.all(doubtful.map(({ market, order }) => requireSide(ask, user, market, order, at)))
}

async function requireSide(ask: QueryInfo, user: string, { id }: BookMarket, order: NewOrder, at: At): Promise<void> {
  const { leverage, availableToTrade } = await ask({ type: 'activeAssetData', user, coin: id }, activeAsset, at)
  const [buys, sells] = availableToTrade
  const free = order.side === 'BUY' ? buys : sells
  const needed = marginAt(String(leverage.value), order)
  if (compare(needed, free) <= 0) return
  throw new SluiceError(
    'INSUFFICIENT_MARGIN',
    `The order needs ${needed} of margin at a leverage of ${leverage.value}, and ${free} is free.`,
    {
      details: { free, needed },
    },
  )
}

const marginAt = (leverage: string, { price, amount }: NewOrder): string => divide(multiply(price, amount), leverage, scale, 'up')

const covered = union(object({ do: literal('create'), amount: decimal, timeInForce: text }), object({ do: literal('cancel') }))
type Covered = Infer<typeof covered>
const memoShape = object({ actions: array(covered) })
/** What is kept of a plan's actions, to tell what came of each. */
type Memo = Infer<typeof memoShape>

/** What became of each action of a plan. @throws where the journal has something else than what was kept */
export function outcomeOf(receipt: Json, memo: Json): readonly ActionOutcome[] {
  if (!isReceipt(receipt) || !is(memoShape, memo))
    throw new Error('The journal has something else than what Hyperliquid said of an action.')
  const { statuses } = receipt
  const [only] = statuses
  // Some refusals are said once for all.
  const common = statuses.length === 1 && only !== undefined && errorOf(only) !== undefined ? only : undefined
  return memo.actions.map((action, index) => {
    const said = common ?? (statuses.length === memo.actions.length ? statuses[index] : undefined)
    // Of more or fewer nobody can say which is which: the exchange tells when it is asked for each.
    if (said === undefined) throw new Error('Hyperliquid said of more or fewer orders what came of them than it was given.')
    return outcome(action, said)
  })
}

function outcome(action: Covered, said: ActionStatus): ActionOutcome {
  const reason = errorOf(said)
  if (reason !== undefined) return { state: 'REJECTED', reason }
  if (typeof said === 'object' && 'found' in said) {
    const { oid, ...told } = said.found
    return { orderId: String(oid), ...told }
  }
  if (action.do === 'cancel') return { state: 'CANCELED' }
  if (typeof said === 'object' && 'filled' in said) return filled(action, said.filled)
  return typeof said === 'object' && 'resting' in said ? { orderId: String(said.resting.oid), state: 'OPEN' } : { state: 'OPEN' }
}

/** Of what is not to wait, the rest is over. */
function filled(
  { amount, timeInForce }: Covered & { do: 'create' },
  { oid, totalSz, avgPx }: { oid: number; totalSz: string; avgPx: string },
): ActionOutcome {
  const partly = timeInForce === 'GTC' ? 'PARTIALLY_FILLED' : 'CANCELED'
  const state = compare(totalSz, amount) < 0 ? partly : 'FILLED'
  return { orderId: String(oid), state, filledAmount: normalize(totalSz), averagePrice: normalize(avgPx) }
}
