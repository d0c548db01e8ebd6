import { address, getCompiledTransactionMessageDecoder, getCompiledTransactionMessageEncoder } from '@solana/kit'
import { getAdvanceNonceAccountInstruction } from '@solana-program/system'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { expect } from 'chai'
import fc from 'fast-check'
import { checkMessage, memoProgram } from '../../../core/wallet/policy-solana.ts'
import { decodeMessage, fromTable } from '../../../core/wallet/solana-message.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { exchange, limit, messageOf, mint, owner, price, solanaRules, stranger, trade, wallet } from './example-message.ts'

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

const lookup = (count: number) => ({
  lookupTableAddress: stranger,
  readonlyIndexes: [],
  writableIndexes: Array.from({ length: count }, (_, index) => index),
})

/** The last instruction takes further accounts from a table of so many. */
function withTable(bytes: Uint8Array, count: number, taken: readonly number[]): Uint8Array {
  const compiled = compiledOf(bytes)
  const last = compiled.instructions.length - 1
  const instructions = compiled.instructions.map((each, index) =>
    index === last
      ? { ...each, accountIndices: [...(each.accountIndices ?? []), ...taken.map((place) => compiled.staticAccounts.length + place)] }
      : each,
  )
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode({ ...compiled, instructions, addressTableLookups: [lookup(count)] }))
}

const making = getCreateAssociatedTokenIdempotentInstruction({ payer: owner, ata: stranger, owner: wallet, mint })
const advance = getAdvanceNonceAccountInstruction({ nonceAccount: stranger, nonceAuthority: owner })

describe('the bytes of a message', () => {
  it('may take accounts of a declared program from a lookup table: its bytes do not say which, and are signed', () => {
    const bytes = withTable(good, 2, [0, 1])
    check(bytes)
    const [program, accounts] = [decodeMessage(bytes).instructions.at(-1)?.program, decodeMessage(bytes).instructions.at(-1)?.accounts]
    expect([program, accounts]).to.deep.equal([exchange, [wallet, fromTable, fromTable]])
  })

  it('decode into signer, fee payer and instructions', () => {
    for (const bytes of [good, legacy]) {
      const { feePayer, signers, instructions } = decodeMessage(bytes)
      expect({ feePayer, signers }).to.deep.equal({ feePayer: wallet, signers: [wallet] })
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
    ['a lookup table that gives none', () => withTable(good, 0, []), /from which it takes no account/],
    [
      'a lookup table that is named twice',
      () => rewritten(() => ({ addressTableLookups: [lookup(1), lookup(1)] })),
      /a lookup table twice/,
    ],
    ['an account that no table gives', () => withTable(good, 1, [2]), /does not have/],
    [
      'a program from a lookup table',
      () =>
        rewritten(({ instructions, staticAccounts }) => ({
          instructions: instructions.map((each) => ({ ...each, programAddressIndex: staticAccounts.length })),
          addressTableLookups: [lookup(1)],
        })),
      /does not have/,
    ],
    [
      'a memo that names an account of a lookup table',
      () => withTable(messageOf([{ programAddress: address(memoProgram), data: Uint8Array.of(1) }]), 1, [0]),
      /takes an account from a lookup table/,
    ],
    [
      'the making of a token account whose mint is in a lookup table',
      () => withTable(messageOf([{ ...making, accounts: making.accounts.slice(0, 3) }]), 3, [0, 1, 2]),
      /takes an account from a lookup table/,
    ],
    [
      'the advance of a durable nonce that is in a lookup table',
      () => withTable(messageOf([{ ...advance, accounts: [] }]), 3, [0, 1, 2]),
      /takes an account from a lookup table/,
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
    [
      'a message without accounts',
      () => rewritten(() => ({ staticAccounts: [], instructions: [] })),
      /more signatures than it has accounts/,
    ],
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
