import { expect } from 'chai'
import type { Card } from '../books.ts'
import { inOneBlock } from '../venue.ts'
import { quantityAt, type BookAnswer, type BookFixture, type Fields, type Order, type Side, waitFor, openStates } from './fixture.ts'
import { exact, sum } from './grid.ts'

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
          const gone = await waitFor(
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
        const filled = await waitFor(
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
          const begun = await waitFor(
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
        const fills = await waitFor(
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
        const fills = await waitFor(
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
async function placeAndWatch(desk: BookFixture, fields: Fields): Promise<Order> {
  const { act, answered, orders } = desk
  const known = new Set((await orders()).map(({ clientOrderId }) => clientOrderId))
  const { clientOrderId } = await answered(act('orders', fields))
  const all = await waitFor(
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
export const becomes = ({ find }: Pick<BookFixture, 'find'>, order: Order, state: string): Promise<Order> =>
  waitFor(
    `order ${order.clientOrderId} becomes ${state}`,
    () => find(order),
    (now) => now.state === state,
  )

/** The same number, however it is written. */
export function expectSame(actual: string, expected: string, what: string): void {
  expect(exact(actual) === exact(expected), `${what}: ${actual} and ${expected}`).to.equal(true)
}

/** Side of an order, the one that it meets, and parts of the fair price: nearer and farther ones for it. */
const sides = [
  ['BUY', 'SELL', [1.01, 1.02, 1.03, 1.04]],
  ['SELL', 'BUY', [0.99, 0.98, 0.97, 0.96]],
] as const

/** What a market order or one that must be filled at once may come to, where not all of it can be had: nothing, or the part that can be. */
const refusals = ['TRADE_FAILED', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE']

export const kindCards: readonly Card[] = [
  [
    'BOOK-11 a market order is filled by the best prices, and never past its limitPrice',
    async (desk) => {
      const { market, rest, place, at, units, clear } = desk
      if (!market.orderTypes.includes('MARKET')) return lacks(desk, { orderType: 'MARKET', price: undefined })
      for (const [side, back, [near, far, beyond, bound]] of sides) {
        await clear()
        await rest(back, near)
        await rest(back, far)
        const filled = await place(marketOrder(desk, side, { amount: units(2), limitPrice: at(beyond) }))
        expect(filled).to.include({ state: 'FILLED', orderType: 'MARKET' })
        expectSame(filled.filledAmount, units(2), 'filled')
        const mean = (exact(at(near)) + exact(at(far))) / 2n
        expectNear(exact(filled.averagePrice ?? '0'), mean, 'average price')

        await rest(back, near)
        await rest(back, bound)
        await takesAtMost(desk, marketOrder(desk, side, { amount: units(2), limitPrice: at(far) }), 1)
        await stays(desk, back, bound)
      }
    },
  ],
  [
    'BOOK-12 a market order without limitPrice goes no further than allowedSlippage',
    async (desk) => {
      const { bench, market, rest, at, units, clear, answered } = desk
      if (!market.orderTypes.includes('MARKET')) return
      const config = await answered(bench.client.get('/connector/config', { connector: bench.connector }))
      const [numerator, denominator] = String(config.allowedSlippage).split('/').map(Number)
      const slippage = (numerator ?? 0) / (denominator ?? 1)
      for (const [side, back, sign] of [
        ['BUY', 'SELL', 1],
        ['SELL', 'BUY', -1],
      ] as const) {
        await clear()
        // Some hold the bound against what all of it comes to.
        const far = 1 + sign * (0.01 + slippage * 3.5)
        await rest(back, 1 + sign * 0.01)
        await rest(back, far)
        await takesAtMost(desk, marketOrder(desk, side, { amount: units(2) }), 1)
        await stays(desk, back, far)
        const worst = at(1 + sign * (0.01 + slippage))
        expect(Number(worst) * sign, 'the bound').to.be.below(Number(at(far)) * sign)
      }
    },
  ],
  [
    'BOOK-13 a LIMIT_MAKER that would cross is refused and not filled, and rests where it does not cross',
    async (desk) => {
      const { market, rest, place, order, act, settled, orders, operator, clear, trades, owner } = desk
      if (!market.orderTypes.includes('LIMIT_MAKER')) return lacks(desk, { orderType: 'LIMIT_MAKER' })
      for (const [side, back, [near, far]] of sides) {
        await clear()
        await rest(back, near)
        const known = (await trades({ address: owner })).length
        const { status, body, text } = await act('orders', order(side, far, { orderType: 'LIMIT_MAKER' }))
        if (status === 200) {
          const refused = await settled(body)
          expect(refused.state, text).to.equal('REJECTED')
          expectSame(refused.filledAmount, '0', 'filled')
        } else expect(`${status} ${body.name}`, text).to.equal('422 TRADE_FAILED')
        expect(await operator.open(market.market, owner)).to.deep.equal([])
        expect((await trades({ address: owner })).length).to.equal(known)
        await stays(desk, back, near)
        const resting = await place(order(side, side === 'BUY' ? 0.95 : 1.05, { orderType: 'LIMIT_MAKER' }))
        expect(resting).to.include({ state: 'OPEN', orderType: 'LIMIT_MAKER' })
        expect((await orders({ state: 'OPEN' })).map(({ clientOrderId }) => clientOrderId)).to.deep.equal([resting.clientOrderId])
      }
    },
  ],
  [
    'BOOK-14 IOC leaves nothing in the book, FOK is filled whole or not at all, and what the market has not is 1016',
    async (desk) => {
      const { market, rest, order, operator, owner, units, clear } = desk
      for (const timeInForce of ['IOC', 'FOK']) {
        if (!market.takes['LIMIT']?.includes(timeInForce)) {
          await lacks(desk, { timeInForce })
          continue
        }
        for (const [side, back, [near, far]] of sides) {
          await clear()
          await rest(back, near)
          const asked = order(side, far, { timeInForce, amount: units(2) })
          await takesAtMost(desk, asked, timeInForce === 'IOC' ? 1 : 0)
          if (timeInForce === 'FOK') await stays(desk, back, near)
          expect(await operator.open(market.market, owner)).to.deep.equal([])
        }
      }
    },
  ],
]

const marketOrder = ({ order }: BookFixture, side: Side, fields: Fields): Fields => ({
  ...order(side, 1),
  orderType: 'MARKET',
  price: undefined,
  ...fields,
})

/** An order type or a time in force that the exchange does not have is never imitated. */
async function lacks({ order, refused }: BookFixture, fields: Fields): Promise<void> {
  await refused(order('BUY', 0.99, fields), '501 UNSUPPORTED')
}

/** Sends what can be had in part only: refused, or filled by so many units at most, and over. */
async function takesAtMost(desk: BookFixture, asked: Fields, count: number): Promise<void> {
  const answer = await desk.act('orders', asked)
  if (answer.status !== 200) return void expect(refusals, answer.text).to.include(answer.body.name)
  const over: Order = await desk.settled(answer.body)
  expect(exact(over.filledAmount) <= exact(desk.units(count)), `filled ${over.filledAmount} of ${String(asked['amount'])}`).to.equal(true)
  expect(openStates, `the state of ${JSON.stringify(over)}`).to.not.include(over.state)
  expect(over.state).to.not.equal('FILLED')
}

/** What is left of another's order at a price is all of it. */
async function stays({ operator, market, at, unit }: BookFixture, side: Side, part: number): Promise<void> {
  const { buys, sells } = await operator.book(market.market)
  const level = (side === 'BUY' ? buys : sells).find(({ price }) => exact(price) === exact(at(part)))
  expectSame(level?.quantity ?? '0', unit, `what is at ${at(part)}`)
}

function expectNear(actual: bigint, expected: bigint, what: string): void {
  const off = actual > expected ? actual - expected : expected - actual
  expect(off * 10n ** 6n <= expected, `${what}: ${actual} and ${expected}`).to.equal(true)
}

export const raceCards: readonly Card[] = [
  [
    'BOOK-28 an order that is cancelled while it is filled ends as one of both, and is told as what it is',
    async (desk) => {
      const { place, order, remove, act, settled, find, other, unit, clear, funds } = desk
      for (let round = 0; round < 4; round++) {
        await clear()
        const before = await funds()
        const mine = await place(order('SELL', 1.01))
        const theirs = await together(desk, [
          () => remove({ clientOrderId: mine.clientOrderId }),
          () => act('orders', order('BUY', 1.01, { address: other })),
        ])
        const taken = await settled(theirs, other)
        const over = await waitFor(
          'it is over',
          () => find(mine),
          ({ state }) => ['FILLED', 'CANCELED'].includes(state),
        )
        const filled = over.state === 'FILLED'
        expectSame(over.filledAmount, filled ? unit : '0', `filled of one that is ${over.state}`)
        expectSame(taken.filledAmount, filled ? unit : '0', 'filled of what came to meet it')
        const after = await funds()
        if (desk.type === 'PERP_CLOB') continue
        expect(after.base.locked).to.equal(before.base.locked)
        expect(before.base.free - after.base.free).to.equal(filled ? exact(unit) : 0n)
      }
    },
  ],
  [
    'BOOK-29 of two that want the last of what rests, one gets it',
    async (desk) => {
      const { order, rest, act, settled, owner, other, unit } = desk
      await rest('SELL', 1.01)
      const both = [owner, other]
      const answers = await Promise.all(both.map((address) => act('orders', order('BUY', 1.01, { address }))))
      const settledBoth = []
      for (const [index, { status, body, text }] of answers.entries()) {
        expect(status, text).to.equal(200)
        settledBoth.push(await settled(body, both[index]))
      }
      expect(
        settledBoth.map(({ state }) => state),
        JSON.stringify(settledBoth),
      ).to.have.members(['FILLED', 'OPEN'])
      expect(settledBoth.reduce((sum, { filledAmount }) => sum + exact(filledAmount), 0n)).to.equal(exact(unit))
    },
  ],
]

/** Sends both at once, into one block where there are blocks; the answer of the second, which is taken. */
async function together({ bench }: BookFixture, [first, second]: readonly [() => Promise<unknown>, () => ReturnType<BookFixture['act']>]) {
  let answer: Awaited<ReturnType<BookFixture['act']>> | undefined
  const both = async () => {
    const [, of] = await Promise.all([first(), second()])
    answer = of
  }
  if (bench.rpcUrl === '') await both()
  // One that slips into a block before is as good.
  else await inOneBlock(bench, both, 1)
  expect(answer?.status, answer?.text).to.equal(200)
  return answer?.body
}
