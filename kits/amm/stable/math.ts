/** Rates and fees are fractions of these: `PRECISION` and `FEE_DENOMINATOR` of curve-contract. */
export const precision = 10n ** 18n
export const feeDenominator = 10n ** 10n

/** What a pool says of itself. */
export interface StablePoolParameters {
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
export interface StablePoolState extends StablePoolParameters {
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
export function stablePoolState(terms: StablePoolParameters, timestamp?: number): StablePoolState | undefined {
  const { balances, ramp, fee, adminFee, rates, rounding } = terms
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
 * What `exchange` gives: the fee is kept before the amount is brought to the coin's decimals. The oldest pools' `get_dy`
 * does it the other way round and may promise a unit more. 0n where the pool would refuse so little, undefined where so much.
 */
export function amountOut(state: StablePoolState, from: number, to: number, amountInRaw: bigint): bigint | undefined {
  const gross = grossOut(state, from, to, amountInRaw)
  if (gross === undefined) return undefined
  return gross <= 0n ? 0n : ((gross - (gross * state.fee) / feeDenominator) * precision) / (state.rates[to] ?? 1n)
}

/** What comes out before the fee, in 18 decimals; 0n or less where the pool would refuse so little. */
function grossOut({ xp, rates, rounding, ann, d }: StablePoolState, from: number, to: number, amountInRaw: bigint): bigint | undefined {
  const [xIn = 0n, xOut = 0n, rateIn = 0n] = [xp[from], xp[to], rates[from]]
  if (amountInRaw * rateIn >= 2n ** 256n) return undefined
  const y = getY(xp, { index: from, x: xIn + (amountInRaw * rateIn) / precision }, to, { ann, d, rounding })
  return y === undefined ? undefined : xOut - y - rounding.outputMargin
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

// Of the pools' balances, to the unit: `exchange`, `add_liquidity` and `remove_liquidity_imbalance` of curve-contract, contracts/pools.

/**
 * What a pool has after a swap; undefined where its contract would have given another amount: then something became of it that is not
 * known here, such as a donation of the admin's, which nothing logs, or a token that takes a fee on transfer.
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
  const keptRaw = rounding.keepsWhole
    ? ((xOut - gross + feeOut - adminOut) * precision) / rateOut
    : heldOut - boughtRaw - (adminOut * precision) / rateOut
  return balances.map((balance, index) => (index === from ? balance + soldRaw : index === to ? keptRaw : balance))
}

/**
 * What a pool has after some of each coin was put in, or taken out (below zero), for which the logged fees are due; undefined where the
 * logged invariant, of before the fees, is another.
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

/** In what pools of the same invariant differ to the unit, from one version of their contract to the next. */
export interface Rounding {
  /** By how much the amplification is scaled up. */
  readonly aPrecision: bigint
  /** What is added to divisors, so that a pool without one of its coins can be reckoned with: 1n in the oldest. */
  readonly divisorGuard: bigint
  /** What is taken off the amount out before the fee: 1n in all but the oldest. */
  readonly outputMargin: bigint
  /** Whether a search that does not end is refused, or its last value taken. */
  readonly mustConverge: boolean
  /** Of a swap, whether what stays of the coin is brought to its decimals as a whole, or what goes out and the admin's share of the fee. */
  readonly keepsWhole: boolean
}

/** The contracts' loops end there. */
const mostRounds = 255

const limit = 2n ** 256n

/**
 * What the balances were worth if they were all alike, by Newton's method with the contracts' own rounding: `get_D` of
 * curve-contract, contracts/pools. Undefined where the contract reverts: an overflow, or no result.
 * @param xp balances in 18 decimals, none of them zero
 * @param ann amplification times the number of coins, scaled by `aPrecision`
 */
export function getD(
  xp: readonly bigint[],
  ann: bigint,
  { aPrecision, divisorGuard: guard, mustConverge: mustSettle }: Rounding,
): bigint | undefined {
  const n = BigInt(xp.length)
  const sum = xp.reduce((a, b) => a + b, 0n)
  let d = sum
  for (let round = 0; round < mostRounds; round += 1) {
    let product = d
    for (const x of xp) {
      if (product * d >= limit) return undefined
      product = (product * d) / (x * n + guard)
    }
    const raised = ((ann * sum) / aPrecision + product * n) * d
    if (raised >= limit) return undefined
    const before = d
    d = raised / (((ann - aPrecision) * d) / aPrecision + (n + 1n) * product)
    if (near(d, before)) return d
  }
  return mustSettle ? undefined : d
}

/**
 * What of one coin must lie beside that much of another, the rest being as they are: `get_y`. Undefined where the
 * contract reverts.
 */
export function getY(
  xp: readonly bigint[],
  given: { readonly index: number; readonly x: bigint },
  wanted: number,
  { ann, d, rounding: { aPrecision, mustConverge: mustSettle } }: { readonly ann: bigint; readonly d: bigint; readonly rounding: Rounding },
): bigint | undefined {
  const n = BigInt(xp.length)
  let c = d
  let sum = 0n
  for (const [index, held] of xp.entries()) {
    if (index === wanted) continue
    const x = index === given.index ? given.x : held
    sum += x
    if (x <= 0n || c * d >= limit) return undefined
    c = (c * d) / (x * n)
  }
  if (sum >= limit || c * d * aPrecision >= limit) return undefined
  c = (c * d * aPrecision) / (ann * n)
  const b = sum + (d * aPrecision) / ann
  let y = d
  for (let round = 0; round < mostRounds; round += 1) {
    const squared = y * y + c
    const divisor = 2n * y + b
    if (squared >= limit || divisor >= limit || divisor <= d) return undefined
    const before = y
    y = squared / (divisor - d)
    if (near(y, before)) return y
  }
  return mustSettle ? undefined : y
}

const near = (a: bigint, b: bigint) => (a > b ? a - b : b - a) <= 1n

/**
 * How a pool's amplification goes from one value to another: `initial_A`, `future_A` and their times, in seconds since the Unix epoch.
 * Where it does not move, both are the same and so are the times.
 */
export interface Ramp {
  readonly initial: bigint
  readonly future: bigint
  readonly initialTime: bigint
  readonly futureTime: bigint
}

/** `_A` of curve-contract, contracts/pools: what it is in a block of that time. */
export function amplificationAt({ initial, future, initialTime, futureTime }: Ramp, timestamp: number): bigint {
  const now = BigInt(timestamp)
  if (now >= futureTime) return future
  const [passed, all] = [now - initialTime, futureTime - initialTime]
  return future > initial ? initial + ((future - initial) * passed) / all : initial - ((initial - future) * passed) / all
}
