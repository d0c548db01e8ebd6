import { expect } from 'chai'
import { deadlineAfter } from '../../core/handlers/slippage.ts'

const head = { number: 1n, timestamp: 1_000 }

describe('deadlineAfter', () => {
  it("adds the ttl to the latest block's time", () => {
    expect(deadlineAfter(head, 300, 5)).to.equal(1_300)
    expect(deadlineAfter(head, 300, -26 * 3_600)).to.equal(1_300)
  })

  it('throws NETWORK if the deadline has passed, because the node is behind', () => {
    expect(() => deadlineAfter(head, 300, 300))
      .to.throw(/latest block is 300 s old/)
      .with.property('name', 'NETWORK')
  })
})
