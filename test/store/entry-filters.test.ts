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

  it('is the market of all orders that it places, and of several markets none', () => {
    const [hype, also, purr] = ['HYPE-USDC', 'hype-usdc', 'PURR-USDC'].map((market) => ({ market, amount: '1' }))
    const as = (step: string, order?: object) => ({ ...order, do: step })
    expect(pairOf(null, { create: [hype] })).to.equal('hype-usdc')
    expect(pairOf(null, { create: [hype, also], cancel: [purr] })).to.equal('hype-usdc')
    expect(pairOf(null, { create: [hype, purr] })).to.equal(null)
    expect(pairOf(null, { create: [], cancel: [purr, purr] })).to.equal('purr-usdc')
    expect(pairOf(null, { part: [as('create', hype), as('create', also), as('cancel', purr)] })).to.equal('hype-usdc')
    expect(pairOf(null, { part: [as('create', hype), as('create', purr)] })).to.equal(null)
    expect(pairOf(null, { part: [as('cancel', purr)] })).to.equal('purr-usdc')
  })

  it('is that of the tokens of a change of liquidity, and not what the request called them', () => {
    expect(pairOf({ reversed: false, decimals: [18, 6], names: ['WETH', 'USDC'] }, { token0: odd, token1: 'USDC' })).to.equal('usdc-weth')
    expect(pairOf({ reversed: false, decimals: [18, 6], names: ['WETH', 'USDC'] }, { tokenId: '7' })).to.equal('usdc-weth')
    expect(pairOf({ names: ['WETH', 'USDC', 'DAI'] })).to.equal(null)
  })
})
