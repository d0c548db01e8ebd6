import { array, assert, bigInt, integer, property } from 'fast-check'
import { expect } from 'chai'
import type { PricedBook } from '../../core/market/book-price.ts'
import { compareExchange, medianValue, valueGiven, type ValueSample } from '../../core/market/exchange-values.ts'
import { valueTokens, type PricedPool, type ValueTerms } from '../../core/market/token-values.ts'
import { microsOf } from '../../core/transactions/budgets.ts'

const usdc = { address: 'usdc', decimals: 6 }
const e18 = 10n ** 18n
const dollars = 1_000_000n
const nothingDeep = { deep: new Set<string>(), books: new Set<string>() }
let pools = 0

/** A pool of a token of 18 decimals, and what it costs in USDC, or in WETH. */
const pool = (tokenIn: string, price: number, { tokenOut = 'usdc', depth = 100, name = `pool ${(pools += 1)}` } = {}): PricedPool => ({
  connector: 'exchange',
  view: {
    pool: name,
    tokenIn,
    tokenOut,
    spot:
      tokenOut === 'usdc'
        ? { numerator: BigInt(Math.round(price * 1e6)), denominator: e18 }
        : { numerator: BigInt(Math.round(price * 1e9)), denominator: 10n ** 9n },
    depth: [{ basisPoints: 200, sellRaw: BigInt(depth) * e18, buyRaw: BigInt(depth) * e18 }],
  },
})
const terms = { reference: usdc, between: ['weth'], minDepthMicros: 1_000n * dollars }
const said = (pools: readonly PricedPool[], books: readonly PricedBook[] = [], more: Partial<ValueTerms> = {}) =>
  valueTokens({ pools, books }, { ...terms, ...more })
const valuesOf = (...of: readonly PricedPool[]) => said(of).values
const dollarsOf = (raw: bigint, valueX = 0n) => Number(microsOf(raw, valueX, 'down')) / 1e6

describe('values of tokens', () => {
  it('lie between the medians of the pools with depth', () => {
    const weth = valuesOf(
      pool('weth', 3000),
      pool('weth', 3010),
      pool('weth', 1, { depth: 10_000 }),
      pool('weth', 9_000, { depth: 0 }),
    ).get('weth')
    expect(weth?.sources).to.equal(3)
    expect(dollarsOf(e18, weth?.lowX)).to.be.closeTo(3000, 0.001)
    expect(dollarsOf(e18, weth?.highX)).to.be.closeTo(3000, 0.001)
    const two = valuesOf(pool('weth', 3000), pool('weth', 2000)).get('weth')
    expect([dollarsOf(e18, two?.lowX), dollarsOf(e18, two?.highX)].map(Math.round)).to.deep.equal([2000, 3000])
  })

  it('take two pools: one alone says nothing, however often it is named', () => {
    expect(valuesOf(pool('weth', 3000)).has('weth')).to.equal(false)
    expect(valuesOf(pool('weth', 3000, { name: '0xAB' }), pool('weth', 3000, { name: '0xab' })).has('weth')).to.equal(false)
  })

  it('of other tokens come through the coin, which has to have one', () => {
    const between = [
      pool('dai', 0.0005, { tokenOut: 'weth', depth: 1_000_000 }),
      pool('dai', 0.0004, { tokenOut: 'weth', depth: 1_000_000 }),
    ]
    const dai = valuesOf(...between, pool('weth', 2000), pool('weth', 2000)).get('dai')
    expect([dollarsOf(e18, dai?.lowX), dollarsOf(e18, dai?.highX)].map((each) => each.toFixed(2))).to.deep.equal(['0.80', '1.00'])
    expect(valuesOf(...between, pool('weth', 2000)).has('dai')).to.equal(false)
  })

  it('keep their digits with 36 decimals, and round against the spender', () => {
    assert(
      property(integer({ min: 0, max: 36 }), bigInt({ min: 1n, max: 10n ** 12n }), (decimals, units) => {
        const one = 10n ** BigInt(decimals)
        const valueX = (dollars << 128n) / one
        const raw = units * one
        const [up, down] = [microsOf(raw, valueX, 'up'), microsOf(raw, valueX, 'down')]
        expect(down <= up && up - down <= 1n).to.equal(true)
        expect(units * dollars - down <= 1n + (units * dollars) / 10n ** 8n).to.equal(true)
      }),
    )
  })
})

