import { expect } from 'chai'
import * as fc from 'fast-check'
import { priceAtTick, rangeAround } from '../../../kits/amm/v3/range-prices.ts'
import type { Token } from '../../../core/contracts/index.ts'
import { type OrderedPair, showBounds, showPrice, toPoolPrice } from '../../../core/handlers/amm/range-pools.ts'
import { readBounds } from '../../../core/handlers/amm/range-changes.ts'

const token = (symbol: string, decimals: number): Token => ({ symbol, decimals, address: `0x${symbol}` })
const spacings = [1, 10, 60, 200]
const mostTick = 887_272

const orders: fc.Arbitrary<OrderedPair> = fc
  .tuple(fc.integer({ min: 0, max: 24 }), fc.integer({ min: 0, max: 24 }), fc.boolean())
  .map(([decimals0, decimals1, reversed]) => ({ pair: [token('A', decimals0), token('B', decimals1)], reversed }))

/** A range that a pool with such a spacing can have, at the very ends too. */
const ranges = fc.constantFrom(...spacings).chain((spacing) => {
  const most = Math.floor(mostTick / spacing)
  const places = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -most, max: most }) },
    { weight: 1, arbitrary: fc.constantFrom(-most, most) },
  )
  return fc
    .uniqueArray(places, { minLength: 2, maxLength: 2 })
    .map((ends) => ends.toSorted((a, b) => a - b))
    .map(([lower = 0, upper = 0]) => ({ spacing, tickLower: lower * spacing, tickUpper: upper * spacing }))
})

describe('prices of a pool in the order of the caller', () => {
  it('have bounds that give the same range when they are sent again, for any order, decimals and range', () => {
    fc.assert(
      fc.property(orders, ranges, (order, { spacing, tickLower, tickUpper }) => {
        const shown = showBounds({ lowerPrice: priceAtTick(tickLower), upperPrice: priceAtTick(tickUpper) }, order)
        const bounds = readBounds(shown)
        expect(bounds).to.deep.equal(shown)
        const [a, b] = [toPoolPrice(shown.lowerPrice, order), toPoolPrice(shown.upperPrice, order)]
        const [lower, upper] = order.reversed ? [b, a] : [a, b]
        expect(rangeAround({ tickSpacing: spacing }, lower, upper)).to.include({ tickLower, tickUpper })
      }),
      { numRuns: 3_000 },
    )
  })

  it('pass the API and are exact to 17 digits', () => {
    fc.assert(
      fc.property(orders, fc.integer({ min: -mostTick, max: mostTick }), (order, tick) => {
        const price = priceAtTick(tick)
        const text = showPrice(price, order, 'down')
        expect(text).to.match(/^\d{1,80}(\.\d{1,120})?$/)
        const back = toPoolPrice(text, order)
        const [a, b] = [price.numerator * back.denominator, back.numerator * price.denominator]
        const off = a > b ? a - b : b - a
        expect(off * 10n ** 17n <= a).to.equal(true)
      }),
    )
  })

  it('invert for the reversed order', () => {
    const pair = [token('A', 18), token('B', 6)] as const
    const back = [pair[1], pair[0]] as const
    expect(toPoolPrice('2500', { pair, reversed: false })).to.deep.equal({ numerator: 2500n * 10n ** 6n, denominator: 10n ** 18n })
    expect(toPoolPrice('0.0004', { pair: back, reversed: true })).to.deep.equal({
      numerator: 10n ** 4n * 10n ** 6n,
      denominator: 4n * 10n ** 18n,
    })
    expect(showPrice({ numerator: 2500n, denominator: 10n ** 12n }, { pair: back, reversed: true }, 'down')).to.match(/^0\.0004000*$/)
  })
})

describe('the bounds of a range in a request', () => {
  for (const [bounds, field, says] of [
    [{ lowerPrice: '2', upperPrice: '1' }, 'lowerPrice', /above upperPrice: swap/],
    [{ lowerPrice: '1.0', upperPrice: '1' }, 'lowerPrice', /the same as upperPrice/],
    [{ lowerPrice: '0', upperPrice: '1' }, 'lowerPrice', /more than 0/],
    [{ lowerPrice: '0.0', upperPrice: '0' }, 'upperPrice', /more than 0/],
    [{ lowerPrice: '1' }, 'upperPrice', /required/],
    [{ upperPrice: '1' }, 'lowerPrice', /required/],
  ] as const) {
    it(`cause a refusal that names their field: ${JSON.stringify(bounds)}`, () => {
      expect(() => readBounds(bounds))
        .to.throw(says)
        .with.nested.property('details[0].field', field)
    })
  }

  it('may be left out together, for an existing position', () => {
    expect(readBounds({})).to.equal(undefined)
  })
})
