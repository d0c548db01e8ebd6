import { expect } from 'chai'
import { AbiCoder, Interface } from 'ethers'
import * as fc from 'fast-check'
import { packAggregate3, unpackAggregate3 } from '../../../kits/evm/multicall.ts'

const multicall = new Interface([
  'function aggregate3((address target, bool allowFailure, bytes callData)[] calls) payable returns ((bool success, bytes returnData)[])',
])
const bytes = fc.uint8Array({ maxLength: 100 }).map((data) => `0x${Buffer.from(data).toString('hex')}`)
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((data) => `0x${Buffer.from(data).toString('hex')}`)

function answer(results: readonly { ok: boolean; data: string }[]): string {
  return multicall.encodeFunctionResult('aggregate3', [results.map(({ ok, data }) => [ok, data])])
}

describe('the packing of Multicall3 calls', () => {
  it('equals the output of an ABI coder', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ to: address, data: bytes })), (calls) => {
        const theirs = multicall.encodeFunctionData('aggregate3', [calls.map(({ to, data }) => [to, true, data])])
        expect(packAggregate3(calls)).to.equal(theirs)
      }),
    )
  })

  it('reads the output of an ABI coder', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ ok: fc.boolean(), data: bytes })), (results) => {
        expect(unpackAggregate3(answer(results), results.length)).to.deep.equal(results)
      }),
    )
  })

  it('refuses an answer of another length, and one that is cut off', () => {
    const whole = answer([
      { ok: true, data: '0x1234' },
      { ok: false, data: `0x${'ab'.repeat(40)}` },
    ])
    expect(unpackAggregate3(whole, 1)).to.equal(undefined)
    expect(unpackAggregate3(whole, 3)).to.equal(undefined)
    // The last bytes are padding, which nobody reads.
    for (let length = 2; length < whole.length - 48; length += 2) expect(unpackAggregate3(whole.slice(0, length), 2)).to.equal(undefined)
  })

  it('never throws on invalid bytes', () => {
    const wild = fc.array(fc.oneof(fc.bigInt({ min: 0n, max: 400n }), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })), { maxLength: 20 })
    fc.assert(
      fc.property(wild, fc.nat(5), (words, expected) => {
        unpackAggregate3(
          AbiCoder.defaultAbiCoder().encode(
            words.map(() => 'uint256'),
            words,
          ),
          expected,
        )
      }),
    )
  })
})
