import { expect } from 'chai'
import { bodyOf, expectSame, waitFor } from '../expect.ts'
import { quantityAt, type BookCard, type BookFixture, type Fields } from './fixture.ts'
import { exact, offGrid, plain, type Market } from './grid.ts'
import { becomes } from './orders.ts'

const bad = '400 INCOMPLETE_PARAMS'
const unknown = '404 UNKNOWN_ORDER'

export const refusalCards: readonly BookCard[] = [
  [
    'BOOK-20 an invalid price and amount are refused, with the nearest valid ones',
    async ({ market, order, refused, place, cancel, fair, unit }) => {
      const price = offGrid(market, fair * 0.99)
      if (price !== undefined) {
        const { body } = await refused(order('BUY', 0.99, { price }), bad, 'price')
        const [below, above] = nearestIn(body.details)
        expect(Number(below)).to.be.below(Number(price))
        expect(Number(above)).to.be.above(Number(price))
        for (const each of [below, above]) await cancel(await place(order('BUY', 0.99, { price: each })))
      }
      const off = plain(exact(unit) + exact(market.lotSize ?? '1') / 2n)
      const { body } = await refused(order('BUY', 0.99, { amount: off }), bad, 'amount')
      const [below, above] = nearestIn(body.details)
      expect(exact(below)).to.equal(exact(unit))
      expect(exact(above)).to.equal(exact(unit) + exact(market.lotSize ?? '1'))
    },
  ],
  [
    'BOOK-21 too small an order, a missing or invalid field, and one that does not apply are refused, naming the field',
    async ({ market, order, refused, post, at, owner, fair }) => {
      for (const amount of ['0', '0.000', '-1', 'one', '1e-40']) await refused(order('BUY', 0.99, { amount }), bad, 'amount')
      for (const price of ['0', '0.0', '-1', 'one']) await refused(order('BUY', 0.99, { price }), bad, 'price')
      await refused(order('BUY', 0.99, { price: undefined }), bad, 'price')
      await refused(order('BUY', 0.99, { amount: undefined }), bad, 'amount')
      await refused(order('BUY', 0.99, { limitPrice: at(0.99) }), bad, 'limitPrice')
      if (market.orderTypes.includes('MARKET')) await refused(order('BUY', 0.99, { orderType: 'MARKET' }), bad, 'price')
      for (const side of ['UP', '', 'BUYSELL']) await refused(order('BUY', 0.99, { side }), bad, 'side')
      for (const orderType of ['STOP', '']) await refused(order('BUY', 0.99, { orderType }), bad, 'orderType')
      await refused(order('BUY', 0.99, { timeInForce: 'GTD' }), bad, 'timeInForce')
      for (const clientOrderId of ['with a space', 'x'.repeat(65), 'ä'])
        await refused(order('BUY', 0.99, { clientOrderId }), bad, 'clientOrderId')
      await refused(order('BUY', 0.99, { size: '1' }), bad, 'size')
      for (const address of ['0x1234', `${owner.slice(0, -1)}g`]) await refused(order('BUY', 0.99, { address }), bad, 'address')
      await refused(order('BUY', 0.99, { address: `0x${'00'.repeat(19)}01` }), '404 LOAD_WALLET')
      for (const huge of [{ amount: '1e80' }, { price: '1e80' }]) {
        const { status, body, text } = await post('orders', order('BUY', 0.99, huge))
        expect(status, text).to.be.within(400, 422)
        expect(body.name, text).to.not.equal('UNKNOWN_ERROR')
      }
      for (const amount of tooSmall(market, fair * 0.99)) await refused(order('BUY', 0.99, { amount }), bad, 'amount')
    },
  ],
  [
    'BOOK-22 an unknown market is refused by every endpoint',
    async ({ market, order, refused, read, remove, owner }) => {
      const names = ['NOPE-NONE', `${market.quote}-${market.base}`, `${market.base}${market.quote}`, `${market.base}-`]
      for (const name of names) {
        await refused(order('BUY', 0.99, { market: name }), unknown)
        for (const [endpoint, fields] of [
          ['orderBook', {}],
          ['ticker', {}],
          ['markets', {}],
          ['trades', { address: owner }],
          ['orders', { address: owner }],
        ] as const) {
          const { status, body, text } = await read(endpoint, { ...fields, market: name })
          expect(`${status} ${body?.name}`, `${endpoint} of ${name}: ${text}`).to.equal(unknown)
        }
        const { status, body, text } = await remove({ market: name, clientOrderId: 'any' })
        expect(`${status} ${body?.name}`, text).to.equal(unknown)
      }
      // The name is not case-sensitive.
      const { status, body, text } = await read('orderBook', { market: market.market.toLowerCase() })
      expect(status, text).to.equal(200)
      expect(body.market).to.equal(market.market)
    },
  ],
  [
    "BOOK-23 another wallet's order, and an unknown one, cannot be cancelled",
    async ({ place, order, remove, find, rest, other, owner }) => {
      const theirs = await place(order('BUY', 0.99, { address: other }))
      const strange = await rest('SELL', 1.02)
      const names: readonly Fields[] = [
        { orderId: theirs.orderId },
        { clientOrderId: theirs.clientOrderId },
        { orderId: strange },
        { orderId: '987654321987' },
        { clientOrderId: 'nobody-made-it' },
      ]
      for (const name of names) {
        const { status, body, text } = await remove({ address: owner, ...name })
        expect(`${status} ${body?.name}`, `${JSON.stringify(name)}: ${text}`).to.equal(unknown)
      }
      expect(await find(theirs, { address: other })).to.include({ state: 'OPEN' })
      const { status, body, text } = await remove({})
      expect(`${status} ${body?.name}`, text).to.equal(bad)
    },
  ],
  [
    'BOOK-24 a wallet can use a clientOrderId once, even after the first order has ended, and each wallet has its own',
    async (fixture) => {
      const { place, order, refused, cancel, other, find, post, orders } = fixture
      const clientOrderId = `once-${Date.now()}`
      const first = await place(order('BUY', 0.99, { clientOrderId }))
      expect(first.clientOrderId).to.equal(clientOrderId)
      const { body } = await refused(order('BUY', 0.98, { clientOrderId }), '422 IDEMPOTENCY_CONFLICT')
      expect(body.details.clientOrderId).to.equal(clientOrderId)
      // The same holds for exactly the same order.
      await refused(order('BUY', 0.99, { clientOrderId }), '422 IDEMPOTENCY_CONFLICT')
      await cancel(first)
      await refused(order('BUY', 0.99, { clientOrderId }), '422 IDEMPOTENCY_CONFLICT')
      expect(await find(first)).to.include({ state: 'CANCELED' })
      expect((await place(order('BUY', 0.97, { clientOrderId, address: other }))).state).to.equal('OPEN')

      // One of several simultaneous requests succeeds.
      const fields = order('BUY', 0.96, { clientOrderId: `${clientOrderId}-race` })
      const answers = await Promise.all(Array.from({ length: 5 }, () => post('orders', fields)))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 422, 422, 422, 422])
      await becomes(fixture, await fixture.settled({ clientOrderId: `${clientOrderId}-race` }), 'OPEN')
      expect(await orders({ state: 'OPEN' })).to.have.length(1)
    },
  ],
  [
    'BOOK-25 a request with an Idempotency-Key places one order, whatever the number of times it is sent',
    async ({ post, order, orders, settled }) => {
      const key = { headers: { 'idempotency-key': `book-${Date.now()}` } }
      const fields: Fields = order('BUY', 0.99)
      const first = await post('orders', fields, key)
      expect(first.status, first.text).to.equal(200)
      const again = await post('orders', fields, key)
      expect(again.text).to.equal(first.text)
      await settled(first.body)
      const conflict = await post('orders', { ...fields, price: order('BUY', 0.98)['price'] }, key)
      expect(`${conflict.status} ${conflict.body.name}`).to.equal('422 IDEMPOTENCY_CONFLICT')
      expect(await orders({ state: 'OPEN' })).to.have.length(1)
    },
  ],
]

