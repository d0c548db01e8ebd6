import { AccountRole, address, type Address, createNoopSigner, downgradeRoleToNonSigner, type Instruction } from '@solana/kit'
import {
  getAdvanceNonceAccountInstruction,
  getAssignInstruction,
  getAuthorizeNonceAccountInstruction,
  getTransferSolInstruction,
  getWithdrawNonceAccountInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AuthorityType,
  getApproveInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getCreateAssociatedTokenInstruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { expect } from 'chai'
import { checkMessage, checkSolanaRequest, memoProgram, forbiddenPrograms, wrappedMint } from '../../../core/wallet/policy-solana.ts'
import { tokenPrograms } from '../../../core/wallet/solana-contained.ts'
import { wellKnownBase58 } from '../../../core/keys/curves.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { exchange, feeCapLamports, limit, messageOf, mint, owner, price, solanaRules, stranger, trade, wallet } from './example-message.ts'

const token2022 = address(tokenPrograms[1] ?? '')
const account = address('GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ')
const theirs = address('SysvarC1ock11111111111111111111111111111111')
const check = (bytes: Uint8Array, rules = solanaRules()): void => checkMessage(bytes, wallet, rules)

const ownAccount = { payer: owner, owner: wallet, ata: account, mint }
const advance = (nonceAuthority = owner): Instruction => getAdvanceNonceAccountInstruction({ nonceAccount: account, nonceAuthority })
const memo = (accounts: Instruction['accounts'] = []): Instruction => ({
  programAddress: address(memoProgram),
  accounts,
  data: Buffer.from('7'),
})
const budget = (...data: number[]): Instruction => ({ programAddress: COMPUTE_BUDGET_PROGRAM_ADDRESS, data: Uint8Array.from(data) })
/** An instruction with something changed that its package would not change. */
const altered = (instruction: Instruction, changes: Partial<Instruction>): Instruction => ({ ...instruction, ...changes })

describe('what the signer signs of messages', () => {
  it('signs with a key that everybody has on a local network only', () => {
    const [known = ''] = wellKnownBase58
    const bytes = messageOf([limit()], { feePayer: address(known) })
    const request = { chain: 'solana', network: 'local', address: known, draft: { scheme: 'ed25519' as const, bytes } }
    const rules = { ...solanaRules(), name: 'solana/local' }
    expect(checkSolanaRequest(request, known, { ...rules, local: true })).to.equal(bytes)
    expect(() => checkSolanaRequest(request, known, rules)).to.throw(
      Refusal,
      /everybody has the key of .* signs on a devnet only, not on solana\/local/,
    )
  })

  const wrappedAccount = { payer: owner, owner: wallet, ata: theirs, mint: address(wrappedMint) }
  const making = () => getCreateAssociatedTokenIdempotentInstruction(wrappedAccount)
  const unwrap = () => getCloseAccountInstruction({ account: wrappedAccount.ata, destination: wallet, owner })
  const wrappedSwap = () => [
    making(),
    getTransferSolInstruction({ source: owner, destination: wrappedAccount.ata, amount: 5n }),
    getSyncNativeInstruction({ account: wrappedAccount.ata }),
    trade,
    unwrap(),
  ]

  const signed: [string, readonly Instruction[]][] = [
    ["a declared program's instruction, with a limit and a price", [limit(), price(1_000n), trade]],
    ["the creation of the wallet's own token account", [limit(), getCreateAssociatedTokenInstruction(ownAccount)]],
    ['the same where it may be there already', [getCreateAssociatedTokenIdempotentInstruction(ownAccount)]],
    ['the same for Token-2022', [getCreateAssociatedTokenIdempotentInstruction({ ...ownAccount, tokenProgram: token2022 })]],
    ["the advance of the wallet's own nonce, before all else", [advance(), limit(), trade]],
    ['a memo', [memo(), memo([{ address: wallet, role: AccountRole.READONLY_SIGNER }])]],
    ['a priority fee at the cap', [limit(1_000_000), price(feeCapLamports), trade]],
    ['SOL that is wrapped for a swap, and what is left of it unwrapped', wrappedSwap()],
    ['the account of wrapped SOL that a swap paid into, closed', [making(), trade, unwrap()]],
  ]
  for (const [what, instructions] of signed) {
    it(`signs ${what}`, () => {
      for (const version of [0, 'legacy'] as const) check(messageOf(instructions, { version }))
    })
  }

  const refused: [string, readonly Instruction[], RegExp][] = [
    ['wrapping without the instruction that makes the account', wrappedSwap().slice(1), /no transfer but/],
    ['wrapping before the account is made', [...wrappedSwap().slice(1, 2), making()], /no transfer but/],
    [
      'wrapping for somebody else',
      [getCreateAssociatedTokenIdempotentInstruction({ ...wrappedAccount, owner: stranger })],
      /for the wallet itself/,
    ],
    [
      'a transfer of SOL to another account than that of wrapped SOL',
      [making(), getTransferSolInstruction({ source: owner, destination: stranger, amount: 1n })],
      /no transfer but/,
    ],
    [
      'wrapping into an account of another token',
      [
        getCreateAssociatedTokenIdempotentInstruction(ownAccount),
        getTransferSolInstruction({ source: owner, destination: ownAccount.ata, amount: 1n }),
      ],
      /no transfer but/,
    ],
    [
      'wrapping into an account of Token-2022',
      [
        getCreateAssociatedTokenIdempotentInstruction({ ...wrappedAccount, tokenProgram: token2022 }),
        getTransferSolInstruction({ source: owner, destination: wrappedAccount.ata, amount: 1n }),
      ],
      /no transfer but/,
    ],
    [
      'wrapped SOL that goes to somebody else when its account is closed',
      [making(), getCloseAccountInstruction({ account: wrappedAccount.ata, destination: stranger, owner })],
      /Token program are not signed/,
    ],
    [
      'a transfer of wrapped SOL',
      [making(), getTransferInstruction({ source: wrappedAccount.ata, destination: stranger, authority: owner, amount: 1n })],
      /Token program are not signed/,
    ],
    [
      'an approval of wrapped SOL',
      [making(), getApproveInstruction({ source: wrappedAccount.ata, delegate: stranger, owner, amount: 1n })],
      /Token program are not signed/,
    ],
    ['a transfer of SOL', [getTransferSolInstruction({ source: owner, destination: stranger, amount: 1n })], /of the System program only/],
    ['a transfer of SOL to oneself', [getTransferSolInstruction({ source: owner, destination: wallet, amount: 1n })], /no transfer/],
    [
      'a transfer of SOL behind a trade',
      [trade, getTransferSolInstruction({ source: owner, destination: stranger, amount: 1n })],
      /no transfer/,
    ],
    ['handing over the wallet to a program', [getAssignInstruction({ account: owner, programAddress: exchange })], /System program/],
    [
      "advancing a stranger's nonce",
      [altered(advance(), { accounts: [account, theirs, stranger].map((each) => ({ address: each, role: AccountRole.READONLY })) })],
      /System program/,
    ],
    ['an advance that is not first', [trade, advance()], /as the first instruction/],
    ['two advances', [advance(), advance()], /as the first instruction/],
    ['an advance with more data', [altered(advance(), { data: Uint8Array.of(4, 0, 0, 0, 0) })], /System program/],
    [
      'an advance with one more account',
      [altered(advance(), { accounts: [...(advance().accounts ?? []), { address: stranger, role: AccountRole.WRITABLE }] })],
      /System/,
    ],
    [
      'giving away a nonce account',
      [getAuthorizeNonceAccountInstruction({ nonceAccount: account, nonceAuthority: owner, newNonceAuthority: stranger })],
      /System program/,
    ],
    [
      'emptying a nonce account',
      [
        getWithdrawNonceAccountInstruction({
          nonceAccount: account,
          recipientAccount: stranger,
          nonceAuthority: owner,
          withdrawAmount: 1n,
        }),
      ],
      /System program/,
    ],
    [
      'a token account for somebody else',
      [getCreateAssociatedTokenInstruction({ ...ownAccount, owner: stranger })],
      /for the wallet itself/,
    ],
    [
      'a token account of another token program',
      [getCreateAssociatedTokenInstruction({ ...ownAccount, tokenProgram: exchange })],
      /Associated Token Account/,
    ],
    [
      'recovering nested token accounts',
      [
        {
          programAddress: ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
          data: Uint8Array.of(2),
          accounts: getCreateAssociatedTokenInstruction(ownAccount).accounts,
        },
      ],
      /Associated/,
    ],
    [
      'a token account with another System program',
      [withAccount(getCreateAssociatedTokenInstruction(ownAccount), 4, exchange)],
      /Associated/,
    ],
    ['a token account that somebody else pays', [withAccount(getCreateAssociatedTokenInstruction(ownAccount), 0, stranger)], /Associated/],
    [
      'a transfer of tokens',
      [getTransferInstruction({ source: account, destination: stranger, authority: owner, amount: 1n })],
      /Token program are not/,
    ],
    [
      'a checked transfer of tokens',
      [getTransferCheckedInstruction({ source: account, mint, destination: stranger, authority: owner, amount: 1n, decimals: 6 })],
      /Token program are not signed/,
    ],
    ['an approval', [getApproveInstruction({ source: account, delegate: stranger, owner, amount: 1n })], /Token program are not signed/],
    ['closing a token account', [getCloseAccountInstruction({ account, destination: stranger, owner })], /Token program are not signed/],
    ['burning tokens', [getBurnInstruction({ account, mint, authority: owner, amount: 1n })], /Token program are not signed/],
    [
      'giving away a token account',
      [getSetAuthorityInstruction({ owned: account, owner, authorityType: AuthorityType.AccountOwner, newAuthority: stranger })],
      /Token program are not signed/,
    ],
    [
      'an approval of Token-2022',
      [altered(getApproveInstruction({ source: account, delegate: stranger, owner, amount: 1n }), { programAddress: token2022 })],
      /Token/,
    ],
    ['an undeclared program', [{ programAddress: stranger }], /no connector declares the program .* on solana\/mainnet/],
    [
      "a memo that names a stranger's account",
      [memo([{ address: stranger, role: AccountRole.READONLY }])],
      /another account than the wallet/,
    ],
    [
      'a priority fee above the cap',
      [limit(1_000_000), price(feeCapLamports + 1n), trade],
      /1000001 lamports, and the fee cap of solana\/mainnet is 1000000/,
    ],
    [
      'a priority fee that is above the cap by a fraction',
      [limit(1), price(feeCapLamports * 1_000_000n + 1n), trade],
      /priority fee of 1000001/,
    ],
    ['a price without a limit, by what it may cost', [price(feeCapLamports), trade], /priority fee of 1400000/],
    ['the largest price', [limit(1_400_000), price(2n ** 64n - 1n), trade], /fee cap/],
    ['two prices', [price(1n), price(1n)], /twice/],
    ['two limits', [limit(), limit()], /twice/],
    ['a larger heap', [budget(1, 0, 0, 1, 0)], /only the limit and the price/],
    ['a price with missing bytes', [budget(3, 1, 0, 0)], /malformed/],
    ['a limit with additional bytes', [budget(2, 1, 0, 0, 0, 0)], /malformed/],
    ['a Compute Budget instruction without data', [budget()], /only the limit and the price/],
    ['a price with an account', [altered(price(1n), { accounts: [{ address: stranger, role: AccountRole.READONLY }] })], /takes none/],
  ]
  for (const [what, instructions, reason] of refused) {
    it(`refuses ${what}`, () => {
      expect(() => check(messageOf(instructions))).to.throw(Refusal, reason)
    })
  }

  for (const [program, name] of forbiddenPrograms) {
    it(`refuses the ${name} program though a connector declares it: ${program}`, () => {
      expect(() => check(messageOf([{ programAddress: address(program) }]), solanaRules([program]))).to.throw(
        Refusal,
        /whoever declares it/,
      )
    })
  }

  it('refuses a transfer though a connector declares the System program', () => {
    const transfer = getTransferSolInstruction({ source: owner, destination: stranger, amount: 1n })
    expect(() => check(messageOf([transfer]), solanaRules([SYSTEM_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS]))).to.throw(Refusal, /System/)
  })

  describe('of tips', () => {
    const rules = { ...solanaRules(), tip: { mostRaw: 10_000n, accounts: new Set([theirs, account]) } }
    const tip = (amount = 10_000n, destination: Address = theirs, source = owner) =>
      getTransferSolInstruction({ source, destination, amount })

    it('signs one to an account of the operator, of as much as the operator says, wherever it stands', () => {
      check(messageOf([limit(), trade, tip()]), rules)
      check(messageOf([tip(1n, account), limit(), trade]), rules)
    })

    it('refuses one where the operator has none', () => {
      expect(() => check(messageOf([limit(), trade, tip()]))).to.throw(Refusal, /System program/)
    })

    const bad: readonly (readonly [string, readonly Instruction[], RegExp])[] = [
      ['more than that', [tip(10_001n)], /System program/],
      ['one to anybody else', [tip(1n, stranger)], /System program/],
      ['two, also to two accounts', [tip(1n), tip(1n, account)], /a tip twice/],
      ['one that somebody else pays', [tip(1n, theirs, createNoopSigner(stranger))], /needs 2 signatures/],
      [
        'one with further accounts',
        [altered(tip(1n), { accounts: [...(tip(1n).accounts ?? []), { address: stranger, role: AccountRole.READONLY }] })],
        /System program/,
      ],
    ]
    for (const [what, instructions, reason] of bad)
      it(`refuses ${what}`, () => {
        expect(() => check(messageOf([limit(), trade, ...instructions]), rules)).to.throw(Refusal, reason)
      })
  })

  it('refuses a message that no transaction has room for', () => {
    const bytes = messageOf(Array.from({ length: 20 }, () => altered(memo(), { data: new Uint8Array(100) })))
    expect(() => check(bytes)).to.throw(Refusal, /the message has \d{4} bytes, and a transaction has 1232 at most/)
  })

  it('refuses a message that another account pays or must sign too', () => {
    expect(() => check(messageOf([trade], { feePayer: stranger }))).to.throw(Refusal, /paid by .*, not by the wallet/)
    const two = altered(trade, { accounts: [{ address: stranger, role: AccountRole.READONLY_SIGNER }] })
    expect(() => check(messageOf([two]))).to.throw(Refusal, /needs 2 signatures/)
  })
})

function withAccount(instruction: Instruction, index: number, changed: string): Instruction {
  return altered(instruction, {
    accounts: (instruction.accounts ?? []).map(({ address: each, role }, at) => ({
      address: at === index ? address(changed) : each,
      role: at === index ? downgradeRoleToNonSigner(role) : role,
    })),
  })
}
