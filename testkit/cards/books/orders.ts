import { expect } from 'chai'
import { exact, sum } from '../../../core/testing/cards/books/exact.ts'
import { quantityAt, type BookAnswer, type Desk, type Fields, type Order, type Side } from './fixture.ts'
import { until } from '../../../core/testing/cards/books/until.ts'
import type { Card } from '../books.ts'

export const lifeCards: readonly Card[] = [
  [
    'BOOK-05 a limit order that meets none rests: it is listed as open, and in the book',
    async (desk) => {
      const { order, orders, operator, market, owner, unit, at, bookWhere } = desk
      for (const [side, part] of [
        ['BUY', 0.99],
        ['SELL', 1.01],
      ] as const) {
        const placed = await placeAndWatch(desk, order(side, part))
        expect(placed).to.include({ market: market.market, side, orderType: 'LIMIT', state: 'OPEN' })
        expectSame(placed.price, at(part), 'price')
        expectSame(placed.amount, unit, 'amount')
        expectSame(placed.filledAmount, '0', 'filled')
        const own = (await operator.open(market.market, owner)).find(({ orderId }) => orderId === placed.orderId)
        expect(own, `the exchange has order ${placed.orderId}`).to.include({ side })
        expectSame(own?.price ?? '', at(part), "the exchange's price")
        expectSame(own?.amount ?? '', unit, "the exchange's amount")
        expect((await orders({ orderId: placed.orderId })).map(({ clientOrderId }) => clientOrderId)).to.deep.equal([placed.clientOrderId])
        await bookWhere(`the ${side} is shown`, (book) => quantityAt(book, side, at(part)) === exact(unit))
      }
    },
  ],
  [
    'BOOK-06 cancel gives back what was locked, to the unit, by either id and from query or body',
    async ({ place, order, remove, answered, funds, find, bookWhere, type }) => {
      for (const side of ['BUY', 'SELL'] as const) {
        for (const how of ['query', 'body'] as const) {
          const before = await funds()
          const placed = await place(order(side, side === 'BUY' ? 0.99 : 1.01))
          const locked = await funds()
          // What a perpetual order locks is the exchange's affair.
          if (type === 'CLOB') {
            const paid = side === 'BUY' ? 'quote' : 'base'
            expect(locked[paid].locked > before[paid].locked, `more ${paid} is locked`).to.equal(true)
            expect(locked[paid].free - before[paid].free).to.equal(before[paid].locked - locked[paid].locked)
          }
          const { orderId, clientOrderId } = placed
          const answer = await answered(remove(how === 'query' ? { orderId } : { clientOrderId }, how))
          expect(answer.orderId).to.equal(orderId)
          const gone = await until(
            'it is cancelled',
            () => find(placed),
            ({ state }) => state === 'CANCELED',
          )
          expectSame(gone.filledAmount, '0', 'filled')
          expect(await funds()).to.deep.equal(before)
          await bookWhere('the book is empty', ({ buys, sells }) => buys.length + sells.length === 0)
        }
      }
    },
  ],
  [
    'BOOK-07 the best price is filled first, and of one price what came first',
    async ({ place, order, find, cancel, operator, market, at, unit, units }) => {
      for (const [side, back, near, far] of [
        ['SELL', 'BUY', 1.01, 1.02],
        ['BUY', 'SELL', 0.99, 0.98],
      ] as const) {
        const first = await place(order(side, far, { amount: units(2) }))
        const second = await place(order(side, far))
        const best = await place(order(side, near))
        await operator.place(market.market, { side: back, price: at(far), amount: unit })
        // At a better price some exchanges sell less than all of it.
        const filled = await until(
          'the best is filled',
          () => find(best),
          ({ filledAmount }) => exact(filledAmount) > (exact(unit) * 9n) / 10n,
        )
        expectSame(filled.averagePrice ?? '', at(near), 'the price of the best')
        for (const each of [first, second]) expect(await find(each)).to.include({ state: 'OPEN' })
        if (filled.state !== 'FILLED') await cancel(filled)

        await operator.place(market.market, { side: back, price: at(far), amount: unit })
        const begun = await becomes({ find }, first, 'PARTIALLY_FILLED')
        expectSame(begun.filledAmount, unit, 'filled of the first')
        expect(await find(second)).to.include({ state: 'OPEN' })
        await operator.place(market.market, { side: back, price: at(far), amount: units(2) })
        await becomes({ find }, first, 'FILLED')
        await becomes({ find }, second, 'FILLED')
      }
    },
  ],
  [
    'BOOK-08 what is filled in parts shows in the order, in its trades and in the book, and the fills sum up to what is filled',
    async (desk) => {
      const { place, order, find, trades, operator, market, owner, at, units, unit, bookWhere } = desk
      for (const [side, back, part] of [
        ['SELL', 'BUY', 1.01],
        ['BUY', 'SELL', 0.99],
      ] as const) {
        const placed = await place(order(side, part, { amount: units(3) }))
        for (const count of [1, 2]) {
          await operator.place(market.market, { side: back, price: at(part), amount: unit })
          const begun = await until(
            'a part more is filled',
            () => find(placed),
            ({ filledAmount }) => exact(filledAmount) === exact(units(count)),
          )
          expect(begun).to.include({ state: 'PARTIALLY_FILLED', orderId: placed.orderId })
          expectSame(begun.averagePrice ?? '', at(part), 'average price')
          await bookWhere('the rest is shown', (book) => quantityAt(book, side, at(part)) === exact(units(3 - count)))
        }
        await operator.place(market.market, { side: back, price: at(part), amount: unit })
        await becomes(desk, placed, 'FILLED')
        const fills = await until(
          'three trades',
          () => trades({ address: owner, orderId: placed.orderId }),
          ({ length }) => length === 3,
        )
        for (const fill of fills) {
          expect(fill).to.include({ side, market: market.market })
          expectSame(fill.price, at(part), 'the price of a fill')
        }
        expect(sum(fills.map(({ amount }) => exact(amount)))).to.equal(exact(units(3)))
        expect(new Set(fills.map(({ tradeId }) => tradeId)).size).to.equal(3)
        await bookWhere('nothing is left', ({ buys, sells }) => buys.length + sells.length === 0)
      }
    },
  ],
  [
    'BOOK-09 a limit order that crosses takes the better prices that there are, and rests with what is left',
    async (desk) => {
      const { place, order, rest, trades, owner, at, units, unit, find, bookWhere } = desk
      for (const [side, back, near, far, beyond] of [
        ['BUY', 'SELL', 1.01, 1.02, 1.03],
        ['SELL', 'BUY', 0.99, 0.98, 0.97],
      ] as const) {
        await desk.clear()
        await rest(back, near)
        await rest(back, far)
        await rest(back, beyond)
        const known = new Set((await trades({ address: owner })).map(({ tradeId }) => tradeId))
        const placed = await place(order(side, far, { amount: units(3) }))
        expect(placed).to.include({ state: 'PARTIALLY_FILLED' })
        expectSame(placed.filledAmount, units(2), 'filled')
        const fills = await until(
          'two trades',
          async () => (await trades({ address: owner })).filter(({ tradeId }) => !known.has(tradeId)),
          ({ length }) => length === 2,
        )
        expect(fills.map(({ price }) => exact(price)).toSorted((a, b) => Number(a - b))).to.deep.equal(
          [near, far].map((part) => exact(at(part))).toSorted((a, b) => Number(a - b)),
        )
        // Of a sale some exchanges leave what is still to be got at its limit: for a better price they sell less.
        const isLeft = (left: bigint) => left <= exact(unit) && left >= (exact(unit) * 9n) / 10n
        await bookWhere(
          'what is left is shown',
          (book) => isLeft(bestNear(book, side, at(far))) && quantityAt(book, back, at(beyond)) === exact(unit),
        )
        expect((await desk.cancel(await find(placed))).state).to.equal('CANCELED')
      }
    },
  ],
  [
    'BOOK-10 a cancel of what is filled says so, and changes nothing',
    async (desk) => {
      const { place, order, operator, market, at, unit, remove, find } = desk
      const placed = await place(order('SELL', 1.01))
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      const filled = await becomes(desk, placed, 'FILLED')
      const { status, body, text } = await remove({ clientOrderId: placed.clientOrderId })
      // It may be told as what it is, or as the error that it is to cancel it.
      if (status === 200) expect(body.state, text).to.equal('FILLED')
      else expect([status, body.name], text).to.deep.equal([422, 'TRADE_FAILED'])
      expect(text).to.match(/filled/i)
      expect(await find(placed)).to.deep.equal(filled)
    },
  ],
]