describe('values by order books', () => {
  const quoteRaw = (usd: number) => BigInt(Math.round(usd * 1e6))
  const offers = (price: number, worth: number, makers: readonly (string | undefined)[]) =>
    makers.map((maker) => ({
      price: { numerator: quoteRaw(price), denominator: e18 },
      otherRaw: quoteRaw(worth / makers.length),
      ...(maker !== undefined && { maker }),
    }))
  /** A book around a price, by default with depth of two makers. */
  const book = (
    price: number,
    {
      worth = 1_000,
      makers = ['a', 'b'] as readonly (string | undefined)[],
      spread = 0.005,
      index = undefined as number | undefined,
      connector = 'books',
      tokenIn = 'weth',
    } = {},
  ): PricedBook => ({
    connector,
    market: `${tokenIn}-usdc`,
    tokenIn,
    tokenOut: 'usdc',
    buys: offers(price * (1 - spread), worth, makers),
    sells: offers(price * (1 + spread), worth, makers),
    ...(index !== undefined && { index: { numerator: quoteRaw(index), denominator: e18 } }),
  })
  const ofWeth = (pools: readonly PricedPool[], books: readonly PricedBook[], more: Partial<ValueTerms> = {}) => {
    const value = said(pools, books, more).values.get('weth')
    return value && { low: dollarsOf(e18, value.lowX), high: dollarsOf(e18, value.highX), sources: value.sources }
  }
  const close = (found: ReturnType<typeof ofWeth>, low: number, high: number) => {
    expect(found?.low).to.be.closeTo(low, 0.01)
    expect(found?.high).to.be.closeTo(high, 0.01)
  }

  it('come of a book and a pool that agree, at the worse of both', () => {
    close(ofWeth([pool('weth', 3010)], [book(3000)]), 3000, 3010)
    close(ofWeth([pool('weth', 2990)], [book(3000)]), 2990, 3000)
  })

  it('come of a book that does not tell its makers, and the index of its exchange', () => {
    const makers = [undefined]
    close(ofWeth([], [book(3000, { makers, index: 3020 })]), 3000, 3020)
    expect(ofWeth([], [book(3000, { makers })])).to.equal(undefined)
    expect(ofWeth([], [book(3000, { makers, index: 3020, worth: 900 })])).to.equal(undefined)
  })

  it('are none where the sources do not agree', () => {
    expect(ofWeth([pool('weth', 3000)], [book(3300)])).to.equal(undefined)
    expect(ofWeth([], [book(3000, { makers: [undefined], index: 2000 })])).to.equal(undefined)
  })

  it('are none of one book, whatever its makers call themselves, nor of two of one exchange', () => {
    expect(ofWeth([], [book(3000, { makers: ['a', 'b', 'c'] })])).to.equal(undefined)
    expect(ofWeth([], [book(3000), { ...book(3000), market: 'another' }])).to.equal(undefined)
    close(ofWeth([], [book(3000), book(3001, { connector: 'other books' })]), 3000, 3001)
  })

  it('take more than one maker on each side', () => {
    const pools = [pool('weth', 3000)]
    expect(ofWeth(pools, [book(3000, { makers: ['a'], worth: 1_000_000 })])).to.equal(undefined)
    const half = { ...book(3000), sells: offers(3010, 1_000_000, ['a']) }
    expect(ofWeth(pools, [half])).to.equal(undefined)
  })

  it('take real depth near the price on both sides', () => {
    const pools = [pool('weth', 3000)]
    expect(ofWeth(pools, [book(3000, { worth: 999 })])).to.equal(undefined)
    expect(ofWeth(pools, [{ ...book(3000), sells: [] }])).to.equal(undefined)
    expect(ofWeth(pools, [book(3000, { spread: 0.03 })])).to.equal(undefined)
  })

  it('are not moved by an order below the depth, however good its price is', () => {
    const real = book(3000)
    const dust = { ...real, buys: [...offers(3013, 100, ['thief']), ...real.buys] }
    close(ofWeth([pool('weth', 3000)], [dust]), 3000, 3000)
  })

  it('are none of a crossed book', () => {
    const crossed = { ...book(3000), buys: offers(3100, 1000, ['a', 'b']) }
    expect(ofWeth([pool('weth', 3000)], [crossed])).to.equal(undefined)
  })

  it('are never nearer to a book than the pools alone are, where two pools have a price', () => {
    // One pushed pool and a book that was made up.
    close(ofWeth([pool('weth', 3000), pool('weth', 2000)], [book(2000)]), 2000, 3000)
    close(ofWeth([pool('weth', 3000), pool('weth', 3000)], [book(2000)]), 3000, 3000)
    // Two of three pools pushed: the book says so.
    close(ofWeth([pool('weth', 3000), pool('weth', 2000), pool('weth', 2000)], [book(3000)]), 2000, 3000)
  })

  it('keep a book whose depth became less, but not below its half', () => {
    const keptBooks = said([pool('weth', 3000)], [book(3000)]).books
    close(ofWeth([pool('weth', 3000)], [book(3000, { worth: 500 })], { keptBooks }), 3000, 3000)
    expect(ofWeth([pool('weth', 3000)], [book(3000, { worth: 499 })], { keptBooks })).to.equal(undefined)
    expect(ofWeth([pool('weth', 3000)], [book(3000, { worth: 500 })])).to.equal(undefined)
  })
})

