import { expect } from 'chai'
import fc from 'fast-check'
import { getSqrtRatioAtTick, maxSqrtRatioX96, maxTick, minSqrtRatioX96, minTick } from '../../../../../kits/amm/v3/math.ts'
import { priceAtTick, priceOf, spanAround, rangeAround } from '../../../../../kits/amm/v3/range-prices.ts'

const spacings = [1, 10, 50, 60, 200] as const
const anyTick = fc.integer({ min: minTick, max: maxTick })
const anySpacing = fc.constantFrom(...spacings)
const higher = { numerator: 10n ** 12n + 1n, denominator: 10n ** 12n }

describe('prices of a range', () => {
  it('stay where they are prices of usable ticks, at both ends of all ticks', () => {
    fc.assert(
      fc.property(anyTick, anyTick, anySpacing, (a, b, tickSpacing) => {
        const [tickLower, tickUpper] = [a, b].map((tick) => tick - (tick % tickSpacing)).toSorted((x, y) => x - y)
        fc.pre(tickLower !== undefined && tickUpper !== undefined && tickLower < tickUpper)
        const [lowerPrice, upperPrice] = [priceAtTick(tickLower ?? 0), priceAtTick(tickUpper ?? 0)]
        expect(rangeAround({ tickSpacing }, lowerPrice, upperPrice)).to.deep.equal({ tickLower, tickUpper, lowerPrice, upperPrice })
      }),
    )
    expect(rangeAround({ tickSpacing: 1 }, priceAtTick(minTick), priceAtTick(maxTick))).to.include({
      tickLower: minTick,
      tickUpper: maxTick,
    })
  })

  it('go outward to the next usable ticks, and no further', () => {
    const price = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 40n }))
      .map(([numerator, denominator]) => ({ numerator, denominator }))
    const notAbove = (a: { numerator: bigint; denominator: bigint }, b: typeof a) =>
      a.numerator * b.denominator <= b.numerator * a.denominator
    fc.assert(
      fc.property(price, price, anySpacing, (a, b, tickSpacing) => {
        const [lower, upper] = notAbove(a, b) ? [a, b] : [b, a]
        const range = rangeAround({ tickSpacing }, lower, upper)
        const [lowest, highest] = [Math.ceil(minTick / tickSpacing) * tickSpacing, Math.floor(maxTick / tickSpacing) * tickSpacing]
        if (!range) {
          // Two equal prices on a tick make no range.
          expect(!notAbove(priceAtTick(lowest), lower) || !notAbove(upper, priceAtTick(highest)) || notAbove(upper, lower)).to.equal(true)
          return
        }
        const { tickLower, tickUpper, lowerPrice, upperPrice } = range
        expect([tickLower % tickSpacing, tickUpper % tickSpacing].map(Math.abs)).to.deep.equal([0, 0])
        expect(notAbove(lowerPrice, lower) && notAbove(upper, upperPrice)).to.equal(true)
        if (tickLower + tickSpacing <= maxTick) expect(notAbove(priceAtTick(tickLower + tickSpacing), lower)).to.equal(false)
        if (tickUpper - tickSpacing >= minTick) expect(notAbove(upper, priceAtTick(tickUpper - tickSpacing))).to.equal(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('go to the next tick where they differ from a tick by the smallest part', () => {
    const at60 = priceAtTick(60)
    const above = { numerator: at60.numerator * higher.numerator, denominator: at60.denominator * higher.denominator }
    const below = { numerator: at60.numerator * higher.denominator, denominator: at60.denominator * higher.numerator }
    expect(rangeAround({ tickSpacing: 60 }, below, above)).to.include({ tickLower: 0, tickUpper: 120 })
    expect(rangeAround({ tickSpacing: 60 }, above, priceAtTick(120))).to.include({ tickLower: 60, tickUpper: 120 })
  })

  it('have no range outside of all ticks', () => {
    const inside = priceAtTick(0)
    const [lowest, highest] = [priceOf(minSqrtRatioX96), priceOf(maxSqrtRatioX96)]
    const under = { ...lowest, numerator: lowest.numerator - 1n }
    const over = { ...highest, numerator: highest.numerator + 1n }
    expect(rangeAround({ tickSpacing: 1 }, under, inside)).to.equal(undefined)
    expect(rangeAround({ tickSpacing: 1 }, inside, over)).to.equal(undefined)
    // The outermost ticks are not usable with that spacing.
    expect(rangeAround({ tickSpacing: 60 }, lowest, inside)).to.equal(undefined)
    expect(rangeAround({ tickSpacing: 60 }, inside, highest)).to.equal(undefined)
    expect(rangeAround({ tickSpacing: 60 }, inside, inside)).to.equal(undefined)
  })

  it('span the slippage and no more, in both directions of the pair', () => {
    fc.assert(
      fc.property(anyTick, fc.bigInt({ min: 0n, max: 10_000n }), (tick, numerator) => {
        const sqrtPriceX96 = getSqrtRatioAtTick(tick)
        fc.pre(sqrtPriceX96 < maxSqrtRatioX96)
        const { low, high } = spanAround(sqrtPriceX96, { numerator, denominator: 10_000n })
        expect(low <= sqrtPriceX96 && sqrtPriceX96 <= high).to.equal(true)
        const most = 10_000n + numerator
        expect(high * high * 10_000n <= sqrtPriceX96 * sqrtPriceX96 * most).to.equal(true)
        expect(sqrtPriceX96 * sqrtPriceX96 * 10_000n <= low * low * most).to.equal(true)
      }),
    )
  })
})
