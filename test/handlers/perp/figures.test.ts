import { expect } from 'chai'
import * as fc from 'fast-check'
import {
  fromSigned,
  pricePerBase,
  rescale,
  showLeverage,
  showMarginRatio,
  formatFraction,
  notionalAt,
} from '../../../core/handlers/perp/figures.ts'
import { ethUsd, markets } from './perp-shapes.ts'

const one = 10n ** 18n

describe('figures of perpetual positions', () => {
  for (const [raw, decimals, text] of [
    [0n, 6, '0.000000'],
    [-1n, 6, '-0.000001'],
    [-1_500_000n, 6, '-1.500000'],
    [-3n, 0, '-3'],
  ] as const) {
    it(`have their sign in front: ${raw} with ${decimals} decimals`, () => expect(fromSigned(raw, decimals)).to.equal(text))
  }

  it("show a contract's price to its last digit", () => {
    const numerator = 3000_123456789012345678n
    for (const rounding of ['up', 'down'] as const) {
      expect(formatFraction({ numerator, denominator: one }, rounding)).to.equal('3000.123456789012345678')
      expect(formatFraction({ numerator: -numerator, denominator: one }, rounding)).to.equal('-3000.123456789012345678')
    }
    expect(formatFraction({ numerator: 10n, denominator: 1n }, 'down')).to.equal('10')
    expect(formatFraction({ numerator: 30n * one, denominator: one }, 'down')).to.equal('30')
    expect(formatFraction({ numerator: -5n * one, denominator: 10n * one }, 'down')).to.equal('-0.5')
    expect(formatFraction({ numerator: 0n, denominator: one }, 'down')).to.equal('0')
  })

  it('show any other fraction with 18 digits at least, rounded as it was asked for', () => {
    const whole = fc.bigInt({ min: 1n, max: 10n ** 40n })
    fc.assert(
      fc.property(whole, whole, (numerator, denominator) => {
        const [down, up] = (['down', 'up'] as const).map((rounding) => fractionOf(formatFraction({ numerator, denominator }, rounding)))
        if (!down || !up) throw new Error('unreachable')
        expect(down.numerator * denominator <= numerator * down.denominator).to.equal(true)
        expect(up.numerator * denominator >= numerator * up.denominator).to.equal(true)
        // The two differ by less than the 17th digit.
        const off = up.numerator * down.denominator - down.numerator * up.denominator
        expect(off * 10n ** 17n <= up.numerator * down.denominator).to.equal(true)
      }),
    )
  })

  it('show no leverage without a position, and never little of it where the account is worth nothing or less', () => {
    expect([showLeverage(0n, 5n), showLeverage(0n, -5n), showMarginRatio(5n, 0n)]).to.deep.equal(['0', '0', '0'])
    expect(showLeverage(3n, 2n)).to.match(/^1\.50*$/)
    for (const valueRaw of [0n, -1n, -(10n ** 24n)]) expect(showLeverage(3000n * one, valueRaw)).to.equal(`${3000n * one}`)
    expect(showMarginRatio(-1n, 4n)).to.match(/^-0\.250*$/)
    expect(showMarginRatio(-1n, 3n)).to.match(/^-0\.3+4$/)
    expect(showMarginRatio(1n, 3n)).to.match(/^0\.3+$/)
  })

  it('are worth what they cost, at the price that they cost', () => {
    const sizes = fc.bigInt({ min: 1n, max: 10n ** 30n })
    fc.assert(
      fc.property(markets, sizes, sizes, fc.boolean(), (market, size, quote, isShort) => {
        const sizeRaw = isShort ? -size : size
        expect(notionalAt(market, sizeRaw, pricePerBase(market, quote, sizeRaw))).to.equal(isShort ? -quote : quote)
      }),
    )
    expect(notionalAt(ethUsd, 3n * one, { numerator: 5n, denominator: 2n })).to.equal((15n * one) / 2n)
  })

  it('keep an amount in more decimals, and never gain one in fewer', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.nat(24), fc.nat(24), (raw, from, to) => {
        const there = rescale(raw, from, to)
        const back = rescale(there, to, from)
        if (to >= from) expect(back).to.equal(raw)
        else expect(raw < 0n ? back >= raw : back <= raw).to.equal(true)
      }),
    )
  })
})

function fractionOf(text: string): { numerator: bigint; denominator: bigint } {
  const [whole = '', fraction = ''] = text.split('.')
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}
