import { expect } from 'chai'
import type { BookOperator } from '../../../contracts/devnet.ts'
import type { Desk } from '../../../../testkit/cards/books/fixture.ts'
import { until } from './until.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

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
const isTold = ({ answered, read, market: { market } }: Desk, status: string) =>
  until(
    `the market is ${status}`,
    async () => (await answered(read('markets', { market }))).markets[market].status,
    (told) => told === status,
  )
