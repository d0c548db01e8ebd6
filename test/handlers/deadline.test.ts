import { expect } from 'chai'
import { deadlineAfter } from '../../core/handlers/slippage.ts'

const head = { number: 1n, timestamp: 1_000 }

describe('the deadline of a trade', () => {
  it("is the latest block's time plus the ttl, whatever this machine's clock says", () => {
    expect(deadlineAfter(head, 300, 1_005)).to.equal(1_300)
    expect(deadlineAfter(head, 300, 900)).to.equal(1_300)
  })

  it('is refused where it is past already: the node is behind', () => {
    expect(() => deadlineAfter(head, 300, 1_300))
      .to.throw(/latest block is 300 s old/)
      .with.property('name', 'NETWORK')
  })
})
