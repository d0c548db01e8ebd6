import { expect } from 'chai'
import { exact } from './exact.ts'
import { expectSame } from '../../../../testkit/cards/books/orders.ts'
import { quantityAt, type Desk, type Fields } from '../../../../testkit/cards/books/fixture.ts'
import { until } from './until.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

export const batchCards: readonly Card[] = [
  [
    'BOOK-26 of a batch the good ones go, and each bad one has its own error',
    async (desk) => {
      const { place, order, orders, find, settled, at, unit, bookWhere } = desk
      const [stays, goes] = [await place(order('BUY', 0.95)), await place(order('BUY', 0.96))]
      const twice = `twice-${Date.now()}`
      const create = [
        entry(desk, 'BUY', 0.97),
        entry(desk, 'BUY', 0.98, { price: '0' }),
        entry(desk, 'SELL', 1.02, { clientOrderId: twice }),
        entry(desk, 'SELL', 1.03, { clientOrderId: twice }),
        entry(desk, 'SELL', 1.03, { market: 'NOPE-NONE' }),
        entry(desk, 'SELL', 1.03, { clientOrderId: stays.clientOrderId }),
        entry(desk, 'SELL', 1.04, { size: '1' }),
      ]
      const { market } = desk.market
      const cancel = [
        { market, clientOrderId: goes.clientOrderId },
        { market, clientOrderId: 'nobody-made-it' },
      ]
      const { created, cancelled } = await send(desk, create, cancel)
      expect(created.map(outcomeOf)).to.deep.equal([
        'taken',
        'INCOMPLETE_PARAMS',
        'taken',
        'INCOMPLETE_PARAMS',
        'UNKNOWN_ORDER',
        'IDEMPOTENCY_CONFLICT',
        'INCOMPLETE_PARAMS',
      ])
      expect(created[2].clientOrderId).to.equal(twice)
      expect(cancelled.map(outcomeOf)).to.deep.equal(['taken', 'UNKNOWN_ORDER'])
      for (const index of [0, 2]) expect((await settled(created[index])).state).to.equal('OPEN')
      await until(
        'the cancelled one is gone',
        () => find(goes),
        ({ state }) => state === 'CANCELED',
      )
      expect((await orders({ state: 'OPEN' })).length).to.equal(3)
      await bookWhere(
        'the good ones are shown',
        (book) =>
          quantityAt(book, 'BUY', at(0.97)) === exact(unit) &&
          quantityAt(book, 'SELL', at(1.02)) === exact(unit) &&
          quantityAt(book, 'BUY', at(0.96)) === 0n,
      )
    },
  ],
  [
    'BOOK-27 a batch of many is answered one by one, in their order',
    async (desk) => {
      const { orders, settled, at } = desk
      // Every seventh has a price of zero.
      const isBad = (index: number) => index % 7 === 3
      const create = Array.from({ length: 28 }, (_, index) => entry(desk, 'BUY', 0.9 + index / 1000, isBad(index) ? { price: '0' } : {}))
      const { created } = await send(desk, create, [])
      expect(created.map(outcomeOf)).to.deep.equal(create.map((_, index) => (isBad(index) ? 'INCOMPLETE_PARAMS' : 'taken')))
      for (const [index, each] of created.entries())
        if (!isBad(index)) {
          const order = await settled(each)
          expect(order.state).to.equal('OPEN')
          expectSame(order.price, at(0.9 + index / 1000), `price of number ${index}`)
        }
      const all = await orders({ state: 'OPEN' })
      const { cancelled } = await send(
        desk,
        [],
        all.map(({ market, orderId }) => ({ market, orderId })),
      )
      expect(new Set(cancelled.map(outcomeOf))).to.deep.equal(new Set(['taken']))
      await until(
        'all are cancelled',
        () => orders({ state: 'OPEN' }),
        ({ length }) => length === 0,
      )
    },
  ],
]

/** As in a batch: whose it is stands beside the list. */
function entry({ order }: Desk, side: 'BUY' | 'SELL', part: number, fields: Fields = {}): Fields {
  const { address: _, ...asked } = order(side, part, fields)
  return asked
}

async function send({ act, answered, owner }: Desk, create: readonly Fields[], cancel: readonly Fields[]) {
  const { created, cancelled } = await answered(act('batchOrders', { address: owner, create, cancel }))
  expect(created).to.have.length(create.length)
  expect(cancelled).to.have.length(cancel.length)
  return { created, cancelled }
}

const outcomeOf = ({ error }: { error?: { name: string } }) => error?.name ?? 'taken'