/** Amounts in whole lots below the market's minimum, where it has one. */
function tooSmall({ lotSize = '1', minOrderSize = '0', minNotional = '0' }: Market, price: number): string[] {
  const tooLittle = [exact(minOrderSize) - exact(lotSize), exact(((Number(minNotional) / price) * 0.9).toFixed(18))]
  return tooLittle.flatMap((amount) => (amount >= exact(lotSize) ? [plain(amount - (amount % exact(lotSize)))] : []))
}

/** The nearest valid values below and above, from whichever entry of `details` has them. */
function nearestIn(details: readonly { nearest?: readonly string[] }[]): readonly [string, string] {
  const [below, above] = details.flatMap(({ nearest = [] }) => nearest)
  if (below === undefined || above === undefined) throw new Error(`The error lacks the nearest valid values: ${JSON.stringify(details)}`)
  return [below, above]
}

export const batchCards: readonly BookCard[] = [
  [
    'BOOK-26 in a batch the valid orders are placed, and each invalid one has its own error',
    async (fixture) => {
      const { place, order, orders, find, settled, at, unit, bookWhere } = fixture
      const [stays, goes] = [await place(order('BUY', 0.95)), await place(order('BUY', 0.96))]
      const twice = `twice-${Date.now()}`
      const create = [
        entry(fixture, 'BUY', 0.97),
        entry(fixture, 'BUY', 0.98, { price: '0' }),
        entry(fixture, 'SELL', 1.02, { clientOrderId: twice }),
        entry(fixture, 'SELL', 1.03, { clientOrderId: twice }),
        entry(fixture, 'SELL', 1.03, { market: 'NOPE-NONE' }),
        entry(fixture, 'SELL', 1.03, { clientOrderId: stays.clientOrderId }),
        entry(fixture, 'SELL', 1.04, { size: '1' }),
      ]
      const { market } = fixture.market
      const cancel = [
        { market, clientOrderId: goes.clientOrderId },
        { market, clientOrderId: 'nobody-made-it' },
      ]
      const { created, cancelled } = await send(fixture, create, cancel)
      expect(created.map(outcomeOf)).to.deep.equal([
        'accepted',
        'INCOMPLETE_PARAMS',
        'accepted',
        'INCOMPLETE_PARAMS',
        'UNKNOWN_ORDER',
        'IDEMPOTENCY_CONFLICT',
        'INCOMPLETE_PARAMS',
      ])
      expect(created[2].clientOrderId).to.equal(twice)
      expect(cancelled.map(outcomeOf)).to.deep.equal(['accepted', 'UNKNOWN_ORDER'])
      for (const index of [0, 2]) expect((await settled(created[index])).state).to.equal('OPEN')
      await waitFor(
        'the cancelled one is gone',
        () => find(goes),
        ({ state }) => state === 'CANCELED',
      )
      expect((await orders({ state: 'OPEN' })).length).to.equal(3)
      await bookWhere(
        'the valid orders are shown',
        (book) =>
          quantityAt(book, 'BUY', at(0.97)) === exact(unit) &&
          quantityAt(book, 'SELL', at(1.02)) === exact(unit) &&
          quantityAt(book, 'BUY', at(0.96)) === 0n,
      )
    },
  ],
  [
    'BOOK-27 a large batch is answered one by one, in its order',
    async (fixture) => {
      const { orders, settled, at } = fixture
      // Every seventh order has a price of zero.
      const isInvalid = (index: number) => index % 7 === 3
      const create = Array.from({ length: 28 }, (_, index) =>
        entry(fixture, 'BUY', 0.9 + index / 1000, isInvalid(index) ? { price: '0' } : {}),
      )
      const { created } = await send(fixture, create, [])
      expect(created.map(outcomeOf)).to.deep.equal(create.map((_, index) => (isInvalid(index) ? 'INCOMPLETE_PARAMS' : 'accepted')))
      for (const [index, each] of created.entries())
        if (!isInvalid(index)) {
          const order = await settled(each)
          expect(order.state).to.equal('OPEN')
          expectSame(order.price, at(0.9 + index / 1000), `price of number ${index}`)
        }
      const all = await orders({ state: 'OPEN' })
      const { cancelled } = await send(
        fixture,
        [],
        all.map(({ market, orderId }) => ({ market, orderId })),
      )
      expect(new Set(cancelled.map(outcomeOf))).to.deep.equal(new Set(['accepted']))
      await waitFor(
        'all orders are cancelled',
        () => orders({ state: 'OPEN' }),
        ({ length }) => length === 0,
      )
    },
  ],
]

/** An order of a batch: its address is a field of the batch. */
function entry({ order }: BookFixture, side: 'BUY' | 'SELL', multiple: number, fields: Fields = {}): Fields {
  const { address: _, ...request } = order(side, multiple, fields)
  return request
}

async function send({ post, owner }: BookFixture, create: readonly Fields[], cancel: readonly Fields[]) {
  const { created, cancelled } = await bodyOf(post('batchOrders', { address: owner, create, cancel }))
  expect(created).to.have.length(create.length)
  expect(cancelled).to.have.length(cancel.length)
  return { created, cancelled }
}

const outcomeOf = ({ error }: { error?: { name: string } }) => error?.name ?? 'accepted'
