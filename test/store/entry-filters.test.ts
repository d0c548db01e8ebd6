import { expect } from 'chai'
import { filtersOf } from '../../core/store/entry-filters.ts'

const odd = `0x${'aB'.repeat(20)}`
const pairOf = (about: object | null, fields: object = {}) => filtersOf({ about, request: { path: '/', fields } }).pair

describe('the pair by which a transaction is found', () => {
  it('has a token that was in no list by its address, whatever it calls itself', () => {
    const about = { side: 'BUY', base: { symbol: 'WETH', decimals: 18, address: odd }, quote: { symbol: 'USDC', decimals: 6 } }
    expect(pairOf(about, { base: odd, quote: 'USDC' })).to.equal(`${odd.toLowerCase()}-usdc`)
    expect(pairOf({ ...about, base: { symbol: 'WETH', decimals: 18 } })).to.equal('usdc-weth')
  })

  it('is that of the tokens of a change of liquidity, and not what the request called them', () => {
    expect(pairOf({ reversed: false, decimals: [18, 6], names: ['WETH', 'USDC'] }, { token0: odd, token1: 'USDC' })).to.equal('usdc-weth')
    expect(pairOf({ reversed: false, decimals: [18, 6], names: ['WETH', 'USDC'] }, { tokenId: '7' })).to.equal('usdc-weth')
    expect(pairOf({ names: ['WETH', 'USDC', 'DAI'] })).to.equal(null)
  })
})
