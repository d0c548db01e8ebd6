import { expect } from 'chai'
import { becomes } from '../../../../testkit/cards/books/orders.ts'
import type { Order, Trade } from '../../../../testkit/cards/books/fixture.ts'
import { until } from './until.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

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
      const [mine] = await until('both are told', () => newest(trades({ address: owner })), isPair(['SELL', 'SELL']))
      expect(mine).to.include({ market: market.market })
      // Who came to the book bought, and the second time it was the other wallet.
      await until("everybody's", () => newest(trades()), isPair(['BUY', 'BUY']))
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
