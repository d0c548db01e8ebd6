import { canonicalDecimal, compareCanonical } from '../../core/base/decimal.ts'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { createPriceLevels } from '../../core/live-state/price-levels.ts'

/** The same numbers as whole ones of 10^-40. */
const scaled = (text: string) => {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(40, '0'))
}
const digits = (most: number) => fc.stringMatching(new RegExp(`^\\d{1,${most}}$`))
const decimal = fc.oneof(
  digits(30),
  fc.tuple(digits(30), digits(40)).map((parts) => parts.join('.')),
  // Numbers that are the same double.
  digits(3).map((end) => `1.00000000000000000000${end}`),
  digits(3).map((end) => `9007199254740993${end}`),
)
const canon = (text: string) => canonicalDecimal(text) ?? expect.fail(`${text} is a number`)

describe('price levels', () => {
  it('writes every number in one form, and refuses what is not a number', () => {
    expect(['007.500', '0.0', '10', '1.0', '0.10'].map(canonicalDecimal)).to.deep.equal(['7.5', '0', '10', '1', '0.1'])
    for (const none of ['', '.5', '5.', '-1', '1e3', ' 1', '1,5', 'NaN', 5, null, undefined, '0x10'])
      expect(canonicalDecimal(none)).to.equal(undefined)
  })

  it('compares numbers exactly, also where doubles are equal', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const order = scaled(a) - scaled(b)
        expect(Math.sign(compareCanonical(canon(a), canon(b)))).to.equal(order < 0n ? -1 : order > 0n ? 1 : 0)
        expect(canon(a) === canon(b)).to.equal(order === 0n)
      }),
      { numRuns: 2_000 },
    )
  })

  for (const side of ['buys', 'sells'] as const)
    it(`keeps ${side} best first, each price once, whatever is set in whatever order`, () => {
      const price = fc.oneof(decimal, fc.constantFrom('1', '1.0', '2', '01', '1.00000000000000000000000001'))
      const change = fc.record({
        price,
        quantity: fc.oneof({ weight: 1, arbitrary: fc.constantFrom('0', '0.0') }, { weight: 3, arbitrary: decimal }),
      })
      fc.assert(
        fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
          const ladder = createPriceLevels(side)
          const reference = new Map<bigint, string>()
          for (const each of changes) {
            const before = ladder.levels()
            const copy = structuredClone(before)
            const taken = ladder.set(each.price, each.quantity)
            expect(taken).to.equal(scaled(each.price) > 0n)
            if (taken && scaled(each.quantity) === 0n) reference.delete(scaled(each.price))
            else if (taken) reference.set(scaled(each.price), canon(each.quantity))
            expect(before, 'what was given out').to.deep.equal(copy)
          }
          const sorted = [...reference].toSorted(([a], [b]) => (a < b ? -1 : 1))
          if (side === 'buys') sorted.reverse()
          expect(ladder.levels().map((level) => [scaled(level.price), level.quantity])).to.deep.equal(sorted)
          expect(ladder.best).to.equal(ladder.levels()[0]?.price)
        }),
        { numRuns: 500 },
      )
    })

  it('accepts a list only if it is sorted best first, with each price once and no quantity of 0', () => {
    const level = (price: string, quantity = '1') => ({ price, quantity })
    const takes = (side: 'buys' | 'sells', ...levels: { price: string; quantity: string }[]) => createPriceLevels(side).replace(levels)
    expect(takes('buys', level('2'), level('1.5'), level('1'))).to.equal(true)
    expect(takes('sells', level('2'), level('1.5'))).to.equal(false)
    expect(takes('sells', level('1'), level('1.0'))).to.equal(false)
    expect(takes('sells', level('1', '0'))).to.equal(false)
    expect(takes('sells', level('0'))).to.equal(false)
    expect(takes('sells', level('x'))).to.equal(false)
    // @ts-expect-error -- from outside
    expect(createPriceLevels('buys').replace([null])).to.equal(false)
    // @ts-expect-error -- from outside
    expect(createPriceLevels('buys').replace(undefined)).to.equal(false)
  })
})
