// The arithmetic of StableSwap pools: pure, in bigint, equal to the contracts of https://github.com/curvefi/curve-contract, contracts/pools, to
// the unit.

/** Rates and fees are fractions of these: `PRECISION` and `FEE_DENOMINATOR` of curve-contract. */
export const precision = 10n ** 18n
export const feeDenominator = 10n ** 10n

/** What a pool's views return. */
export interface StablePoolParameters {
  /** In the coins' smallest units. */
  readonly balances: readonly bigint[]
  readonly ramp: Ramp
  /** Of the output, in parts of `feeDenominator`. */
  readonly fee: bigint
  /** The part of the fee that leaves the pool, in the same parts. */
  readonly adminFee: bigint
  /** By which each coin's balance gets 18 decimals, times `precision`. */
  readonly rates: readonly bigint[]
  readonly rounding: Rounding
}

/** With the values that follow from the parameters at one time. */
export interface StablePoolState extends StablePoolParameters {
  /** Balances in 18 decimals. */
  readonly xp: readonly bigint[]
  /** Amplification times the number of coins. */
  readonly ann: bigint
  readonly d: bigint
}

/**
 * The state of a pool; undefined where it is empty or cannot swap.
 * @param timestamp of a block, while the amplification moves
 */
export function stablePoolState(parameters: StablePoolParameters, timestamp?: number): StablePoolState | undefined {
  const { balances, ramp, fee, adminFee, rates, rounding } = parameters
  const amplification = timestamp === undefined ? ramp.future : amplificationAt(ramp, timestamp)
  const xp = toXp(balances, rates)
  if (amplification <= 0n || xp.some((x) => x <= 0n)) return undefined
  const ann = amplification * BigInt(xp.length)
  const d = getD(xp, ann, rounding)
  return d === undefined ? undefined : { balances, ramp, fee, adminFee, rates, rounding, xp, ann, d }
}

const toXp = (balances: readonly bigint[], rates: readonly bigint[]): readonly bigint[] =>
  balances.map((balance, index) => (balance * (rates[index] ?? 0n)) / precision)

/**
 * The output of `exchange`, rounded down. The fee is taken before the amount gets the coin's decimals; the oldest pools' `get_dy` does it the
 * other way round and may promise one unit more. 0n where the input is too small for the pool, undefined where it is too large.
 */
export function amountOut(state: StablePoolState, from: number, to: number, amountInRaw: bigint): bigint | undefined {
  const gross = grossOut(state, from, to, amountInRaw)
  if (gross === undefined) return undefined
  return gross <= 0n ? 0n : ((gross - (gross * state.fee) / feeDenominator) * precision) / (state.rates[to] ?? 1n)
}

/** The output before the fee, in 18 decimals; 0n or less where the input is too small for the pool. */
function grossOut({ xp, rates, rounding, ann, d }: StablePoolState, from: number, to: number, amountInRaw: bigint): bigint | undefined {
  const [xIn = 0n, xOut = 0n, rateIn = 0n] = [xp[from], xp[to], rates[from]]
  if (amountInRaw * rateIn >= overflow) return undefined
  const y = getY(xp, { index: from, x: xIn + (amountInRaw * rateIn) / precision }, to, { ann, d, rounding })
  return y === undefined ? undefined : xOut - y - rounding.outputMargin
}

/**
 * The least input that gives at least this output. The contracts have no view for it: the invariant solved for the input gives an estimate, and
 * a search near the estimate finds the input. Undefined where no input gives so much.
 */
