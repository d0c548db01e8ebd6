import { expect } from 'chai'
import { exact } from './exact.ts'
import { expectSame } from '../../../../testkit/cards/books/orders.ts'
import { open, type Desk, type Fields, type Order, type Side } from '../../../../testkit/cards/books/fixture.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

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

const marketOrder = ({ order }: Desk, side: Side, fields: Fields): Fields => ({
  ...order(side, 1),
  orderType: 'MARKET',
  price: undefined,
  ...fields,
})

/** An order type or a time in force that the exchange does not have is never imitated. */
async function lacks({ order, refused }: Desk, fields: Fields): Promise<void> {
  await refused(order('BUY', 0.99, fields), '501 UNSUPPORTED')
}

/** Sends what can be had in part only: refused, or filled by so many units at most, and over. */
async function takesAtMost(desk: Desk, asked: Fields, count: number): Promise<void> {
  const answer = await desk.act('orders', asked)
  if (answer.status !== 200) return void expect(refusals, answer.text).to.include(answer.body.name)
  const over: Order = await desk.settled(answer.body)
  expect(exact(over.filledAmount) <= exact(desk.units(count)), `filled ${over.filledAmount} of ${String(asked['amount'])}`).to.equal(true)
  expect(open, `the state of ${JSON.stringify(over)}`).to.not.include(over.state)
  expect(over.state).to.not.equal('FILLED')
}

/** What is left of another's order at a price is all of it. */
async function stays({ operator, market, at, unit }: Desk, side: Side, part: number): Promise<void> {
  const { buys, sells } = await operator.book(market.market)
  const level = (side === 'BUY' ? buys : sells).find(({ price }) => exact(price) === exact(at(part)))
  expectSame(level?.quantity ?? '0', unit, `what is at ${at(part)}`)
}

function expectNear(actual: bigint, expected: bigint, what: string): void {
  const off = actual > expected ? actual - expected : expected - actual
  expect(off * 10n ** 6n <= expected, `${what}: ${actual} and ${expected}`).to.equal(true)
}
