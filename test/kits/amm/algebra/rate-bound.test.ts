import { expect } from 'chai'
import * as fc from 'fast-check'
import { algebraProtocol, type AlgebraPoolState } from '../../../../kits/amm/algebra/pools.ts'
import { withFee } from '../../../../kits/amm/algebra/block-fees.ts'
import { address, aPool, asked, tokens } from '../../pools/routing/any-pool.ts'

const deployment = { factory: address, poolDeployer: address, initCodeHash: `0x${'00'.repeat(32)}` }
const protocol = algebraProtocol({ version: 'integral', kind: 'integral', deployment })
/** The plugin sets the fee before each swap. */
const setsFee = 1

describe('the bound of a pool of Algebra', () => {
  it('holds for every amount by the fee of the block, and before that is read', () => {
    let held = 0
    fc.assert(
      fc.property(fc.record(asked), aPool, fc.nat(60_000), ({ zeroForOne, exact, amountRaw }, { state: range }, fee) => {
        const priced = { zeroForOne: withFee(range, fee), oneForZero: withFee(range, fee) }
        const state: AlgebraPoolState = { range, pluginConfig: setsFee, hasBlockFees: true, priced }
        const [tokenIn, tokenOut] = zeroForOne ? tokens : [tokens[1], tokens[0]]
        const passage = { tokenIn, tokenOut }
        const passed = protocol.pass({ address, tokens, state }, passage, exact, amountRaw)
        if (!passed || 'missing' in passed) return true
        held += 1
        const [inRaw, outRaw] = exact === 'in' ? [amountRaw, passed.amountRaw] : [passed.amountRaw, amountRaw]
        return [state, { ...state, priced: undefined }].every((each) => {
          const bound = protocol.rateBound?.({ address, tokens, state: each }, passage)
          return bound !== undefined && outRaw << 128n <= inRaw * bound.rateX128
        })
      }),
      { numRuns: 10_000 },
    )
    expect(held).to.be.above(1_000)
  })

  it('is absent where a plugin of unknown code acts before swaps', () => {
    const [pool] = fc.sample(aPool, 1)
    if (!pool) throw new Error('There is one.')
    const state: AlgebraPoolState = { range: pool.state, pluginConfig: setsFee, hasBlockFees: false }
    expect(protocol.rateBound?.({ address, tokens, state }, { tokenIn: tokens[0], tokenOut: tokens[1] })).to.equal(undefined)
  })
})
