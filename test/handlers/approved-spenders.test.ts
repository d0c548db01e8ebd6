import { expect } from 'chai'
import type { Quote, Token } from '../../core/contracts/index.ts'
import { createApprovedSpenders, quoteBy } from '../../core/handlers/amm/approved.ts'

const token = (address: string): Token => ({ address, symbol: address, decimals: 18 })
const quote: Quote = {
  swap: { tokenIn: token('0xA1'), tokenOut: token('0xA2'), exact: 'in', amountRaw: 1n },
  amountRaw: 1n,
  route: [],
  spotAmountRaw: 1n,
  gasUnits: 1n,
  head: { number: 1n, hash: '0x01', timestamp: 0 },
  spender: 'router',
  otherSpenders: ['another'],
}
const approver = { network: { chain: 'ethereum', network: 'local' }, venue: { connector: 'uniswap' }, wallet: '0xW1' }

describe('spenders that wallets have approved', () => {
  it('stay known by wallet, for one server and no other', () => {
    const [one, other] = [createApprovedSpenders(), createApprovedSpenders()]
    one.remember(quoteBy(quote, 'another'), approver)

    expect(one.quoteBy(quote, approver)).to.include({ spender: 'another' })
    expect(one.quoteBy(quote, { ...approver, wallet: '0xW2' })).to.include({ spender: 'router' })
    expect(other.quoteBy(quote, approver)).to.include({ spender: 'router' })
    // Where it does not take the route of a quote, it is not asked.
    expect(one.quoteBy({ ...quote, otherSpenders: ['third'] }, approver)).to.include({ spender: 'router' })
  })
})
