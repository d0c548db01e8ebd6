import { expect } from 'chai'
import { swapBounds } from '../../core/handlers/outcome.ts'

const token = (address: string) => ({ symbol: address, address, decimals: 0 })
const boundsOf = (exact: 'in' | 'out', slippage = { numerator: 1n, denominator: 200n }) => {
  const quoted = { quotedRaw: 1010n, boundRaw: exact === 'in' ? 1000n : 1020n, slippage }
  const bounds = swapBounds({ tokenIn: token('in'), tokenOut: token('out'), exact, amountRaw: 500n }, quoted)
  return [bounds.get('in'), bounds.get('out')]
}

describe('what a swap may do to the wallet', () => {
  it('takes the exact amount at most, and gives from its bound to 1 % above its quote', () => {
    expect(boundsOf('in')).to.deep.equal([
      { leastRaw: -500n, mostRaw: 0n },
      { leastRaw: 1000n, mostRaw: 1020n },
    ])
  })

  it('gives the exact amount, and takes from 1 % below its quote to its bound', () => {
    expect(boundsOf('out')).to.deep.equal([
      { leastRaw: -1020n, mostRaw: -1000n },
      { leastRaw: 500n, mostRaw: 505n },
    ])
  })

  it('may be better than its quote by the slippage where that is more', () => {
    expect(boundsOf('in', { numerator: 1n, denominator: 10n })[1]).to.deep.equal({ leastRaw: 1000n, mostRaw: 1111n })
    expect(boundsOf('out', { numerator: 1n, denominator: 10n })[0]).to.deep.equal({ leastRaw: -1020n, mostRaw: -909n })
  })
})
