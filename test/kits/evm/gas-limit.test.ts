import { expect } from 'chai'
import { gasLimitsOf } from '../../../kits/evm/gas-limit.ts'
import type { ReadRpc } from '../../../kits/nodes/rpc.ts'

const rpc: ReadRpc = { request: async () => null, batch: async () => [], url: () => 'http://node', markUnhealthy() {} }
const step = { to: '0x0000000000000000000000000000000000000001', data: '0x', value: '0' }
const limits = (spareGas: string | undefined, maxGas: bigint) =>
  gasLimitsOf(rpc, [{ ...step, ...(spareGas !== undefined && { spareGas }) }], [{ result: '0x15f90' }], maxGas)

describe('the gas limit of a step', () => {
  it("adds a quarter and the step's spare gas to the estimate", () => {
    expect(limits(undefined, 30_000_000n)).to.deep.equal([112_500n])
    expect(limits('350000', 30_000_000n)).to.deep.equal([462_500n])
  })

  it('stays within the maximum gas of a transaction, if the estimate itself fits', () => {
    expect(limits('350000', 400_000n)).to.deep.equal([400_000n])
    expect(() => limits('350000', 80_000n)).to.throw('gas')
  })
})
