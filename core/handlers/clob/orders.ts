import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BookSet } from '../../api/index.ts'
import { SluiceError } from '../../base/errors.ts'
import { isFinal } from '../../transactions/entry.ts'
import type { ConnectorContext, RequestContext } from '../context.ts'
import { readWallet, type SigningWallet } from '../wallets.ts'
import { marketsOf, type BookHandlerFor } from './markets.ts'
import { hasEnded, readAboutOrder } from './order-state.ts'
import { readOrder } from './read-order.ts'
import { requireSubmitted, showCancel, showPlaced, submitActions, type ActionResult, type ActionResults } from './submit-actions.ts'
import { findInJournal, findOrder, pickName, readName, unknownOrder, walletOrders, type FoundOrder } from './wallet-orders.ts'

const clobPlaceOrder: BookHandlerFor<'OrdersPost'> = (type) => async (request, context) => {
  const wallet = readWallet(request, context)
  const market = (await marketsOf(type, context.venue, { signal: context.signal })).find(request.market)
  const clientOrderId = request.clientOrderId ?? defaultClientOrderId(context, 0)
  const repeated = await findRepeatedOrder(type, wallet.address, clientOrderId, context)
  if (repeated) return repeated
  const order = await readOrder(type, { ...request, clientOrderId }, market, context)
  const answer = (results: ActionResults) => showPlaced(order, requireSubmitted(results.get(0)))
  return answer(await submitActions(type, new Map([[0, { do: 'create', market, order }]]), wallet, context, answer))
}

/**
 * The client order id if the caller gives none. With an Idempotency-Key it is the same when the request is repeated, so that nothing is
 * placed twice.
 */
export const defaultClientOrderId = ({ keyed }: Pick<RequestContext, 'keyed'>, index: number): string =>
  keyed ? `${keyed.tag}-${index}` : randomUUID()

/** The order that the same request placed, if it is repeated with its Idempotency-Key because its server died before it responded. */
export async function findRepeatedOrder(type: BookSet, owner: string, clientOrderId: string, context: ConnectorContext) {
  const tag = context.keyed?.tag
  if (tag === undefined) return undefined
  const orders = walletOrders(type, owner, context)
  const [journaled] = await orders.journaled({ clientOrderId, limit: 1 })
  // An order that was given up before it was signed is placed again.
  if (!journaled || readAboutOrder(journaled).request !== tag || journaled.entry.attempts.length === 0) return undefined
  const { orderId, state, filledAmount, reason, txHash } = await orders.show(journaled, undefined, false)
  return {
    ...(orderId !== undefined && { orderId }),
    clientOrderId,
    state,
    filledAmount,
    ...(reason !== undefined && { reason }),
    ...(txHash !== undefined && { txHash, nonce: journaled.entry.nonce }),
  }
}

/** Cancels an order. If it has ended already, or ends before it can be cancelled, the response is its end state. */
const clobCancelOrder: BookHandlerFor<'OrdersDelete'> = (type) => async (request, context) => {
  const { venue, signal } = context
  const wallet = readWallet(request, context)
  const name = readName(request)
  const market = (await marketsOf(type, venue, { signal })).find(request.market)
  const orders = walletOrders(type, wallet.address, context)
  const find = () => findOrder(orders, name, market)
  let found = await find().catch(async (error: unknown) => {
    const known = venue.actions && isUnavailable(error) ? await findInJournal(orders, name, market) : undefined
    // A cancel that is an action of its own needs no answer to a question before it.
    if (!known) throw error
    return known
  })
  if (found && isPending(found)) {
    const cancelled = await cancelPlacement(found, wallet, context)
    if (cancelled) return cancelled
    found = await waitUntilMined(find, signal)
    if (found && isPending(found)) return showCancelling(found)
  }
  const exclusion = found && mayYetArrive(found) ? await excludePlacement(type, found, wallet, context) : undefined
  if (found && exclusion === 'excluded') return showCancelling(found)
  if (found && exclusion) found = (await findInJournal(orders, name, market)) ?? found
  if (!found) throw unknownOrder(type, name, wallet.address)
  if (hasEnded(found.shown.state)) return showEnded(found)
  if (found.shown.state === 'PENDING_CANCEL' && waitsForEarlier(wallet, venue)) return showCancelling(found)
  const order = pickName(found.shown)
  const answer = (results: ActionResults) => showCancel(order, requireSubmitted(results.get(0)))
  const results = await submitActions(type, new Map([[0, { do: 'cancel', market, order }]]), wallet, context, answer)
  const refusal = refusalOf(results.get(0))
  if (!refusal && exclusion === 'impossible' && mayYetArrive(found) && isUnanswered(results.get(0))) throw unansweredCancel()
  if (!refusal) return answer(results)
  // It may have been filled meanwhile.
  const now = await find()
  if (now && hasEnded(now.shown.state)) return showEnded(now)
  throw now && mayYetArrive(now) ? refusedBefore(exclusion) : refusal
}

