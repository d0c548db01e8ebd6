// The arithmetic of weighted pools: pure, in bigint, equal to the contracts to the unit.

// LogExpMath of npm @balancer-labs/v2-solidity-utils 4.0.0 (contracts/math/LogExpMath.sol), step by step. Every division cuts off where the
// contract's does: only the same order of roundings gives the same last digit.
/** 1 with 18 decimals. */
export const one = 10n ** 18n
const one20 = 10n ** 20n
const one36 = 10n ** 36n

// x_n = 2^(7-n) and a_n = e^(x_n). The first two have 18 decimals and none, because they are large; the others have 20.
const largest = [
  { x: 128n * one, a: 38877084059945950922200000000000000000000000000000000000n },
  { x: 64n * one, a: 6235149080811616882910000000n },
] as const
const steps = [
  { x: 3200000000000000000000n, a: 7896296018268069516100000000000000n },
  { x: 1600000000000000000000n, a: 888611052050787263676000000n },
  { x: 800000000000000000000n, a: 298095798704172827474000n },
  { x: 400000000000000000000n, a: 5459815003314423907810n },
  { x: 200000000000000000000n, a: 738905609893065022723n },
  { x: 100000000000000000000n, a: 271828182845904523536n },
  { x: 50000000000000000000n, a: 164872127070012814685n },
  { x: 25000000000000000000n, a: 128402541668774148407n },
  { x: 12500000000000000000n, a: 113314845306682631683n },
  { x: 6250000000000000000n, a: 106449445891785942956n },
] as const
// The series of the exponential covers the last two.
const stepsOfExp = steps.slice(0, 8)
const termsOfExp = 12n

// Between these bounds the logarithm has 36 decimals.
const [nearOneFrom, nearOneTo] = [one - 10n ** 17n, one + 10n ** 17n]

/** x^y, all with 18 decimals; x is not 0. The caller has to keep the contract's bounds on the result, e^-41 and e^130. */
function pow(x: bigint, y: bigint): bigint {
  if (y === 0n) return one
  if (nearOneFrom < x && x < nearOneTo) {
    const lnX36 = lnNearOne(x)
    return exp(((lnX36 / one) * y + ((lnX36 % one) * y) / one) / one)
  }
  return exp((ln(x) * y) / one)
}

function exp(power: bigint): bigint {
  if (power < 0n) return (one * one) / exp(-power)
  let x = power
  let first = 1n
  const large = largest.find((each) => x >= each.x)
  if (large) {
    x -= large.x
    first = large.a
  }
  x *= 100n

  let product = one20
  for (const step of stepsOfExp) {
    if (x < step.x) continue
    x -= step.x
    product = (product * step.a) / one20
  }
  let term = x
  let sum = one20 + term
  for (let n = 2n; n <= termsOfExp; n += 1n) {
    term = (term * x) / one20 / n
    sum += term
  }
  return (((product * sum) / one20) * first) / 100n
}

function ln(value: bigint): bigint {
  if (value < one) return -ln((one * one) / value)
  let a = value
  let sum = 0n
  for (const large of largest) {
    if (a < large.a * one) continue
    a /= large.a
    sum += large.x
  }
  sum *= 100n
  a *= 100n
  for (const step of steps) {
    if (a < step.a) continue
    a = (a * one20) / step.a
    sum += step.x
  }
  return (sum + 2n * areaTangent(a, one20, 11n)) / 100n
}

/** The logarithm with 36 decimals. */
function lnNearOne(x: bigint): bigint {
  return 2n * areaTangent(x * one, one36, 15n)
}

/** Half the logarithm of `a`, by the series of artanh((a-1)/(a+1)) up to the last power; all in units of `unit`. */
function areaTangent(a: bigint, unit: bigint, lastPower: bigint): bigint {
  const z = ((a - unit) * unit) / (a + unit)
  const square = (z * z) / unit
  let power = z
  let sum = z
  for (let n = 3n; n <= lastPower; n += 2n) {
    power = (power * square) / unit
    sum += power / n
  }
  return sum
}

