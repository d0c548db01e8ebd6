import { SluiceError, type OrderName, type Plan } from '../../../contracts/index.ts'
import type { Call, Evm } from '../../../../kits/evm/types.ts'
import { oasisAbi } from '../abi.ts'
import { writeCancel } from './memo.ts'

/** @throws SluiceError UNKNOWN_ORDER where it can be no offer's */
export function idOf({ orderId, clientOrderId }: OrderName): string {
  if (orderId !== undefined && /^[1-9]\d{0,38}$/.test(orderId)) return orderId
  throw unknownOrder(orderId ?? clientOrderId)
}

export const unknownOrder = (name = '') =>
  new SluiceError('UNKNOWN_ORDER', `The wallet has no order ${name} in this market that could be cancelled; /clob/orders lists its orders.`)

export function isOver(id: string, how: 'filled' | 'cancelled'): SluiceError {
  const reason = `the order was ${how} already`
  return new SluiceError('TRADE_FAILED', `Order ${id} cannot be cancelled: ${reason}.`, { details: { reason } })
}

export const offerCall = (market: string, id: string): Call => ({ to: market, data: oasisAbi.encodeFunctionData('offers', [id]) })

export const planCancel = (market: string, owner: string, id: string): Plan<Evm> => ({
  steps: [{ to: market, data: oasisAbi.encodeFunctionData('cancel', [id]), value: '0' }],
  needs: [],
  memo: writeCancel({ market, owner, id }),
})
