import { formatRaw } from '../../core/decimal.ts'
import { badFields, SluiceError, type FeeWish, type GasTerms } from '../../core/contracts/index.ts'
import { isBytes } from './encoding.ts'
import { chargeRaw, maxChargeRaw, type Charge } from './op-stack.ts'
import type { EvmIntent } from './types.ts'

/** What a transaction may burn: wei as decimal strings, for the journal. */
export type EvmFees = {
  readonly gasLimit: string
  readonly maxFeePerGas: string
  readonly maxPriorityFeePerGas: string
  /** A transaction of type 0: both fees are its one gas price. */
  readonly legacy?: true
  /** The most that a rollup charges on top of gas. */
  readonly rollupFee?: string
}

export interface FeePolicy {
  /** maxFeePerGas = this × base fee + tip. Two outlasts six full blocks in a row (each raises the base fee by at most 1/8, EIP-1559). */
  baseFeeMultiplier: number
  /** The tip where the node suggests none or less, wei per gas. */
  minTipRaw: bigint
  /** What nodes or validators refuse less than, wei per gas. */
  networkMinTipRaw: bigint
  /** Blocks have no base fee: the tip is the whole price, and transactions are of type 0. */
  legacy: boolean
  /** By how many percent both fees of a stuck transaction are raised, at least. */
  bumpPercent: number
  /**
   * By how many percent the network's nodes want both fees of a replacement raised (geth `core/txpool/legacypool`: PriceBump
   * 10; erigon, nethermind, besu and anvil have the same).
   */
  minBumpPercent: number
}

export const defaultFeePolicy: FeePolicy = {
  baseFeeMultiplier: 2,
  minTipRaw: 0n,
  networkMinTipRaw: 0n,
  legacy: false,
  bumpPercent: 12.5,
  minBumpPercent: 10,
}

export interface FeeConditions {
  baseFeeRaw: bigint
  /** What the node suggests; undefined where it cannot say. */
  tipRaw: bigint | undefined
  policy: FeePolicy
  feeCapRaw: bigint
}

/** Wei per gas. */
export interface FeePerGas {
  maxFeeRaw: bigint
  tipRaw: bigint
  /** Base fee plus what the tip really is under maxFee. */
  gasPriceRaw: bigint
}

/** Refuses what no network state makes right; asks nobody. Many clients send wei where gwei is meant. */
export function checkFeeOverrides({ maxFeePerGasRaw: maxFee, maxPriorityFeePerGasRaw: tip }: FeeWish, feeCapRaw: bigint): void {
  const above = (raw: bigint) =>
    `is ${gwei(raw)} gwei per gas, above the network's feeCap of ${gwei(feeCapRaw)} gwei; the unit is gwei, not wei`
  if (maxFee !== undefined && maxFee > feeCapRaw) throw badFields([{ field: 'maxFeePerGas', problem: above(maxFee) }])
  if (tip !== undefined && tip > feeCapRaw) throw badFields([{ field: 'maxPriorityFeePerGas', problem: above(tip) }])
  if (maxFee !== undefined && tip !== undefined && tip > maxFee) {
    throw badFields([
      { field: 'maxPriorityFeePerGas', problem: `is ${gwei(tip)} gwei, more than maxFeePerGas (${gwei(maxFee)} gwei), which includes it` },
    ])
  }
}

/**
 * Fees of a transaction at a base fee: as wished, by the policy where nothing is. Policy fees are cut to the cap, and are
 * at least what replaces `over`. Wishes are expected to have passed `checkWish`.
 */