/** Looks at every list until the order is open: it is told once in each, from the answer on, and always by the id that it was placed with. */
async function placeAndWatch(desk: Desk, fields: Fields): Promise<Order> {
  const { act, answered, orders } = desk
  const known = new Set((await orders()).map(({ clientOrderId }) => clientOrderId))
  const { clientOrderId } = await answered(act('orders', fields))
  const all = await until(
    `order ${clientOrderId} is open`,
    async () => {
      const news = (await orders()).filter((each) => !known.has(each.clientOrderId))
      expect(
        news.map((each) => each.clientOrderId),
        JSON.stringify(news),
      ).to.deep.equal([clientOrderId])
      return news
    },
    ([order]) => order?.state === 'OPEN',
  )
  return all[0] ?? expect.fail('it is not listed')
}

/** What is at the best price, where that is the given one but for rounding. */
function bestNear({ buys, sells }: BookAnswer, side: Side, price: string): bigint {
  const [best] = side === 'BUY' ? buys : sells
  return best && Math.abs(Number(best.price) / Number(price) - 1) < 1e-9 ? exact(best.quantity) : 0n
}

/** Waits until the order is in that state. */
export const becomes = ({ find }: Pick<Desk, 'find'>, order: Order, state: string): Promise<Order> =>
  until(
    `order ${order.clientOrderId} becomes ${state}`,
    () => find(order),
    (now) => now.state === state,
  )

/** The same number, however it is written. */
export function expectSame(actual: string, expected: string, what: string): void {
  expect(exact(actual) === exact(expected), `${what}: ${actual} and ${expected}`).to.equal(true)
}
