/** In what pools of the same invariant differ to the unit, from one version of their contract to the next. */
export interface Rounding {
  /** By how much the amplification is scaled up. */
  readonly aPrecision: bigint
  /** What is added to divisors, so that a pool without one of its coins can be reckoned with: 1n in the oldest. */
  readonly guard: bigint
  /** What is taken off the amount out before the fee: 1n in all but the oldest. */
  readonly shy: bigint
  /** Whether a search that does not end is refused, or its last value taken. */
  readonly mustSettle: boolean
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
export function getD(xp: readonly bigint[], ann: bigint, { aPrecision, guard, mustSettle }: Rounding): bigint | undefined {
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
  { ann, d, rounding: { aPrecision, mustSettle } }: { readonly ann: bigint; readonly d: bigint; readonly rounding: Rounding },
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