export function computeFeePerGas(
  wish: FeeWish,
  over: EvmFees | undefined,
  { baseFeeRaw, tipRaw, policy, feeCapRaw }: FeeConditions,
): FeePerGas {
  const { maxFeePerGasRaw: maxWish, maxPriorityFeePerGasRaw: tipWish } = policy.legacy ? asOnePrice(wish) : wish
  if (maxWish !== undefined && maxWish < baseFeeRaw) {
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `maxFeePerGas is ${gwei(maxWish)} gwei and the network's base fee is ${gwei(baseFeeRaw)} gwei now: offer more, or leave the fees to the server.`,
    )
  }
  if (maxWish === undefined && baseFeeRaw > feeCapRaw) {
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `The network's base fee is ${gwei(baseFeeRaw)} gwei now, above the feeCap of ${gwei(feeCapRaw)} gwei in its settings: wait, or raise feeCap.`,
    )
  }
  const least = over && minReplacement(over, policy.minBumpPercent)
  const suggested = max(tipRaw ?? 0n, policy.minTipRaw, least?.tipRaw ?? 0n)
  const tip = tipWish ?? min(suggested, maxWish ?? feeCapRaw)
  if (tip < policy.networkMinTipRaw) {
    const isWished = maxWish !== undefined || tipWish !== undefined
    const cure = isWished ? 'offer more, or leave the fees to the server' : `raise feeCap in its settings, which is ${gwei(feeCapRaw)} gwei`
    throw new SluiceError(
      'TRANSACTION_GAS_PRICE_TOO_LOW',
      `The tip would be ${gwei(tip)} gwei per gas and the network takes none below ${gwei(policy.networkMinTipRaw)} gwei: ${cure}.`,
    )
  }
  const byPolicy = max((baseFeeRaw * BigInt(Math.round(policy.baseFeeMultiplier * 1000))) / 1000n + tip, least?.maxFeeRaw ?? 0n)
  const maxFeeRaw = maxWish ?? min(byPolicy, feeCapRaw)
  return { maxFeeRaw, tipRaw: tip, gasPriceRaw: baseFeeRaw + min(tip, maxFeeRaw - baseFeeRaw) }
}

/** A transaction of type 0 pays what is the most of one of type 2. */
function asOnePrice({ maxFeePerGasRaw, maxPriorityFeePerGasRaw }: FeeWish): FeeWish {
  const priceRaw = maxFeePerGasRaw ?? maxPriorityFeePerGasRaw
  return priceRaw === undefined ? {} : { maxFeePerGasRaw: priceRaw, maxPriorityFeePerGasRaw: priceRaw }
}

/** Fees of a replacement: raised by at least so much, and never by nothing: 0 is replaced by 1. Rounded up. */
export function minReplacement(
  { maxFeePerGas, maxPriorityFeePerGas }: EvmFees,
  percent = defaultFeePolicy.minBumpPercent,
): { maxFeeRaw: bigint; tipRaw: bigint } {
  return { maxFeeRaw: raised(BigInt(maxFeePerGas), percent), tipRaw: raised(BigInt(maxPriorityFeePerGas), percent) }
}

function raised(feeRaw: bigint, percent: number): bigint {
  if (feeRaw === 0n) return 1n
  return (feeRaw * (100_000n + BigInt(Math.ceil(percent * 1000))) + 99_999n) / 100_000n
}

export function outbids(fees: EvmFees, over: EvmFees, percent = defaultFeePolicy.minBumpPercent): boolean {
  const least = minReplacement(over, percent)
  return BigInt(fees.maxFeePerGas) >= least.maxFeeRaw && BigInt(fees.maxPriorityFeePerGas) >= least.tipRaw
}

export function describeMinReplacement(over: EvmFees, percent = defaultFeePolicy.minBumpPercent): string {
  const { maxFeeRaw, tipRaw } = minReplacement(over, percent)
  return `maxFeePerGas ${gwei(maxFeeRaw)} and maxPriorityFeePerGas ${gwei(tipRaw)} (gwei)`
}

/** Fees for the journal and terms for the answer, of so much gas at that price and what a rollup charges on top. */
export function feesOf(
  gasLimit: bigint,
  { maxFeeRaw, tipRaw, gasPriceRaw }: FeePerGas,
  { legacy }: Pick<FeePolicy, 'legacy'> = defaultFeePolicy,
  charge?: Charge,
): { fees: EvmFees; gas: GasTerms } {
  return {
    fees: {
      gasLimit: String(gasLimit),
      maxFeePerGas: String(maxFeeRaw),
      maxPriorityFeePerGas: String(tipRaw),
      ...(legacy && { legacy }),
      ...(charge && { rollupFee: String(maxChargeRaw(charge, gasLimit)) }),
    },
    gas: { gasLimit, gasPriceRaw, gasCostRaw: gasLimit * gasPriceRaw + (charge ? chargeRaw(charge, gasLimit) : 0n) },
  }
}

