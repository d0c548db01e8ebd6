import { AccountRole, address } from '@solana/kit'
import { getAdvanceNonceAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import { getCloseAccountInstruction, getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import { expect } from 'chai'
import { wrappedMint } from '../../../core/wallet/policy-solana.ts'
import { Refusal, type EvmRules } from '../../../core/wallet/policy.ts'
import type { SignRequest, TypedData } from '../../../core/wallet/signer-messages.ts'
import { signedActions } from '../../../tools/signing-readers.ts'
import { gasOfTrades } from '../../../core/wallet/limits/counts.ts'
import { spendingOf } from '../../../core/wallet/limits/spending.ts'
import {
  limit,
  messageOf,
  mint,
  owner,
  price,
  solanaRules,
  stranger as strangeAccount,
  trade,
  wallet as solanaWallet,
} from '../ed25519/example-message.ts'
import { listed, localRules, requestOf, router, stranger, token, transaction } from '../example-policy.ts'

const wallet = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'
const word = (value: bigint | string) => BigInt(value).toString(16).padStart(64, '0')
const approve = (spender: string, amountRaw: bigint) => `0x095ea7b3${word(spender)}${word(amountRaw)}`
const rules: EvmRules = { ...localRules(), readers: new Map([[router, 'v2-router']]) }
const strictly = { allowsUnreadable: false }
const most = 2n ** 256n - 1n

describe('what a signature may give away', () => {
  const ofTransaction = async (changes: Parameters<typeof transaction>[0], options = strictly, by = rules) => {
    const { amounts, unreadable } = await spendingOf(requestOf(wallet, transaction({ value: 0n, ...changes })), by, options)
    return {
      tokens: Object.fromEntries([...amounts].filter(([what]) => what.startsWith('token'))),
      trades: amounts.has(gasOfTrades),
      unreadable,
    }
  }

  it('is nothing for an allowance of a listed token to a contract whose calls are read, however large', async () => {
    const allowance = { to: listed, data: approve(router, most) }
    expect(await ofTransaction(allowance)).to.deep.equal({ tokens: {}, trades: true, unreadable: undefined })
    // Calls that cannot be read could take it then.
    expect((await ofTransaction(allowance, { allowsUnreadable: true })).tokens).to.deep.equal({ [`token ${listed}`]: most })
    // It may be a right to a position, which some routers let anybody use.
    const another: EvmRules = { ...rules, readers: new Map([[router, 'v3-router-02']]) }
    expect((await ofTransaction({ to: token, data: approve(router, 5n) }, strictly, another)).tokens).to.deep.equal({
      [`token ${token}`]: 5n,
    })
    expect((await ofTransaction({ to: listed, data: approve(stranger, 5n) })).tokens).to.deep.equal({ [`token ${listed}`]: 5n })
  })

  it('is nothing for the exact amount of a token of no list, which a router of constant-product pools may take: their shares are such tokens', async () => {
    const shares = (amountRaw: bigint) => ({ to: token, data: approve(router, amountRaw) })
    const nothing = { tokens: {}, trades: true, unreadable: undefined }
    expect(await ofTransaction(shares(5n))).to.deep.equal(nothing)
    expect(await ofTransaction(shares(0n))).to.deep.equal({ ...nothing, trades: false })
    for (const endless of [most, 2n ** 96n - 1n, 2n ** 128n])
      expect((await ofTransaction(shares(endless))).tokens).to.deep.equal({ [`token ${token}`]: endless })
    expect((await ofTransaction({ to: token, data: approve(stranger, 5n) })).tokens).to.deep.equal({ [`token ${token}`]: 5n })
    expect((await ofTransaction(shares(5n), { allowsUnreadable: true })).tokens).to.deep.equal({ [`token ${token}`]: 5n })
    // A collection of positions of an exchange.
    const declared: EvmRules = { ...rules, contracts: new Set([...rules.contracts, token]) }
    expect((await ofTransaction(shares(5n), strictly, declared)).tokens).to.deep.equal({ [`token ${token}`]: 5n })
  })

  it('is nothing for the end of a right over positions of a contract whose calls are read', async () => {
    const forAll = (to: string, isAllowed: bigint) => ({ to, data: `0xa22cb465${word(stranger)}${word(isAllowed)}` })
    const ended = { tokens: {}, trades: false, unreadable: undefined }
    expect(await ofTransaction(forAll(router, 0n))).to.deep.equal(ended)
    expect(await ofTransaction({ to: router, data: approve(`0x${'0'.repeat(40)}`, 5n) })).to.deep.equal(ended)
    for (const { to, data } of [forAll(router, 1n), forAll(token, 0n)])
      expect((await ofTransaction({ to, data })).unreadable).to.be.a('string')
  })

  it('is gas of trades for all but cancels and allowances that are taken to 0', async () => {
    const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3'
    const byPermit2 = (amountRaw: bigint) => `0x87517c45${word(listed)}${word(router)}${word(amountRaw)}${word(0n)}`
    expect((await ofTransaction({ to: wallet, data: '0x' })).trades).to.equal(false)
    expect((await ofTransaction({ to: listed, data: approve(stranger, 0n) })).trades).to.equal(false)
    expect((await ofTransaction({ to: permit2, data: byPermit2(0n) })).trades).to.equal(false)
    expect((await ofTransaction({ to: permit2, data: byPermit2(1n) })).trades).to.equal(true)
    expect((await ofTransaction({ to: listed, data: approve(stranger, 1n) })).trades).to.equal(true)
    expect((await ofTransaction({ to: listed, data: `${approve(stranger, 1n)}${word(0n)}` })).trades).to.equal(true)
    expect((await ofTransaction({ to: stranger, data: '0x', value: 1n })).trades).to.equal(true)
  })

  describe('of actions of Hyperliquid', () => {
    const on = (network: string): EvmRules => {
      const named = (signedActions['hyperliquid'] ?? []).map(({ networks, ...action }) => ({
        ...action,
        network: networks[`hyperliquid/${network}`] ?? '',
      }))
      return { ...rules, name: `hyperliquid/${network}`, signedActions: named }
    }
    const of = (primaryType: string, message: TypedData['message'], network = 'mainnet') =>
      spendingOf(
        {
          chain: 'hyperliquid',
          network: 'mainnet',
          address: wallet,
          draft: { scheme: 'eip712', typedData: { domain: { name: 'HyperliquidSignTransaction' }, types: {}, primaryType, message } },
        },
        on(network),
        strictly,
      )

    it('is what a withdrawal takes out, rounded up, and nothing for what moves within the account', async () => {
      const withdraw = (amount: string) => of('HyperliquidTransaction:Withdraw', { hyperliquidChain: 'Mainnet', amount })
      expect((await withdraw('12.5')).amounts.get('withdrawals')).to.equal(12_500_000n)
      expect((await withdraw('0.0000001')).amounts.get('withdrawals')).to.equal(1n)
      expect((await withdraw('1e9')).unreadable).to.match(/Withdraw/)
      const within = await of('HyperliquidTransaction:UsdClassTransfer', { hyperliquidChain: 'Mainnet', amount: '5', toPerp: true })
      expect(within).to.not.have.property('unreadable')
      expect(within.amounts.get('withdrawals')).to.equal(0n)
    })

    it('is refused for another of its networks, and not known of orders, whose hash alone is signed', async () => {
      const message = { hyperliquidChain: 'Mainnet', amount: '5' }
      const onTestnet = of('HyperliquidTransaction:Withdraw', message, 'testnet')
      expect(await onTestnet.catch((error: unknown) => error)).to.be.instanceOf(Refusal)
      expect((await of('Agent', { source: 'a', connectionId: '0x' })).unreadable).to.match(/typed data Agent/)
    })
  })

  it('is, on Solana, the fee and the rent of new token accounts, and not known of other programs', async () => {
    const of = (...instructions: Parameters<typeof messageOf>[0]) =>
      spendingOf(
        { chain: 'solana', network: 'mainnet', address: solanaWallet, draft: { scheme: 'ed25519', bytes: messageOf(instructions) } },
        solanaRules(),
        strictly,
      )
    const account = { payer: owner, owner: solanaWallet, ata: strangeAccount, mint }
    const opening = await of(limit(200_000), price(1_000_000n), getCreateAssociatedTokenIdempotentInstruction(account))
    expect(opening).to.not.have.property('unreadable')
    expect(Object.fromEntries(opening.amounts)).to.include({ native: 2_039_280n, gasCost: 205_000n, transactions: 1n })
    expect((await of(trade)).unreadable).to.match(/program 675kPX9/)
    // What is wrapped may be spent by the programs behind it; closing the account gives nothing away.
    const ofWrapped = { ...account, mint: address(wrappedMint) }
    const transfer = getTransferSolInstruction({ source: owner, destination: strangeAccount, amount: 7_000_000n })
    const close = getCloseAccountInstruction({ account: strangeAccount, destination: solanaWallet, owner })
    const wrapping = await of(getCreateAssociatedTokenIdempotentInstruction(ofWrapped), transfer, close)
    expect(wrapping).to.not.have.property('unreadable')
    expect(wrapping.amounts.get('native')).to.equal(2_039_280n + 7_000_000n)
    const cosigned = await of({
      ...trade,
      accounts: [...(trade.accounts ?? []), { address: strangeAccount, role: AccountRole.READONLY_SIGNER }],
    })
    expect(cosigned.amounts.get('gasCost')).to.equal(10_000n)
    const tokenProgram = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
    expect((await of(getCreateAssociatedTokenIdempotentInstruction({ ...account, tokenProgram }))).unreadable).to.match(/Token-2022/)
  })

  it('refuses a durable nonce on Solana, also where calls that cannot be read are signed', async () => {
    const advance = getAdvanceNonceAccountInstruction({ nonceAccount: strangeAccount, nonceAuthority: owner })
    const draft = { scheme: 'ed25519', bytes: messageOf([advance, limit(200_000), trade]) } as const
    const request = { chain: 'solana', network: 'mainnet', address: solanaWallet, draft } as const
    for (const allowsUnreadable of [false, true]) {
      const refused = await spendingOf(request, solanaRules(), { allowsUnreadable }).catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(Refusal).and.to.include({ errorName: 'INVALID_NONCE' })
      expect(refused).to.have.property('details').that.deep.equals({ reason: 'durable nonce' })
    }
  })

  it('counts a tip on Solana as a fee, and what is wrapped beside it once', async () => {
    const tipped = address('SysvarC1ock11111111111111111111111111111111')
    const rules = { ...solanaRules(), tip: { mostRaw: 20_000n, accounts: new Set<string>([tipped]) } }
    const wrapping = [
      getCreateAssociatedTokenIdempotentInstruction({
        payer: owner,
        owner: solanaWallet,
        ata: strangeAccount,
        mint: address(wrappedMint),
      }),
      getTransferSolInstruction({ source: owner, destination: strangeAccount, amount: 7_000_000n }),
      getTransferSolInstruction({ source: owner, destination: tipped, amount: 20_000n }),
    ]
    const request = { chain: 'solana', network: 'mainnet', address: solanaWallet } as const
    const { amounts } = await spendingOf({ ...request, draft: { scheme: 'ed25519', bytes: messageOf(wrapping) } }, rules, strictly)
    expect(amounts.get('native')).to.equal(2_039_280n + 7_000_000n)
    expect(amounts.get('gasCost')).to.equal(5_000n + 20_000n)
  })

  it('is nothing for a permit of a contract whose calls are read', async () => {
    const permit = { permit2: stranger, token: listed, spender: router, amountRaw: '5', expires: 1, nonce: 0, chainId: 31337 }
    const request: SignRequest = { chain: 'ethereum', network: 'local', address: wallet, draft: { scheme: 'permit2', permit } }
    expect((await spendingOf(request, rules, strictly)).amounts.get(`token ${listed}`)).to.equal(undefined)
    const other = { ...request, draft: { scheme: 'permit2' as const, permit: { ...permit, spender: stranger } } }
    expect((await spendingOf(other, rules, strictly)).amounts.get(`token ${listed}`)).to.equal(5n)
  })
})
