import { expect } from 'chai'
import { bodyOf, waitFor } from '../expect.ts'
import { venueFields } from '../venue.ts'
import { maxPage, subscribeToBook } from './fixture.ts'
import type { BookAnswer, BookCard, BookFixture, Exchange, Level, Order, Trade } from './fixture.ts'
import { exact } from './grid.ts'
import { becomes } from './orders.ts'

export const bookCards: readonly BookCard[] = [
  [
    'BOOK-01 the best bid is below the best ask, levels are sorted, and each price is there once',
    async ({ rest, book, at, unit, units }) => {
      await rest('BUY', 0.98)
      await rest('BUY', 0.99, units(2))
      await rest('BUY', 0.99)
      await rest('SELL', 1.02)
      await rest('SELL', 1.01)
      const now = await book()
      expectSorted(now)
      expectLevels(now.buys, [at(0.99), units(3)], [at(0.98), unit])
      expectLevels(now.sells, [at(1.01), unit], [at(1.02), unit])
      const { buys, sells } = await book({ depth: '1' })
      expectLevels(buys, [at(0.99), units(3)])
      expectLevels(sells, [at(1.01), unit])
    },
  ],
  [
    "BOOK-02 the book equals the exchange's own after every change, and its sequence increases",
    async (fixture) => {
      const { operator, market, rest, place, cancel, order, at, other, unit } = fixture
      let last = (await fixture.book()).sequence
      const expectCurrent = async (change: string) => {
        const shown = await bookOfExchange(fixture)
        expectSorted(shown)
        expect(shown.sequence, `the sequence after ${change}`).to.be.above(last)
        last = shown.sequence
      }
      const buy = await rest('BUY', 0.99)
      await expectCurrent("another's order")
      const sell = await place(order('SELL', 1.01, { amount: fixture.units(3) }))
      await expectCurrent('an order')
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      await expectCurrent('a partial fill')
      await place(order('BUY', 1.01, { address: other, amount: fixture.units(2) }))
      await expectCurrent('a fill of the rest')
      const again = await place(order('SELL', 1.02))
      await expectCurrent('another order')
      await cancel(again)
      await expectCurrent('a cancel')
      await operator.cancel(market.market, buy)
      await expectCurrent("another's cancel")
      expect((await fixture.find(sell)).state).to.equal('FILLED')
    },
  ],
  [
    'BOOK-03 /events sends the current book after every change',
    async (fixture) => {
      const { rest, operator, market, at, unit } = fixture
      const subscription = await subscribeToBook(fixture)
      try {
        const sell = await rest('SELL', 1.01)
        const shown = await subscription.waitFor('an event has the order', ({ sells }) =>
          sells.some((each) => exact(each.price) === exact(at(1.01))),
        )
        expectLevels(shown.sells, [at(1.01), unit])
        await operator.cancel(market.market, sell)
        const gone = await subscription.waitFor(
          'an event has no order',
          ({ sells, sequence }) => sells.length === 0 && sequence > shown.sequence,
        )
        expect(gone).to.include({ ...venueFields(fixture.venue), market: market.market })
        const sequences = subscription.events.map(({ sequence }) => sequence)
        expect(sequences, 'sequences in the order of events').to.deep.equal([...new Set(sequences)].toSorted((a, b) => a - b))
        for (const each of subscription.events) expectSorted(each)
      } finally {
        subscription.stop()
      }
    },
  ],
  [
    'BOOK-04 the ticker has the best prices and the last one',
    async ({ rest, place, order, read, market, at }) => {
      await rest('BUY', 0.99)
      await rest('SELL', 1.02)
      await rest('SELL', 1.01)
      await place(order('BUY', 1.01))
      const ticker = async () => (await bodyOf(read('ticker', { market: market.market }))).markets[market.market]
      const shown = await waitFor(
        'the ticker has the last price',
        ticker,
        ({ lastPrice }) => lastPrice != null && exact(lastPrice) === exact(at(1.01)),
      )
      expect(exact(shown.bestBid)).to.equal(exact(at(0.99)))
      const asks = await waitFor('the ticker has the best ask', ticker, ({ bestAsk }) => exact(bestAsk) === exact(at(1.02)))
      expect(asks.timestamp).to.be.a('number')
    },
  ],
]