/** The most wei that a transaction can take: its value, all of its gas, and what a rollup charges on top. */
export function costOf({ value }: EvmIntent, { gasLimit, maxFeePerGas, rollupFee = '0' }: EvmFees): bigint {
  return BigInt(value) + BigInt(gasLimit) * BigInt(maxFeePerGas) + BigInt(rollupFee)
}

function gwei(raw: bigint): string {
  return formatRaw(raw, 9)
}

export function max(...values: readonly bigint[]): bigint {
  return values.reduce((a, b) => (a > b ? a : b))
}

export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** Yellow paper, G_transaction. */
const transactionGas = 21_000n
/** https://eips.ethereum.org/EIPS/eip-2028. Where EIP-7623 holds, calldata costs more still. */
const zeroByteGas = 4n
const byteGas = 16n
/** What a router takes to find its function, look at the clock and revert: rounded down. */
const lateCallGas = 300n

/**
 * The price of another attempt in place of `over`: both fees raised by the policy's percentage, and at least what the policy
 * pays now. Cut to the cap; undefined where that leaves less than nodes take as a replacement.
 */
export function bumpedFeePerGas(over: EvmFees, { baseFeeRaw, tipRaw, policy, feeCapRaw }: FeeConditions): FeePerGas | undefined {
  const least = minReplacement(over, policy.minBumpPercent)
  if (least.maxFeeRaw > feeCapRaw) return undefined
  const wanted = minReplacement(over, Math.max(policy.bumpPercent, policy.minBumpPercent))
  const tip = max(wanted.tipRaw, tipRaw ?? 0n, policy.minTipRaw)
  const byPolicy = (baseFeeRaw * BigInt(Math.round(policy.baseFeeMultiplier * 1000))) / 1000n + tip
  const maxFeeRaw = min(max(wanted.maxFeeRaw, byPolicy), feeCapRaw)
  return priceAt(baseFeeRaw, maxFeeRaw, min(tip, maxFeeRaw))
}

export function bumpFees(over: EvmFees, prices: FeeConditions): EvmFees | undefined {
  const price = bumpedFeePerGas(over, prices)
  return price && { ...over, maxFeePerGas: String(price.maxFeeRaw), maxPriorityFeePerGas: String(price.tipRaw) }
}

/** Fees of another attempt as a caller wishes them. @throws the caller's error where they cannot be */
export function overrideFees(over: EvmFees, wish: FeeWish, prices: FeeConditions): EvmFees {
  checkFeeOverrides(wish, prices.feeCapRaw)
  const { maxFeeRaw, tipRaw } = computeFeePerGas(wish, over, prices)
  return { ...over, maxFeePerGas: String(maxFeeRaw), maxPriorityFeePerGas: String(tipRaw) }
}

/** What reverts for being late burns at least, against a transfer of nothing at the price that replaces it. */
export function cancelIsCheaper({ data }: EvmIntent, fees: EvmFees, prices: FeeConditions): boolean {
  const cancel = bumpedFeePerGas(fees, prices)
  if (!cancel) return false
  const late = priceAt(prices.baseFeeRaw, BigInt(fees.maxFeePerGas), BigInt(fees.maxPriorityFeePerGas))
  return transactionGas * cancel.gasPriceRaw < (transactionGas + calldataGas(data) + lateCallGas) * late.gasPriceRaw
}

/** One that pays less than the base fee waits until that has come down to what it pays. */
function priceAt(baseFeeRaw: bigint, maxFeeRaw: bigint, tipRaw: bigint): FeePerGas {
  return { maxFeeRaw, tipRaw, gasPriceRaw: min(maxFeeRaw, baseFeeRaw + tipRaw) }
}

function calldataGas(data: string): bigint {
  if (!isBytes(data)) return 0n
  const bytes = data.slice(2).match(/../g) ?? []
  const zeros = bytes.filter((byte) => byte === '00').length
  return BigInt(zeros) * zeroByteGas + BigInt(bytes.length - zeros) * byteGas
}
