import { expect } from 'chai'
import * as fc from 'fast-check'
import {
  add,
  bookPriceOf,
  canonicalDecimal,
  compare,
  compareCanonical,
  countDecimals,
  divide,
  formatFraction,
  formatRatio,
  formatRaw,
  fromRaw,
  multiply,
  normalize,
  priceOf,
  rescale,
  squareRoot,
  subtract,
  sum,
  toFraction,
  toRaw,
  valueAt,
} from '../../core/base/decimal.ts'

const { assert, bigInt, integer, property } = fc
const decimals = integer({ min: 0, max: 24 })
const raw = bigInt({ min: 1n, max: 2n ** 128n })
const signed = fc.tuple(bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), integer({ min: 0, max: 18 }))

describe('decimals', () => {
  it('reads decimals and scientific notation exactly', () => {
    expect(toRaw('1.5', 6)).to.equal(1_500_000n)
    expect(toRaw('1E-8', 8)).to.equal(1n)
    expect(toRaw('1.2e3', 0)).to.equal(1200n)
    expect(toRaw('0.1', 18)).to.equal(10n ** 17n)
    expect(toRaw('9007199254740993', 0)).to.equal(9007199254740993n)
  })

  it('refuses more decimals than the token has, not counting trailing zeros', () => {
    expect(toRaw('1.0000001', 6)).to.equal(undefined)
    expect(toRaw('1E-7', 6)).to.equal(undefined)
    expect(toRaw('1.000000000000000000', 6)).to.equal(1_000_000n)
  })

  it('pads raw amounts to the decimals of the token', () => {
    expect(fromRaw(1_500_000n, 6)).to.equal('1.500000')
    expect(fromRaw(0n, 6)).to.equal('0.000000')
    expect(fromRaw(7n, 0)).to.equal('7')
    expect([fromRaw(-1n, 6), fromRaw(-1_500_000n, 6), fromRaw(-3n, 0)]).to.deep.equal(['-0.000001', '-1.500000', '-3'])
  })

  it('reads back what it wrote', () => {
    assert(property(raw, decimals, (amount, places) => toRaw(fromRaw(amount, places), places) === amount))
    assert(property(raw, decimals, (amount, places) => toRaw(formatRaw(amount, places), places) === amount))
  })

  it('writes ratios with at least 18 significant digits', () => {
    assert(
      property(raw, raw, (a, b) => {
        const digits = formatRatio(a, b, 'down').replace('.', '').replace(/^0+/, '')
        return digits.length >= 18
      }),
    )
  })

  it('counts digits also around powers of ten and beyond the range of a double', () => {
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

  it('writes prices that, taken back as a limit, the quoted amounts just meet', () => {
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

  it('adds, subtracts, multiplies and compares exactly', () => {
    fc.assert(
      fc.property(signed, signed, ([a, scaleA], [b, scaleB]) => {
        const [left, right] = [formatRaw(a, scaleA), formatRaw(b, scaleB)]
        const [inA, inB] = [a * 10n ** BigInt(18 - scaleA), b * 10n ** BigInt(18 - scaleB)]
        expect(add(left, right)).to.equal(formatRaw(inA + inB, 18))
        expect(subtract(left, right)).to.equal(formatRaw(inA - inB, 18))
        expect(multiply(left, right)).to.equal(formatRaw(a * b, scaleA + scaleB))
        expect(Math.sign(compare(left, right))).to.equal(inA < inB ? -1 : inA > inB ? 1 : 0)
      }),
    )
  })

  it('divides with the rounding asked for, by less than a unit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 10n ** 20n }), (a, b) => {
        const [up, down] = (['up', 'down'] as const).map((side) => divide(formatRaw(a, 8), formatRaw(b, 6), 12, side))
        expect(compare(multiply(down ?? '', formatRaw(b, 6)), formatRaw(a, 8)) <= 0).to.equal(true)
        expect(compare(multiply(up ?? '', formatRaw(b, 6)), formatRaw(a, 8)) >= 0).to.equal(true)
        expect(compare(subtract(up ?? '', down ?? ''), '0.000000000001') <= 0).to.equal(true)
      }),
    )
  })

  it('writes numbers without leading and trailing zeros', () => {
    expect(['100.0', '-0.0', '0.500', '007'].map(normalize)).to.deep.equal(['100', '0', '0.5', '7'])
    expect(['1E5', '15e-1'].map(normalize)).to.deep.equal(['100000', '1.5'])
    expect([sum([]), String(countDecimals('1.500'))]).to.deep.equal(['0', '1'])
    const number = fc.tuple(signed, fc.constantFrom('', '0', '000'), fc.constantFrom('', '0', '000'))
    fc.assert(
      fc.property(number, ([[digits, scale], before, after]) => {
        const text = formatRaw(digits, scale)
        const long = `${text.startsWith('-') ? '-' : ''}${before}${text.replace('-', '')}${text.includes('.') ? after : after && `.${after}`}`
        expect(normalize(long)).to.equal(text)
        if (digits >= 0n) expect(canonicalDecimal(long)).to.equal(text)
      }),
    )
  })

  it('compares canonical numbers as exactly as others', () => {
    const near = fc
      .tuple(raw, fc.constantFrom(0n, 1n, 10n ** 9n))
      .map(([a, beside]) => [formatRaw(a, 18), formatRaw(a + beside, 18)] as const)
    assert(property(near, ([a, b]) => compareCanonical(a, b) === compare(a, b) && compareCanonical(b, a) === compare(b, a)))
    assert(property(raw, raw, (a, b) => compareCanonical(formatRaw(a, 9), formatRaw(b, 9)) === compare(formatRaw(a, 9), formatRaw(b, 9))))
  })

  it('writes prices of order books with at most 18 digits, rounded as asked, and exactly if they need no more', () => {
    assert(
      property(
        bigInt(1n, 10n ** 38n),
        bigInt(1n, 10n ** 38n),
        integer({ min: 0, max: 18 }),
        integer({ min: 0, max: 18 }),
        (a, b, ofA, ofB) => {
          const [quote, base] = [
            { raw: a, decimals: ofA },
            { raw: b, decimals: ofB },
          ]
          const [low, high] = [bookPriceOf(quote, base, 'down'), bookPriceOf(quote, base, 'up')]
          const exact = { numerator: a * 10n ** BigInt(ofB), denominator: b * 10n ** BigInt(ofA) }
          const scaled = (text: string) => {
            const { numerator: up, denominator: down } = toFraction(text)
            return { shown: up * exact.denominator, exact: exact.numerator * down }
          }
          expect(scaled(low).shown <= scaled(low).exact).to.equal(true)
          expect(scaled(high).shown >= scaled(high).exact).to.equal(true)
          const digits = (text: string) => text.replace('.', '').replace(/^0+/, '')
          for (const text of [low, high]) expect(digits(text).replace(/0+$/, '').length).to.be.at.most(18)
          const isExact = scaled(low).shown === scaled(low).exact
          expect(low === high).to.equal(isExact)
          // One unit of the last digit lies between them.
          const gap = toFraction(high).numerator * toFraction(low).denominator - toFraction(low).numerator * toFraction(high).denominator
          if (!isExact) expect(gap * 10n ** 17n <= toFraction(low).numerator * toFraction(high).denominator).to.equal(true)
        },
      ),
    )
    const one = { raw: 1n, decimals: 0 }
    expect(bookPriceOf(one, { raw: 3n, decimals: 0 }, 'up')).to.equal('0.333333333333333334')
    expect(bookPriceOf({ raw: 3_010_500_000n, decimals: 6 }, { raw: 10n ** 18n, decimals: 18 }, 'down')).to.equal('3010.5')
    expect(bookPriceOf({ raw: 10n ** 30n - 1n, decimals: 0 }, one, 'up')).to.equal(String(10n ** 30n))
  })

  it("writes a contract's price to its last digit", () => {
    const numerator = 3000_123456789012345678n
    for (const rounding of ['up', 'down'] as const) {
      expect(formatFraction({ numerator, denominator: 10n ** 18n }, rounding)).to.equal('3000.123456789012345678')
      expect(formatFraction({ numerator: -numerator, denominator: 10n ** 18n }, rounding)).to.equal('-3000.123456789012345678')
    }
    expect(formatFraction({ numerator: 10n, denominator: 1n }, 'down')).to.equal('10')
    expect(formatFraction({ numerator: 30n * 10n ** 18n, denominator: 10n ** 18n }, 'down')).to.equal('30')
    expect(formatFraction({ numerator: -5n * 10n ** 18n, denominator: 10n * 10n ** 18n }, 'down')).to.equal('-0.5')
    expect(formatFraction({ numerator: 0n, denominator: 10n ** 18n }, 'down')).to.equal('0')
  })

  it('writes any other fraction with at least 18 digits, rounded as asked', () => {
    const whole = fc.bigInt({ min: 1n, max: 10n ** 40n })
    fc.assert(
      fc.property(whole, whole, (numerator, denominator) => {
        const [down, up] = (['down', 'up'] as const).map((rounding) => toFraction(formatFraction({ numerator, denominator }, rounding)))
        if (!down || !up) throw new Error('unreachable')
        expect(down.numerator * denominator <= numerator * down.denominator).to.equal(true)
        expect(up.numerator * denominator >= numerator * up.denominator).to.equal(true)
        // The two differ by less than the 17th digit.
        const off = up.numerator * down.denominator - down.numerator * up.denominator
        expect(off * 10n ** 17n <= up.numerator * down.denominator).to.equal(true)
      }),
    )
  })

  it('keeps an amount in more decimals and never increases it in fewer', () => {
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

describe('squareRoot', () => {
  it('is the greatest integer whose square is not above, or the least whose square is not below', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 520n }), (value) => {
        const root = squareRoot(value, 'down')
        expect(root * root <= value && (root + 1n) ** 2n > value).to.equal(true)
        expect(squareRoot(root * root, 'up')).to.equal(root)
        expect(squareRoot(root * root + 1n, 'up')).to.equal(root + 1n)
      }),
    )
    for (const small of [0n, 1n]) expect(squareRoot(small, 'up')).to.equal(small)
  })
})