/** Waits until the server's book equals the exchange's current one. It must also equal the exchange's book at the block that it names. */
async function bookOfExchange({ operator, market: { market }, book }: BookFixture): Promise<BookAnswer> {
  const current = await operator.book(market)
  const shown = await waitFor(
    "the book equals the exchange's own",
    () => book(),
    (shown) => isSame(shown, current),
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

function expectSorted({ buys, sells }: BookAnswer): void {
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

export const listCards: readonly BookCard[] = [
  [
    'BOOK-18 orders are listed newest first, by state, by either id, and page by page',
    async (fixture) => {
      const { place, order, orders, cancel, operator, market, at, unit, read, owner } = fixture
      const placed: Order[] = []
      for (const part of [0.97, 0.98, 0.99]) placed.push(await place(order('BUY', part)))
      const [first, second, third] = placed
      if (!first || !second || !third) throw new Error('Three were placed.')
      await operator.place(market.market, { side: 'SELL', price: at(0.99), amount: unit })
      await becomes(fixture, third, 'FILLED')
      await cancel(first)
      const idsOf = (all: readonly Order[]) => all.map(({ clientOrderId }) => clientOrderId)
      const ids = idsOf([third, second, first])
      expect(idsOf(await orders()).slice(0, 3)).to.deep.equal(ids)
      expect(idsOf(await orders({ state: 'OPEN' }))).to.deep.equal([second.clientOrderId])
      expect(idsOf(await orders({ state: 'open' }))).to.deep.equal([second.clientOrderId])
      expect(idsOf(await orders({ state: 'FILLED' }))[0]).to.equal(third.clientOrderId)
      expect(idsOf(await orders({ state: 'CANCELED' }))[0]).to.equal(first.clientOrderId)
      for (const each of placed) {
        expect(idsOf(await orders({ clientOrderId: each.clientOrderId }))).to.deep.equal([each.clientOrderId])
        expect(idsOf(await orders({ orderId: each.orderId, market: undefined }))).to.deep.equal([each.clientOrderId])
      }
      const { status, body, text } = await read('orders', { address: owner, clientOrderId: 'nobody-made-it' })
      expect(`${status} ${body.name}`, text).to.equal('404 UNKNOWN_ORDER')

      const all = await orders()
      const paged: Order[] = []
      let cursor: string | undefined
      do {
        // Small pages first, then larger ones to the end.
        const limit = paged.length < 10 ? 2 : 50
        const page = await bodyOf(read('orders', { address: owner, market: market.market, limit, cursor }))
        expect(page.orders.length, 'a page').to.be.within(1, limit)
        paged.push(...page.orders)
        cursor = page.nextCursor
      } while (cursor !== undefined && paged.length < all.length + 2)
      // A server that goes on after the cards may have more than one answer holds.
      expect(idsOf(all.length < maxPage ? paged : paged.slice(0, maxPage))).to.deep.equal(idsOf(all))
      for (const [index, each] of all.entries()) expect(each.createdAt).to.be.at.most(all[index - 1]?.createdAt ?? Infinity)
    },
  ],
  [
    'BOOK-19 trades are listed newest first, page by page, of a wallet and of everybody',
    async ({ place, order, operator, market, at, unit, units, trades, owner, other, read }) => {
      await place(order('SELL', 1.01, { amount: units(2) }))
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      await place(order('BUY', 1.01, { address: other }))
      const [mine] = await waitFor(
        'both trades of the wallet are listed',
        () => newest(trades({ address: owner })),
        isPair(['SELL', 'SELL']),
      )
      expect(mine).to.include({ market: market.market })
      // The takers bought. The second one was the other wallet.
      await waitFor("everybody's trades are listed", () => newest(trades()), isPair(['BUY', 'BUY']))
      const [taken] = await trades({ address: other })
      expect(taken).to.include({ side: 'BUY' })

      const all = await trades({ address: owner })
      const page = await bodyOf(read('trades', { address: owner, market: market.market, limit: '1' }))
      expect(page.trades.map(({ tradeId }: Trade) => tradeId)).to.deep.equal([all[0]?.tradeId])
      const next = await bodyOf(read('trades', { address: owner, market: market.market, limit: '1', cursor: page.nextCursor }))
      expect(next.trades.map(({ tradeId }: Trade) => tradeId)).to.deep.equal([all[1]?.tradeId])
      for (const [index, each] of all.entries()) expect(each.timestamp).to.be.at.most(all[index - 1]?.timestamp ?? Infinity)
    },
  ],
]

const newest = async (trades: Promise<Trade[]>) => (await trades).slice(0, 2)
const isPair = (sides: readonly string[]) => (trades: readonly Trade[]) =>
  trades.length === 2 && trades.every(({ side }, index) => side === sides[index])

const canSetStatus = ({ operator }: Exchange) => operator?.setStatus !== undefined

export const statusCards: readonly BookCard[] = [
  [
    'BOOK-30 a paused market refuses orders, allows cancels, and continues once it is open again',
    async (fixture) => {
      const { place, order, cancel, operator, market } = fixture
      const placed = await place(order('BUY', 0.99))
      await operator.setStatus?.(market.market, 'paused')
      try {
        await waitForStatus(fixture, 'paused')
        const { body } = await fixture.refused(order('BUY', 0.98), '422 TRADE_FAILED')
        expect(body.details.reason).to.contain('paused')
        expect((await cancel(placed)).state).to.equal('CANCELED')
      } finally {
        await operator.setStatus?.(market.market, 'open')
      }
      await waitForStatus(fixture, 'open')
      expect((await place(order('BUY', 0.98))).state).to.equal('OPEN')
    },
    canSetStatus,
  ],
  [
    'BOOK-31 the gas cost of orders is returned, and is 0 where they cost none',
    async ({ read, post, order, settled }) => {
      const { gasPrice, gasPriceToken, gasLimit, gasCost } = await bodyOf(read('estimateGas'))
      expect(gasPriceToken).to.be.a('string')
      const placed = await bodyOf(post('orders', order('BUY', 0.99)))
      await settled(placed)
      const costs = placed.txHash !== undefined
      expect([gasPrice > 0, gasLimit > 0, Number(gasCost) > 0]).to.deep.equal([costs, costs, costs])
    },
  ],
  [
    'BOOK-32 a market that is closed for good refuses orders, and returns what is in it',
    async (fixture) => {
      const { place, order, cancel, funds, operator, market } = fixture
      const before = await funds()
      const placed = await place(order('SELL', 1.01))
      await operator.setStatus?.(market.market, 'closed')
      await waitForStatus(fixture, 'closed')
      const { body } = await fixture.refused(order('BUY', 0.98), '422 TRADE_FAILED')
      expect(body.details.reason).to.contain('closed')
      expect((await cancel(placed)).state).to.equal('CANCELED')
      expect(await funds()).to.deep.equal(before)
    },
    canSetStatus,
  ],
]

/** Waits until the cached list of markets has the status. */
const waitForStatus = ({ read, market: { market } }: BookFixture, status: string) =>
  waitFor(
    `the market is ${status}`,
    async () => (await bodyOf(read('markets', { market }))).markets[market].status,
    (shown) => shown === status,
  )
