import { expect } from 'chai'
import { assert, bigInt, integer, property } from 'fast-check'
import { fromRaw, priceOf, formatRatio, toRaw, valueAt } from '../../core/decimal.ts'

const decimals = integer({ min: 0, max: 24 })
const raw = bigInt({ min: 1n, max: 2n ** 128n })

describe('amounts', () => {
  it('reads decimals and scientific notation exactly', () => {
    expect(toRaw('1.5', 6)).to.equal(1_500_000n)
    expect(toRaw('1E-8', 8)).to.equal(1n)
    expect(toRaw('1.2e3', 0)).to.equal(1200n)
    expect(toRaw('0.1', 18)).to.equal(10n ** 17n)
    expect(toRaw('9007199254740993', 0)).to.equal(9007199254740993n)
  })

  it('refuses more decimals than the token has, trailing zeros apart', () => {
    expect(toRaw('1.0000001', 6)).to.equal(undefined)
    expect(toRaw('1E-7', 6)).to.equal(undefined)
    expect(toRaw('1.000000000000000000', 6)).to.equal(1_000_000n)
  })

  it('pads amounts to the decimals of the token', () => {
    expect(fromRaw(1_500_000n, 6)).to.equal('1.500000')
    expect(fromRaw(0n, 6)).to.equal('0.000000')
    expect(fromRaw(7n, 0)).to.equal('7')
  })

  it('gives back what it read', () => {
    assert(property(raw, decimals, (amount, places) => toRaw(fromRaw(amount, places), places) === amount))
  })

  it('gives prices at least 18 significant digits', () => {
    assert(
      property(raw, raw, (a, b) => {
        const digits = formatRatio(a, b, 'down').replace('.', '').replace(/^0+/, '')
        return digits.length >= 18
      }),
    )
  })

  it('tells how many digits a number has, also around powers of ten and beyond what a double holds', () => {
    const near = integer({ min: 0, max: 400 }).map((exponent) => 10n ** BigInt(exponent))
    assert(
      property(near, integer({ min: -1, max: 1 }), near, (power, beside, other) => {
        const number = power + BigInt(beside)
        if (number <= 0n) return true
        const leading = String(number).length - String(other).length - 1
        const scale = Math.max(0, 18 - leading)
        return formatRatio(number, other, 'down') === fromRaw((number * 10n ** BigInt(scale)) / other, scale)
      }),
    )
  })

  it('takes a price back as a limit that the quoted amounts just meet', () => {
    assert(
      property(raw, decimals, raw, decimals, (quoteRaw, quoteDecimals, baseRaw, baseDecimals) => {
        const quote = { raw: quoteRaw, decimals: quoteDecimals }
        const base = { raw: baseRaw, decimals: baseDecimals }
        const most = valueAt(priceOf(quote, base, 'up'), base, quoteDecimals, 'down')
        const least = valueAt(priceOf(quote, base, 'down'), base, quoteDecimals, 'up')
        return most >= quoteRaw && least <= quoteRaw
      }),
    )
  })
})
