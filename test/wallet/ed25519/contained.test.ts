import { AccountRole, address, createNoopSigner, type Address, type Instruction } from '@solana/kit'
import {
  getApproveCheckedInstruction,
  getApproveInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getRevokeInstruction,
  getSyncNativeInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { expect } from 'chai'
import { curves, wellKnownBase58 } from '../../../core/keys/curves.ts'
import { spendingOf } from '../../../core/wallet/limits/spending.ts'
import { Refusal, type SolanaRules } from '../../../core/wallet/policy.ts'
import { checkMessage, checkSolanaRequest, forbiddenPrograms, wrappedMint } from '../../../core/wallet/policy-solana.ts'
import { tokenPrograms } from '../../../core/wallet/solana-contained.ts'
import { exchange, limit, messageOf, mint, owner, solanaRules, stranger, wallet } from './example-message.ts'

const keyOf = (byte: string) => address(curves.ed25519.addressOf(`0x${byte.repeat(32)}`))
/** The program of a contained plugin, a pool of it, an account of the wallet for a token, and the account whose key the signer makes. */
const [strange, pool, source, delegate] = ['22', '33', '44', '55'].map(keyOf) as [Address, Address, Address, Address]

const containedRules = (contained: readonly string[] = [strange]): SolanaRules => ({
  ...solanaRules([exchange, ...contained]),
  contained: new Set(contained),
})

const release = (more: Partial<Parameters<typeof getApproveCheckedInstruction>[0]> = {}): Instruction =>
  getApproveCheckedInstruction({ source, mint, delegate, owner, amount: 500n, decimals: 6, ...more })
const takeBack = (of: Address = source): Instruction => getRevokeInstruction({ source: of, owner })
const call = (program: Address = strange, ...more: NonNullable<Instruction['accounts']>): Instruction => ({
  programAddress: program,
  accounts: [
    { address: pool, role: AccountRole.WRITABLE },
    { address: source, role: AccountRole.WRITABLE },
    { address: delegate, role: AccountRole.READONLY_SIGNER },
    ...more,
  ],
  data: Uint8Array.of(1),
})
const ofWallet = { address: wallet, role: AccountRole.WRITABLE_SIGNER }
const check = (instructions: readonly Instruction[], { rules = containedRules(), accounts = [delegate] as readonly string[] } = {}) =>
  checkMessage(messageOf(instructions), wallet, rules, accounts)

describe('what the signer signs for programs of contained plugins', () => {
  it('signs their instructions with a new account, which may take an exact amount until the last of them', () => {
    for (const programAddress of tokenPrograms.map((each) => address(each))) {
      const approve = getApproveCheckedInstruction({ source, mint, delegate, owner, amount: 500n, decimals: 6 }, { programAddress })
      check([limit(), approve, call(), call(), getRevokeInstruction({ source, owner }, { programAddress })])
    }
  })

  it('signs SOL that is wrapped for one, and what is left of it unwrapped', () => {
    const [account, ofWrapped] = [source, address(wrappedMint)]
    check([
      getCreateAssociatedTokenIdempotentInstruction({ payer: owner, owner: wallet, ata: account, mint: ofWrapped }),
      getTransferSolInstruction({ source: owner, destination: account, amount: 500n }),
      getSyncNativeInstruction({ account }),
      release({ mint: ofWrapped, decimals: 9 }),
      call(),
      takeBack(),
      getCloseAccountInstruction({ account, destination: wallet, owner }),
    ])
  })

  it('signs a tip to an account of the operator behind one, and counts it as a fee alone', async () => {
    const [tipped, account, ofWrapped] = [keyOf('77'), source, address(wrappedMint)]
    const rules = { ...containedRules(), tip: { mostRaw: 10_000n, accounts: new Set<string>([tipped]) } }
    const instructions = [
      getCreateAssociatedTokenIdempotentInstruction({ payer: owner, owner: wallet, ata: account, mint: ofWrapped }),
      getTransferSolInstruction({ source: owner, destination: account, amount: 500n }),
      getSyncNativeInstruction({ account }),
      release({ mint: ofWrapped, decimals: 9 }),
      call(),
      takeBack(),
      getTransferSolInstruction({ source: owner, destination: tipped, amount: 10_000n }),
    ]
    check([limit(), ...instructions], { rules })
    const draft = { scheme: 'ed25519' as const, bytes: messageOf(instructions) }
    const request = { chain: 'solana', network: 'mainnet', address: wallet, draft }
    const { amounts } = await spendingOf(request, rules, { allowsUnreadable: false })
    expect(Object.fromEntries(amounts)).to.include({ native: 2_039_280n + 500n, gasCost: 20_000n })
    expect(amounts.has(`token ${wrappedMint}`)).to.equal(false)
  })

  const other = keyOf('66')
  const refused: [string, readonly Instruction[], RegExp, { rules?: SolanaRules; accounts?: readonly string[] }?][] = [
    ['the wallet as an account of theirs', [release(), call(strange, ofWallet), takeBack()], /would get the signature of the wallet/],
    [
      'the wallet as one that is only read: it has signed',
      [release(), call(strange, { address: wallet, role: AccountRole.READONLY }), takeBack()],
      /would get the signature of the wallet/,
    ],
    ['a program beside theirs that gets it', [release(), call(), takeBack(), call(exchange, ofWallet)], /not called beside/],
    ['a right for somebody else', [release({ delegate: stranger }), call(), takeBack()], /Token program are not signed/],
    [
      'a right without a mint',
      [getApproveInstruction({ source, delegate, owner, amount: 1n }), call(), takeBack()],
      /Token program are not/,
    ],
    ['a right without a limit', [release({ amount: 2n ** 64n - 1n }), call(), takeBack()], /without a limit/],
    ['a right that is not taken back', [release(), call()], /not taken back/],
    ['a right that is taken back before the last call', [release(), call(), takeBack(), call()], /not taken back/],
    ['a right of which another account is taken back', [release(), call(), takeBack(other)], /not taken back/],
    ['a right behind the call', [call(), release(), takeBack()], /behind the call/],
    ['two rights over an account', [release(), release(), call(), takeBack()], /released twice/],
    ['a right where nobody of theirs is called', [release(), takeBack()], /Token program are not signed/, { accounts: [] }],
    [
      'a transfer of tokens',
      [release(), call(), getTransferInstruction({ source, destination: stranger, authority: owner, amount: 1n }), takeBack()],
      /Token program are not signed/,
    ],
    [
      'a transfer of SOL',
      [release(), call(), takeBack(), getTransferSolInstruction({ source: owner, destination: stranger, amount: 1n })],
      /no transfer but/,
    ],
  ]
  for (const [what, instructions, reason, more] of refused)
    it(`refuses ${what}`, () => {
      expect(() => check(instructions, more)).to.throw(Refusal, reason)
    })

  it('refuses one without a new account, and with two', () => {
    const plain: Instruction = { programAddress: strange, accounts: [{ address: pool, role: AccountRole.WRITABLE }] }
    expect(() => check([plain], { accounts: [] })).to.throw(Refusal, /the signature of one new account/)
    const two = { address: other, role: AccountRole.READONLY_SIGNER }
    expect(() => check([release(), call(strange, two), takeBack()], { accounts: [other, delegate] })).to.throw(Refusal, /one new account/)
  })

  for (const program of [...forbiddenPrograms.keys(), SYSTEM_PROGRAM_ADDRESS])
    it(`refuses a program that nobody can declare: ${program}`, () => {
      const spent = getTransferInstruction({ source, destination: stranger, authority: createNoopSigner(delegate), amount: 500n })
      const instruction = program === TOKEN_PROGRAM_ADDRESS ? spent : call(address(program))
      expect(() => check([release(), instruction, takeBack()], { rules: containedRules([program]) })).to.throw(
        Refusal,
        /whoever declares it/,
      )
    })

  it('signs for one that nobody has allowed, where a server only tries, with a key that everybody has and on a local network', () => {
    const [known = ''] = wellKnownBase58
    const plain: Instruction = { programAddress: strange, accounts: [{ address: delegate, role: AccountRole.READONLY_SIGNER }] }
    const signs = (instruction: Instruction, { local = true, tries = true } = {}) => {
      const bytes = messageOf([instruction], { feePayer: address(known) })
      const request = { chain: 'solana', network: 'local', address: known, draft: { scheme: 'ed25519' as const, bytes } }
      return checkSolanaRequest(request, known, { ...solanaRules(), local }, [delegate], tries)
    }
    expect(signs(plain)).to.be.instanceOf(Uint8Array)
    expect(() => signs(plain, { tries: false })).to.throw(Refusal, /no connector declares/)
    expect(() => signs(plain, { local: false })).to.throw(Refusal, /everybody has the key/)
    const greedy = { ...plain, accounts: [...(plain.accounts ?? []), { address: address(known), role: AccountRole.WRITABLE_SIGNER }] }
    expect(() => signs(greedy)).to.throw(Refusal, /would get the signature of the wallet/)
  })

  describe('where another connector declares the same program, which gets the signature of the wallet', () => {
    const rules: SolanaRules = { ...solanaRules([exchange, strange]), shared: new Set([strange]) }
    const refusal = (instructions: readonly Instruction[]) => () => check(instructions, { rules })

    it('signs either: with a new account that may take an exact amount, and with the wallet', async () => {
      check([release(), call(), takeBack()], { rules })
      check([call(strange, ofWallet)], { rules })
      const { amounts, unreadable } = await spendingOf(
        {
          chain: 'solana',
          network: 'mainnet',
          address: wallet,
          draft: { scheme: 'ed25519', bytes: messageOf([release(), call(), takeBack()]) },
        },
        rules,
        { allowsUnreadable: false },
      )
      expect([unreadable, amounts.get(`token ${mint}`)]).to.deep.equal([undefined, 500n])
    })

    it('refuses both in one transaction, an amount that is not taken back, and one for a program that no contained plugin has', () => {
      expect(refusal([release(), call(strange, ofWallet), takeBack()])).to.throw(Refusal, /would get the signature of the wallet/)
      expect(refusal([release(), call(), call(strange, ofWallet), takeBack()])).to.throw(Refusal, /would get the signature of the wallet/)
      expect(refusal([release(), call(), call(exchange, ofWallet), takeBack()])).to.throw(Refusal, /gets the wallet's signature/)
      expect(refusal([release(), call()])).to.throw(Refusal, /not taken back/)
      expect(refusal([release(), call(exchange), takeBack()])).to.throw(Refusal, /instructions of the Token program are not signed/)
    })
  })

  it('counts what is released for limits of the wallet, and what is wrapped once', async () => {
    const of = (...instructions: readonly Instruction[]) =>
      spendingOf(
        { chain: 'solana', network: 'mainnet', address: wallet, draft: { scheme: 'ed25519', bytes: messageOf(instructions) } },
        containedRules(),
        { allowsUnreadable: false },
      )
    const plain = await of(release(), call(), takeBack())
    expect(plain).to.not.have.property('unreadable')
    expect(Object.fromEntries(plain.amounts)).to.include({ [`token ${mint}`]: 500n, native: 0n, gasCost: 2n * 5_000n + 0n })
    const wrap = getTransferSolInstruction({ source: owner, destination: source, amount: 300n })
    const wrapped = await of(wrap, release({ mint: address(wrappedMint) }), call(), takeBack())
    expect(Object.fromEntries(wrapped.amounts)).to.include({ [`token ${wrappedMint}`]: 200n, native: 300n })
    const both = await of(
      wrap,
      release({ mint: address(wrappedMint), amount: 300n }),
      release({ mint: address(wrappedMint), amount: 300n, source: other }),
      call(),
      takeBack(),
      takeBack(other),
    )
    expect(Object.fromEntries(both.amounts)).to.include({ [`token ${wrappedMint}`]: 300n, native: 300n })
    expect((await of(call(exchange, ofWallet))).unreadable).to.match(/675kPX9/)
  })
})
