import { transferFeeOf, type MintTerms } from '../../mint-extensions.ts'
import {
  ceilDiv,
  exactTransferFee,
  maxU64,
  refuse,
  settled,
  u64,
  type Clock,
  type Swap,
  type SwapQuote,
  type SwapResult,
} from '../swap-quote.ts'
import type { ConstantProductState } from './accounts.ts'

/** The shares of the fee, and the creator's, which may be in the other token. */
export interface ConstantProductQuote extends SwapQuote {
  /** Of `feeRaw`, what goes to the protocol and to the fund; the rest stays in the pool. */
  protocolFeeRaw: bigint
  fundFeeRaw: bigint
  /** Beside `feeRaw`. */
  creatorFeeRaw: bigint
  creatorFeeOn: 'in' | 'out'
}

/** Rates are millionths: curve/fees.rs, FEE_RATE_DENOMINATOR_VALUE. */
const whole = 1_000_000n
const swapsOff = 4

/** Without the shares of its fee. */
type Amounts = Omit<ConstantProductQuote, 'protocolFeeRaw' | 'fundFeeRaw'>

/** What the program gives for it now, to the unit: instructions/swap_base_input.rs and swap_base_output.rs. */
export function quoteConstantProduct(state: ConstantProductState, clock: Clock, swap: Swap): SwapResult<ConstantProductQuote> {
  const amounts = amountsOfConstantProduct(state, clock, swap)
  if ('refused' in amounts) return amounts
  const { protocolFeeRate, fundFeeRate } = state.config
  return {
    ...amounts,
    protocolFeeRaw: (amounts.feeRaw * protocolFeeRate) / whole,
    fundFeeRaw: (amounts.feeRaw * fundFeeRate) / whole,
  }
}

/** The same for who wants no shares: routes are compared by it. */
export const amountsOfConstantProduct = (state: ConstantProductState, clock: Clock, swap: Swap): SwapResult<Amounts> =>
  settled(() => {
    const { pool } = state
    if ((pool.status & swapsOff) !== 0) refuse('disabled')
    if (clock.unixTime < pool.openTime) refuse('not-open')
    if (swap.amountRaw <= 0n) refuse('too-little')
    u64(swap.amountRaw)
    return swap.exact === 'in'
      ? exactIn(sidesOf(state, swap), clock, swap.amountRaw)
      : exactOut(sidesOf(state, swap), clock, swap.amountRaw)
  })

/** One direction of a pool. */
interface Sides {
  isEarly: boolean
  /** The vault that is paid into, with what is owed to others. */
  vaultInRaw: bigint
  reserveInRaw: bigint
  reserveOutRaw: bigint
  mintIn: MintTerms
  mintOut: MintTerms
  rates: { trade: bigint; creator: bigint }
  creatorFeeOn: 'in' | 'out'
}

/** By state: of it there are many quotes. What refuses all of them is found each time. */
const knownSides = new WeakMap<ConstantProductState, Partial<Record<Swap['pays'], Sides>>>()

function sidesOf(state: ConstantProductState, { pays }: Swap): Sides {
  const known = knownSides.get(state) ?? {}
  const found = known[pays]
  if (found) return found
  const sides = computeSides(state, pays)
  known[pays] = sides
  knownSides.set(state, known)
  return sides
}

function computeSides({ version, pool, config, vaultsRaw, mints }: ConstantProductState, pays: Swap['pays']): Sides {
  const gets = pays === 0 ? 1 : 0
  const reserves = [vaultsRaw[0] - pool.owedRaw[0], vaultsRaw[1] - pool.owedRaw[1]] as const
  // What an empty side costs cannot be said: the program divides by both for its price.
  if (reserves[0] <= 0n || reserves[1] <= 0n) refuse('no-reserves')
  const { isTaken, on } = pool.creatorFee
  const isEarly = version === 'early-2025'
  if (isEarly && (isTaken || on !== 0)) refuse('unknown-fees')
  // 0, 1 and 2 are all that the program knows. Without any fee on what is paid, it divides by nothing since it has creator fees.
  if (on > 2 || (!isEarly && config.tradeFeeRate + (isTaken ? config.creatorFeeRate : 0n) === 0n)) refuse('unknown-fees')
  return {
    isEarly,
    vaultInRaw: vaultsRaw[pays],
    reserveInRaw: reserves[pays],
    reserveOutRaw: reserves[gets],
    mintIn: mints[pays],
    mintOut: mints[gets],
    rates: {
      trade: config.tradeFeeRate,
      creator: isTaken ? config.creatorFeeRate : 0n,
    },
    creatorFeeOn: on === 0 || on === pays + 1 ? 'in' : 'out',
  }
}

