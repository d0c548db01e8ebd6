import { expect } from 'chai'
import { AbiCoder, Interface } from 'ethers'
import * as fc from 'fast-check'
import { callsIn } from '../../core/wallet/token-rights.ts'

const batching = new Interface([
  'function multicall(bytes[])',
  'function multicall(uint256,bytes[])',
  'function multicall(bytes32,bytes[])',
  'function batch(bytes[],bool)',
])
const wrappings: readonly ((calls: readonly string[]) => string)[] = [
  (calls) => batching.encodeFunctionData('multicall(bytes[])', [calls]),
  (calls) => batching.encodeFunctionData('multicall(uint256,bytes[])', [7, calls]),
  (calls) => batching.encodeFunctionData('multicall(bytes32,bytes[])', [`0x${'12'.repeat(32)}`, calls]),
  (calls) => batching.encodeFunctionData('batch', [calls, true]),
]

interface Tree {
  readonly way: number
  readonly calls: readonly (string | Tree)[]
}
const plain = fc.uint8Array({ minLength: 4, maxLength: 80 }).map((bytes) => `0xff${Buffer.from(bytes).toString('hex')}`)
const { tree } = fc.letrec<{ tree: Tree; call: string | Tree }>((tie) => ({
  tree: fc.record({ way: fc.nat(3), calls: fc.array(tie('call'), { maxLength: 3 }) }),
  call: fc.oneof({ depthSize: 'small', maxDepth: 2 }, plain, tie('tree')),
}))
const encoded = (call: string | Tree): string => (typeof call === 'string' ? call : (wrappings[call.way]?.(call.calls.map(encoded)) ?? ''))
const flat = (call: string | Tree): string[] => [encoded(call), ...(typeof call === 'string' ? [] : call.calls.flatMap(flat))]

describe('the calls inside of a call', () => {
  it('appear in the result, however deep they are', () => {
    fc.assert(
      fc.property(tree, (each) => {
        expect(callsIn(encoded(each))).to.deep.equal(flat(each))
      }),
    )
  })

  it('stay unknown where the bytes are cut, or point elsewhere', () => {
    const whole = wrappings[0]?.(['0xaabbccdd', '0x11223344']) ?? ''
    for (let cut = whole.length - 58; cut >= 10; cut -= 2) expect(callsIn(whole.slice(0, cut)), String(cut)).to.equal(undefined)
    const abi = AbiCoder.defaultAbiCoder()
    for (const offset of [2n ** 32n, 2n ** 255n, 1_000n])
      expect(callsIn(`0xac9650d8${abi.encode(['uint256', 'uint256'], [offset, 1n]).slice(2)}`)).to.equal(undefined)
  })

  it('stay unknown where they are too many or too deep', () => {
    const [once] = wrappings
    const many = (count: number) => once?.(Array.from({ length: count }, () => '0xaabbccdd')) ?? ''
    expect(callsIn(many(63))).to.have.length(64)
    expect(callsIn(many(64))).to.equal(undefined)
    let deep = '0xaabbccdd'
    for (let depth = 0; depth < 4; depth += 1) deep = once?.([deep]) ?? ''
    expect(callsIn(deep)).to.have.length(5)
    expect(callsIn(once?.([deep]) ?? '')).to.equal(undefined)
  })

  it('may overlap, as a contract reads them', () => {
    // Two offsets to the same call.
    const words = [32n, 2n, 64n, 64n, 4n]
    const data = `0xac9650d8${words.map((each) => each.toString(16).padStart(64, '0')).join('')}${'aabbccdd'.padEnd(64, '0')}`
    expect(callsIn(data)).to.deep.equal([data, '0xaabbccdd', '0xaabbccdd'])
  })
})