/** The exchange refused to cancel an order that may arrive yet. */
export const refusedBefore = (exclusion: Exclusion | undefined): SluiceError =>
  // What takes its place was sent, and may keep the order from arriving.
  exclusion === 'contested' ? unansweredCancel() : notYetCancellable(isOnItsWay)

const isUnavailable = (error: unknown) => error instanceof SluiceError && (error.name === 'RATE_LIMIT' || error.name === 'NETWORK')

/** The order's transaction is not in a block yet, so the exchange does not have the order. */
export const isPending = ({ journaled }: FoundOrder): boolean =>
  journaled !== undefined && journaled.entry.signer === undefined && !journaled.entry.landed && !isFinal(journaled.entry)

const isReplaced = ({ journaled }: FoundOrder) => journaled?.entry.replacedBy !== undefined

/**
 * Replaces the transaction that would place the order with one that does nothing. The chain decides which of them is mined. Undefined if
 * the order's is mined already.
 */
export async function cancelPlacement(found: FoundOrder, wallet: SigningWallet, context: ConnectorContext) {
  if (isReplaced(found)) return showCancelling(found)
  const { services, signal } = context
  try {
    return { ...showCancelling(found), ...(await services.transactions.cancel(originOf(found, wallet, context), signal)) }
  } catch (error) {
    if (!(error instanceof SluiceError) || error.name !== 'INVALID_NONCE') throw error
    return undefined
  }
}

function originOf(
  { journaled }: FoundOrder,
  { address, feeOverrides }: SigningWallet,
  { network, caller, requestId, words, approval }: ConnectorContext,
) {
  const { key: only, nonce } = journaled?.entry ?? {}
  return {
    network,
    address,
    caller,
    requestId,
    ...(words && { words }),
    feeOverrides,
    ...(approval && { approval }),
    ...(only !== undefined && nonce !== undefined && { only, nonce }),
  }
}

/**
 * It is not known whether the exchange has carried out the signed action that places the order, and the action may be sent again: a cancel that the exchange
 * refuses now says nothing of the order.
 */
export const mayYetArrive = ({ journaled, shown }: FoundOrder): boolean =>
  journaled !== undefined && journaled.entry.signer !== undefined && !isFinal(journaled.entry) && shown.orderId === undefined

/**
 * `excluded`: the exchange has taken what takes the order's place, so that the order never arrives. `contested`: it has not answered to it, and may have taken
 * the order before. `impossible`: the order has arrived, or its action places others too, or is being signed.
 */
export type Exclusion = 'excluded' | 'contested' | 'impossible'

