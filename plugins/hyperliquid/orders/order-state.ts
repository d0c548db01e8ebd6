import type { OrderState } from 'sluice/plugin'
import { compare, minus, plain, sum } from '../decimal.ts'
import type { WireFill, WireJudgedOrder } from './order-answers.ts'

/** What became of an order. */
export interface Told {
  readonly state: OrderState
  readonly filledAmount: string
}

/** Times in force of what does not wait in the book. */
const immediate: ReadonlySet<string> = new Set(['Ioc', 'FrontendMarket', 'LiquidationMarket'])

/**
 * By the exchange's word for it (`OrderProcessingStatusSchema` of @nktkas/hyperliquid) and its sizes. One that did not wait is called
 * "filled" when any of it was: how much, its fills tell.
 * @param fills the wallet's, where they were asked for
 */
export function toldOf({ order: { oid, origSz, sz }, status }: WireJudgedOrder, fills: readonly WireFill[] = []): Told {
  if (/rejected$/i.test(status)) return { state: 'REJECTED', filledAmount: '0' }
  if (status === 'filled') {
    const filled = sum(fills.filter((fill) => fill.oid === oid).map((fill) => fill.sz))
    const isPart = compare(filled, '0') > 0 && compare(filled, origSz) < 0
    return isPart ? { state: 'CANCELED', filledAmount: filled } : { state: 'FILLED', filledAmount: plain(origSz) }
  }
  const filledAmount = minus(origSz, sz)
  if (/cancell?ed$|^scheduledCancel$/i.test(status)) return { state: 'CANCELED', filledAmount }
  return { state: compare(filledAmount, '0') > 0 ? 'PARTIALLY_FILLED' : 'OPEN', filledAmount }
}

/** Whether fills are needed to tell what became of it. */
export const needsFills = ({ order: { tif }, status }: WireJudgedOrder): boolean => status === 'filled' && immediate.has(tif ?? '')

export const isWaiting = ({ state }: Told): boolean => state === 'OPEN' || state === 'PARTIALLY_FILLED'
