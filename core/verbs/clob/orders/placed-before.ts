import type { BookSet } from '../../../api/index.ts'
import { readAboutOrder } from './about-order.ts'
import type { BookContext } from '../../../handlers/clob/submit-actions.ts'
import { walletOrders } from '../../../handlers/clob/wallet-orders.ts'

/** What this very request placed, where it is repeated with its Idempotency-Key after its server died before it had answered. */
export async function placedBefore(type: BookSet, owner: string, clientOrderId: string, context: BookContext) {
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
