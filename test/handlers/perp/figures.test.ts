import { expect } from 'chai'
import * as fc from 'fast-check'
import { pricePerBase, showLeverage, showMarginRatio, notionalAt } from '../../../core/handlers/perp/figures.ts'
import { ethUsd, markets } from './perp-shapes.ts'

const one = 10n ** 18n

describe('figures of perpetual positions', () => {
  it('show no leverage without a position, and a high one for an account without value', () => {
    expect([showLeverage(0n, 5n), showLeverage(0n, -5n), showMarginRatio(5n, 0n)]).to.deep.equal(['0', '0', '0'])
    expect(showLeverage(3n, 2n)).to.match(/^1\.50*$/)
    for (const valueRaw of [0n, -1n, -(10n ** 24n)]) expect(showLeverage(3000n * one, valueRaw)).to.equal(`${3000n * one}`)
    expect(showMarginRatio(-1n, 4n)).to.match(/^-0\.250*$/)
    expect(showMarginRatio(-1n, 3n)).to.match(/^-0\.3+4$/)
    expect(showMarginRatio(1n, 3n)).to.match(/^0\.3+$/)
  })

  it('have, at the entry price, a notional equal to their cost', () => {
    const sizes = fc.bigInt({ min: 1n, max: 10n ** 30n })
    fc.assert(
      fc.property(markets, sizes, sizes, fc.boolean(), (market, size, quote, isShort) => {
        const sizeRaw = isShort ? -size : size
        expect(notionalAt(market, sizeRaw, pricePerBase(market, quote, sizeRaw))).to.equal(isShort ? -quote : quote)
      }),
    )
    expect(notionalAt(ethUsd, 3n * one, { numerator: 5n, denominator: 2n })).to.equal((15n * one) / 2n)
  })
})
