import { badFields, type FeeOverrides, type GasTerms, type Json, type PaidFees } from '../../core/contracts/index.ts'
import { MAX_COMPUTE_UNIT_LIMIT } from '@solana-program/compute-budget'
import type { SolanaFeePolicy } from './network.ts'
import { lamportsOf } from './outline.ts'
import { integerOf } from './rpc.ts'
import { tipRawOf, type SolanaTip } from './tips.ts'
import type { SolanaIntent } from './types.ts'
import { isObject } from '../../core/base/json.ts'

/** The compute units of a transaction and their price in micro-lamports, a decimal string. */
export type SolanaFees = {
  readonly computeUnits: number
  readonly price: string
  /** How many sign, where it is not the wallet alone. */
  readonly signatures?: number
  /** Of a private transaction: it is a fee that is not the network's. */
  readonly tip?: SolanaTip
}

/** Lamports for each signature: agave `fee-structure`, lamports_per_signature. */
export const baseFeeLamports = 5_000n
const microLamports = 1_000_000n

/**
 * Two transactions with the same message and blockhash would be the same transaction. So the lowest digits of the limit and the price make
 * each message unique, at almost no cost; a memo would cost thousands of compute units. They are free of what the transaction itself needs: else two that need
 * a little more and less would be one message at different times. The digits repeat after 2^22 milliseconds, which is 70 minutes. A blockhash lives for
 * one or two minutes.
 */
const limitDigits = 1 << 10
const priceDigits = 1 << 12

export interface ComputeBudget {
  units: number
  /** Micro-lamports per unit. */
  price: bigint
}

/** The compute budget for a sequence with that number. */
export function budgetOf({ computeUnits, price }: SolanaFees, number: number): ComputeBudget {
  return {
    units: computeUnits + (number % limitDigits),
    price: BigInt(price) + BigInt(Math.floor(number / limitDigits) % priceDigits),
  }
}

/** Lamports, rounded up as the runtime does: agave `compute-budget/src/compute_budget_limits.rs`, get_prioritization_fee. */
export function priorityFeeLamports({ units, price }: ComputeBudget): bigint {
  return (price * BigInt(Math.min(units, MAX_COMPUTE_UNIT_LIMIT)) + microLamports - 1n) / microLamports
}

/** The highest cost of a transaction in lamports, for any number: the value sent, the rent of new accounts, and the fees. */
export function costOf(step: Pick<SolanaIntent, 'instructions' | 'value' | 'rent'>, fees: SolanaFees): bigint {
  const { valueRaw, rentRaw } = lamportsOf(step)
  return valueRaw + rentRaw + maxFees(fees)
}

export function maxFees(fees: SolanaFees): bigint {
  const networkRaw = baseFeeLamports * BigInt(fees.signatures ?? 1) + priorityFeeLamports(budgetOf(fees, limitDigits * priceDigits - 1))
  return networkRaw + tipRawOf(fees.tip)
}

/** By its receipt, in lamports, with its tip: undefined of one of which only the status is known. */
export function paidFees(receipt: Json): PaidFees | undefined {
  const { fee, tip = '0' } = isObject(receipt) ? receipt : {}
  return isLamports(fee) && isLamports(tip) ? { feeRaw: BigInt(fee) + BigInt(tip) } : undefined
}

const isLamports = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value)

/** The highest limit without digits, which leaves room for them: 1,398,784. */
const maxUnits = Math.floor(MAX_COMPUTE_UNIT_LIMIT / limitDigits - 1) * limitDigits

/**
 * The limit for a simulated consumption: 50 % more, since state may change, and a margin for the instruction of a durable nonce. Rounded up, to have place
 * for the digits.
 */
export function computeUnitsFor(consumed: number): number {
  return Math.min(Math.ceil((consumed * 1.5 + 1_000) / limitDigits) * limitDigits, maxUnits)
}

export interface FeeLimits {
  policy: Required<SolanaFeePolicy>
  /** The highest priority fee, in lamports. */
  feeCapRaw: bigint
}

/** Fees by what recent transactions paid that write the same accounts. Never above the cap. */
export function priceFees(computeUnits: number, recent: readonly bigint[], { policy, feeCapRaw }: FeeLimits): SolanaFees {
  const sorted = recent.toSorted((a, b) => Number(a - b))
  const paid = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * policy.percentile) / 100))] ?? 0n
  const minPrice = BigInt(policy.minPrice)
  const maxPrice = (feeCapRaw * microLamports) / BigInt(computeUnits + limitDigits) - BigInt(priceDigits)
  const offered = paid > minPrice ? paid : minPrice
  const price = offered < maxPrice ? offered : maxPrice
  // Rounded to have place for the digits: up, unless the cap is below.
  const rounded = price > 0n ? price - (price % BigInt(priceDigits)) : 0n
  const next = rounded + BigInt(priceDigits)
  return { computeUnits, price: String(rounded < offered && next <= maxPrice ? next : rounded) }
}

/** Reads the micro-lamports per unit from `getRecentPrioritizationFees`. Undefined where it is no such list. */
export function readRecentFees(result: unknown): readonly bigint[] | undefined {
  if (!Array.isArray(result)) return undefined
  const fees = result.map((each: unknown) => (isObject(each) ? integerOf(each['prioritizationFee']) : undefined))
  return fees.every((each) => each !== undefined) ? fees : undefined
}

/** For answers: the price of a unit in micro-lamports, and the highest total fee with that of the signature and the tip. Never below what is paid. */
export function gasOf(fees: SolanaFees): GasTerms {
  const { tip } = fees
  return {
    gasLimit: BigInt(fees.computeUnits),
    gasPriceRaw: BigInt(fees.price),
    gasPriceDecimals: 6,
    gasCostRaw: maxFees(fees),
    ...(tip && { tipRaw: tipRawOf(tip) }),
  }
}

/** Refuses fees per gas, which only EVM chains have. @throws SluiceError INCOMPLETE_PARAMS */
export function refuseFeeOverrides(overrides: FeeOverrides): void {
  if (overrides.maxFeePerGasRaw === undefined && overrides.maxPriorityFeePerGasRaw === undefined) return
  const field = overrides.maxFeePerGasRaw === undefined ? 'maxPriorityFeePerGas' : 'maxFeePerGas'
  throw badFields([{ field, problem: 'is for EVM chains: leave it out, the priority fee follows feePolicy in conf/chains' }])
}
