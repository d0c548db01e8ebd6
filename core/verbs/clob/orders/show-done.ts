import type { NewOrder, OrderName } from '../../../contracts/index.ts'
import { plain } from '../figures/exact.ts'
import type { Done } from '../../../handlers/clob/submit-actions.ts'

/** Where an action is, for who follows it. Signed actions are known by their orders' ids. */
const whereabouts = ({ submitted: { txHash, nonce }, onChain }: Done) => (onChain ? { txHash, nonce } : {})

/** What the request for an order is answered. */
export function showPlaced({ clientOrderId, orderType, price }: NewOrder, done: Done) {
  const { orderId, state = 'PENDING_OPEN' as const, filledAmount, averagePrice, reason } = done.outcome ?? {}
  return {
    ...(orderId !== undefined && { orderId }),
    clientOrderId,
    state,
    ...(filledAmount !== undefined && { filledAmount: plain(filledAmount) }),
    ...(averagePrice !== undefined && { averagePrice: plain(averagePrice) }),
    ...(orderType === 'MARKET' && { limitPrice: price }),
    ...(reason !== undefined && { reason }),
    ...whereabouts(done),
  }
}

/** What the request to cancel an order is answered. */
export function showCancel(name: OrderName, done: Done) {
  const { state = 'PENDING_CANCEL' as const, filledAmount, reason } = done.outcome ?? {}
  return {
    ...name,
    state,
    ...(filledAmount !== undefined && { filledAmount: plain(filledAmount) }),
    ...(reason !== undefined && { reason }),
    ...whereabouts(done),
  }
}
