import { refuse, type Clock } from '../swap-quote.ts'
import type { DammPool, DynamicFee, FeeSchedule } from './accounts.ts'

/** Fees are in 1e-9. */
export const whole = 1_000_000_000n

/** The fee that holds now, base and dynamic, never above the pool's limit. Source: feeMath.ts, getTotalFeeNumerator. */
export function feeNow(pool: DammPool, clock: Clock): bigint {
  const known = lastFees.get(pool)
  if (known?.clock === clock) return known.fee
  const fee = computeFee(pool, clock)
  lastFees.set(pool, { clock, fee })
  return fee
}

/** By pool: of one moment there are many quotes. */
const lastFees = new WeakMap<DammPool, { readonly clock: Clock; readonly fee: bigint }>()

function computeFee({ schedule, dynamicFee, activation, maxFee }: DammPool, clock: Clock): bigint {
  if (!schedule) refuse('unknown-fees')
  const point = activation.by === 'slot' ? clock.slot : clock.unixTime
  const fee = baseFee(schedule, point - activation.point) + (dynamicFee ? volatilityFee(dynamicFee) : 0n)
  return fee < maxFee ? fee : maxFee
}

/** Source: poolFees/baseFee/feeTimeScheduler.ts and feeScheduler.ts. */
function baseFee({ cliff, kind, periods, periodLength, reduction }: FeeSchedule, passed: bigint): bigint {
  if (periodLength === 0n) return cliff
  const period = passed / periodLength
  const count = passed < 0n || period > BigInt(periods) ? BigInt(periods) : period
  if (kind === 'linear') {
    const fee = cliff - count * reduction
    return fee >= 0n ? fee : refuse('overflow')
  }
  const kept = one - (reduction << 64n) / 10_000n
  return count === 0n ? cliff : (cliff * power(kept, count)) >> 64n
}

const one = 1n << 64n
const largest = 2n ** 128n - 1n
/** Exponents have so many bits. */
const exponentBits = 19n

/**
 * A Q64.64 to a whole power, rounded down after each product as the program's: utilsMath.ts, pow. From 1 on, the reciprocal is raised, and turned
 * again at the end.
 */
function power(base: bigint, exponent: bigint): bigint {
  if (exponent === 0n) return one
  if (base < 0n || exponent > 1n << exponentBits) return refuse('overflow')
  const isInverted = base >= one
  let square = isInverted ? largest / base : base
  let result = one
  for (let bit = 0n; bit < exponentBits; bit += 1n) {
    if (((exponent >> bit) & 1n) === 1n) result = (result * square) >> 64n
    square = (square * square) >> 64n
  }
  if (result === 0n) return 0n
  return isInverted ? largest / result : result
}

/** By how far the price has moved lately, as it was after the last swap; rounded up. Source: poolFees/dynamicFee.ts. */
const volatilityFee = ({ volatility, binStep, control }: DynamicFee): bigint =>
  (control * (volatility * binStep) ** 2n + 99_999_999_999n) / 100_000_000_000n
