import { expect } from 'chai'
import fc from 'fast-check'
import { amountsAt, boundsOf, endsOf } from '../../../../kits/amm/v3/range-amounts.ts'
import { spanAround } from '../../../../kits/amm/v3/range-prices.ts'
import { offerOf } from '../../../../kits/amm/v4/range-plans.ts'
import { amount, expectWorstAtEnds, place, slippage, within } from '../v3/range/places.ts'

describe('a deposit of v4', () => {
  it('makes the same liquidity of the maxima that it tells, which are never above the offer', () => {
    fc.assert(
      fc.property(place, amount, amount, slippage, ({ pool, range }, amount0Raw, amount1Raw, slip) => {
        const { most, ...made } = offerOf(pool, range, { amount0Raw, amount1Raw }, slip)
        expect(most.amount0Raw <= amount0Raw && most.amount1Raw <= amount1Raw).to.equal(true)
        expect(offerOf(pool, range, most, slip)).to.deep.equal({ ...made, most })
      }),
      { numRuns: 2000 },
    )
  })

  it('loses at no price within the slippage more than at one of its ends, by the price of now', () => {
    const part = fc.bigInt({ min: 0n, max: 1000n })
    fc.assert(
      fc.property(place, amount, amount, slippage, part, ({ pool, range }, amount0Raw, amount1Raw, slip, share) => {
        const { liquidity } = offerOf(pool, range, { amount0Raw, amount1Raw }, slip)
        const madeAt = (price: bigint) => ({ liquidity, ...amountsAt(price, boundsOf(range), liquidity, 'up') })
        expectWorstAtEnds(
          pool.sqrtPriceX96,
          range,
          endsOf(pool, range, slip, madeAt),
          madeAt(within(spanAround(pool.sqrtPriceX96, slip), share)),
        )
      }),
      { numRuns: 2000 },
    )
  })

  it('never takes more than its maxima while the price is within the slippage and a token that it needs now', () => {
    fc.assert(
      fc.property(place, amount, amount, slippage, ({ pool, range }, amount0Raw, amount1Raw, slip) => {
        const bounds = boundsOf(range)
        const { liquidity, most } = offerOf(pool, range, { amount0Raw, amount1Raw }, slip)
        const { low, high } = spanAround(pool.sqrtPriceX96, slip)
        if (pool.sqrtPriceX96 < bounds.upper) expect(amountsAt(low, bounds, liquidity, 'up').amount0Raw <= most.amount0Raw).to.equal(true)
        if (pool.sqrtPriceX96 > bounds.lower) expect(amountsAt(high, bounds, liquidity, 'up').amount1Raw <= most.amount1Raw).to.equal(true)
      }),
      { numRuns: 2000 },
    )
  })
})