/** Has an action without effect take the place of the one that places the order, and no other: the exchange takes one of the two. */
export async function excludePlacement(
  type: BookSet,
  found: FoundOrder,
  wallet: SigningWallet,
  context: ConnectorContext,
): Promise<Exclusion> {
  const { journaled } = found
  const { network, venue, services, signal } = context
  if (!journaled || journaled.entry.attempts.length === 0 || !venue.actions?.impl.rail.replace) return 'impossible'
  const { signer, replacedBy } = journaled.entry
  if (!(await walletOrders(type, wallet.address, context).isAlone(journaled))) return 'impossible'
  const by = async (txHash: string) =>
    (await services.transactions.find(network.chain, network.network, txHash))?.landed?.ok ? 'excluded' : 'contested'
  if (replacedBy !== undefined) return by(replacedBy)
  const origin = { ...originOf(found, wallet, context), network: venue.actions, ...(signer !== undefined && { signer }) }
  try {
    return await by((await services.transactions.cancel(origin, signal)).txHash)
  } catch (error) {
    if (!(error instanceof SluiceError) || (error.name !== 'INVALID_NONCE' && error.name !== 'UNKNOWN_TRANSACTION')) throw error
    return 'impossible'
  }
}

const pollIntervalMs = 100
const maxPolls = 30

/**
 * The journal reads a block moments after it was made. The order may also have been replaced meanwhile.
 * @throws SluiceError TRADE_FAILED
 */
async function waitUntilMined(find: () => Promise<FoundOrder | undefined>, signal: AbortSignal): Promise<FoundOrder | undefined> {
  for (let polls = 0; ; polls++) {
    const found = await find()
    if (!found || !isPending(found) || isReplaced(found)) return found
    if (polls === maxPolls) throw notYetCancellable(isUnread)
    await sleep(pollIntervalMs, undefined, { signal })
  }
}

export const isUnread = 'the order is in a block that was not read yet'
export const isOnItsWay = 'whether the exchange gets the order is not known yet'

export const notYetCancellable = (reason: string) =>
  new SluiceError('TRADE_FAILED', `The order cannot be cancelled now: ${reason}. Nothing was cancelled; try again.`, {
    details: { reason },
  })

/** Where the exchange gives an answer at once. */
export const isUnanswered = (result: ActionResult | undefined): boolean =>
  result !== undefined && !(result instanceof SluiceError) && result.outcome === undefined

/** The cancel was sent: it may be carried out yet, so this is no failure. The order may be placed after its cancel was refused: neither is sent only after the other. */
export const unansweredCancel = () =>
  new SluiceError('TIMEOUT', `The exchange did not answer to the cancel, and ${isOnItsWay}: it may come after its cancel. Try again.`, {
    details: { reason: isOnItsWay },
  })

/**
 * Where cancels are transactions, a second one beside a pending one would only burn gas; on a nonce that the caller gives it replaces the
 * pending one. Signed actions cost nothing, and a pending one may be lost.
 */
const waitsForEarlier = ({ nonce }: SigningWallet, { actions }: ConnectorContext['venue']): boolean => !actions && nonce === undefined

/** The error of a cancel that the exchange refused: before anything was signed, or in its response. */
export function refusalOf(result: ActionResult | undefined): SluiceError | undefined {
  if (result instanceof SluiceError) return ['TRADE_FAILED', 'UNKNOWN_ORDER'].includes(result.name) ? result : undefined
  if (result?.outcome?.state !== 'REJECTED') return undefined
  const reason = result.outcome.reason ?? 'it does not say why'
  return new SluiceError('TRADE_FAILED', `The exchange refused to cancel the order: ${reason}.`, { details: { reason } })
}

/** The response to a cancel that is pending already, perhaps by an earlier request. */
export const showCancelling = ({ shown }: FoundOrder) => ({ ...pickName(shown), state: 'PENDING_CANCEL' as const })

/** The response to a cancel of an order that has ended. */
export const showEnded = ({ shown }: Pick<FoundOrder, 'shown'>) => {
  const { state, filledAmount, reason } = shown
  return { ...pickName(shown), state, filledAmount, ...(reason !== undefined && { reason }) }
}

export const orderHandlers = (type: BookSet) => ({
  OrdersPost: clobPlaceOrder(type),
  OrdersDelete: clobCancelOrder(type),
})
