// What a close gave back. Clients book it by this answer, and never look again.
import { subtract } from 'sluice/decimal'
import { SluiceError, type InterfaceCall } from 'sluice/interface'
import { feeOf, type PollAnswer } from './poll.ts'
import { goneOrTrouble, type NamedPosition } from './positions.ts'
import { signOnce, successOf } from './signed.ts'
import type { Venue } from './venues.ts'

/** An account of the position costs nothing on chains of EVM. */
export const noRent = '0'

export interface PositionChange {
  readonly position: NamedPosition
  readonly venue: Venue
  readonly call: InterfaceCall
  /** By `performance.now()`. */
  readonly untilMs: number
}

export type Fill = Extract<NonNullable<PollAnswer['fill']>, { tokenId: string }>

export const fillIn = ({ fill }: PollAnswer): Fill | undefined => (fill && 'tokenId' in fill ? fill : undefined)

/**
 * Never without amounts: clients take a close that has none for one that gave nothing back. Being one for ever, it can be asked for again. Without its fee
 * only where that is never known: the receipt is final, and does not tell it.
 * @throws SluiceError as `goneOrTrouble`; TIMEOUT where it is signed, and its receipt is not read; TRADE_FAILED, only where it can never succeed
 */
export async function closed(sign: () => Promise<{ txHash: string }>, { position, venue, call, untilMs }: PositionChange) {
  const { txHash: signature } = await signOnce(() => goneOrTrouble(position, sign), call)
  const done = await successOf(signature, { on: venue.on, call, untilMs, isWhole: (found) => closedIn(found) !== undefined })
  const data = done && closedIn(done)
  if (data) return { signature, status: 1 as const, data }
  throw new SluiceError(
    'TIMEOUT',
    `The close ${signature} is sent, and what it gave back is not known yet: the same request again tells, and makes no second one.`,
  )
}

function closedIn(done: PollAnswer) {
  const [fill, paid] = [fillIn(done), feeOf(done.txReceipt)]
  if (!fill || (paid === undefined && done.final !== true)) return undefined
  return { ...closedBy(fill), ...(paid !== undefined && { fee: paid }) }
}

/** Principal and fees, where the receipt tells them apart; all as removed where it does not. */
function closedBy({ amount0, amount1, fees0, fees1 }: Fill) {
  const isTold = fees0 !== undefined && fees1 !== undefined
  return {
    baseTokenAmountRemoved: isTold ? subtract(amount0, fees0) : amount0,
    quoteTokenAmountRemoved: isTold ? subtract(amount1, fees1) : amount1,
    ...(isTold && { baseFeeAmountCollected: fees0, quoteFeeAmountCollected: fees1 }),
    positionRentRefunded: noRent,
  }
}
