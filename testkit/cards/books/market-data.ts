import { expect } from 'chai'
import type { BookOperator } from '../../../core/contracts/devnet.ts'
import type { Card } from '../books.ts'
import {
  subscribeToBook,
  fixtureVenueFields,
  type BookAnswer,
  type BookFixture,
  type Level,
  waitFor,
  type Order,
  type Trade,
} from './fixture.ts'
import { exact } from './grid.ts'
import { becomes } from './orders.ts'

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
      const following = await subscribeToBook(desk)
      try {
        const sell = await rest('SELL', 1.01)
        const shown = await following.until('the order is told of', ({ sells }) =>
          sells.some((each) => exact(each.price) === exact(at(1.01))),
        )
        expectLevels(shown.sells, [at(1.01), unit])
        await operator.cancel(market.market, sell)
        const gone = await following.until('its end is told of', ({ sells, sequence }) => sells.length === 0 && sequence > shown.sequence)
        expect(gone).to.include({ ...fixtureVenueFields(desk), market: market.market })
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
      const shown = await waitFor(
        'the last price is told',
        ticker,
        ({ lastPrice }) => lastPrice != null && exact(lastPrice) === exact(at(1.01)),
      )
      expect(exact(shown.bestBid)).to.equal(exact(at(0.99)))
      const asks = await waitFor('the best ask is told', ticker, ({ bestAsk }) => exact(bestAsk) === exact(at(1.02)))
      expect(asks.timestamp).to.be.a('number')
    },
  ],
]

/** The server's book once it is the exchange's own as it is now, which nothing moves, and as it was at the block that is named. */
async function asExchangeHasIt({ operator, market: { market }, book }: BookFixture): Promise<BookAnswer> {
  const now = await operator.book(market)
  const shown = await waitFor(
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

export const listCards: readonly Card[] = [
  [
    'BOOK-18 orders are listed newest first, by state, by either id, and page by page',
    async (desk) => {
      const { place, order, orders, cancel, operator, market, at, unit, read, answered, owner } = desk
      const placed: Order[] = []
      for (const part of [0.97, 0.98, 0.99]) placed.push(await place(order('BUY', part)))
      const [first, second, third] = placed
      if (!first || !second || !third) throw new Error('Three were placed.')
      await operator.place(market.market, { side: 'SELL', price: at(0.99), amount: unit })
      await becomes(desk, third, 'FILLED')
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
        const page = await answered(read('orders', { address: owner, market: market.market, limit: '2', cursor }))
        expect(page.orders.length, 'a page').to.be.within(1, 2)
        paged.push(...page.orders)
        cursor = page.nextCursor
      } while (cursor !== undefined && paged.length < all.length + 2)
      expect(idsOf(paged)).to.deep.equal(idsOf(all))
      for (const [index, each] of all.entries()) expect(each.createdAt).to.be.at.most(all[index - 1]?.createdAt ?? Infinity)
    },
  ],
  [
    'BOOK-19 trades are listed newest first, page by page, of a wallet and of everybody',
    async ({ place, order, operator, market, at, unit, units, trades, owner, other, read, answered }) => {
      await place(order('SELL', 1.01, { amount: units(2) }))
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      await place(order('BUY', 1.01, { address: other }))
      const [mine] = await waitFor('both are told', () => newest(trades({ address: owner })), isPair(['SELL', 'SELL']))
      expect(mine).to.include({ market: market.market })
      // Who came to the book bought, and the second time it was the other wallet.
      await waitFor("everybody's", () => newest(trades()), isPair(['BUY', 'BUY']))
      const [taken] = await trades({ address: other })
      expect(taken).to.include({ side: 'BUY' })

      const all = await trades({ address: owner })
      const page = await answered(read('trades', { address: owner, market: market.market, limit: '1' }))
      expect(page.trades.map(({ tradeId }: Trade) => tradeId)).to.deep.equal([all[0]?.tradeId])
      const next = await answered(read('trades', { address: owner, market: market.market, limit: '1', cursor: page.nextCursor }))
      expect(next.trades.map(({ tradeId }: Trade) => tradeId)).to.deep.equal([all[1]?.tradeId])
      for (const [index, each] of all.entries()) expect(each.timestamp).to.be.at.most(all[index - 1]?.timestamp ?? Infinity)
    },
  ],
]

const newest = async (trades: Promise<Trade[]>) => (await trades).slice(0, 2)
const isPair = (sides: readonly string[]) => (trades: readonly Trade[]) =>
  trades.length === 2 && trades.every(({ side }, index) => side === sides[index])

const isSetByOthers = ({ operator }: { operator: BookOperator | undefined }) => operator?.setStatus !== undefined

export const statusCards: readonly Card[] = [
  [
    'BOOK-30 a market that is paused takes no orders, lets go of those it has, and goes on once it is open again',
    async (desk) => {
      const { place, order, cancel, operator, market } = desk
      const placed = await place(order('BUY', 0.99))
      await operator.setStatus?.(market.market, 'paused')
      try {
        await isTold(desk, 'paused')
        const { body } = await desk.refused(order('BUY', 0.98), '422 TRADE_FAILED')
        expect(body.details.reason).to.contain('paused')
        expect((await cancel(placed)).state).to.equal('CANCELED')
      } finally {
        await operator.setStatus?.(market.market, 'open')
      }
      await isTold(desk, 'open')
      expect((await place(order('BUY', 0.98))).state).to.equal('OPEN')
    },
    isSetByOthers,
  ],
  [
    'BOOK-31 what orders cost in gas is told, and is nothing where they cost none',
    async ({ answered, read, act, order, settled }) => {
      const { gasPrice, gasPriceToken, gasLimit, gasCost } = await answered(read('estimateGas'))
      expect(gasPriceToken).to.be.a('string')
      const placed = await answered(act('orders', order('BUY', 0.99)))
      await settled(placed)
      const costs = placed.txHash !== undefined
      expect([gasPrice > 0, gasLimit > 0, Number(gasCost) > 0]).to.deep.equal([costs, costs, costs])
    },
  ],
  [
    'BOOK-32 a market that is closed for good takes no orders, and gives back what is in it',
    async (desk) => {
      const { place, order, cancel, funds, operator, market } = desk
      const before = await funds()
      const placed = await place(order('SELL', 1.01))
      await operator.setStatus?.(market.market, 'closed')
      await isTold(desk, 'closed')
      const { body } = await desk.refused(order('BUY', 0.98), '422 TRADE_FAILED')
      expect(body.details.reason).to.contain('closed')
      expect((await cancel(placed)).state).to.equal('CANCELED')
      expect(await funds()).to.deep.equal(before)
    },
    isSetByOthers,
  ],
]

/** The list of markets is kept for a time. */
const isTold = ({ answered, read, market: { market } }: BookFixture, status: string) =>
  waitFor(
    `the market is ${status}`,
    async () => (await answered(read('markets', { market }))).markets[market].status,
    (told) => told === status,
  )
