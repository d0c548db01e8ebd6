import { expect } from 'chai'
import fc from 'fast-check'
import { formatRaw, parseDecimal } from '../../core/base/decimal.ts'
import { createBook } from '../../core/books/book.ts'
import { createPosition, type CostMethod } from '../../core/books/profit.ts'
import { orderTradesOf } from '../../core/books/trades.ts'
import type { Entry } from '../../core/transactions/entry.ts'

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

describe('the profit of fills of orders', () => {
  interface SideFill {
    readonly side: 'BUY' | 'SELL'
    readonly amount: string
    readonly price: string
  }

  /** @param quoteDecimals of a token of the chain; else the exchange has tokens of its own */
  function profitOf(filled: readonly SideFill[], type: string, quoteDecimals?: number): { average: string; fifo?: string } {
    const book = createBook()
    const on = { chain: 'ethereum', network: 'local' }
    const tokenOf = (_: unknown, symbol: string) => ({ address: symbol, decimals: symbol === 'USDC' ? (quoteDecimals ?? 0) : 18 })
    for (const [index, { side, ...fill }] of filled.entries()) {
      const fills = [{ ...fill, tradeId: String(index), fee: '0', feeToken: 'USDC', timestamp: index }]
      const order = { clientOrderId: String(index), type, market: 'WETH-USDC', about: { side }, fills }
      const entry = { ...on, connector: 'exchange', address: '0x1', orders: [order] } as unknown as Entry
      const found = orderTradesOf(entry, quoteDecimals === undefined ? () => undefined : tokenOf)
      const line = { atMs: index, feeRaw: undefined, lacksFee: false, movements: {}, lacksMovements: false }
      book.take({ ...on, ...line, fills: found?.trades ?? [] })
    }
    book.finish()
    const [perpetual] = [...book.perpetuals.values()].map(({ realizedProfit: { digits, scale } }) => ({
      average: formatRaw(digits, scale),
    }))
    const [pair] = [...book.pairs.values()].map(({ average, fifo, quoteDecimals: decimals }) => ({
      average: formatRaw(average.realizedRaw, decimals),
      fifo: formatRaw(fifo.realizedRaw, decimals),
    }))
    return perpetual ?? pair ?? { average: '0' }
  }

  const kinds = [
    { type: 'CLOB', quoteDecimals: 6, decimals: 6 },
    { type: 'CLOB', quoteDecimals: undefined, decimals: 8 },
    { type: 'PERP_CLOB', quoteDecimals: undefined, decimals: 8 },
  ] as const

  it('is to the unit of the quote token, however round its prices are', () => {
    const bought = [
      { side: 'BUY', amount: '2', price: '25' },
      { side: 'BUY', amount: '1', price: '26' },
    ] as const
    const sold = { side: 'SELL', amount: '1', price: '27' } as const
    const of = (type: string, decimals?: number) =>
      [1, 2, 3].map((sales) => profitOf([...bought, ...Array.from({ length: sales }, () => sold)], type, decimals).average)
    expect(of('CLOB', 6)).to.deep.equal(['1.666666', '3.333333', '5'])
    for (const type of ['CLOB', 'PERP_CLOB']) expect(of(type)).to.deep.equal(['1.66666666', '3.33333333', '5'])
  })

  const someFill = fc.record({
    side: fc.constantFrom('BUY' as const, 'SELL' as const),
    amount: fc.integer({ min: 1, max: 40 }).map((each) => formatRaw(BigInt(each), 1)),
    price: fc.integer({ min: 1, max: 900 }).map((each) => formatRaw(BigInt(each), 1)),
  })

  for (const { type, quoteDecimals, decimals } of kinds)
    it(`is off by less than two units a fill, of ${quoteDecimals ?? 'unknown'} decimals, in ${type}`, () => {
      fc.assert(
        fc.property(fc.array(someFill, { minLength: 1, maxLength: 12 }), (filled) => {
          const scale = 40
          const exact = { average: createPosition('average'), fifo: createPosition('fifo') }
          const rawOf = (text: string, places: number) => parseDecimal(text).digits * 10n ** BigInt(places - parseDecimal(text).scale)
          for (const { side, amount, price } of filled)
            for (const position of [exact.average, exact.fifo])
              (side === 'BUY' ? position.buy : position.sell)(rawOf(amount, 1), rawOf(amount, 1) * rawOf(price, scale - 1))
          const { average, fifo } = profitOf(filled, type, quoteDecimals)
          for (const [told, position] of [
            [average, exact.average] as const,
            ...(fifo === undefined ? [] : [[fifo, exact.fifo] as const]),
          ]) {
            const off = rawOf(told, scale) - position.realizedRaw
            const most = BigInt(2 * filled.length) * 10n ** BigInt(scale - decimals)
            expect(off < most && off > -most, `${told} of ${formatRaw(position.realizedRaw, scale)}`).to.equal(true)
          }
        }),
        { numRuns: 100 },
      )
    })
})
