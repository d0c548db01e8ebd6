import { expect } from 'chai'
import { bodyOf, expectClose, expectSame, waitFor } from '../expect.ts'
import { inOneBlock } from '../venue.ts'
import { openStates, quantityAt, type BookAnswer, type BookCard, type BookFixture, type Fields, type Order, type Side } from './fixture.ts'
import { exact, plain, sum } from './grid.ts'

export const lifeCards: readonly BookCard[] = [
  [
    'BOOK-05 a limit order that matches nothing rests: it is listed as open, and is in the book',
    async (fixture) => {
      const { order, orders, operator, market, owner, unit, at, bookWhere } = fixture
      for (const [side, multiple] of [
        ['BUY', 0.99],
        ['SELL', 1.01],
      ] as const) {
        const placed = await placeAndWatch(fixture, order(side, multiple))
        expect(placed).to.include({ market: market.market, side, orderType: 'LIMIT', state: 'OPEN' })
        expectSame(placed.price, at(multiple), 'price')
        expectSame(placed.amount, unit, 'amount')
        expectSame(placed.filledAmount, '0', 'filled amount')
        const own = (await operator.open(market.market, owner)).find(({ orderId }) => orderId === placed.orderId)
        expect(own, `the exchange has order ${placed.orderId}`).to.include({ side })
        expectSame(own?.price ?? '', at(multiple), "the exchange's price")
        expectSame(own?.amount ?? '', unit, "the exchange's amount")
        expect((await orders({ orderId: placed.orderId })).map(({ clientOrderId }) => clientOrderId)).to.deep.equal([placed.clientOrderId])
        await bookWhere(`the ${side} is shown`, (book) => quantityAt(book, side, at(multiple)) === exact(unit))
      }
    },
  ],
  [
    'BOOK-06 a cancel releases what was locked, to the unit, by either id and from query or body',
    async ({ place, order, remove, funds, find, bookWhere, type }) => {
      for (const side of ['BUY', 'SELL'] as const) {
        for (const how of ['query', 'body'] as const) {
          const before = await funds()
          const placed = await place(order(side, side === 'BUY' ? 0.99 : 1.01))
          const locked = await funds()
          // Exchanges differ in what a perpetual order locks.
          if (type === 'CLOB') {
            const paid = side === 'BUY' ? 'quote' : 'base'
            expect(locked[paid].locked > before[paid].locked, `more ${paid} is locked`).to.equal(true)
            expect(locked[paid].free - before[paid].free).to.equal(before[paid].locked - locked[paid].locked)
          }
          const { orderId, clientOrderId } = placed
          const answer = await bodyOf(remove(how === 'query' ? { orderId } : { clientOrderId }, how))
          expect(answer.orderId).to.equal(orderId)
          const gone = await waitFor(
            'the order is cancelled',
            () => find(placed),
            ({ state }) => state === 'CANCELED',
          )
          expectSame(gone.filledAmount, '0', 'filled amount')
          expect(await funds()).to.deep.equal(before)
          await bookWhere('the book is empty', ({ buys, sells }) => buys.length + sells.length === 0)
        }
      }
    },
  ],
  [
    'BOOK-07 the best price is filled first, and at one price the oldest order',
    async ({ place, order, find, cancel, operator, market, at, unit, units }) => {
      for (const [side, back, near, far] of [
        ['SELL', 'BUY', 1.01, 1.02],
        ['BUY', 'SELL', 0.99, 0.98],
      ] as const) {
        const first = await place(order(side, far, { amount: units(2) }))
        const second = await place(order(side, far))
        const best = await place(order(side, near))
        await operator.place(market.market, { side: back, price: at(far), amount: unit })
        // Some exchanges sell less of the amount at a better price.
        const filled = await waitFor(
          'the best order is filled',
          () => find(best),
          ({ filledAmount }) => exact(filledAmount) > (exact(unit) * 9n) / 10n,
        )
        expectSame(filled.averagePrice ?? '', at(near), 'the price of the best order')
        for (const each of [first, second]) expect(await find(each)).to.include({ state: 'OPEN' })
        if (filled.state !== 'FILLED') await cancel(filled)

        await operator.place(market.market, { side: back, price: at(far), amount: unit })
        const begun = await becomes({ find }, first, 'PARTIALLY_FILLED')
        expectSame(begun.filledAmount, unit, 'filled amount of the first order')
        expect(await find(second)).to.include({ state: 'OPEN' })
        await operator.place(market.market, { side: back, price: at(far), amount: units(2) })
        await becomes({ find }, first, 'FILLED')
        await becomes({ find }, second, 'FILLED')
      }
    },
  ],
  [
    'BOOK-08 partial fills show in the order, its trades and the book, and add up to the filled amount',
    async (fixture) => {
      const { place, order, find, trades, operator, market, owner, at, units, unit, bookWhere } = fixture
      for (const [side, back, multiple] of [
        ['SELL', 'BUY', 1.01],
        ['BUY', 'SELL', 0.99],
      ] as const) {
        const placed = await place(order(side, multiple, { amount: units(3) }))
        for (const count of [1, 2]) {
          await operator.place(market.market, { side: back, price: at(multiple), amount: unit })
          const begun = await waitFor(
            'another part is filled',
            () => find(placed),
            ({ filledAmount }) => exact(filledAmount) === exact(units(count)),
          )
          expect(begun).to.include({ state: 'PARTIALLY_FILLED', orderId: placed.orderId })
          expectSame(begun.averagePrice ?? '', at(multiple), 'average price')
          await bookWhere('the rest is shown', (book) => quantityAt(book, side, at(multiple)) === exact(units(3 - count)))
        }
        await operator.place(market.market, { side: back, price: at(multiple), amount: unit })
        await becomes(fixture, placed, 'FILLED')
        const fills = await waitFor(
          'there are three trades',
          () => trades({ address: owner, orderId: placed.orderId }),
          ({ length }) => length === 3,
        )
        for (const fill of fills) {
          expect(fill).to.include({ side, market: market.market })
          expectSame(fill.price, at(multiple), 'the price of a fill')
        }
        expect(sum(fills.map(({ amount }) => exact(amount)))).to.equal(exact(units(3)))
        expect(new Set(fills.map(({ tradeId }) => tradeId)).size).to.equal(3)
        await bookWhere('the book is empty', ({ buys, sells }) => buys.length + sells.length === 0)
      }
    },
  ],
  [
    'BOOK-09 a limit order that crosses takes the better prices, and its rest stays in the book',
    async (fixture) => {
      const { place, order, rest, trades, owner, at, units, unit, find, bookWhere } = fixture
      for (const [side, back, near, far, beyond] of [
        ['BUY', 'SELL', 1.01, 1.02, 1.03],
        ['SELL', 'BUY', 0.99, 0.98, 0.97],
      ] as const) {
        await fixture.clear()
        await rest(back, near)
        await rest(back, far)
        await rest(back, beyond)
        const known = new Set((await trades({ address: owner })).map(({ tradeId }) => tradeId))
        const placed = await place(order(side, far, { amount: units(3) }))
        expect(placed).to.include({ state: 'PARTIALLY_FILLED' })
        expectSame(placed.filledAmount, units(2), 'filled amount')
        const fills = await waitFor(
          'there are two trades',
          async () => (await trades({ address: owner })).filter(({ tradeId }) => !known.has(tradeId)),
          ({ length }) => length === 2,
        )
        expect(fills.map(({ price }) => exact(price)).toSorted((a, b) => Number(a - b))).to.deep.equal(
          [near, far].map((multiple) => exact(at(multiple))).toSorted((a, b) => Number(a - b)),
        )
        // Some exchanges end a sale once it got its quote amount, so that less base is left after better prices.
        const isLeft = (left: bigint) => left <= exact(unit) && left >= (exact(unit) * 9n) / 10n
        await bookWhere(
          'the rest is shown',
          (book) => isLeft(bestNear(book, side, at(far))) && quantityAt(book, back, at(beyond)) === exact(unit),
        )
        expect((await fixture.cancel(await find(placed))).state).to.equal('CANCELED')
      }
    },
  ],
  [
    'BOOK-10 a cancel of a filled order says so, and changes nothing',
    async (fixture) => {
      const { place, order, operator, market, at, unit, remove, find } = fixture
      const placed = await place(order('SELL', 1.01))
      await operator.place(market.market, { side: 'BUY', price: at(1.01), amount: unit })
      const filled = await becomes(fixture, placed, 'FILLED')
      const { status, body, text } = await remove({ clientOrderId: placed.clientOrderId })
      // Either the order is returned as filled, or the cancel is an error.
      if (status === 200) expect(body.state, text).to.equal('FILLED')
      else expect([status, body.name], text).to.deep.equal([422, 'TRADE_FAILED'])
      expect(text).to.match(/filled/i)
      // The time also moves where the transaction that placed it becomes final meanwhile.
      const { updatedAt } = filled
      expect({ ...(await find(placed)), updatedAt }).to.deep.equal(filled)
    },
  ],
]

