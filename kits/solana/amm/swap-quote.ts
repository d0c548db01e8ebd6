import type { Head } from '../../../core/contracts/index.ts'
import { takesAll, transferFeeOf, transferFeeOnTop, type MintTerms } from '../mint-extensions.ts'

/** The cluster's clock, which programs read: fees and opening times follow it, not the time of this machine. */
export interface Clock {
  slot: bigint
  epoch: bigint
  /** Seconds since the Unix epoch. */
  unixTime: bigint
}

/**
 * The clock of a head: mainnet-beta's epochs were of so many slots from the first one on, as those of a test validator. Source:
 * solana-epoch-schedule, DEFAULT_SLOTS_PER_EPOCH; the genesis of mainnet-beta has no warm-up.
 */
export const clockAt = ({ number, timestamp }: Pick<Head, 'number' | 'timestamp'>): Clock => ({
  slot: number,
  epoch: number / slotsPerEpoch,
  unixTime: BigInt(timestamp),
})
const slotsPerEpoch = 432_000n

/** A swap between the two tokens of a pool, in the pool's order. */
export interface Swap {
  pays: 0 | 1
  /** Which side is fixed: exactly so much is paid, or exactly so much arrives. */
  exact: 'in' | 'out'
  amountRaw: bigint
}

/** What a pool's program does with it, to the unit. */
export interface SwapQuote {
  /** Leaves the wallet's account, with the token's own transfer fee. */
  inRaw: bigint
  /** Reaches the wallet's account, after the token's own transfer fee. */
  outRaw: bigint
  /** The exchange's fee, all shares of it, in the token of `feeOn`. */
  feeRaw: bigint
  feeOn: 'in' | 'out'
  /** What Token-2022 withholds of what is paid, and of what the pool pays out. */
  transferFeesRaw: readonly [bigint, bigint]
}

/** Why a pool does not do it. */
export type SwapRefusal =
  /** Swaps of the pool are switched off, or it has not opened. */
  | 'disabled'
  | 'not-open'
  /** Nothing is left of what is paid after fees, or nothing comes out. */
  | 'too-little'
  /** More than the pool has. */
  | 'too-much'
  /** A number beyond those that the program counts with. */
  | 'overflow'
  /** More is owed to others than the pool has. */
  | 'no-reserves'
  /** A way to take fees that is not known here. */
  | 'unknown-fees'
  /** The token's own fee cannot be added so that the rest is exact. */
  | 'inexact-transfer-fee'

export type SwapResult<Q extends SwapQuote = SwapQuote> = Q | { refused: SwapRefusal }

export const maxU64: bigint = 2n ** 64n - 1n

export const ceilDiv = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** Ends an arithmetic where the program's would fail. */
export class Refusal extends Error {
  readonly kind: SwapRefusal
  constructor(kind: SwapRefusal) {
    super(kind)
    this.kind = kind
  }
}

/** The result of arithmetic that refuses by throwing a `Refusal`. */
export function settled<Q extends SwapQuote>(compute: () => Q): SwapResult<Q> {
  try {
    return compute()
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.kind }
    throw error
  }
}

export function refuse(kind: SwapRefusal): never {
  throw new Refusal(kind)
}

/** As the program's checked conversion into 64 bits. */
export function u64(value: bigint): bigint {
  return value >= 0n && value <= maxU64 ? value : refuse('overflow')
}

/**
 * What Token-2022 takes on the way, so that exactly `netRaw` arrives. Source: raydium-cp-swap at 609780f, utils/token.rs,
 * get_transfer_inverse_fee; the same in @meteora-ag/cp-amm-sdk, helpers/token2022.ts, but for the check that it is exact.
 */
export function exactTransferFee(mint: MintTerms, epoch: bigint, netRaw: bigint): bigint {
  const all = takesAll(mint, epoch)
  if (all !== undefined) return all
  const feeRaw = transferFeeOnTop(mint, epoch, netRaw) ?? refuse('overflow')
  if (transferFeeOf(mint, epoch, u64(netRaw + feeRaw)) !== feeRaw) refuse('inexact-transfer-fee')
  return feeRaw
}