describe('an exchange held against the market', () => {
  const minute = 60_000
  /** A price of WETH for each minute. */
  const samples = (...prices: readonly number[]): ValueSample[] =>
    prices.map((price, index) => ({ atMs: index * minute, ...said([pool('weth', price), pool('weth', price)]) }))
  const sale = (usd: number) => ({ gives: { weth: e18 }, gets: { usdc: BigInt(usd) * dollars } })
  const lost = (exchanged: ReturnType<typeof sale>, ...prices: readonly number[]) => {
    const compared = compareExchange(exchanged, samples(...prices), 5 * minute)
    return compared.is === 'priced' ? Number(compared.lostMicros) / 1e6 : compared.is
  }

  it('loses what is missing to the price of now', () => {
    expect(lost(sale(2850), 3000, 3000, 3000, 3000, 3000, 3000)).to.be.closeTo(150, 0.01)
    expect(lost(sale(3100), 3000, 3000, 3000, 3000, 3000, 3000)).to.be.closeTo(-100, 0.01)
  })

  it('is not fooled by pools that were pushed for less than half of the window, nor harmed by a better price', () => {
    expect(lost(sale(100), 3000, 3000, 3000, 3000, 3000, 100, 100, 100)).to.be.above(95)
    expect(lost(sale(2900), 3000, 3000, 3000, 3000, 3000, 9000)).to.be.closeTo(6100, 0.01)
  })

  for (const pushedMinutes of [1, 5, 9])
    it(`loses what is missing to the median while all pools are pushed for ${pushedMinutes} of 20 minutes`, () => {
      const prices = Array.from({ length: 20 }, (_, index) => (index < 20 - pushedMinutes ? 3000 : 300))
      expect(lost(sale(290), ...prices)).to.be.above(269)
    })

  it('has no market once a token of it has lost its price, and has one again with its history when it is back', () => {
    const [priced, unpriced] = [samples(3000)[0], { atMs: 0, values: valuesOf(pool('weth', 3000)), ...nothingDeep }]
    const at = (index: number, isThere: boolean): ValueSample => ({ ...(isThere && priced ? priced : unpriced), atMs: index * minute })
    const history = Array.from({ length: 10 }, (_, index) => at(index, true))
    expect(compareExchange(sale(2900), [...history, at(10, false)], 5 * minute)).to.deep.equal({ is: 'no market', tokens: ['weth'] })
    expect(compareExchange(sale(2900), [...history, at(10, false), at(11, true)], 5 * minute).is).to.equal('priced')
  })

  it('has no price while its market is there only at times: those may be the moments of a push', () => {
    /** Two pools that say 1 at first and 2 later, or one of them alone. */
    const at = (second: number, price?: number): ValueSample => ({
      atMs: second * 1000,
      ...said(price === undefined ? [pool('weth', 1, { depth: 10_000 })] : [1, 2].map(() => pool('weth', price, { depth: 10_000 }))),
    })
    const gap = Array.from({ length: 29 }, (_, index) => at(20 + 10 * index))
    const purchase = { gives: { usdc: 10_000n * dollars }, gets: { weth: 5_000n * e18 } }
    const compared = (...readings: readonly ValueSample[]) => compareExchange(purchase, readings, 5 * minute).is
    const pushed = [at(0, 1), at(10, 2), ...gap, at(310, 2)]
    expect(compared(...pushed)).to.equal('too short')
    expect(valueGiven({ weth: e18 }, pushed, 5 * minute).is).to.equal('too short')
    expect(medianValue('weth', pushed, 'lowX')).to.equal(undefined)
    // Nor where nothing at all was read in between.
    expect(compared(at(0, 1), at(10, 2), at(310, 2))).to.equal('too short')
    // One of four may be lost.
    const readings = Array.from({ length: 49 }, (_, index) => at(10 * index, index % 4 === 1 ? undefined : 2))
    expect(medianValue('weth', readings, 'lowX')).to.not.equal(undefined)
    const most = Array.from({ length: 60 }, (_, index) => at(10 * index, index % 8 === 1 ? undefined : 2))
    expect(compared(...most)).to.equal('priced')
  })

  it('needs a market for long enough, of all tokens', () => {
    expect(lost(sale(2900), 3000, 3000, 3000)).to.equal('too short')
    expect(compareExchange({ gives: { fake: 1n }, gets: { usdc: 1n } }, samples(1, 1, 1, 1, 1, 1), minute)).to.deep.equal({
      is: 'no market',
      tokens: ['fake'],
    })
    expect(compareExchange(sale(1), [], minute).is).to.equal('no market')
  })

  it('is settled by a median of the window that a push of less than half of it does not move', () => {
    expect(medianValue('weth', samples(3000, 3000, 3000, 30_000, 30_000), 'lowX')).to.equal(medianValue('weth', samples(3000), 'lowX'))
    expect(medianValue('weth', samples(3000, 3000, 30_000, 30_000, 30_000), 'lowX')).to.equal(medianValue('weth', samples(30_000), 'lowX'))
    expect(medianValue('fake', samples(3000), 'highX')).to.equal(undefined)
  })

  it('loses nothing where both sides have moved together', () => {
    const both = (price: number) => valuesOf(...['weth', 'wbtc'].flatMap((token) => [pool(token, price), pool(token, price)]))
    const moved = [1000, 1000, 1000, 1000, 1000, 2000, 3000].map((price, index) => ({
      atMs: index * minute,
      values: both(price),
      ...nothingDeep,
    }))
    const compared = compareExchange({ gives: { weth: e18 }, gets: { wbtc: e18 } }, moved, 5 * minute)
    expect(compared.is === 'priced' && compared.lostMicros < 10n).to.equal(true)
  })
})

