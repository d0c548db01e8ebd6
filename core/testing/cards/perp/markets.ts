import { expect } from 'chai'
import { tickerOf, type Desk, type Market } from '../../../../testkit/cards/perp-fixture.ts'
import type { Card } from './index.ts'

export const marketCards: readonly Card[] = [
  [
    'PERP-21 a paused market takes no orders, shows what is in it, and goes on once it is open again',
    async (desk) => {
      const { order, open, close, position, refused, operator, market, owner } = desk
      await open(await order('LONG', 5_000))
      const asked = await order('LONG', 1_000)
      const before = await position()
      await operator.setStatus(tickerOf(market), 'paused')
      await takesNoOrders(desk, market, asked, 'paused')
      const paused = await refused('close', { ...market, address: owner }, '422 TRADE_FAILED')
      expect(paused.body.details.reason).to.contain('paused')
      const { positionAmt, positionSide, entryPrice } = before
      expect(await position()).to.include({ positionAmt, positionSide, entryPrice })
      await operator.setStatus(tickerOf(market), 'open')
      await open(asked)
      await close()
    },
  ],
  [
    'PERP-22 a market that is closed for good takes no orders, and lets positions go',
    async (desk) => {
      const { order, open, close, position, operator, second, answered } = desk
      await open(await order('LONG', 5_000, second))
      const asked = await order('LONG', 1_000, second)
      await operator.setStatus(tickerOf(second), 'closed')
      await takesNoOrders(desk, second, asked, 'closed')
      expect((await answered('pairs')).pairs).to.include(tickerOf(second))
      const { positionAmt } = await position(second)
      const { fill } = await close(second)
      expect(fill.size).to.equal(positionAmt)
      expect((await position(second)).positionAmt).to.equal('0')
    },
  ],
]

async function takesNoOrders({ refused, answered }: Desk, on: Market, asked: object, status: string): Promise<void> {
  expect(await answered('market-status', { ...on })).to.include({ isActive: false, status })
  await refused('price', { ...on, side: 'LONG', amount: '0.1' }, '422 PRICE_FAILED')
  const { body } = await refused('open', { ...asked }, '422 TRADE_FAILED')
  expect(body.details.reason).to.equal(`the market is ${status}`)
}
