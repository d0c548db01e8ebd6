import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError, type BookSet } from '../../api/index.ts'
import type { BookMarket, OrderName } from '../../contracts/index.ts'
import { isFinal } from '../../transactions/entry.ts'
import type { RequestContext } from '../context.ts'
import { readWallet } from '../wallets.ts'
import { type BookHandlerFor, marketsOf } from './markets.ts'
import { hasEnded, readAboutOrder } from './order-state.ts'
import { readOrder } from './read-order.ts'
import {
  submitActions,
  requireSubmitted,
  type ConnectorContext,
  type ActionResult,
  type ActionResults,
  type SigningWallet,
  showCancel,
  showPlaced,
} from './submit-actions.ts'
import { findOrder, readName, unknownOrder, type FoundOrder, walletOrders } from './wallet-orders.ts'

const [pauseMs, mostTries] = [100, 30]

/** Cancels an order. Where it has ended already, or ends before it can be cancelled, the answer is what it ended as. */
export const clobCancelOrder: BookHandlerFor<'OrdersDelete'> = (type) => async (request, context) => {
  const { venue, signal } = context
  const wallet = readWallet(request, context)
  const name = readName(request)
  const market = (await marketsOf(type, venue, { signal })).find(request.market)
  let found = await findIt(type, wallet, name, market, context)
  if (found && isPending(found)) {
    const stopped = await cancelPlacement(found, wallet, context)
    if (stopped) return stopped
    found = await landed(() => findIt(type, wallet, name, market, context), signal)
    if (found && isPending(found)) return beingCancelled(found)
  }
  if (!found) throw unknownOrder(type, name, wallet.address)
  if (hasEnded(found.shown.state)) return showEnded(found)
  if (found.shown.state === 'PENDING_CANCEL' && waitsForEarlier(wallet, venue)) return beingCancelled(found)
  const order = nameOnExchange(found)
  const answer = (results: ActionResults) => showCancel(order, requireSubmitted(results.get(0)))
  const results = await submitActions(type, new Map([[0, { do: 'cancel', market, order }]]), wallet, context, answer)
  const refusal = refusalOf(results.get(0))
  if (!refusal) return answer(results)
  // It may have been filled in between.
  const now = await findIt(type, wallet, name, market, context)
  if (now && hasEnded(now.shown.state)) return showEnded(now)
  throw refusal
}

const findIt = (type: BookSet, { address }: SigningWallet, name: OrderName, market: BookMarket, context: ConnectorContext) =>
  findOrder(walletOrders(type, address, context), name, market, { signal: context.signal })

export const nameOnExchange = ({ shown: { orderId, clientOrderId } }: FoundOrder): OrderName => ({
  ...(orderId !== undefined && { orderId }),
  ...(clientOrderId !== undefined && { clientOrderId }),
})

/** Where the exchange did not cancel it, or would not have: before anything was signed, or as it said at once. */
export function refusalOf(result: ActionResult | undefined): SluiceError | undefined {
  if (result instanceof SluiceError) return ['TRADE_FAILED', 'UNKNOWN_ORDER'].includes(result.name) ? result : undefined
  if (result?.outcome?.state !== 'REJECTED') return undefined
  const reason = result.outcome.reason ?? 'it does not say why'
  return new SluiceError('TRADE_FAILED', `The exchange refused to cancel the order: ${reason}.`, { details: { reason } })
}

/** What the request to cancel an order that has ended is answered. */
export const showEnded = (found: FoundOrder) => {
  const { state, filledAmount, reason } = found.shown
  return { ...nameOnExchange(found), state, filledAmount, ...(reason !== undefined && { reason }) }
}

/** Its transaction is not in a block: the exchange knows of no order yet. */
export const isPending = ({ journaled }: FoundOrder): boolean =>
  journaled !== undefined && journaled.entry.signer === undefined && !journaled.entry.landed && !isFinal(journaled.entry)

const isReplaced = ({ journaled }: FoundOrder) => journaled?.entry.replacedBy !== undefined

/**
 * Where cancels are transactions, one beside an earlier one would come to nothing and cost gas; on a nonce that the caller names it takes that
 * one's place. Signed actions cost nothing, and an earlier one may be lost.
 */
const waitsForEarlier = ({ nonce }: SigningWallet, { actions }: ConnectorContext['venue']): boolean => !actions && nonce === undefined

/** Something is on its way already, be it an earlier cancel: another one would only take that one's place, or come to nothing. */
const beingCancelled = (found: FoundOrder) => ({ ...nameOnExchange(found), state: 'PENDING_CANCEL' as const })

/**
 * Has a transaction that does nothing take the place of the one that would place the order. Which of both is mined, the chain decides.
 * Undefined where the order's is mined already.
 */
export async function cancelPlacement(
  found: FoundOrder,
  { address, feeOverrides }: SigningWallet,
  { network, services, caller, requestId, signal }: ConnectorContext,
) {
  if (isReplaced(found)) return beingCancelled(found)
  const { key: only, nonce } = found.journaled?.entry ?? {}
  const origin = { network, address, caller, requestId, feeOverrides, ...(only !== undefined && nonce !== undefined && { only, nonce }) }
  try {
    return { ...nameOnExchange(found), state: 'PENDING_CANCEL' as const, ...(await services.transactions.cancel(origin, signal)) }
  } catch (error) {
    if (!(error instanceof SluiceError) || error.name !== 'INVALID_NONCE') throw error
    return undefined
  }
}

/** The journal reads a block moments after it was made; it may also have been replaced that very moment. */
async function landed(find: () => Promise<FoundOrder | undefined>, signal: AbortSignal): Promise<FoundOrder | undefined> {
  for (let tries = 0; ; tries++) {
    const found = await find()
    if (!found || !isPending(found) || isReplaced(found)) return found
    if (tries === mostTries) throw notYetCancellable()
    await sleep(pauseMs, undefined, { signal })
  }
}

export const notYetCancellable = () => {
  const reason = 'the order is in a block that was not read yet'
  return new SluiceError('TRADE_FAILED', `The order cannot be cancelled this moment: ${reason}. Nothing was sent; try again.`, {
    details: { reason },
  })
}

export const clobPlaceOrder: BookHandlerFor<'OrdersPost'> = (type) => async (request, context) => {
  const at = { signal: context.signal }
  const wallet = readWallet(request, context)
  const market = (await marketsOf(type, context.venue, at)).find(request.market)
  const clientOrderId = request.clientOrderId ?? defaultClientOrderId(context, 0)
  const before = await findRepeatedOrder(type, wallet.address, clientOrderId, context)
  if (before) return before
  const order = await readOrder(type, { ...request, clientOrderId }, market, context, at)
  const answer = (results: ActionResults) => showPlaced(order, requireSubmitted(results.get(0)))
  return answer(await submitActions(type, new Map([[0, { do: 'create', market, order }]]), wallet, context, answer))
}

/** What this very request placed, where it is repeated with its Idempotency-Key after its server died before it had answered. */
export async function findRepeatedOrder(type: BookSet, owner: string, clientOrderId: string, context: ConnectorContext) {
  const tag = context.keyed?.tag
  if (tag === undefined) return undefined
  const orders = walletOrders(type, owner, context)
  const [journaled] = await orders.journaled({ clientOrderId, limit: 1 })
  // One that was given up before it was signed is placed anew.
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

/** A client order id where the caller gave none: with a key the same for a request that is repeated, so that nothing is placed twice. */
export const defaultClientOrderId = ({ keyed }: Pick<RequestContext, 'keyed'>, index: number): string =>
  keyed ? `${keyed.tag}-${index}` : randomUUID()
