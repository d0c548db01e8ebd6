// What is counted no more of an order of signed actions once it has ended.
import { expect } from 'chai'
import { freedByOrder } from '../../core/limits/settlements.ts'

const none = { numerator: 0n, denominator: 1n }
const half = { numerator: 1n, denominator: 2n }
const counted = { amounts: { loss: 8_000_000n, value: 100n }, ofRaw: 10n ** 18n, heldRaw: 10n ** 18n }

describe('an order that was filled at a better price than its own', () => {
  it('loses so much less, rounded down, and gives less where it buys', () => {
    const saved = { amount: '5.0000009', quote: 'USDC', ofOffer: { numerator: 1n, denominator: 3n } }
    expect(freedByOrder(counted, { unfilled: none, saved }, 'USDC')).to.deep.equal({ loss: 5_000_000n, value: 33n })
    const sold = { amount: '5', quote: 'USD' }
    expect(freedByOrder(counted, { unfilled: none, saved: sold }, undefined)).to.deep.equal({ loss: 5_000_000n })
  })

  it('frees no more than was counted, together with what was not filled', () => {
    const saved = { amount: '900', quote: 'USDC', ofOffer: { numerator: 2n, denominator: 3n } }
    expect(freedByOrder(counted, { unfilled: half, saved }, 'USDC')).to.deep.equal({ loss: 8_000_000n, value: 100n })
  })

  it('keeps its loss where its quote is not the reference token, but for what was not filled', () => {
    const saved = { amount: '5', quote: 'PURR' }
    expect(freedByOrder(counted, { unfilled: half, saved }, 'USDC')).to.deep.equal({ loss: 4_000_000n, value: 50n })
    expect(freedByOrder(counted, { unfilled: half, saved }, undefined)).to.deep.equal({ loss: 4_000_000n, value: 50n })
  })
})
