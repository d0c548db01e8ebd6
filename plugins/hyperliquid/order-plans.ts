import { SluiceError } from 'sluice/plugin'
import type { ActionPlan, BookAction, Json, NewOrder, VenuePlan } from 'sluice/plugin'
import { plain } from './decimal.ts'
import type { Listed, Listing } from './markets.ts'
import type { ChainAction, Step, WireOrder } from './rail/step.ts'
import type { Trace } from './rail/trace.ts'
import { cloidOf } from './orders/cloid.ts'
import type { OrderOwner } from './orders/cloid.ts'
import { oidOf } from './orders/oid.ts'
import type { Memo } from './orders/outcome.ts'

/** An action with more orders weighs more. */
const mostPerPlan = 39

export interface Acting {
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
interface Placed<T> {
  readonly at: number
  readonly action: T
}

type Create = Extract<BookAction, { do: 'create' }>
type Cancel = Extract<BookAction, { do: 'cancel' }>

/** As few plans as can be: orders together, cancels by their kind of name. */
export function plansOf(actions: readonly BookAction[], acting: Acting): readonly VenueActions[] {
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

function createPlan(some: readonly Placed<Create>[], acting: Acting): readonly VenueActions[] {
  const orders = some.map(({ action }) => wireOrder(action, acting))
  const action: ChainAction = { type: 'order', orders, grouping: 'na' }
  const memo = some.map(({ action: { order } }) => ({ do: 'create' as const, amount: order.amount, timeInForce: order.timeInForce }))
  return plan(some, acting, action, { of: 'orders', cloids: orders.map(({ c }) => c) }, memo)
}

function cancelPlan(some: readonly Placed<Cancel>[], acting: Acting): readonly VenueActions[] {
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

function cancelByCloidPlan(some: readonly Placed<Cancel>[], acting: Acting): readonly VenueActions[] {
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
  [first, ...others]: readonly Placed<BookAction>[],
  acting: Acting,
  action: ChainAction,
  trace: Trace,
  actions: Memo['actions'],
): readonly VenueActions[] {
  if (!first) return []
  return [{ covers: [first.at, ...others.map(({ at }) => at)], plan: venuePlan({ action, trace }, acting, { actions }) }]
}

/** A plan of one action that dies after a while. */
export function venuePlan(
  { action, trace }: { action: ChainAction; trace: Trace },
  { owner, signer, expiresAfter }: Omit<Acting, 'listing'>,
  memo: Json,
): VenuePlan {
  const step: Step = { user: owner.user, action, trace, expiresAfter }
  return { via: 'venue', ...(signer !== undefined && { signer }), steps: [step], deadline: Math.floor(expiresAfter / 1000), memo }
}

function wireOrder({ market, order }: Create, acting: Acting): WireOrder {
  return {
    a: assetOf(market.id, acting),
    b: order.side === 'BUY',
    p: plain(order.price),
    s: plain(order.amount),
    r: order.reduceOnly ?? false,
    t: { limit: { tif: tifOf(order) } },
    c: cloidOf(acting.owner, order.clientOrderId),
  }
}

function tifOf({ orderType, timeInForce }: NewOrder): 'Gtc' | 'Ioc' | 'Alo' {
  if (orderType === 'LIMIT_MAKER') return 'Alo'
  return timeInForce === 'GTC' ? 'Gtc' : 'Ioc'
}

function assetOf(id: string, { listing }: Pick<Acting, 'listing'>): number {
  return listedOf(id, listing).asset
}

export function listedOf(id: string, { byId }: Listing): Listed {
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
