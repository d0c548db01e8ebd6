import { expect } from 'chai'
import * as fc from 'fast-check'
import type { PriceGrid } from '../../../core/contracts/index.ts'
import { parseDecimal, compare, toFraction, magnitude, normalize, formatDecimal, multiply } from '../../../core/base/decimal.ts'
import { isInLots, minAmount, nearestAmounts, isOnGrid, nearestPrices, roundPrice } from '../../../core/handlers/clob/grids.ts'

/** A number above 0, of up to twelve digits before and after the point. */
const positive = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 24n }), fc.nat({ max: 24 }))
  .map(([digits, scale]) => formatDecimal({ digits, scale }))
  .filter((text) => text !== '0')
const steps = fc.constantFrom('0.01', '1', '0.5', '0.00000001', '25', '0.0125', '1000')
const figures = fc.record({ significantFigures: fc.integer({ min: 1, max: 8 }), maxDecimals: fc.nat({ max: 8 }) })
const grids: fc.Arbitrary<PriceGrid> = fc.oneof(
  steps.map((step) => ({ step })),
  figures,
  fc.constant<PriceGrid>('any'),
)

/** By the digits as they are written. */
function obeys(price: string, { significantFigures, maxDecimals }: { significantFigures: number; maxDecimals: number }): boolean {
  const [whole = '', decimals = ''] = price.split('.')
  if (decimals === '') return true
  return decimals.length <= maxDecimals && `${whole}${decimals}`.replace(/^0+/, '').length <= significantFigures
}

describe('the prices of a market', () => {
  it('follow the documented examples of significant figures', () => {
    // Hyperliquid's documentation, "Tick and lot size": 1234.5 is valid and 1234.56 is not; 0.001234 is valid, and 0.0012345 is not for
    // six decimals; 123456 is valid though it has six figures; a spot price has eight decimals less those of the size.
    const perp = { significantFigures: 5, maxDecimals: 6 }
    for (const valid of ['1234.5', '0.001234', '123456', '123456.0', '1E5']) expect(isOnGrid(valid, perp), valid).to.equal(true)
    for (const wrong of ['1234.56', '0.0012345', '123456.7']) expect(isOnGrid(wrong, perp), wrong).to.equal(false)
    expect(nearestPrices('1234.56', perp)).to.deep.equal(['1234.5', '1234.6'])
    expect(nearestPrices('99999.5', perp)).to.deep.equal(['99999', '100000'])
    expect(nearestPrices('0.0000004', perp)).to.deep.equal(['0.000001'])
    expect(isOnGrid('0.0001234', { significantFigures: 5, maxDecimals: 8 - 1 })).to.equal(true)
    expect(isOnGrid('0.00012345', { significantFigures: 5, maxDecimals: 8 - 2 })).to.equal(false)
  })

  it('are, with significant figures, all numbers with few enough digits and all integers', () => {
    fc.assert(
      fc.property(positive, figures, (price, grid) => {
        expect(isOnGrid(price, grid)).to.equal(obeys(price, grid))
      }),
    )
  })

  it('next to another price are on the grid, on both sides of it, with none in between', () => {
    fc.assert(
      fc.property(positive, grids, (price, grid) => {
        const nearest = nearestPrices(price, grid)
        for (const each of nearest) expect(isOnGrid(each, grid), each).to.equal(true)
        const [below, above = below] = nearest
        if (isOnGrid(price, grid)) {
          for (const each of nearest) expect(compare(each, price)).to.equal(0)
        } else {
          expect(compare(above ?? '', price)).to.equal(1)
          if (nearest.length === 2) expect(compare(below ?? '', price)).to.equal(-1)
          // Nothing lies between: from the middle both come out again.
          const middle = multiply(sum(below ?? '0', above ?? '0'), '0.5')
          if (nearest.length === 2) expect(nearestPrices(middle, grid)).to.deep.equal(nearest)
        }
      }),
    )
  })

  it('round so that a bound never allows more', () => {
    fc.assert(
      fc.property(positive, fc.bigInt({ min: 1n, max: 10n ** 9n }), grids, (price, denominator, grid) => {
        const exact = toFraction(price)
        const bound = { numerator: exact.numerator, denominator: exact.denominator * denominator }
        const [down, up] = [roundPrice(bound, grid, 'down'), roundPrice(bound, grid, 'up')]
        const by = ({ digits, scale }: { digits: bigint; scale: number }) =>
          digits * bound.denominator - bound.numerator * 10n ** BigInt(scale)
        expect(by(parseDecimal(down)) <= 0n).to.equal(true)
        expect(by(parseDecimal(up)) >= 0n).to.equal(true)
      }),
    )
  })

  it('have the magnitude of their leading digit', () => {
    fc.assert(
      fc.property(positive, (price) => {
        const [whole = '', decimals = ''] = price.split('.')
        const place = whole === '0' ? -1 - (/^0*/.exec(decimals)?.[0].length ?? 0) : whole.length - 1
        expect(magnitude(toFraction(price))).to.equal(place)
      }),
    )
  })
})

describe('the amounts of a market', () => {
  it('round to multiples of the lot size and at least the smallest order', () => {
    fc.assert(
      fc.property(positive, steps, fc.option(positive, { nil: undefined }), (amount, lotSize, minOrderSize) => {
        const lots = { lotSize, ...(minOrderSize !== undefined && { minOrderSize }) }
        const least = minAmount(lots)
        expect(isInLots(least, lotSize)).to.equal(true)
        expect(compare(least, minOrderSize ?? lotSize)).to.be.at.least(0)
        for (const each of nearestAmounts(amount, lots)) {
          expect(isInLots(each, lotSize), each).to.equal(true)
          expect(compare(each, least), each).to.be.at.least(0)
        }
        if (isInLots(amount, lotSize) && compare(amount, least) >= 0)
          expect(nearestAmounts(amount, lots)).to.deep.equal([normalize(amount)])
      }),
    )
  })

  it('have no trailing zeros', () => {
    expect(nearestAmounts('0.00123', { lotSize: '0.001' })).to.deep.equal(['0.001', '0.002'])
    expect(nearestAmounts('0.0001', { lotSize: '0.001' })).to.deep.equal(['0.001'])
    expect(nearestAmounts('0.002', { lotSize: '0.001', minOrderSize: '0.0055' })).to.deep.equal(['0.006'])
    expect(minAmount({ lotSize: '0.010', minOrderSize: '0' })).to.equal('0.01')
    expect(['1E-3', '0.500', '-0.50', '100', '0.0'].map(normalize)).to.deep.equal(['0.001', '0.5', '-0.5', '100', '0'])
  })
})

function sum(a: string, b: string): string {
  const [first, second] = [parseDecimal(a), parseDecimal(b)]
  const scale = Math.max(first.scale, second.scale)
  const at = ({ digits, scale: own }: { digits: bigint; scale: number }) => digits * 10n ** BigInt(scale - own)
  return formatDecimal({ digits: at(first) + at(second), scale })
}
