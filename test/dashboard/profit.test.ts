import { expect } from 'chai'
import { profitByHour } from '../../dashboard/profit.ts'
import type { Transaction } from '../../dashboard/transaction-words.ts'

const hourMs = 3_600_000
const day = { from: 0, hours: 3, hourMs }

function trade(hour: number, side: 'BUY' | 'SELL', amount: string, price: string, more: Partial<Transaction> = {}): Transaction {
  const quoted = String(Number(amount) * Number(price))
  const fill = side === 'BUY' ? { amountIn: quoted, amountOut: amount, price } : { amountIn: amount, amountOut: quoted, price }
  const request = { path: '/amm/trade', fields: { base: 'WETH', quote: 'USDC', side } }
  return { chain: 'ethereum', network: 'local', createdAt: hour * hourMs, request, fill, ...more } as Transaction
}

describe('the profit of trades by the hour', () => {
  it('is what was sold less what it had cost on average, in the hour of the sale', () => {
    const trades = [
      trade(0, 'BUY', '1', '2000'),
      trade(0.5, 'BUY', '1', '2200'),
      trade(1, 'SELL', '1', '2300'),
      trade(2, 'SELL', '1', '2000'),
    ]
    // The journal lists the newest first.
    expect(profitByHour(trades.toReversed(), day)).to.deep.equal([{ quote: 'USDC', values: [0, 200, -100] }])
  })

  it('is what a short position brought less what it was bought back for', () => {
    const trades = [trade(0, 'SELL', '2', '2000'), trade(1, 'BUY', '1', '1900')]
    expect(profitByHour(trades, day)).to.deep.equal([{ quote: 'USDC', values: [0, 100, 0] }])
  })

  it('goes on with what is left where a trade turns a position round', () => {
    const trades = [trade(0, 'BUY', '1', '2000'), trade(1, 'SELL', '3', '2100'), trade(2, 'BUY', '2', '2000')]
    expect(profitByHour(trades, day)).to.deep.equal([{ quote: 'USDC', values: [0, 100, 200] }])
  })

  it('is kept apart by pair and network, and added up by quote token', () => {
    const elsewhere = { network: 'other' }
    const trades = [
      trade(0, 'BUY', '1', '2000'),
      trade(1, 'SELL', '1', '2500', elsewhere),
      trade(1, 'SELL', '1', '2100'),
      trade(2, 'BUY', '1', '2400', elsewhere),
    ]
    expect(profitByHour(trades, day)).to.deep.equal([{ quote: 'USDC', values: [0, 100, 100] }])
  })

  it('is nothing where nothing was closed, or a trade has no fill', () => {
    const { fill: _fill, ...failed } = trade(1, 'SELL', '1', '2100')
    expect(profitByHour([trade(0, 'BUY', '1', '2000'), failed], day)).to.deep.equal([])
  })
})
