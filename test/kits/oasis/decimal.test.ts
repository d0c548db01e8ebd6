import { expect } from 'chai'
import fc from 'fast-check'
import { amountText, priceText, rawOf, ratioOf } from '../../../kits/oasis/decimal.ts'

const decimals = fc.nat(24)
const raw = fc.bigInt(1n, 10n ** 38n)

describe('decimals of a matching market', () => {
  it('of amounts are exact, and the same when they are read again', () => {
    fc.assert(
      fc.property(raw, decimals, (amountRaw, places) => {
        const text = amountText(amountRaw, places)
        expect(text).to.match(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
        expect(rawOf(text, places)).to.equal(amountRaw)
      }),
    )
  })

  it('of prices are rounded as asked, by less than a unit of the 18th digit, and not at all where they need no more', () => {
    fc.assert(
      fc.property(raw, raw, fc.integer({ min: -18, max: 18 }), (numerator, denominator, places) => {
        const exact = { numerator: numerator * 10n ** 40n, denominator: denominator * 10n ** BigInt(40 + places) }
        const scaled = (text: string) => {
          const { numerator: up, denominator: down } = ratioOf(text)
          return { shown: up * exact.denominator, exact: exact.numerator * down, down }
        }
        const [low, high] = [priceText({ numerator, denominator }, places, 'down'), priceText({ numerator, denominator }, places, 'up')]
        expect(scaled(low).shown <= scaled(low).exact).to.equal(true)
        expect(scaled(high).shown >= scaled(high).exact).to.equal(true)
        const digits = (text: string) => text.replace('.', '').replace(/^0+/, '')
        for (const text of [low, high]) expect(digits(text).replace(/0+$/, '').length).to.be.at.most(18)
        const isExact = scaled(low).shown === scaled(low).exact
        expect(low === high).to.equal(isExact)
        // One unit of the last digit lies between them.
        const gap = ratioOf(high).numerator * ratioOf(low).denominator - ratioOf(low).numerator * ratioOf(high).denominator
        if (!isExact) expect(gap * 10n ** 17n <= ratioOf(low).numerator * ratioOf(high).denominator).to.equal(true)
      }),
    )
    expect(priceText({ numerator: 1n, denominator: 3n }, 0, 'up')).to.equal('0.333333333333333334')
    expect(priceText({ numerator: 3_010_500_000n, denominator: 10n ** 18n }, -12, 'down')).to.equal('3010.5')
    expect(priceText({ numerator: 10n ** 30n - 1n, denominator: 1n }, 0, 'up')).to.equal(String(10n ** 30n))
  })
})
