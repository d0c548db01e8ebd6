import { expect } from 'chai'
import fc from 'fast-check'
import type { PriceGrid } from '../../core/contracts/index.ts'
import { exact, plain, times, lotsOf, offGrid, onGrid, unitOf, type Market } from '../../testkit/cards/books/grid.ts'
import { isInLots, isOnGrid } from '../../core/handlers/clob/grids.ts'

const market = { market: 'A-B', base: 'A', quote: 'B', orderTypes: [], takes: {}, status: 'open' }

/** A market, and what its prices are held against. */
const grids = fc.oneof(
  fc.constantFrom('0.5', '0.01', '0.25', '5').map((step) => [{ ...market, tickSize: step }, { step }] as const),
  fc
    .record({ significantFigures: fc.integer({ min: 4, max: 6 }), maxDecimals: fc.integer({ min: 2, max: 8 }) })
    .map((grid) => [{ ...market, priceSignificantFigures: grid.significantFigures, priceDecimals: grid.maxDecimals }, grid] as const),
)
const prices = fc.double({ min: 100, max: 200_000, noNaN: true })

describe('prices and amounts of the cards', () => {
  it('fit the market, and lie near the requested number', () => {
    fc.assert(
      fc.property(grids, prices, ([market, grid]: readonly [Market, PriceGrid], price) => {
        const found = onGrid(market, price)
        expect(isOnGrid(found, grid), found).to.equal(true)
        expect(Number(found) / price).to.be.within(0.97, 1.03)
      }),
    )
  })

  it('break the grid where that is requested, unless every price is valid', () => {
    fc.assert(
      fc.property(grids, prices, ([market, grid]: readonly [Market, PriceGrid], price) => {
        const found = offGrid(market, price) ?? ''
        expect(isOnGrid(found, grid), found).to.equal(false)
      }),
    )
    expect(offGrid(market, 100)).to.equal(undefined)
  })

  it('come in whole lots, and not below the requested number', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('0.001', '5', '0.000000000000000001'),
        fc.double({ min: 0.01, max: 1e6, noNaN: true }),
        (lotSize, amount) => {
          const found = lotsOf({ ...market, lotSize }, amount)
          expect(isInLots(found, lotSize), found).to.equal(true)
          expect(Number(found)).to.be.at.least(amount * (1 - 1e-12))
        },
      ),
    )
  })

  it('lie well above the minimum of the market', () => {
    expect(unitOf({ ...market, lotSize: '0.01', minOrderSize: '3', minNotional: '10' }, 2)).to.equal('20')
    expect(unitOf({ ...market, lotSize: '0.0001', minNotional: '10' }, 3000)).to.equal('0.013')
  })

  it('keep every digit', () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 40n), 10n ** 40n), (value) => {
        expect(exact(plain(value))).to.equal(value)
      }),
    )
    expect(plain(times(exact('-1.5'), exact('0.000000000000000002')))).to.equal('-0.000000000000000003')
  })
})
