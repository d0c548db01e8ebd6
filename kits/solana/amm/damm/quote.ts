import { transferFeeOf } from '../../mint-extensions.ts'
import { ceilDiv, exactTransferFee, refuse, settled, u64, type Clock, type Swap, type SwapQuote, type SwapResult } from '../swap-quote.ts'
import type { DammState } from './accounts.ts'
import { curveIn, curveOut } from './curve.ts'
import { feeNow, whole } from './fees.ts'

export interface DammQuote extends SwapQuote {
  /** Of `feeRaw`, what goes to the protocol and what makes a compounding pool larger; the rest belongs to those who have positions. */
  protocolFeeRaw: bigint
  compoundingFeeRaw: bigint
}

/** What the program gives for it now, without a referral, to the unit: the SDK's swapQuote.ts. */
export function quoteDamm(state: DammState, clock: Clock, swap: Swap): SwapResult<DammQuote> {
  const amounts = amountsOfDamm(state, clock, swap)
  return 'refused' in amounts ? amounts : quoteOf(state, amounts)
}

/** The same for who wants no shares of the fee: routes are compared by it. */
export const amountsOfDamm = (state: DammState, clock: Clock, swap: Swap): SwapResult =>
  settled(() => {
    const { pool } = state
    const { activation } = pool
    if (!pool.isEnabled) refuse('disabled')
    if ((activation.by === 'slot' ? clock.slot : clock.unixTime) < activation.point) refuse('not-open')
    if (swap.amountRaw <= 0n) refuse('too-little')
    u64(swap.amountRaw)
    const fee = feeNow(pool, clock)
    return swap.exact === 'in' ? exactIn(state, clock, swap, fee) : exactOut(state, clock, swap, fee)
  })

/** Fees are taken of what comes out, unless the pool takes all in the second token and that one is paid. */
const feeOnOf = ({ pool }: DammState, { pays }: Swap): 'in' | 'out' => (pool.feeMode !== 'both' && pays === 1 ? 'in' : 'out')

/** The fee is rounded up. */
function exactIn(state: DammState, { epoch }: Clock, swap: Swap, fee: bigint): SwapQuote {
  const { pool, mints } = state
  const feeOn = feeOnOf(state, swap)
  const { pays, amountRaw } = swap
  const transferInRaw = transferFeeOf(mints[pays], epoch, amountRaw)
  const netRaw = amountRaw - transferInRaw
  if (netRaw <= 0n) refuse('too-little')
  const inFeeRaw = feeOn === 'in' ? ceilDiv(netRaw * fee, whole) : 0n
  const swappedRaw = u64(curveOut(pool, pays, netRaw - inFeeRaw))
  const outFeeRaw = feeOn === 'out' ? ceilDiv(swappedRaw * fee, whole) : 0n
  const grossOutRaw = swappedRaw - outFeeRaw
  const transferOutRaw = transferFeeOf(mints[pays === 0 ? 1 : 0], epoch, grossOutRaw)
  const outRaw = grossOutRaw - transferOutRaw
  if (outRaw <= 0n) refuse('too-little')
  return { inRaw: amountRaw, outRaw, feeRaw: inFeeRaw + outFeeRaw, feeOn, transferFeesRaw: [transferInRaw, transferOutRaw] }
}

/** Everything on the way from the output back is rounded up. */
function exactOut(state: DammState, { epoch }: Clock, swap: Swap, fee: bigint): SwapQuote {
  const { pool, mints } = state
  const feeOn = feeOnOf(state, swap)
  const { pays, amountRaw } = swap
  const transferOutRaw = exactTransferFee(mints[pays === 0 ? 1 : 0], epoch, amountRaw)
  const grossOutRaw = u64(amountRaw + transferOutRaw)
  const swappedOutRaw = feeOn === 'out' ? u64(beforeFee(grossOutRaw, fee)) : grossOutRaw
  const swappedInRaw = u64(curveIn(pool, pays, swappedOutRaw))
  const paidRaw = feeOn === 'in' ? u64(beforeFee(swappedInRaw, fee)) : swappedInRaw
  if (paidRaw === 0n) refuse('too-little')
  const transferInRaw = exactTransferFee(mints[pays], epoch, paidRaw)
  const inRaw = u64(paidRaw + transferInRaw)
  const feeRaw = feeOn === 'in' ? paidRaw - swappedInRaw : swappedOutRaw - grossOutRaw
  return { inRaw, outRaw: amountRaw, feeRaw, feeOn, transferFeesRaw: [transferInRaw, transferOutRaw] }
}

/** Source: feeMath.ts, splitFees. Shares are rounded down. */
function quoteOf({ pool }: DammState, amounts: SwapQuote): DammQuote {
  const protocolFeeRaw = (amounts.feeRaw * pool.protocolFeePercent) / 100n
  const compoundingFeeRaw = ((amounts.feeRaw - protocolFeeRaw) * pool.compoundingBasisPoints) / 10_000n
  return { ...amounts, protocolFeeRaw, compoundingFeeRaw }
}

/** What is left of it after the fee is `amountRaw`: feeMath.ts, getIncludedFeeAmount. */
const beforeFee = (amountRaw: bigint, fee: bigint): bigint => (fee < whole ? ceilDiv(amountRaw * whole, whole - fee) : refuse('overflow'))