/** Polls the list until the order is open. From the answer on every list must have it once, with the id that it was placed with. */
async function placeAndWatch(fixture: BookFixture, fields: Fields): Promise<Order> {
  const { post, orders } = fixture
  const known = new Set((await orders()).map(({ clientOrderId }) => clientOrderId))
  const { clientOrderId } = await bodyOf(post('orders', fields))
  const all = await waitFor(
    `order ${clientOrderId} is open`,
    async () => {
      const newOrders = (await orders()).filter((each) => !known.has(each.clientOrderId))
      expect(
        newOrders.map((each) => each.clientOrderId),
        JSON.stringify(newOrders),
      ).to.deep.equal([clientOrderId])
      return newOrders
    },
    ([order]) => order?.state === 'OPEN',
  )
  return all[0] ?? expect.fail('the order is not listed')
}

/** The quantity at the best price, if that is the given one except for rounding. */
function bestNear({ buys, sells }: BookAnswer, side: Side, price: string): bigint {
  const [best] = side === 'BUY' ? buys : sells
  return best && Math.abs(Number(best.price) / Number(price) - 1) < 1e-9 ? exact(best.quantity) : 0n
}

/** Waits until the order has the state. */
export const becomes = ({ find }: Pick<BookFixture, 'find'>, order: Order, state: string): Promise<Order> =>
  waitFor(
    `order ${order.clientOrderId} becomes ${state}`,
    () => find(order),
    (shown) => shown.state === state,
  )

