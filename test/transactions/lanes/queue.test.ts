import { expect } from 'chai'
import { createRequestLimit } from '../../../core/transactions/leased-queues.ts'

describe("a wallet's queue", () => {
  it('has a bound, and room again when a request leaves', () => {
    const queue = createRequestLimit(8, '0x1')
    const leave = Array.from({ length: 8 }, () => queue.enter())
    expect(() => queue.enter()).to.throw('walletQueue')
    leave[0]?.()
    expect(() => queue.enter()).not.to.throw()
  })
})
