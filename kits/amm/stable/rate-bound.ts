// What no amount through a StableSwap pool does better than. Its contracts solve for a balance by Newton's method in whole units, which may end a
// little below the true balance and so give a little more than the invariant: the bound has a rate and an offset.
//
// Why it holds. With x and y the balances of the two coins in 18 decimals and everything else fixed, the invariant that `getY` solves is
// x × y × (x + y + β) = K, where β = (other balances) + D × aP / ann - D and K = D^(n+1) × aP / (n^n × ann × product of the other balances).
// 1. y(x) is convex: ln x + ln y + ln(x + y + β) is concave, and its level sets bound convex sets. So y(x) ≥ y(x₀) - s × (x - x₀) with s = -y'(x₀)
//    = y (2x + y + β) / (x (x + 2y + β)) at the balances as they are.
// 2. y(x₀) is between `low` and `high`: the left side of the invariant is at most K at `low` and at least K at `high`, which is computed exactly.
// 3. `getY` ends above Y - 1, where Y is the root with its own, cut off b and c: a step of Newton's method never goes below the root of a parabola,
//    and it is cut off by less than 1. A smaller b only makes Y larger. Each of the n divisions of c loses less than one unit of its result v, so c is
//    at least its true value × (1 - ρ) with ρ the sum of 1 / (v + 1). The parabolas of both differ by c × ρ at most, and y + b - D is
//    c / y at the root: so Y ≥ y(x) × (1 - ρ), and y(x) is at most high.
// 4. So xOut - getY(x) ≤ (xOut - low) + s × (x - x₀) + high × ρ + 1. The v are smallest where x is largest. Beyond the x at which
//    s × (x - x₀) is xOut nothing is left to prove: no more than xOut comes out.
// 5. The fee is cut off by less than 1, and so is the output, in favour of the pool. An exact output takes the input that gives at least that much.
import type { RateBound } from '../../pools/protocol.ts'
import { feeDenominator, getY, precision, type StablePoolState } from './math.ts'

/** By state, which stays the same until the pool changes. */
const known = new WeakMap<StablePoolState, Map<string, RateBound | undefined>>()

/** Undefined where nothing is proven, as of pools that are nearly empty. */
export function stableRateBound(state: StablePoolState, from: number, to: number): RateBound | undefined {
  const ofState = known.get(state) ?? new Map<string, RateBound | undefined>()
  known.set(state, ofState)
  const key = `${from} ${to}`
  if (!ofState.has(key)) ofState.set(key, rateBoundOf(state, from, to))
  return ofState.get(key)
}

/** How far from the balance that it has a coin's balance may be by the invariant, in units of 18 decimals. */
const margins = [4n, 1_000n, 1_000_000n]

function rateBoundOf(state: StablePoolState, from: number, to: number): RateBound | undefined {
  const { xp, rates, fee, ann, d, rounding } = state
  const [x, xOut, rateIn, rateOut] = [xp[from], xp[to], rates[from], rates[to]]
  const y = x === undefined ? undefined : getY(xp, { index: from, x }, to, state)
  if (x === undefined || xOut === undefined || y === undefined || !rateIn || !rateOut || fee >= feeDenominator) return undefined
  const { aPrecision } = rounding
  const others = xp.filter((_, index) => index !== from && index !== to)
  // Times ann: β has it as its divisor.
  const betaTimesAnn = others.reduce((sum, each) => sum + each, 0n) * ann + d * aPrecision - d * ann
  const n = BigInt(xp.length)
  // x × y × (x + y + β) × ann against K × ann, both times the product of the other balances and n^n.
  const scale = others.reduce((product, each) => product * each, n ** n)
  const right = d ** (n + 1n) * aPrecision
  const left = (at: bigint) => x * at * ((x + at) * ann + betaTimesAnn) * scale
  const margin = margins.find((each) => y > each && left(y - each) <= right && left(y + each) >= right)
  if (margin === undefined) return undefined
  const [low, high] = [y - margin, y + margin]

  const slopeIn = high * ((2n * x + high) * ann + betaTimesAnn)
  const slopeOut = x * ((x + 2n * low) * ann + betaTimesAnn)
  if (slopeIn <= 0n || slopeOut <= 0n) return undefined
  const lost = lostInDivisions(state, from, to, x + (xOut * slopeOut) / slopeIn + 1n)
  if (lost === undefined) return undefined
  const beyondRaw = (xOut > low ? xOut - low : 0n) + divideUp(high * lost.numerator, lost.denominator) + 2n
  const kept = feeDenominator - fee
  return {
    rateX128: divideUp((slopeIn * rateIn * kept) << 128n, slopeOut * rateOut * feeDenominator),
    offsetRaw: divideUp(beyondRaw * precision, rateOut),
  }
}

interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** ρ where the coin that goes in has this balance, rounded up; undefined where it says nothing. */
function lostInDivisions({ xp, ann, d, rounding }: StablePoolState, from: number, to: number, largestX: bigint): Fraction | undefined {
  const n = BigInt(xp.length)
  const denominator = 10n ** 36n
  let [c, numerator] = [d, 0n]
  const divided = (value: bigint) => {
    c = value
    numerator += denominator / (c + 1n) + 1n
  }
  for (const [index, held] of xp.entries()) if (index !== to) divided((c * d) / ((index === from ? largestX : held) * n))
  divided((c * d * rounding.aPrecision) / (ann * n))
  return numerator < denominator ? { numerator, denominator } : undefined
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