/** Fees are rounded up and the output down: both for the pool. */
function exactIn(sides: Sides, { epoch }: Clock, amountRaw: bigint): Amounts {
  const { rates, reserveInRaw, reserveOutRaw } = sides
  const transferInRaw = transferFeeOf(sides.mintIn, epoch, amountRaw)
  const netRaw = amountRaw - transferInRaw
  if (netRaw <= 0n) refuse('too-little')
  requireRoom(sides, netRaw)

  const isCreatorPaidIn = sides.creatorFeeOn === 'in'
  const inFeesRaw = feeOf(netRaw, isCreatorPaidIn ? rates.trade + rates.creator : rates.trade)
  const tradedRaw = netRaw - inFeesRaw
  if (tradedRaw < 0n) refuse('too-little')
  const swappedRaw = (tradedRaw * reserveOutRaw) / (reserveInRaw + tradedRaw)
  const creatorFeeRaw = isCreatorPaidIn ? creatorShare(inFeesRaw, rates) : feeOf(swappedRaw, rates.creator)
  const grossOutRaw = isCreatorPaidIn ? swappedRaw : swappedRaw - creatorFeeRaw
  const transferOutRaw = transferFeeOf(sides.mintOut, epoch, grossOutRaw)
  const outRaw = grossOutRaw - transferOutRaw
  if (outRaw <= 0n) refuse('too-little')
  const feeRaw = isCreatorPaidIn ? inFeesRaw - creatorFeeRaw : inFeesRaw
  const { creatorFeeOn } = sides
  return { inRaw: amountRaw, outRaw, feeRaw, feeOn: 'in', creatorFeeRaw, creatorFeeOn, transferFeesRaw: [transferInRaw, transferOutRaw] }
}

/** Everything on the way from the output back is rounded up. */
function exactOut(sides: Sides, { epoch }: Clock, amountRaw: bigint): Amounts {
  const { rates, reserveInRaw, reserveOutRaw } = sides
  const isCreatorPaidIn = sides.creatorFeeOn === 'in'
  const transferOutRaw = exactTransferFee(sides.mintOut, epoch, amountRaw)
  const grossOutRaw = u64(amountRaw + transferOutRaw)
  const swappedOutRaw = isCreatorPaidIn ? grossOutRaw : beforeFee(grossOutRaw, rates.creator)
  if (swappedOutRaw >= reserveOutRaw) refuse('too-much')
  const [dividend, divisor] = [reserveInRaw * swappedOutRaw, reserveOutRaw - swappedOutRaw]
  if (sides.isEarly && dividend * 2n < divisor) refuse('too-little')
  const swappedInRaw = ceilDiv(dividend, divisor)
  const paidRaw = u64(beforeFee(swappedInRaw, isCreatorPaidIn ? rates.trade + rates.creator : rates.trade))
  if (paidRaw === 0n) refuse('too-little')
  const inFeesRaw = sides.isEarly ? feeOf(paidRaw, rates.trade) : paidRaw - swappedInRaw
  const creatorFeeRaw = isCreatorPaidIn ? creatorShare(inFeesRaw, rates) : swappedOutRaw - grossOutRaw
  const transferInRaw = exactTransferFee(sides.mintIn, epoch, paidRaw)
  const inRaw = u64(paidRaw + transferInRaw)
  requireRoom(sides, paidRaw)
  const feeRaw = isCreatorPaidIn ? inFeesRaw - creatorFeeRaw : inFeesRaw
  const { creatorFeeOn } = sides
  return { inRaw, outRaw: amountRaw, feeRaw, feeOn: 'in', creatorFeeRaw, creatorFeeOn, transferFeesRaw: [transferInRaw, transferOutRaw] }
}

const feeOf = (amountRaw: bigint, rate: bigint): bigint => ceilDiv(amountRaw * rate, whole)

/** The creator's share of one fee that was taken for both, rounded down: Fees::split_creator_fee, which divides by their sum. */
const creatorShare = (feesRaw: bigint, { trade, creator }: Sides['rates']): bigint =>
  creator === 0n ? 0n : (feesRaw * creator) / (trade + creator)

/** What is left of it after the fee is `amountRaw` at least: Fees::calculate_pre_fee_amount. */
function beforeFee(amountRaw: bigint, rate: bigint): bigint {
  if (rate === 0n) return amountRaw
  if (rate >= whole) refuse('overflow')
  return ceilDiv(amountRaw * whole, whole - rate)
}

/** A token account counts to 2^64 − 1. */
function requireRoom({ vaultInRaw }: Sides, netRaw: bigint): void {
  if (vaultInRaw + netRaw > maxU64) refuse('overflow')
}