// FixedPoint of npm @balancer-labs/v2-solidity-utils 4.0.0 (contracts/math/FixedPoint.sol): numbers with 18 decimals.

export const divideUp = (a: bigint, b: bigint): bigint => (a === 0n ? 0n : (a - 1n) / b + 1n)
const mulDown = (a: bigint, b: bigint): bigint => (a * b) / one
export const mulUp = (a: bigint, b: bigint): bigint => divideUp(a * b, one)
const divDown = (a: bigint, b: bigint): bigint => (a * one) / b
export const divUp = (a: bigint, b: bigint): bigint => divideUp(a * one, b)
/** 1 - x, at least 0. */
export const complement = (x: bigint): bigint => (x < one ? one - x : 0n)

// MAX_POW_RELATIVE_ERROR: 10^-14.
const powError = 10_000n

/**
 * x^y plus the error that the power may have.
 * @param squares powers of 1, 2 and 4 are multiplied out, without the error, as pools do since the second version
 */
function powUp(x: bigint, y: bigint, squares: boolean): bigint {
  if (squares && y === one) return x
  if (squares && y === 2n * one) return mulUp(x, x)
  if (squares && y === 4n * one) {
    const square = mulUp(x, x)
    return mulUp(square, square)
  }
  const raw = pow(x, y)
  return raw + mulUp(raw, powError) + 1n
}

// WeightedMath of npm @balancer-labs/v2-pool-weighted 2.0.1 (contracts/WeightedMath.sol).

/** One side of a swap, with 18 decimals. */
export interface Side {
  readonly balance: bigint
  /** At least 0.01; the weights of all tokens together are 1. */
  readonly weight: bigint
}

/** _MAX_IN_RATIO and _MAX_OUT_RATIO: 30 % of the pool's balance. */
const maxRatio = (3n * one) / 10n

const maxOf = ({ balance }: Side): bigint => mulDown(balance, maxRatio)

// Neither function meets the bounds of a power: by the ratios above, and because no weight is more than 99 times another, the base is between
// 1/1.3 and 1/0.7, and the result between e^-26 and e^36.

/** The output, rounded down: `_calcOutGivenIn`. Undefined where the input is too large for the pool. */
export function outGivenIn(into: Side, outOf: Side, amountIn: bigint, squares: boolean): bigint | undefined {
  if (amountIn > maxOf(into)) return undefined
  const base = divUp(into.balance, into.balance + amountIn)
  return mulDown(outOf.balance, complement(powUp(base, divDown(into.weight, outOf.weight), squares)))
}

/** The input, rounded up: `_calcInGivenOut`. Undefined where the output is too large for the pool. */
export function inGivenOut(into: Side, outOf: Side, amountOut: bigint, squares: boolean): bigint | undefined {
  if (amountOut > maxOf(outOf)) return undefined
  const base = divUp(outOf.balance, outOf.balance - amountOut)
  return mulUp(into.balance, powUp(base, divUp(outOf.weight, into.weight), squares) - one)
}

/** MIN_POW_BASE_FREE_EXPONENT of FixedPoint. */
const leastBase = (7n * one) / 10n

/**
 * What the protocol is due of a token's balance for the growth of the invariant since the last change of liquidity, rounded down:
 * `_calcDueTokenProtocolSwapFeeAmount`. All with 18 decimals.
 */
export function dueProtocolFee(
  { balance, weight }: Side,
  {
    invariant,
    lastInvariant,
    feePercentage,
  }: { readonly invariant: bigint; readonly lastInvariant: bigint; readonly feePercentage: bigint },
): bigint {
  if (feePercentage === 0n || invariant <= lastInvariant) return 0n
  const base = divUp(lastInvariant, invariant)
  const power = powUp(base > leastBase ? base : leastBase, divDown(one, weight), false)
  return mulDown(mulDown(balance, complement(power)), feePercentage)
}
