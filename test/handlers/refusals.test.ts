import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { explainRefusal } from '../../core/handlers/refusals.ts'

type Context = Parameters<typeof explainRefusal>[2]

describe('a refusal for want of an allowance', () => {
  const venue = { connector: 'uniswap', impl: { spenders: { v2: '0xAA', v3: '0xBB' } } }
  const context = { network: { tokens: { listed: [{ symbol: 'WETH', address: '0x11' }] } }, venue } as unknown as Context
  const explained = (spender: string, token: object = {}) => {
    const message = `${spender} may move 0 WETH of the wallet and needs 1: approve it with /evm/approve.`
    const error = new SluiceError('INSUFFICIENT_ALLOWANCE', message, { details: { spender, ...token } })
    return explainRefusal(error, { plan: { steps: [], needs: [], memo: null } as never }, context)
  }

  it('names the spender as /evm/approve takes it, where the connector has it', () => {
    expect(explained('0xAA').message).to.match(/: approve it with \/evm\/approve, with the spender "uniswap\/v2"\.$/)
    expect(explained('0xAA').details).to.deep.equal({ spender: '0xAA', spenderName: 'uniswap/v2' })
    expect(explained('0xCC').message).to.match(/: approve it with \/evm\/approve\.$/)
  })

  it('names a token by its address where no list has it: its symbol is not taken by /evm/approve, or means another token', () => {
    const shares = explained('0xAA', { token: 'UNI-V2', tokenAddress: '0x22' })
    expect(shares.message).to.match(/, with the spender "uniswap\/v2" and the token 0x22\.$/)
    expect(shares.details).to.include({ token: '0x22', tokenAddress: '0x22' })
    const listed = explained('0xAA', { token: 'WETH', tokenAddress: '0x11' })
    expect(listed.message).to.match(/, with the spender "uniswap\/v2"\.$/)
    expect(listed.details).to.include({ token: 'WETH' })
  })
})