/** Side of an order, the other side, and multiples of the fair price from near to far. */
const sides = [
  ['BUY', 'SELL', [1.01, 1.02, 1.03, 1.04]],
  ['SELL', 'BUY', [0.99, 0.98, 0.97, 0.96]],
] as const

/** Errors of an order that cannot be filled completely at once. Otherwise it is filled in part. */
const refusals = ['TRADE_FAILED', 'SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 'SWAP_PRICE_LOWER_THAN_LIMIT_PRICE']

export const orderTypeCards: readonly BookCard[] = [
  [
    'BOOK-11 a market order is filled at the best prices, and never past its limitPrice',
    async (fixture) => {
      const { market, rest, place, at, units, clear } = fixture
      if (!market.orderTypes.includes('MARKET')) return expectUnsupported(fixture, { orderType: 'MARKET', price: undefined })
      for (const [side, back, [near, far, beyond, bound]] of sides) {
        await clear()
        await rest(back, near)
        await rest(back, far)
        const filled = await place(marketOrder(fixture, side, { amount: units(2), limitPrice: at(beyond) }))
        expect(filled).to.include({ state: 'FILLED', orderType: 'MARKET' })
        expectSame(filled.filledAmount, units(2), 'filled amount')
        const mean = (exact(at(near)) + exact(at(far))) / 2n
        expectClose(filled.averagePrice ?? '0', plain(mean), 1e-6, 'average price')

        await rest(back, near)
        await rest(back, bound)
        await expectFillOfAtMost(fixture, marketOrder(fixture, side, { amount: units(2), limitPrice: at(far) }), 1)
        await expectUnchanged(fixture, back, bound)
      }
    },
  ],
  [
    'BOOK-12 a market order without limitPrice goes no further than allowedSlippage',
    async (fixture) => {
      const { venue, market, rest, at, units, clear } = fixture
      if (!market.orderTypes.includes('MARKET')) return
      const config = await bodyOf(venue.client.get('/connector/config', { connector: venue.connector }))
      const [numerator, denominator] = String(config.allowedSlippage).split('/').map(Number)
      const slippage = (numerator ?? 0) / (denominator ?? 1)
      for (const [side, back, sign] of [
        ['BUY', 'SELL', 1],
        ['SELL', 'BUY', -1],
      ] as const) {
        await clear()
        // Some exchanges compare the limit with the average price.
        const far = 1 + sign * (0.01 + slippage * 3.5)
        await rest(back, 1 + sign * 0.01)
        await rest(back, far)
        await expectFillOfAtMost(fixture, marketOrder(fixture, side, { amount: units(2) }), 1)
        await expectUnchanged(fixture, back, far)
        const worst = at(1 + sign * (0.01 + slippage))
        expect(Number(worst) * sign, 'the bound').to.be.below(Number(at(far)) * sign)
      }
    },
  ],
  [
    'BOOK-13 a LIMIT_MAKER that would cross is refused without a fill, and rests where it does not cross',
    async (fixture) => {
      const { market, rest, place, order, post, settled, orders, operator, clear, trades, owner } = fixture
      if (!market.orderTypes.includes('LIMIT_MAKER')) return expectUnsupported(fixture, { orderType: 'LIMIT_MAKER' })
      for (const [side, back, [near, far]] of sides) {
        await clear()
        await rest(back, near)
        const known = (await trades({ address: owner })).length
        const { status, body, text } = await post('orders', order(side, far, { orderType: 'LIMIT_MAKER' }))
        if (status === 200) {
          const refused = await settled(body)
          expect(refused.state, text).to.equal('REJECTED')
          expectSame(refused.filledAmount, '0', 'filled amount')
        } else expect(`${status} ${body.name}`, text).to.equal('422 TRADE_FAILED')
        expect(await operator.open(market.market, owner)).to.deep.equal([])
        expect((await trades({ address: owner })).length).to.equal(known)
        await expectUnchanged(fixture, back, near)
        const resting = await place(order(side, side === 'BUY' ? 0.95 : 1.05, { orderType: 'LIMIT_MAKER' }))
        expect(resting).to.include({ state: 'OPEN', orderType: 'LIMIT_MAKER' })
        expect((await orders({ state: 'OPEN' })).map(({ clientOrderId }) => clientOrderId)).to.deep.equal([resting.clientOrderId])
      }
    },
  ],
  [
    'BOOK-14 IOC leaves nothing in the book, FOK is filled completely or not at all, and unsupported ones are UNSUPPORTED',
    async (fixture) => {
      const { market, rest, order, operator, owner, units, clear } = fixture
      for (const timeInForce of ['IOC', 'FOK']) {
        if (!market.takes['LIMIT']?.includes(timeInForce)) {
          await expectUnsupported(fixture, { timeInForce })
          continue
        }
        for (const [side, back, [near, far]] of sides) {
          await clear()
          await rest(back, near)
          const request = order(side, far, { timeInForce, amount: units(2) })
          await expectFillOfAtMost(fixture, request, timeInForce === 'IOC' ? 1 : 0)
          if (timeInForce === 'FOK') await expectUnchanged(fixture, back, near)
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

/** An unsupported order type or time in force must be refused, not imitated. */
async function expectUnsupported({ order, refused }: BookFixture, fields: Fields): Promise<void> {
  await refused(order('BUY', 0.99, fields), '501 UNSUPPORTED')
}

/** Sends an order that can only be filled in part. It must be refused, or end with at most so many units filled. */
async function expectFillOfAtMost(fixture: BookFixture, request: Fields, count: number): Promise<void> {
  const answer = await fixture.post('orders', request)
  if (answer.status !== 200) return void expect(refusals, answer.text).to.include(answer.body.name)
  const ended: Order = await fixture.settled(answer.body)
  expect(exact(ended.filledAmount) <= exact(fixture.units(count)), `filled ${ended.filledAmount} of ${String(request['amount'])}`).to.equal(
    true,
  )
  expect(openStates, `the state of ${JSON.stringify(ended)}`).to.not.include(ended.state)
  expect(ended.state).to.not.equal('FILLED')
}

/** Another trader's order at a price must not have been filled. */
async function expectUnchanged({ operator, market, at, unit }: BookFixture, side: Side, multiple: number): Promise<void> {
  const { buys, sells } = await operator.book(market.market)
  const level = (side === 'BUY' ? buys : sells).find(({ price }) => exact(price) === exact(at(multiple)))
  expectSame(level?.quantity ?? '0', unit, `quantity at ${at(multiple)}`)
}

export const raceCards: readonly BookCard[] = [
  [
    'BOOK-28 an order that is cancelled while it is filled ends as one of both, and is returned as such',
    async (fixture) => {
      const { place, order, remove, post, settled, find, other, unit, clear, funds } = fixture
      for (let round = 0; round < 4; round++) {
        await clear()
        const before = await funds()
        const mine = await place(order('SELL', 1.01))
        const theirs = await together(fixture, [
          () => remove({ clientOrderId: mine.clientOrderId }),
          () => post('orders', order('BUY', 1.01, { address: other })),
        ])
        const taken = await settled(theirs, other)
        const ended = await waitFor(
          'the order has ended',
          () => find(mine),
          ({ state }) => ['FILLED', 'CANCELED'].includes(state),
        )
        const filled = ended.state === 'FILLED'
        expectSame(ended.filledAmount, filled ? unit : '0', `filled amount of an order that is ${ended.state}`)
        expectSame(taken.filledAmount, filled ? unit : '0', 'filled amount of the other order')
        const after = await funds()
        if (fixture.type === 'PERP_CLOB') continue
        expect(after.base.locked).to.equal(before.base.locked)
        expect(before.base.free - after.base.free).to.equal(filled ? exact(unit) : 0n)
      }
    },
  ],
  [
    'BOOK-29 of two orders for the last resting amount, one is filled',
    async (fixture) => {
      const { order, rest, post, settled, owner, other, unit } = fixture
      await rest('SELL', 1.01)
      const both = [owner, other]
      const answers = await Promise.all(both.map((address) => post('orders', order('BUY', 1.01, { address }))))
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

/** Sends both requests at once, into one block if there are blocks. Returns the answer of the second, which must succeed. */
async function together({ venue }: BookFixture, [first, second]: readonly [() => Promise<unknown>, () => ReturnType<BookFixture['post']>]) {
  let answer: Awaited<ReturnType<BookFixture['post']>> | undefined
  const both = async () => {
    const [, answered] = await Promise.all([first(), second()])
    answer = answered
  }
  if (venue.rpcUrl === '') await both()
  // It does not matter if one is mined in an earlier block.
  else await inOneBlock(venue, both, 1)
  expect(answer?.status, answer?.text).to.equal(200)
  return answer?.body
}
