import { expect } from 'chai'
import fc from 'fast-check'
import { createPosition, type CostMethod } from '../../core/books/profit.ts'

interface Fill {
  readonly isSale: boolean
  readonly base: bigint
  readonly quote: bigint
}
type Ratio = readonly [bigint, bigint]
const times = ([n, d]: Ratio, by: bigint): Ratio => [n * by, d]
const divisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : divisor(b, a % b))
function plus([a, b]: Ratio, [c, d]: Ratio): Ratio {
  const [n, m] = [a * d + c * b, b * d]
  const by = divisor(n < 0n ? -n : n, m)
  return [n / by, m / by]
}

/** Unit by unit, in exact fractions: each unit that is held has its own price. */
function slowly(method: CostMethod, fills: readonly Fill[]): { realized: Ratio; open: Ratio; held: bigint } {
  let units: Ratio[] = []
  let [isShort, realized]: [boolean, Ratio] = [false, [0n, 1n]]
  for (const { isSale, base, quote } of fills)
    for (let unit = 0n; unit < base; unit += 1n) {
      const price: Ratio = [quote, base]
      if (units.length === 0) isShort = isSale
      if (isShort === isSale) units.push(price)
      else {
        const mean = (): Ratio => {
          const [n, d] = units.reduce(plus, [0n, 1n] as Ratio)
          return [n, d * BigInt(units.length)]
        }
        const cost = method === 'fifo' ? (units[0] ?? [0n, 1n]) : mean()
        units = method === 'fifo' ? units.slice(1) : units.slice(1).map(() => cost)
        realized = plus(realized, isSale ? plus(price, times(cost, -1n)) : plus(cost, times(price, -1n)))
      }
    }
  return { realized, open: units.reduce(plus, [0n, 1n] as Ratio), held: BigInt(units.length) * (isShort ? -1n : 1n) }
}

const fill = fc.record({ isSale: fc.boolean(), base: fc.bigInt({ min: 1n, max: 4n }), quote: fc.bigInt({ min: 0n, max: 90n }) })
const booked = (method: CostMethod, fills: readonly Fill[]) => {
  const position = createPosition(method)
  for (const { isSale, base, quote } of fills) (isSale ? position.sell : position.buy)(base, quote)
  return position
}

describe('the profit of trades', () => {
  for (const method of ['average', 'fifo'] as const)
    it(`is by ${method} what a count of each unit says, and never more than that but for rounding of open lots`, () => {
      fc.assert(
        fc.property(fc.array(fill, { maxLength: 7 }), (fills) => {
          const position = booked(method, fills)
          const { realized, held } = slowly(method, fills)
          expect(position.baseRaw).to.equal(held)
          const [n, d] = realized
          const off = position.realizedRaw * d - n
          // Each fill rounds at most twice, by less than a unit.
          expect(off <= d * BigInt(2 * fills.length) && off >= -d * BigInt(2 * fills.length)).to.equal(true)
        }),
        { numRuns: 300 },
      )
    })

  it('adds up with what the open position cost to all that came less all that went', () => {
    fc.assert(
      fc.property(fc.array(fill, { maxLength: 40 }), (fills) => {
        const cash = fills.reduce((sum, { isSale, quote }) => sum + (isSale ? quote : -quote), 0n)
        for (const method of ['average', 'fifo'] as const) {
          const { realizedRaw, openRaw, baseRaw } = booked(method, fills)
          expect(realizedRaw + (baseRaw < 0n ? openRaw : -openRaw)).to.equal(cash)
          expect(baseRaw).to.equal(fills.reduce((sum, { isSale, base }) => sum + (isSale ? -base : base), 0n))
        }
      }),
    )
  })

  it('tells average cost from FIFO, and closes a short position by purchases', () => {
    const fills = [
      { isSale: false, base: 1n, quote: 100n },
      { isSale: false, base: 1n, quote: 200n },
      { isSale: true, base: 1n, quote: 180n },
    ]
    expect(booked('fifo', fills).realizedRaw).to.equal(80n)
    expect(booked('average', fills).realizedRaw).to.equal(30n)
    const short = [
      { isSale: true, base: 2n, quote: 300n },
      { isSale: false, base: 3n, quote: 300n },
    ]
    expect(booked('fifo', short)).to.include({ realizedRaw: 100n, baseRaw: 1n, openRaw: 100n })
  })

  it('is rounded against the trader', () => {
    const fills = [
      { isSale: false, base: 3n, quote: 10n },
      { isSale: true, base: 1n, quote: 3n },
    ]
    for (const method of ['average', 'fifo'] as const) expect(booked(method, fills).realizedRaw).to.equal(-1n)
  })

  it('is the same after amounts have more decimals', () => {
    const position = booked('fifo', [{ isSale: false, base: 2n, quote: 10n }])
    position.rescale(10n, 100n)
    position.sell(10n, 700n)
    expect(position).to.include({ realizedRaw: 200n, baseRaw: 10n, openRaw: 500n })
  })
})
