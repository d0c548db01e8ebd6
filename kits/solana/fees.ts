import { badFields, type FeeWish, type GasTerms } from '../../core/contracts/index.ts'
import { MAX_COMPUTE_UNIT_LIMIT } from '@solana-program/compute-budget'
import type { SolanaFeePolicy } from './network.ts'
import { integerOf } from './rpc.ts'
import type { SolanaIntent } from './types.ts'
import { isObject } from '../../core/json.ts'

/** What a transaction asks for: compute units, and micro-lamports for each, a decimal string. */
export type SolanaFees = { readonly computeUnits: number; readonly price: string }

/** Lamports for each signature, whatever is done: agave `fee-structure`, lamports_per_signature. We sign once. */
export const baseFeeLamports = 5_000n
const microLamports = 1_000_000n

/**
 * A message is told from an otherwise equal one by the lowest digits of its limit and its price, which cost next to nothing: two
 * transactions of one message and one blockhash would be one and the same. A memo would say as much for thousands of compute units.
 * Milliseconds are the same again after 2^22 of them, 70 minutes; a blockhash lives for one or two.
 */
const limitDigits = 1 << 10
const priceDigits = 1 << 12

export interface ComputeBudget {
  units: number
  /** Micro-lamports per unit. */
  price: bigint
}

/** What is signed for a slot of that number. */
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

/** The most lamports that a transaction can take: what it sends, what new accounts keep, and its fees, whatever its number is. */
export function costOf({ value, rent }: Pick<SolanaIntent, 'value' | 'rent'>, fees: SolanaFees): bigint {
  return BigInt(value) + BigInt(rent) + maxFees(fees)
}

export function maxFees(fees: SolanaFees): bigint {
  return baseFeeLamports + priorityFeeLamports(budgetOf(fees, limitDigits * priceDigits - 1))
}

/** What is used in a simulation may be more a moment later: half again, and what the instruction of a durable nonce takes. */
export function computeUnitsFor(consumed: number): number {
  return Math.min(Math.ceil(consumed * 1.5) + 1_000, MAX_COMPUTE_UNIT_LIMIT - limitDigits)
}

export interface FeeLimits {
  policy: Required<SolanaFeePolicy>
  /** The most lamports for priority. */
  feeCapRaw: bigint
}

/** Fees for so many units, by what transactions paid lately that write the same accounts; never above the cap. */
export function priceFees(computeUnits: number, recent: readonly bigint[], { policy, feeCapRaw }: FeeLimits): SolanaFees {
  const sorted = recent.toSorted((a, b) => Number(a - b))
  const paid = sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * policy.percentile) / 100))] ?? 0n
  const least = BigInt(policy.minPrice)
  const most = (feeCapRaw * microLamports) / BigInt(computeUnits + limitDigits) - BigInt(priceDigits)
  const wanted = paid > least ? paid : least
  const price = wanted < most ? wanted : most
  return { computeUnits, price: String(price > 0n ? price : 0n) }
}

/** Micro-lamports per unit of what `getRecentPrioritizationFees` gave; undefined where it is no such list. */
export function readRecentFees(result: unknown): readonly bigint[] | undefined {
  if (!Array.isArray(result)) return undefined
  const fees = result.map((each: unknown) => (isObject(each) ? integerOf(each['prioritizationFee']) : undefined))
  return fees.every((each) => each !== undefined) ? fees : undefined
}

/** For the answer: the price of a unit in micro-lamports, and with the signature's what all of it costs, whatever its number is: never less than is paid. */
export function gasOf(fees: SolanaFees): GasTerms {
  return { gasLimit: BigInt(fees.computeUnits), gasPriceRaw: BigInt(fees.price), gasPriceDecimals: 6, gasCostRaw: maxFees(fees) }
}

/** Fees per gas are the other family's. @throws SluiceError INCOMPLETE_PARAMS */
export function refuseFeeOverrides(wish: FeeWish): void {
  if (wish.maxFeePerGasRaw === undefined && wish.maxPriorityFeePerGasRaw === undefined) return
  const field = wish.maxFeePerGasRaw === undefined ? 'maxPriorityFeePerGas' : 'maxFeePerGas'
  throw badFields([{ field, problem: 'is of EVM chains: leave it out, the priority fee follows feePolicy in conf/chains' }])
}