export function amountIn(state: StablePoolState, from: number, to: number, amountOutRaw: bigint): bigint | undefined {
  const estimateRaw = estimateIn(state, from, to, amountOutRaw)
  if (estimateRaw === undefined) return undefined
  const gives = (amountInRaw: bigint) => (amountOut(state, from, to, amountInRaw) ?? -1n) >= amountOutRaw
  // An input that is not enough and one that is, found from the estimate with steps that double.
  let [below, enough] = [estimateRaw, estimateRaw]
  let step = 1n
  if (gives(estimateRaw)) {
    do {
      enough = below
      below = below > step ? below - step : 0n
      step *= 2n
    } while (below > 0n && gives(below))
  } else {
    if (amountOut(state, from, to, estimateRaw) === undefined) return undefined
    do {
      below = enough
      enough += step
      step *= 2n
      // The numbers are too large for the contract, so no larger input gives more.
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

function estimateIn(state: StablePoolState, from: number, to: number, amountOutRaw: bigint): bigint | undefined {
  const { xp, rates, rounding, fee } = state
  const [xIn = 0n, xOut = 0n, rateIn = 1n, rateOut = 0n] = [xp[from], xp[to], rates[from], rates[to]]
  const net = (amountOutRaw * rateOut) / precision
  const gross = (net * feeDenominator + feeDenominator - fee - 1n) / (feeDenominator - fee)
  const y = xOut - gross - rounding.outputMargin
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

/**
 * A pool's balances after a logged swap: `exchange`. Undefined where its contract would have given another amount: then the pool changed in a way
 * that is unknown here, such as a donation of the admin's fees, which nothing logs, or a token that takes a fee on transfer.
 */
export function balancesAfterSwap(
  state: StablePoolState,
  { from, to, soldRaw, boughtRaw }: { readonly from: number; readonly to: number; readonly soldRaw: bigint; readonly boughtRaw: bigint },
): readonly bigint[] | undefined {
  const { balances, xp, rates, rounding, fee, adminFee } = state
  const [xOut, rateOut, heldOut] = [xp[to], rates[to], balances[to]]
  const gross = grossOut(state, from, to, soldRaw)
  if (gross === undefined || gross < 0n || xOut === undefined || rateOut === undefined || heldOut === undefined) return undefined
  const feeOut = (gross * fee) / feeDenominator
  const adminOut = (feeOut * adminFee) / feeDenominator
  if (((gross - feeOut) * precision) / rateOut !== boughtRaw) return undefined
  const balanceOutRaw = rounding.roundsRemainder
    ? ((xOut - gross + feeOut - adminOut) * precision) / rateOut
    : heldOut - boughtRaw - (adminOut * precision) / rateOut
  return balances.map((balance, index) => (index === from ? balance + soldRaw : index === to ? balanceOutRaw : balance))
}

/**
 * A pool's balances after a logged `add_liquidity` or `remove_liquidity_imbalance`; `deltas` are below 0 for removed coins. Undefined where the
 * logged invariant, which is from before the fees, is another.
 */
export function balancesAfterLiquidityChange(
  { balances, rates, ann, rounding, adminFee }: StablePoolState,
  { deltas, fees, invariant }: { readonly deltas: readonly bigint[]; readonly fees: readonly bigint[]; readonly invariant: bigint },
): readonly bigint[] | undefined {
  const before = balances.map((balance, index) => balance + (deltas[index] ?? 0n))
  const xp = toXp(before, rates)
  if (xp.some((x) => x <= 0n) || getD(xp, ann, rounding) !== invariant) return undefined
  return before.map((balance, index) => balance - ((fees[index] ?? 0n) * adminFee) / feeDenominator)
}

/**
 * The shares that `add_liquidity` mints in a block of this time, rounded down. The fee on what is out of ratio is taken off the balances that they
 * are counted by; `calc_token_amount` of the contracts leaves it out. The part of it that is the admin's changes the pool afterwards, and not the
 * shares. Undefined where the contract refuses the amounts.
 * @param supplyRaw of shares before
 */
export function sharesMinted(
  { balances, ramp, fee, rates, rounding }: StablePoolParameters,
  timestamp: number,
  amountsRaw: readonly bigint[],
  supplyRaw: bigint,
): bigint | undefined {
  const n = BigInt(balances.length)
  const ann = amplificationAt(ramp, timestamp) * n
  const invariant = (each: readonly bigint[]) => {
    const xp = toXp(each, rates)
    return ann <= 0n || xp.some((x) => x <= 0n) ? undefined : getD(xp, ann, rounding)
  }
  const after = balances.map((balance, index) => balance + (amountsRaw[index] ?? 0n))
  const d1 = invariant(after)
  if (supplyRaw === 0n) return amountsRaw.some((each) => each <= 0n) ? undefined : d1
  const d0 = invariant(balances)
  if (d0 === undefined || d1 === undefined || d1 <= d0) return undefined
  const feeOfExcess = (fee * n) / (4n * (n - 1n))
  const counted = after.map((balance, index) => {
    const ideal = (d1 * (balances[index] ?? 0n)) / d0
    const excess = ideal > balance ? ideal - balance : balance - ideal
    return balance - (feeOfExcess * excess) / feeDenominator
  })
  const d2 = invariant(counted)
  return d2 === undefined || d2 < d0 ? undefined : (supplyRaw * (d2 - d0)) / d0
}

/** How versions of the contract with the same invariant differ to the unit. */
export interface Rounding {
  /** The factor that scales the amplification. */
  readonly aPrecision: bigint
  /** Added to divisors, so that a pool without one of its coins does not divide by 0: 1n in the oldest version, otherwise 0n. */
  readonly divisorGuard: bigint
  /** Taken off the output before the fee: 1n in all but the oldest. */
  readonly outputMargin: bigint
  /** Whether the contract reverts where Newton's method does not converge, or takes the last value. */
  readonly mustConverge: boolean
  /** In a swap, whether the remaining balance gets the coin's decimals as a whole, or the output and the admin's fee separately. */
  readonly roundsRemainder: boolean
}

/** The rounds of the contracts' loops. */
const maxRounds = 255

/** The contracts revert where a number reaches this. */
const overflow = 2n ** 256n

/**
 * The invariant D, the sum of the balances if they were all equal, by Newton's method with the contracts' own rounding: `get_D`. Undefined where
 * the contract reverts: an overflow, or no convergence.
 * @param xp balances in 18 decimals, none of them 0
 * @param ann amplification times the number of coins, scaled by `aPrecision`
 */
export function getD(xp: readonly bigint[], ann: bigint, { aPrecision, divisorGuard, mustConverge }: Rounding): bigint | undefined {
  const n = BigInt(xp.length)
  const sum = xp.reduce((a, b) => a + b, 0n)
  let d = sum
  for (let round = 0; round < maxRounds; round += 1) {
    let product = d
    for (const x of xp) {
      if (product * d >= overflow) return undefined
      product = (product * d) / (x * n + divisorGuard)
    }
    const numerator = ((ann * sum) / aPrecision + product * n) * d
    if (numerator >= overflow) return undefined
    const before = d
    d = numerator / (((ann - aPrecision) * d) / aPrecision + (n + 1n) * product)
    if (isClose(d, before)) return d
  }
  return mustConverge ? undefined : d
}

/**
 * The balance of one coin that keeps the invariant when another coin's balance changes: `get_y`. Undefined where the contract reverts.
 * @param wanted the index of the first coin
 */
export function getY(
  xp: readonly bigint[],
  given: { readonly index: number; readonly x: bigint },
  wanted: number,
  { ann, d, rounding: { aPrecision, mustConverge } }: { readonly ann: bigint; readonly d: bigint; readonly rounding: Rounding },
): bigint | undefined {
  const n = BigInt(xp.length)
  let c = d
  let sum = 0n
  for (const [index, held] of xp.entries()) {
    if (index === wanted) continue
    const x = index === given.index ? given.x : held
    sum += x
    if (x <= 0n || c * d >= overflow) return undefined
    c = (c * d) / (x * n)
  }
  if (sum >= overflow || c * d * aPrecision >= overflow) return undefined
  c = (c * d * aPrecision) / (ann * n)
  const b = sum + (d * aPrecision) / ann
  let y = d
  for (let round = 0; round < maxRounds; round += 1) {
    const squared = y * y + c
    const divisor = 2n * y + b
    if (squared >= overflow || divisor >= overflow || divisor <= d) return undefined
    const before = y
    y = squared / (divisor - d)
    if (isClose(y, before)) return y
  }
  return mustConverge ? undefined : y
}

const isClose = (a: bigint, b: bigint) => (a > b ? a - b : b - a) <= 1n

/**
 * How a pool's amplification moves from one value to another: `initial_A`, `future_A` and their times, in seconds since the Unix epoch. Both
 * values and both times are equal where it does not move.
 */
export interface Ramp {
  readonly initial: bigint
  readonly future: bigint
  readonly initialTime: bigint
  readonly futureTime: bigint
}

/** The amplification in a block of this time: `_A`. */
export function amplificationAt({ initial, future, initialTime, futureTime }: Ramp, timestamp: number): bigint {
  const now = BigInt(timestamp)
  if (now >= futureTime) return future
  const [passed, all] = [now - initialTime, futureTime - initialTime]
  return future > initial ? initial + ((future - initial) * passed) / all : initial - ((initial - future) * passed) / all
}
