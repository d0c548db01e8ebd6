import { expect } from 'chai'
import { TypedDataEncoder } from 'ethers'
import { checkTypedData } from '../../core/wallet/policy-evm.ts'
import { Refusal, type EvmRules } from '../../core/wallet/policy.ts'
import type { TypedData } from '../../core/wallet/signer-messages.ts'
import { localRules, router, token } from './example-policy.ts'

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

const wallet = '0xAbCdEf0000000000000000000000000000000001'
const rulesFor = (changes: Partial<EvmRules> = {}): EvmRules => ({ ...localRules(), ...changes })

/** Every object has them, and so has each of them. */
const inherited = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toLocaleString', '__defineGetter__']
const nestedTypes = Object.fromEntries(
  ['Order', 'T1', 'T2', 'T3', 'T4', 'T5', 'T6'].map((name, index) => [
    name,
    index === 6 ? [{ name: 'length', type: 'uint256' }] : inherited.map((field) => ({ name: field, type: `T${index + 1}` })),
  ]),
)
/** Each names all that come after it. */
const manyTypes = Object.fromEntries(
  Array.from({ length: 18 }, (_, index) => [
    `T${index}`,
    Array.from({ length: 17 - index }, (__, after) => ({ name: `f${after}`, type: `T${index + after + 1}[]` })),
  ]),
)

describe('the policy for typed data', () => {
  it('signs a kind that a connector declares, with or without the type of the domain', () => {
    const digest = TypedDataEncoder.hash(order.domain, order.types, order.message)
    expect(checkTypedData(order, wallet, rulesFor())).to.equal(digest)
    const types = { ...order.types, EIP712Domain: [{ name: 'name', type: 'string' }] }
    expect(checkTypedData({ ...order, types }, wallet, rulesFor())).to.equal(digest)
  })

  it('signs a long text', () => {
    const long = { ...order, message: { ...order.message, side: 'x'.repeat(1_000) } }
    expect(checkTypedData(long, wallet, rulesFor())).to.equal(TypedDataEncoder.hash(long.domain, long.types, long.message))
  })

  it('signs for the chain id that the connector declares', () => {
    const rules = rulesFor({ typedData: [{ domain: 'Book', primaryType: 'Order', chainId: 1337 }] })
    expect(() => checkTypedData(order, wallet, rules)).to.throw(Refusal, /for chain id 31337/)
    expect(checkTypedData({ ...order, domain: { ...order.domain, chainId: 1337 } }, wallet, rules)).to.match(/^0x/)
  })

  const permit = { Permit: [{ name: 'spender', type: 'address' }] }
  const refused: [string, Partial<TypedData>, RegExp][] = [
    ['of another domain', { domain: { name: 'USD Coin' } }, /no connector declares typed data/],
    ['without a domain name', { domain: {} }, /no connector declares typed data/],
    ['of another type', { primaryType: 'Permit', types: permit }, /never signed/],
    ['without a chain id', { domain: { name: 'Book', version: '1' } }, /names no chain id/],
    ['for an undeclared contract', { domain: { ...order.domain, verifyingContract: token } }, /for the contract 0x3333/],
    ['for another chain', { domain: { ...order.domain, chainId: 1 } }, /for chain id 1/],
    [
      'that hides another type under the declared name',
      { types: permit, message: { spender: `0x${'11'.repeat(20)}` } },
      /its types make it Permit/,
    ],
    ['of more types than any exchange has', { types: { ...order.types, ...manyTypes } }, /has 19 types, and 12 are signed at most/],
    ['whose fields are none of its message, but of every object', { types: nestedTypes, message: {} }, /does not match its own types/],
    [
      'of more values than any exchange has',
      {
        types: { Order: [{ name: 'sizes', type: 'uint8[][]' }] },
        message: { sizes: Array.from({ length: 200 }, () => Array(100).fill(1)) },
      },
      /does not match its own types/,
    ],
    [
      'with a number of more digits than any has',
      { message: { price: `${'0'.repeat(129)}1`, side: 'BUY' } },
      /does not match its own types/,
    ],
    ['whose message does not fit its types', { message: { price: 'much', side: 'BUY' } }, /does not match its own types/],
  ]
  for (const [what, changes, reason] of refused) {
    it(`refuses typed data ${what}`, () => {
      expect(() => checkTypedData({ ...order, ...changes }, wallet, rulesFor())).to.throw(Refusal, reason)
    })
  }

  it('signs for a declared contract and for the zero address', () => {
    for (const verifyingContract of [router, `0x${'00'.repeat(20)}`])
      expect(checkTypedData({ ...order, domain: { ...order.domain, verifyingContract } }, wallet, rulesFor())).to.match(/^0x/)
  })

  it('refuses a contract of another chain, even at the address of a declared one', () => {
    const rules = rulesFor({ typedData: [{ domain: 'Book', primaryType: 'Order', chainId: 1 }] })
    const domain = { ...order.domain, chainId: 1, verifyingContract: router }
    expect(() => checkTypedData({ ...order, domain }, wallet, rules)).to.throw(Refusal, /for the contract 0x1111/)
  })

  for (const primaryType of ['Permit', 'PermitBatchTransferFrom', 'TransferWithAuthorization', 'MetaTransaction', 'SafeTx', 'Delegation'])
    it(`never signs a ${primaryType}, though a connector declares it`, () => {
      const types = { [primaryType]: [{ name: 'spender', type: 'address' }] }
      const rules = rulesFor({ typedData: [{ domain: 'USD Coin', primaryType }] })
      const asked = { domain: { ...order.domain, name: 'USD Coin' }, types, primaryType, message: { spender: wallet } }
      expect(() => checkTypedData(asked, wallet, rules)).to.throw(Refusal, /never signed/)
    })

  describe('where money leaves', () => {
    const primaryType = 'Exchange:Withdraw'
    const withdraw = (message: TypedData['message']): TypedData => ({
      ...order,
      primaryType,
      types: { [primaryType]: [{ name: 'destination', type: 'string' }] },
      message,
    })
    const declared = { domain: 'Book', primaryType }
    const rules = rulesFor({ typedData: [declared, { ...declared, own: ['destination'] }] })

    it("signs for the wallet's own address, in any letter case", () => {
      for (const destination of [wallet, wallet.toLowerCase()])
        expect(checkTypedData(withdraw({ destination }), wallet, rules)).to.match(/^0x/)
    })

    it('signs for no other, whoever else declares the kind without that rule', () => {
      for (const message of [{ destination: router }, { destination: `${wallet} ` }, { destination: [wallet] }, { to: wallet }])
        expect(() => checkTypedData(withdraw(message), wallet, rules)).to.throw(Refusal, /destination .* is not the wallet's own address/)
    })
  })
})
