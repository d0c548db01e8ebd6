import { getD, getY, type Rounding } from '../../../core/kits/stable/math/invariant.ts'
import { amplificationAt, type Ramp } from '../../../core/kits/stable/math/ramp.ts'

/** Rates and fees are fractions of these: `PRECISION` and `FEE_DENOMINATOR` of curve-contract. */
export const precision = 10n ** 18n
export const feeDenominator = 10n ** 10n

/** What a pool says of itself. */
export interface StableTerms {
  /** In the coins' smallest units. */
  readonly balances: readonly bigint[]
  readonly ramp: Ramp
  /** Of what comes out, in parts of `feeDenominator`. */
  readonly fee: bigint
  /** Of the fee, in the same parts: what leaves the pool with it. */
  readonly adminFee: bigint
  /** What brings each coin's balance to 18 decimals, times `precision`. */
  readonly rates: readonly bigint[]
  readonly rounding: Rounding
}

/** With what follows from it, for a time. */
export interface StablePoolState extends StableTerms {
  /** Balances in 18 decimals. */
  readonly xp: readonly bigint[]
  /** Amplification times the number of coins. */
  readonly ann: bigint
  readonly d: bigint
}

/**
 * As soon as the amplification has come to rest, and by the time of a block until then; undefined where the pool is empty or can do
 * nothing.
 */
export function stablePoolState(terms: StableTerms, timestamp?: number): StablePoolState | undefined {
  const { balances, ramp, fee, adminFee, rates, rounding } = terms
  const amplification = timestamp === undefined ? ramp.future : amplificationAt(ramp, timestamp)
  const xp = toXp(balances, rates)
  if (amplification <= 0n || xp.some((x) => x <= 0n)) return undefined
  const ann = amplification * BigInt(xp.length)
  const d = getD(xp, ann, rounding)
  return d === undefined ? undefined : { balances, ramp, fee, adminFee, rates, rounding, xp, ann, d }
}

export const toXp = (balances: readonly bigint[], rates: readonly bigint[]): readonly bigint[] =>
  balances.map((balance, index) => (balance * (rates[index] ?? 0n)) / precision)

/**
 * What `exchange` gives: the fee is kept before the amount is brought to the coin's decimals. The oldest pools' `get_dy`
 * does it the other way round and may promise a unit more. 0n where the pool would refuse so little, undefined where so much.
 */
export function amountOut(state: StablePoolState, from: number, to: number, amountInRaw: bigint): bigint | undefined {
  const gross = grossOut(state, from, to, amountInRaw)
  if (gross === undefined) return undefined
  return gross <= 0n ? 0n : ((gross - (gross * state.fee) / feeDenominator) * precision) / (state.rates[to] ?? 1n)
}

/** What comes out before the fee, in 18 decimals; 0n or less where the pool would refuse so little. */
export function grossOut(
  { xp, rates, rounding, ann, d }: StablePoolState,
  from: number,
  to: number,
  amountInRaw: bigint,
): bigint | undefined {
  const [xIn = 0n, xOut = 0n, rateIn = 0n] = [xp[from], xp[to], rates[from]]
  if (amountInRaw * rateIn >= 2n ** 256n) return undefined
  const y = getY(xp, { index: from, x: xIn + (amountInRaw * rateIn) / precision }, to, { ann, d, rounding })
  return y === undefined ? undefined : xOut - y - rounding.shy
}

/**
 * The least that gives that much or more. The contracts cannot be asked for it: it is estimated by their invariant the other
 * way round, and found about there by what they give. Undefined where nothing gives so much.
 */
export function amountIn(state: StablePoolState, from: number, to: number, amountOutRaw: bigint): bigint | undefined {
  const near = estimate(state, from, to, amountOutRaw)
  if (near === undefined) return undefined
  const gives = (amountInRaw: bigint) => (amountOut(state, from, to, amountInRaw) ?? -1n) >= amountOutRaw
  // Not enough, and enough: as near to the estimate as they are found with steps that double.
  let [below, enough] = [near, near]
  let step = 1n
  if (gives(near)) {
    do {
      enough = below
      below = below > step ? below - step : 0n
      step *= 2n
    } while (below > 0n && gives(below))
  } else {
    const first = amountOut(state, from, to, near)
    if (first === undefined) return undefined
    do {
      below = enough
      enough += step
      step *= 2n
      // More in is refused where the numbers become too large, and gives nothing more.
      if (amountOut(state, from, to, enough) === undefined) return undefined
    } while (!gives(enough))
  }
  while (enough - below > 1n) {
    const middle = (below + enough) / 2n
    if (gives(middle)) enough = middle
    else below = middle
  }
  return enough
}

function estimate(state: StablePoolState, from: number, to: number, amountOutRaw: bigint): bigint | undefined {
  const { xp, rates, rounding, fee } = state
  const [xIn = 0n, xOut = 0n, rateIn = 1n, rateOut = 0n] = [xp[from], xp[to], rates[from], rates[to]]
  const net = (amountOutRaw * rateOut) / precision
  const gross = (net * feeDenominator + feeDenominator - fee - 1n) / (feeDenominator - fee)
  const y = xOut - gross - rounding.shy
  if (y <= 0n) return undefined
  const x = getY(xp, { index: to, x: y }, from, state)
  if (x === undefined) return undefined
  return x > xIn ? ((x - xIn) * precision + rateIn - 1n) / rateIn : 0n
}

/** The marginal price without fees, in smallest units: the invariant's partial derivatives. */
export function spotPrice({ xp, rates, ann, d, rounding }: StablePoolState, from: number, to: number) {
  const n = BigInt(xp.length)
  const [xIn = 1n, xOut = 1n, rateIn = 1n, rateOut = 1n] = [xp[from], xp[to], rates[from], rates[to]]
  const product = xp.reduce((before, x) => (before * d) / (x * n), d)
  const slope = (x: bigint) => (ann * x) / rounding.aPrecision + product
  return { numerator: slope(xIn) * xOut * rateIn, denominator: slope(xOut) * xIn * rateOut }
}
