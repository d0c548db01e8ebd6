import { expect } from 'chai'
import { TypedDataEncoder } from 'ethers'
import { checkTypedData } from '../../core/wallet/signer/secp256k1/check-typed-data.ts'
import { Refusal } from '../../core/wallet/signer/refusal.ts'
import type { EvmRules } from '../../core/wallet/signer/signer-policy.ts'
import type { TypedData } from '../../core/wallet/signer/sign-request.ts'
import { localRules } from './example-policy.ts'

const order: TypedData = {
  domain: { name: 'Book', version: '1', chainId: 31337 },
  types: {
    Order: [
      { name: 'price', type: 'uint256' },
      { name: 'side', type: 'string' },
    ],
  },
  primaryType: 'Order',
  message: { price: '1000000000000000000000', side: 'BUY' },
}

const rulesFor = (changes: Partial<EvmRules> = {}): EvmRules => ({ ...localRules(), ...changes })

describe('what the signer signs of typed data', () => {
  it('signs a kind that a connector declares, with or without the type of the domain', () => {
    const digest = TypedDataEncoder.hash(order.domain, order.types, order.message)
    expect(checkTypedData(order, rulesFor())).to.equal(digest)
    const types = { ...order.types, EIP712Domain: [{ name: 'name', type: 'string' }] }
    expect(checkTypedData({ ...order, types }, rulesFor())).to.equal(digest)
  })

  it('signs for the chain id that the connector declares', () => {
    const rules = rulesFor({ typedData: [{ domain: 'Book', primaryType: 'Order', chainId: 1337 }] })
    expect(() => checkTypedData(order, rules)).to.throw(Refusal, /for chain id 31337/)
    expect(checkTypedData({ ...order, domain: { ...order.domain, chainId: 1337 } }, rules)).to.match(/^0x/)
  })

  const permit = { Permit: [{ name: 'spender', type: 'address' }] }
  const refused: [string, Partial<TypedData>, RegExp][] = [
    ['of another domain', { domain: { name: 'USD Coin' } }, /of no kind that a connector declares/],
    ['without a domain name', { domain: {} }, /of no kind that a connector declares/],
    ['of another type', { primaryType: 'Permit', types: permit }, /Permit of the domain "Book" is of no kind/],
    ['for another chain', { domain: { ...order.domain, chainId: 1 } }, /for chain id 1/],
    [
      'that hides another type under the declared name',
      { types: permit, message: { spender: `0x${'11'.repeat(20)}` } },
      /its types make it Permit/,
    ],
    ['whose message does not fit its types', { message: { price: 'much', side: 'BUY' } }, /does not match its own types/],
  ]
  for (const [what, changes, reason] of refused) {
    it(`refuses typed data ${what}`, () => {
      expect(() => checkTypedData({ ...order, ...changes }, rulesFor())).to.throw(Refusal, reason)
    })
  }
})
