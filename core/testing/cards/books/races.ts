import { expect } from 'chai'
import { exact } from './exact.ts'
import { expectSame } from '../../../../testkit/cards/books/orders.ts'
import { inOneBlock } from '../../../../testkit/cards/venue.ts'
import type { Desk } from '../../../../testkit/cards/books/fixture.ts'
import { until } from './until.ts'
import type { Card } from '../../../../testkit/cards/books.ts'

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
        const over = await until(
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
async function together({ bench }: Desk, [first, second]: readonly [() => Promise<unknown>, () => ReturnType<Desk['act']>]) {
  let answer: Awaited<ReturnType<Desk['act']>> | undefined
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