describe('values of many amounts within one window', () => {
  const minute = 60_000
  const sampleOf = (price: number, index: number): ValueSample => ({
    atMs: index * minute,
    ...said([pool('weth', price, { depth: 10_000 }), pool('weth', price, { depth: 10_000 })]),
  })
  const prices = array(integer({ min: 1, max: 9_000 }), { minLength: 7, maxLength: 30 })
  const amounts = array(bigInt({ min: e18, max: 10n ** 24n }), { minLength: 1, maxLength: 5 })
  const middle = (values: readonly bigint[], at: number) => values.toSorted((a, b) => (a < b ? -1 : 1))[at] ?? 0n

  it('are those of each amount by itself, and follow each new reading', () => {
    assert(
      property(prices, amounts, (all, raws) => {
        const samples = all.map(sampleOf)
        for (const window of [samples.slice(0, -1), samples])
          for (const raw of raws) {
            const micros = window.map(({ values }) => microsOf(raw, values.get('weth')?.highX ?? 0n, 'up'))
            const now = micros.at(-1) ?? 0n
            const median = middle(micros, micros.length >> 1)
            expect(valueGiven({ weth: raw }, window, 5 * minute)).to.deep.equal({ is: 'priced', micros: now > median ? now : median })
            // What is got has one price always: its share of what is given is the least where that is worth the most.
            const sold = compareExchange({ gives: { weth: raw }, gets: { usdc: 1_000n } }, window, 5 * minute)
            const least = middle(micros, window.length >> 1)
            const worst = now - 1_000n > ((least - 1_000n) * now) / least ? now - 1_000n : ((least - 1_000n) * now) / least
            if (sold.is !== 'priced') throw new Error(sold.is)
            expect(sold.givenMicros).to.equal(now)
            expect(sold.lostMicros >= worst && sold.lostMicros <= worst + 1n).to.equal(true)
          }
      }),
      { numRuns: 50 },
    )
  })
})

describe('what is given, by value', () => {
  const minute = 60_000
  const given = (...prices: readonly number[]) => {
    const samples = prices.map((price, index) => ({
      atMs: index * minute,
      ...said([pool('weth', price), pool('weth', price)]),
    }))
    const value = valueGiven({ weth: e18 }, samples, 5 * minute)
    return value.is === 'priced' ? Number(value.micros) / 1e6 : value.is
  }

  it('counts a rise at once, and a fall once it has lasted for half of the window', () => {
    expect(given(3000, 3000, 3000, 3000, 3000, 3000, 4000)).to.be.closeTo(4000, 0.01)
    expect(given(3000, 3000, 3000, 3000, 1000, 1000, 1000)).to.be.closeTo(3000, 0.01)
    expect(given(3000, 3000, 3000, 1000, 1000, 1000, 1000)).to.be.closeTo(1000, 0.01)
  })

  it('has no price without a market for long enough', () => {
    expect(given(3000, 3000, 3000)).to.equal('too short')
    expect(given()).to.equal('no market')
  })
})
