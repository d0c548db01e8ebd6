import { expect } from 'chai'
import { draftOf } from '../../core/wallet/signing.ts'

const typedData = {
  domain: { name: 'Book', chainId: 31337 },
  types: { Order: [{ name: 'price', type: 'uint256' }] },
  primaryType: 'Order',
  message: { price: '9007199254740993' },
}
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

describe('the draft that the signer gets', () => {
  it('carries the typed data that a rail drafted', () => {
    const draft = draftOf({ scheme: 'typed-data', bytes: bytesOf(typedData), body: { action: 'order' } })
    expect(draft).to.deep.equal({ scheme: 'eip712', typedData })
  })

  it('fails where a plugin drafted malformed typed data', () => {
    const drafted = [{}, { ...typedData, domain: { ...typedData.domain, colour: 'red' } }, { ...typedData, types: 7 }]
    for (const bytes of [...drafted.map(bytesOf), Uint8Array.of(0xff), new TextEncoder().encode('{')])
      expect(() => draftOf({ scheme: 'typed-data', bytes }))
        .to.throw('invalid typed data')
        .with.property('name', 'UNKNOWN_ERROR')
  })
})
