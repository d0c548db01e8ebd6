import { expect } from 'chai'
import { hexlify, keccak256 } from 'ethers'
import fc from 'fast-check'
import '../../../kits/evm/encoding.ts'

describe('hashes of short texts', () => {
  it('stay the same each time', () => {
    const bytes = fc.uint8Array({ maxLength: 80 })
    fc.assert(
      fc.property(bytes, (data) => {
        const own = hexlify(keccak256._(data))
        expect([keccak256(data), keccak256(data)]).to.deep.equal([own, own])
      }),
    )
  })

  it('follow the bytes as they are now', () => {
    const data = new Uint8Array(40)
    const before = keccak256(data)
    data[39] = 1
    expect(keccak256(data))
      .to.equal(hexlify(keccak256._(data)))
      .and.not.to.equal(before)
  })

  it('stay right for more texts than are kept', () => {
    for (let index = 0; index < 9_000; index += 1) keccak256(new TextEncoder().encode(`text ${index}`))
    expect(keccak256(new TextEncoder().encode('text 0'))).to.equal(
      '0x' + Buffer.from(keccak256._(new TextEncoder().encode('text 0'))).toString('hex'),
    )
  })
})
