import { expect } from 'chai'
import { exact } from '../../../core/testing/cards/books/exact.ts'
import { followBook } from '../../../core/testing/cards/books/follow.ts'
import { venueFields, type BookAnswer, type Desk, type Level } from './fixture.ts'
import { until } from '../../../core/testing/cards/books/until.ts'
import type { Card } from '../books.ts'

export const bookCards: readonly Card[] = [
  [
    'BOOK-01 the best bid is below the best ask, levels are sorted, and each price is there once',
    async ({ rest, book, at, unit, units }) => {
      await rest('BUY', 0.98)
      await rest('BUY', 0.99, units(2))
      await rest('BUY', 0.99)
      await rest('SELL', 1.02)
      await rest('SELL', 1.01)
      const now = await book()
      holdSorted(now)
      expectLevels(now.buys, [at(0.99), units(3)], [at(0.98), unit])
      expectLevels(now.sells, [at(1.01), unit], [at(1.02), unit])
      const { buys, sells } = await book({ depth: '1' })
      expectLevels(buys, [at(0.99), units(3)])
      expectLevels(sells, [at(1.01), unit])
    },
  ],
  [
    "BOOK-02 the book is the exchange's own after every change, and its sequence increases",
    async (desk) => {
      const { operator, market, rest, place, cancel, order, at, other, unit } = desk
      let last = (await desk.book()).sequence
      const hold = async (what: string) => {
        const shown = await asExchangeHasIt(desk)
        holdSorted(shown)
        expect(shown.sequence, `the sequence after ${what}`).to.be.above(last)
        last = shown.sequence
      }
      const buy = await rest('BUY', 0.99)
      await hold("another's order")
      const sell = await place(order('SELL', 1.01, { amount: desk.units(3) }))
      await hold('an order')
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      await hold('a fill in part')
      await place(order('BUY', 1.01, { address: other, amount: desk.units(2) }))
      await hold('a fill of what was left')
      const again = await place(order('SELL', 1.02))
      await hold('another order')
      await cancel(again)
      await hold('a cancellation')
      await operator.cancel(market.market, buy)
      await hold("another's cancellation")
      expect((await desk.find(sell)).state).to.equal('FILLED')
    },
  ],
  [
    'BOOK-03 /events tells of every change of the book, with what is in it then',
    async (desk) => {
      const { rest, operator, market, at, unit } = desk
      const following = await followBook(desk)
      try {
        const sell = await rest('SELL', 1.01)
        const shown = await following.until('the order is told of', ({ sells }) =>
          sells.some((each) => exact(each.price) === exact(at(1.01))),
        )
        expectLevels(shown.sells, [at(1.01), unit])
        await operator.cancel(market.market, sell)
        const gone = await following.until('its end is told of', ({ sells, sequence }) => sells.length === 0 && sequence > shown.sequence)
        expect(gone).to.include({ ...venueFields(desk), market: market.market })
        const sequences = following.told.map(({ sequence }) => sequence)
        expect(sequences, 'sequences in the order of events').to.deep.equal([...new Set(sequences)].toSorted((a, b) => a - b))
        for (const each of following.told) holdSorted(each)
      } finally {
        following.stop()
      }
    },
  ],
  [
    'BOOK-04 the ticker has the best prices and the last one',
    async ({ rest, place, order, answered, read, market, at }) => {
      await rest('BUY', 0.99)
      await rest('SELL', 1.02)
      await rest('SELL', 1.01)
      await place(order('BUY', 1.01))
      const ticker = async () => (await answered(read('ticker', { market: market.market }))).markets[market.market]
      const shown = await until(
        'the last price is told',
        ticker,
        ({ lastPrice }) => lastPrice != null && exact(lastPrice) === exact(at(1.01)),
      )
      expect(exact(shown.bestBid)).to.equal(exact(at(0.99)))
      const asks = await until('the best ask is told', ticker, ({ bestAsk }) => exact(bestAsk) === exact(at(1.02)))
      expect(asks.timestamp).to.be.a('number')
    },
  ],
]

/** The server's book once it is the exchange's own as it is now, which nothing moves, and as it was at the block that is named. */
async function asExchangeHasIt({ operator, market: { market }, book }: Desk): Promise<BookAnswer> {
  const now = await operator.book(market)
  const shown = await until(
    "the book is the exchange's own",
    () => book(),
    (shown) => isSame(shown, now),
  )
  if (shown.blockNumber !== undefined) expect(isSame(shown, await operator.book(market, shown.blockNumber)), 'at that block').to.equal(true)
  return shown
}

type Sides = Pick<BookAnswer, 'buys' | 'sells'>
const isSame = (a: Sides, b: { readonly buys: readonly Level[]; readonly sells: readonly Level[] }) =>
  isSameSide(a.buys, b.buys) && isSameSide(a.sells, b.sells)

const isSameSide = (a: readonly Level[], b: readonly Level[]) =>
  a.length === b.length &&
  a.every(
    (level, index) => exact(level.price) === exact(b[index]?.price ?? '0') && exact(level.quantity) === exact(b[index]?.quantity ?? '0'),
  )

function holdSorted({ buys, sells }: BookAnswer): void {
  for (const [side, sign] of [
    [buys, -1n],
    [sells, 1n],
  ] as const)
    for (const [index, { price, quantity }] of side.entries()) {
      expect(exact(quantity) > 0n, `a quantity of ${quantity}`).to.equal(true)
      const before = side[index - 1]
      if (before) expect((exact(price) - exact(before.price)) * sign > 0n, `${price} after ${before.price}`).to.equal(true)
    }
  const [bid, ask] = [buys[0], sells[0]]
  if (bid && ask) expect(exact(bid.price) < exact(ask.price), `a bid of ${bid.price} and an ask of ${ask.price}`).to.equal(true)
}

function expectLevels(levels: readonly Level[], ...expected: readonly (readonly [price: string, quantity: string])[]): void {
  const same = levels.map(({ price, quantity }) => [exact(price), exact(quantity)])
  expect(same, JSON.stringify(levels)).to.deep.equal(expected.map(([price, quantity]) => [exact(price), exact(quantity)]))
}
