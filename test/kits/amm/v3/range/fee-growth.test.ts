import { expect } from 'chai'
import fc from 'fast-check'
import { feeGrowthInside, feesOwed } from '../../../../../kits/amm/v3/range-positions.ts'

const word = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const range = { tickLower: -10, tickUpper: 10 }

describe('fee growth inside of a range', () => {
  it('grows by the fees of swaps in the range, wherever the counters wrap around', () => {
    fc.assert(
      fc.property(word, word, word, fc.bigInt({ min: 0n, max: 2n ** 160n }), (globalX128, outsideLowerX128, outsideUpperX128, paidX128) => {
        const before = { globalX128, outsideLowerX128, outsideUpperX128 }
        const after = { ...before, globalX128: BigInt.asUintN(256, globalX128 + paidX128) }
        const growth = (tick: number) => BigInt.asUintN(256, feeGrowthInside(after, tick, range) - feeGrowthInside(before, tick, range))
        expect([-11, -10, 9, 10].map(growth)).to.deep.equal([0n, paidX128, paidX128, 0n])
      }),
    )
  })

  it('does not change when the price leaves the range, because the ticks flip their counters', () => {
    fc.assert(
      fc.property(word, word, word, (globalX128, outsideLowerX128, outsideUpperX128) => {
        const inside = { globalX128, outsideLowerX128, outsideUpperX128 }
        const above = { ...inside, outsideUpperX128: BigInt.asUintN(256, globalX128 - outsideUpperX128) }
        const below = { ...inside, outsideLowerX128: BigInt.asUintN(256, globalX128 - outsideLowerX128) }
        expect(feeGrowthInside(above, 10, range)).to.equal(feeGrowthInside(inside, 9, range))
        expect(feeGrowthInside(below, -11, range)).to.equal(feeGrowthInside(inside, -10, range))
      }),
    )
  })

  it('gives fees per liquidity, rounded down and cut to 128 bits as in the contracts', () => {
    const account = {
      liquidity: 3n,
      inside0LastX128: 2n ** 256n - 2n ** 127n,
      inside1LastX128: 0n,
      owed: { amount0Raw: 5n, amount1Raw: 2n ** 128n - 1n },
    }
    // Half a unit each before the counter wraps, and half after.
    expect(feesOwed(account, [2n ** 127n, 2n ** 128n])).to.deep.equal({ amount0Raw: 8n, amount1Raw: 2n })
    expect(feesOwed({ ...account, inside0LastX128: 0n }, [2n ** 127n, 0n]).amount0Raw).to.equal(6n)
  })
})
