import { address, getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit'
import { expect } from 'chai'
import fc from 'fast-check'
import { checkMessage, decodeMessage } from '../../../core/wallet/policy-solana.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { exchange, limit, messageOf, price, solanaRules, stranger, trade, wallet } from './example-message.ts'

const check = (bytes: Uint8Array): void => checkMessage(bytes, wallet, solanaRules())
const good = messageOf([limit(), price(1n), trade])
const legacy = messageOf([limit(), price(1n), trade], { version: 'legacy' })

type CompiledParts = ReturnType<typeof compiledOf>
function compiledOf(bytes: Uint8Array) {
  const compiled = getCompiledTransactionMessageDecoder().decode(bytes)
  if (compiled.version !== 0) throw new Error('the example is of version 0')
  return compiled
}

/** The example with changes that no one would compile. */
const rewritten = (change: (compiled: CompiledParts) => Partial<CompiledParts>): Uint8Array => {
  const compiled = compiledOf(good)
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode({ ...compiled, ...change(compiled) }))
}

describe('the bytes of a message', () => {
  it('decode into signer, fee payer and instructions', () => {
    for (const bytes of [good, legacy]) {
      const { feePayer, signerCount, instructions } = decodeMessage(bytes)
      expect({ feePayer, signerCount }).to.deep.equal({ feePayer: wallet, signerCount: 1 })
      expect(instructions.at(-1)).to.deep.equal({ program: exchange, accounts: [wallet], data: Uint8Array.of(9, 1, 2) })
      expect(instructions).to.have.length(3)
    }
  })

  const refused: [string, () => Uint8Array, RegExp][] = [
    ['nothing', () => new Uint8Array(), /not the message of a transaction/],
    ['zeros', () => new Uint8Array(100), /canonical/],
    ['a message that is cut short', () => good.subarray(0, -3), /not the message of a transaction/],
    ['a message with more behind it', () => Uint8Array.of(...good, 0), /canonical/],
    ['a legacy message with more behind it', () => Uint8Array.of(...legacy, 0), /canonical/],
    // The number of accounts is the fifth byte; a length may be written in up to three.
    [
      'a length that is written longer than need be',
      () => Uint8Array.of(...good.subarray(0, 4), (good[4] ?? 0) | 0x80, 0, ...good.subarray(5)),
      /canonical/,
    ],
    ['a message of version 1', () => messageOf([trade], { version: 1 }), /of version 1 are not signed/],
    ['a message of a version that nobody knows', () => Uint8Array.of(0x85, ...good.subarray(1)), /version|not the message/],
    [
      'accounts from a lookup table',
      () => rewritten(() => ({ addressTableLookups: [{ lookupTableAddress: stranger, readonlyIndexes: [0], writableIndexes: [] }] })),
      /lookup table/,
    ],
    [
      'a lookup table that gives none',
      () => rewritten(() => ({ addressTableLookups: [{ lookupTableAddress: stranger, readonlyIndexes: [], writableIndexes: [] }] })),
      /lookup table/,
    ],
    [
      'a message that names an account twice',
      () => rewritten(({ staticAccounts }) => ({ staticAccounts: [...staticAccounts, wallet] })),
      /an account twice/,
    ],
    [
      'an instruction with an unknown account',
      () => rewritten(({ instructions }) => ({ instructions: instructions.map((each) => ({ ...each, accountIndices: [200] })) })),
      /does not have/,
    ],
    [
      'an instruction of an unknown program',
      () => rewritten(({ instructions }) => ({ instructions: instructions.map((each) => ({ ...each, programAddressIndex: 99 })) })),
      /does not have/,
    ],
    ['a message without accounts', () => rewritten(() => ({ staticAccounts: [], instructions: [] })), /does not have/],
    ['a message without signers', () => rewritten(({ header }) => ({ header: { ...header, numSignerAccounts: 0 } })), /no writable signer/],
    [
      'a message with more signers than accounts',
      () => rewritten(({ header }) => ({ header: { ...header, numSignerAccounts: 200 } })),
      /signatures/,
    ],
    [
      'a message whose fee payer is read-only',
      () => rewritten(({ header }) => ({ header: { ...header, numReadonlySignerAccounts: 1 } })),
      /no writable signer/,
    ],
    [
      'the wallet as a program',
      () => rewritten(({ instructions }) => ({ instructions: instructions.map((each) => ({ ...each, programAddressIndex: 0 })) })),
      /no connector declares the program/,
    ],
  ]
  for (const [what, bytes, reason] of refused) {
    it(`fail the check as ${what}`, () => {
      expect(() => check(bytes())).to.throw(Refusal, reason)
    })
  }

  it('pass with another blockhash too', () => {
    check(messageOf([trade], { hash: address('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ') }))
  })

  it('lead to a signature or a refusal, never to an unexpected error', () => {
    const outcome = (bytes: Uint8Array): string => {
      try {
        check(bytes)
        return 'signed'
      } catch (error) {
        if (error instanceof Refusal) return 'refused'
        throw error
      }
    }
    const changed = fc
      .tuple(fc.constantFrom(good, legacy), fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }))
      .map(([bytes, at, value]) => {
        const copy = Uint8Array.from(bytes)
        copy[Math.min(at, copy.length - 1)] = value
        return copy
      })
    const seen = new Set<string>()
    fc.assert(
      fc.property(fc.oneof(changed, fc.uint8Array({ maxLength: 200 })), (bytes) => void seen.add(outcome(bytes))),
      { numRuns: 500 },
    )
    expect([...seen]).to.have.members(['signed', 'refused'])
  })
})
