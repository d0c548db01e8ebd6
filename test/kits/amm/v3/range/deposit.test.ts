import { expect } from 'chai'
import fc from 'fast-check'
import type { RangeAmounts } from '../../../../../core/contracts/index.ts'
import { getSqrtRatioAtTick } from '../../../../../kits/amm/v3/math.ts'
import { deposit, endsOf, offerOf } from '../../../../../kits/amm/v3/range-amounts.ts'
import { spanAround, rangeOf } from '../../../../../kits/amm/v3/range-prices.ts'
import { amount, expectWorstAtEnds, place, placeAt, poolAt, slippage, within } from './places.ts'

/** Where one more unit of a token would be more liquidity than a tick can hold. */
const asMuchAsAPoolTakes: [ReturnType<typeof placeAt>, bigint, bigint, { numerator: bigint; denominator: bigint }, bigint] = [
  placeAt(1255142181149666682194375386329509445651206787n, 746066, 734200, 751790),
  30123427387950320n,
  2n ** 255n,
  { numerator: 1n, denominator: 10n ** 14n },
  1n,
]

describe('a deposit', () => {
  it('never takes more than the offer, and makes the most liquidity of it', () => {
    fc.assert(
      fc.property(place, amount, amount, ({ pool, range }, amount0Raw, amount1Raw) => {
        const made = deposit(pool, range, { amount0Raw, amount1Raw })
        expect(made.amount0Raw <= amount0Raw && made.amount1Raw <= amount1Raw).to.equal(true)
        expect(made.liquidity < 2n ** 128n).to.equal(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('takes one token only where the price is outside of the range', () => {
    const [below, above] = [poolAt(getSqrtRatioAtTick(-100), -100), poolAt(getSqrtRatioAtTick(100), 100)]
    const range = rangeOf(-100, 100)
    const most = { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 18n }
    expect(deposit(below, range, most).amount1Raw).to.equal(0n)
    expect(deposit(above, range, most).amount0Raw).to.equal(0n)
    expect(deposit(above, range, { amount0Raw: 10n ** 18n, amount1Raw: 0n }).liquidity).to.equal(0n)
  })

  it('offers amounts that make the same liquidity as the given ones, and never more than these', () => {
    fc.assert(
      fc.property(place, amount, amount, slippage, ({ pool, range }, amount0Raw, amount1Raw, slip) => {
        const most = { amount0Raw, amount1Raw }
        const { desired } = offerOf(pool, range, most, slip)
        expect(desired.amount0Raw <= amount0Raw && desired.amount1Raw <= amount1Raw).to.equal(true)
        expect(deposit(pool, range, desired)).to.deep.equal(deposit(pool, range, most))
      }),
      { numRuns: 2000 },
    )
  })

  it('offers no more of a token without a limit than the slippage can require', () => {
    const pool = poolAt(getSqrtRatioAtTick(7), 7)
    for (const side of ['amount0Raw', 'amount1Raw'] as const) {
      const most = { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 18n, [side]: 2n ** 255n }
      const taken = deposit(pool, rangeOf(-500, 500), most)
      const { desired } = offerOf(pool, rangeOf(-500, 500), most, { numerator: 1n, denominator: 100n })
      expect(desired[side] > taken[side] && desired[side] < taken[side] * 2n).to.equal(true)
    }
  })

  it('succeeds at every price within the slippage', () => {
    const part = fc.bigInt({ min: 0n, max: 1000n })
    fc.assert(
      fc.property(place, amount, amount, slippage, part, ({ pool, range }, amount0Raw, amount1Raw, slip, share) => {
        const { desired, min: least } = offerOf(pool, range, { amount0Raw, amount1Raw }, slip)
        const { low, high } = spanAround(pool.sqrtPriceX96, slip)
        for (const price of [low, high, pool.sqrtPriceX96, low + ((high - low) * share) / 1000n])
          expect(covers(deposit(pool, range, desired, price), least)).to.equal(true)
      }),
      { numRuns: 3000, examples: [asMuchAsAPoolTakes] },
    )
  })

  it('loses at no price within the slippage more than at one of its ends, by the price of now', () => {
    const part = fc.bigInt({ min: 0n, max: 1000n })
    fc.assert(
      fc.property(place, amount, amount, slippage, part, ({ pool, range }, amount0Raw, amount1Raw, slip, share) => {
        const { desired } = offerOf(pool, range, { amount0Raw, amount1Raw }, slip)
        const madeAt = (price: bigint) => deposit(pool, range, desired, price)
        expectWorstAtEnds(
          pool.sqrtPriceX96,
          range,
          endsOf(pool, range, slip, madeAt),
          madeAt(within(spanAround(pool.sqrtPriceX96, slip), share)),
        )
      }),
      { numRuns: 3000 },
    )
  })

  it('fails at a price just past the slippage, where the range reaches that far', () => {
    const slip = { numerator: 1n, denominator: 100n }
    const pool = poolAt(getSqrtRatioAtTick(7), 7)
    const range = rangeOf(-500, 500)
    const { low, high } = spanAround(pool.sqrtPriceX96, slip)
    // Both in proportion, one of them the limit, and one without a limit.
    for (const most of [
      { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 18n },
      { amount0Raw: 10n ** 18n, amount1Raw: 10n ** 19n },
      { amount0Raw: 10n ** 18n, amount1Raw: 2n ** 255n },
      { amount0Raw: 2n ** 200n, amount1Raw: 10n ** 18n },
    ]) {
      const { desired, min: least } = offerOf(pool, range, most, slip)
      expect(covers(deposit(pool, range, desired, low - low / 10_000_000n), least)).to.equal(false)
      expect(covers(deposit(pool, range, desired, high + high / 10_000_000n), least)).to.equal(false)
    }
  })
})

function covers(taken: RangeAmounts, least: RangeAmounts): boolean {
  return taken.amount0Raw >= least.amount0Raw && taken.amount1Raw >= least.amount1Raw
}
