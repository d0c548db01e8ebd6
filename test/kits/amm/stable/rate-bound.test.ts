import { expect } from 'chai'
import * as fc from 'fast-check'
import { amountIn, amountOut, precision, stablePoolState, type StablePoolState } from '../../../../kits/amm/stable/math.ts'
import { poolKinds } from '../../../../kits/amm/stable/pools.ts'
import { stableRateBound } from '../../../../kits/amm/stable/rate-bound.ts'

const fixed = (amplification: bigint) => ({ initial: amplification, future: amplification, initialTime: 0n, futureTime: 0n })
const coin = fc.record({
  decimals: fc.constantFrom(6, 8, 18),
  /** In 18 decimals: a part of the largest of the pool. */
  part: fc.integer({ min: 1, max: 1_000_000 }),
})
const aPool = fc
  .record({
    coins: fc.array(coin, { minLength: 2, maxLength: 4 }),
    largest: fc.integer({ min: 12, max: 30 }),
    kind: fc.constantFrom(...Object.values(poolKinds)),
    amplification: fc.bigInt(1n, 5_000n),
    fee: fc.constantFrom(0n, 1_000_000n, 4_000_000n, 100_000_000n),
  })
  .map(({ coins, largest, kind, amplification, fee }) => {
    const rates = coins.map(({ decimals }) => precision * 10n ** BigInt(18 - decimals))
    const balances = coins.map(({ decimals, part }) => (BigInt(part) * 10n ** BigInt(largest)) / 10n ** BigInt(18 - decimals + 6) + 1n)
    return stablePoolState({ balances, ramp: fixed(amplification * kind.aPrecision), fee, adminFee: 0n, rates, rounding: kind })
  })

/** Whether a swap keeps to the bound; undefined where there is no such swap. */
function keepsTo(state: StablePoolState, inRaw: bigint | undefined, outRaw: bigint | undefined): boolean | undefined {
  const bound = stableRateBound(state, 0, 1)
  if (!bound || inRaw === undefined || outRaw === undefined) return undefined
  return (outRaw - bound.offsetRaw) << 128n <= inRaw * bound.rateX128
}

describe('the bound of a StableSwap pool', () => {
  it('holds for every amount, exact in and out, however unbalanced the pool is', () => {
    let [held, bounded, pools] = [0, 0, 0]
    fc.assert(
      fc.property(aPool, fc.nat(100), fc.bigInt(1n, 2n ** 20n), fc.boolean(), (state, bits, low, isIn) => {
        fc.pre(state !== undefined)
        if (!state) return true
        pools += 1
        if (stableRateBound(state, 0, 1)) bounded += 1
        const asked = (2n ** BigInt(bits) * low) / 2n ** 20n + 1n
        const other = isIn ? amountOut(state, 0, 1, asked) : amountIn(state, 0, 1, asked)
        const keeps = isIn ? keepsTo(state, asked, other) : keepsTo(state, other, asked)
        if (keeps) held += 1
        return keeps !== false
      }),
      { numRuns: 20_000 },
    )
    expect(bounded / pools).to.be.above(0.9)
    expect(held).to.be.above(3_000)
  })

  it('is within a millionth of the price of a small amount', () => {
    const balances = [10n ** 24n, 12n * 10n ** 23n, 9n * 10n ** 11n]
    const rates = [precision, precision, precision * 10n ** 12n]
    const ramp = fixed(2_000n)
    const state = stablePoolState({ balances, ramp, fee: 4_000_000n, adminFee: 0n, rates, rounding: poolKinds.second })
    const bound = state && stableRateBound(state, 0, 1)
    const given = state && amountOut(state, 0, 1, 10n ** 17n)
    if (!bound || given === undefined) throw new Error('The pool is full.')
    const most = ((10n ** 17n * bound.rateX128) >> 128n) + bound.offsetRaw
    expect(Number(most - given) / Number(given)).to.be.within(0, 1e-6)
  })
})
