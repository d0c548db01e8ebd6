import { expect } from 'chai'
import { word } from '../../../kits/evm/encoding.ts'
import { createRollupFees } from '../../../kits/evm/op-stack.ts'

/** What the oracle answers where data costs so much and the operator takes nothing. */
const charging = (dataFeeRaw: bigint) => [dataFeeRaw, 0n, 0n].map((raw) => ({ ok: true, data: `0x${word(raw)}` }))

describe('the fee of a rollup that is shown', () => {
  it('does not go back to a block before the one that was read last', () => {
    const fees = createRollupFees(10)
    const shown = () => fees.costRaw(1n, Infinity)
    expect(fees.observe(charging(5n), 100n, true)).to.equal(true)
    expect(fees.observe(charging(9n), 40n, false)).to.equal(true)
    expect(shown()).to.equal(5n)
    fees.observe(charging(6n), 100n, false)
    expect(shown()).to.equal(6n)
    // The chain went back: its newest block counts.
    fees.observe(charging(7n), 99n, true)
    expect(shown()).to.equal(7n)
  })

  it('needs an oracle, at any block', () => {
    const fees = createRollupFees(10)
    const nothing = charging(1n).map(() => ({ ok: true, data: '0x' }))
    expect(fees.observe(nothing, 100n, true)).to.equal(false)
    expect(fees.observe(nothing, 40n, false)).to.equal(false)
  })
})
