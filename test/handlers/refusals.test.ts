import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { explainRefusal } from '../../core/handlers/refusals.ts'

type Context = Parameters<typeof explainRefusal>[2]

describe('a refusal for want of an allowance', () => {
  it('names the spender as /evm/approve takes it, where the connector has it', () => {
    const venue = { connector: 'uniswap', impl: { spenders: { v2: '0xAA', v3: '0xBB' } } }
    const context = { network: { tokens: { listed: [] } }, venue } as unknown as Context
    const explained = (spender: string) => {
      const message = `${spender} may move 0 WETH of the wallet and needs 1: approve it with /evm/approve.`
      const error = new SluiceError('INSUFFICIENT_ALLOWANCE', message, { details: { spender } })
      return explainRefusal(error, { plan: { steps: [], needs: [], memo: null } as never }, context)
    }
    expect(explained('0xAA').message).to.match(/: approve it with \/evm\/approve, with the spender "uniswap\/v2"\.$/)
    expect(explained('0xAA').details).to.deep.equal({ spender: '0xAA', spenderName: 'uniswap/v2' })
    expect(explained('0xCC').message).to.match(/: approve it with \/evm\/approve\.$/)
  })
})
