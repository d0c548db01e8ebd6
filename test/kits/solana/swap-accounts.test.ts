import { expect } from 'chai'
import type { Address } from '@solana/kit'
import { getCloseAccountInstruction } from '@solana-program/token'
import type { Token } from '../../../core/contracts/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import {
  fillOf,
  fromKit,
  nativeAddress,
  swapAccounts,
  swapPlan,
  tokenAccountOf,
  wrappedMint,
  type SolanaIntent,
  type SolanaReceipt,
} from '../../../kits/solana/index.ts'
import { wrappedSol, type Mint } from '../../../tools/solana-node/mints.ts'
import { createPool, swapInstruction, type Pool } from '../../../tools/solana-node/programs/pool.ts'
import { soon } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, signChecked, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'
import { soon as at } from './test-cluster.ts'

const sol: Token = { symbol: 'SOL', address: nativeAddress, decimals: 9, native: true }
const tokenOf = ({ symbol, address, decimals }: Mint): Token => ({ symbol, address, decimals })
/** What the Token program's accounts keep, and the fee without a priority fee. */
const rentRaw = 2_039_280n

interface SwapOptions {
  exact?: 'paid' | 'got'
  maxInRaw?: bigint
}

describe('the accounts of a swap on Solana', () => {
  let site: SolanaSite
  let transactions: Transactions
  let pool: Pool
  let usdc: Token
  before(async () => {
    site = await startSolanaSite()
    const { cluster } = site
    pool = await createPool(cluster, [wrappedSol, cluster.mints.USDC], [1_000_000_000_000n, 150_000_000_000n], 30n)
    usdc = tokenOf(cluster.mints.USDC)
    cluster.blocks(2)
    transactions = await transactionsAt(site, { sign: signChecked(site.wallet, () => [pool.program]) })
  })
  after(async () => {
    await transactions?.stop(1000)
    await site?.stop()
  })

  const lamports = (of: string) => site.cluster.svm.getBalance(of as Address) ?? 0n
  const isThere = (of: string) => site.cluster.svm.getAccount(of as Address).exists

  /** As the server lets a plan of this exchange be: what the connector declares, and the SOL that is sold. */
  const scopeOf = ({ tokenIn, maxInRaw }: { tokenIn: Token; maxInRaw: bigint }) => ({
    contracts: [pool.program],
    valueRaw: tokenIn.native ? maxInRaw : 0n,
  })

  /** @returns what the swap took and gave by its receipt, and what the wallet lost of lamports beside the fee */
  async function swap(tokenIn: Token, tokenOut: Token, amountRaw: bigint, { exact = 'paid', maxInRaw = amountRaw }: SwapOptions = {}) {
    const { wallet, chain } = site
    const wish = { wallet: wallet.address, tokenIn, tokenOut, maxInRaw }
    const accounts = await swapAccounts(chain.reader, wish, at())
    const limitRaw = exact === 'paid' ? 1n : maxInRaw
    const instruction = await swapInstruction(pool, wallet, { pays: tokenIn.native ? 0 : 1, exact, amountRaw, limitRaw })
    const plan = swapPlan(wish, accounts, { instructions: [fromKit(instruction)], memo: null })
    site.cluster.blocks(1)
    const before = lamports(wallet.address)
    const { txHash } = await transactions.submit(orderOf(site, { plan, kind: 'trade', scope: scopeOf(wish) }), soon())
    await comesTo(site, transactions, txHash, 'MINED')
    const receipt = (await entryOf(transactions, txHash))?.landed?.receipt as SolanaReceipt
    const lostRaw = before - lamports(wallet.address) - BigInt(receipt.fee ?? 0)
    return {
      accounts,
      plan,
      fill: fillOf(receipt, wallet.address, { tokenIn, tokenOut }),
      lostRaw,
    }
  }

  it('makes the account that is paid into and closes that of wrapped SOL, in the transaction of the swap', async () => {
    const { wallet } = site
    const { accounts, plan, fill, lostRaw } = await swap(sol, usdc, 1_000_000_000n)
    expect(accounts).to.include({ valueRaw: 1_000_000_000n, rentRaw, lentRaw: rentRaw })
    expect(plan.steps[0]).to.include({ value: '1000000000', rent: rentRaw.toString() })
    expect(plan.needs).to.deep.equal([{ is: 'balance', token: nativeAddress, amountRaw: 1_000_000_000n + 2n * rentRaw }])
    // Of a product that stays constant, less 30 basis points: programs/pool.c.
    expect(fill).to.deep.equal({
      amountInRaw: 1_000_000_000n,
      amountOutRaw: (150_000_000_000n * 1_000_000_000n * 9_970n) / (1_000_000_000_000n * 10_000n + 1_000_000_000n * 9_970n),
    })
    expect(lostRaw).to.equal(1_000_000_000n + rentRaw)
    expect([wrappedMint, usdc.address].map((mint) => isThere(tokenAccountOf(wallet.address, mint)))).to.deep.equal([false, true])
  })

  it('is refused where its plan sends more SOL than it says, or sends it to somebody else, and nothing is signed', async () => {
    const { wallet, cluster, chain } = site
    const wish = { wallet: wallet.address, tokenIn: sol, tokenOut: usdc, maxInRaw: 1_000_000n }
    const refusal = async (step: Partial<SolanaIntent>, scope = scopeOf(wish)) => {
      const plan = swapPlan(wish, await swapAccounts(chain.reader, wish, at()), { instructions: [], memo: null })
      const changed = { ...plan, steps: [{ ...plan.steps[0], ...step }] as const }
      return transactions.submit(orderOf(site, { plan: changed, kind: 'trade', scope }), soon()).then(
        () => 'sent',
        ({ message }: Error) => message,
      )
    }
    const sent = cluster.sent.length
    expect(await refusal({ value: '0' }, { ...scopeOf(wish), valueRaw: 999_999n })).to.match(/sends 1000000 .*allows 999999 at most/)
    const toStranger = transfer(site, cluster.faucet.address, 1_000_000n).steps[0]?.instructions
    expect(await refusal({ instructions: toStranger ?? [] })).to.match(/calls 1{32}, which this request does not allow/)
    const closing = getCloseAccountInstruction({
      account: tokenAccountOf(wallet.address, usdc.address) as Address,
      destination: wallet.address,
      owner: wallet,
    })
    expect(await refusal({ instructions: [fromKit(closing)] })).to.match(/calls Token\w+, which this request does not allow/)
    expect(cluster.sent.length).to.equal(sent)
  })

  it('makes no account that is there, and gives SOL back as SOL', async () => {
    const { accounts, plan, fill, lostRaw } = await swap(usdc, sol, 1_000_000n)
    expect(accounts).to.include({ valueRaw: 0n, rentRaw: 0n, lentRaw: rentRaw })
    expect(plan.needs).to.deep.equal([
      { is: 'balance', token: usdc.address, amountRaw: 1_000_000n },
      { is: 'balance', token: nativeAddress, amountRaw: rentRaw },
    ])
    expect(fill?.amountInRaw).to.equal(1_000_000n)
    expect(fill?.amountOutRaw).to.equal(-lostRaw)
    expect(Number(fill?.amountOutRaw)).to.be.within(6_600_000, 6_700_000)
    const again = await swap(sol, usdc, 1_000n)
    expect(again.accounts.rentRaw).to.equal(0n)
    expect(again.lostRaw).to.equal(1_000n)
  })

  it('counts no SOL as bought that somebody had sent to where it comes to', async () => {
    const { wallet, cluster } = site
    const giftRaw = 890_880n
    await cluster.fund(tokenAccountOf(wallet.address, wrappedMint) as Address, giftRaw)
    cluster.blocks(1)
    const { fill, lostRaw } = await swap(usdc, sol, 1_000_000n)
    expect(fill?.amountOutRaw).to.equal(-lostRaw - giftRaw)
  })

  it('gives back what an exact amount left of the SOL that was wrapped', async () => {
    const { fill, lostRaw } = await swap(sol, usdc, 1_000_000n, { exact: 'got', maxInRaw: 50_000_000n })
    expect(fill?.amountOutRaw).to.equal(1_000_000n)
    expect(fill?.amountInRaw).to.equal(lostRaw)
    expect(Number(lostRaw)).to.be.within(6_600_000, 6_800_000)
  })

  it('leaves wrapped SOL that was there before, and its account, to other trades; a swap for SOL makes SOL of it', async () => {
    const { cluster, wallet, chain } = site
    await cluster.mintTo(wallet.address, wrappedSol, 3_000_000n)
    cluster.blocks(1)
    const sold = await swap(sol, usdc, 2_000_000n)
    expect(sold.accounts.lentRaw).to.equal(0n)
    expect(sold.fill?.amountInRaw).to.equal(2_000_000n)
    expect(sold.lostRaw).to.equal(2_000_000n)
    const account = tokenAccountOf(wallet.address, wrappedMint)
    expect(lamports(account)).to.equal(3_000_000n + rentRaw)
    // Who buys wrapped SOL has the account though a swap for SOL closes it in between.
    const wish = { wallet: wallet.address, tokenIn: usdc, tokenOut: tokenOf(wrappedSol), maxInRaw: 1_000n }
    const buys = await swapAccounts(chain.reader, wish, at())
    const bought = await swap(usdc, sol, 1_000_000n)
    expect(bought.lostRaw).to.equal(-(bought.fill?.amountOutRaw ?? 0n) - 3_000_000n - rentRaw)
    expect(isThere(account)).to.equal(false)
    const instruction = await swapInstruction(pool, wallet, { pays: 1, exact: 'paid', amountRaw: 1_000n, limitRaw: 1n })
    const plan = swapPlan(wish, buys, { instructions: [fromKit(instruction)], memo: null })
    const { txHash } = await transactions.submit(orderOf(site, { plan, kind: 'trade', scope: scopeOf(wish) }), soon())
    await comesTo(site, transactions, txHash, 'MINED')
    expect(isThere(account)).to.equal(true)
  })

  it('takes the rent of an account of Token-2022 by what its mint asks for', async () => {
    const { chain, wallet, cluster } = site
    const fees = tokenOf(cluster.mints.FEES)
    const accounts = await swapAccounts(chain.reader, { wallet: wallet.address, tokenIn: sol, tokenOut: fees, maxInRaw: 1n }, at())
    // Base, kind, ImmutableOwner and TransferFeeAmount, beside 128 bytes of overhead.
    expect(accounts.rentRaw).to.equal(6_960n * (128n + 165n + 1n + 4n + 12n))
    expect(accounts.destination).to.equal(tokenAccountOf(wallet.address, fees.address, cluster.mints.FEES.program))
  })

  it('refuses a token that is no mint', async () => {
    const { chain, wallet } = site
    const none = { symbol: 'NONE', address: wallet.address, decimals: 6 }
    for (const [tokenIn, tokenOut] of [
      [sol, none],
      [none, sol],
    ] as const)
      await swapAccounts(chain.reader, { wallet: wallet.address, tokenIn, tokenOut, maxInRaw: 1n }, at()).then(
        () => expect.fail('there were accounts'),
        ({ name }: Error) => expect(name).to.equal('TOKEN_NOT_SUPPORTED'),
      )
  })
})

describe('the fill of a swap by the balances of its receipt', () => {
  const [wallet, other] = ['wallet', 'other']
  const [tokenIn, tokenOut] = ['in', 'out'].map((address) => ({ symbol: address, address, decimals: 0 })) as [Token, Token]
  const balance = (accountIndex: number, mint: string, owner: string, amount: string) => ({
    accountIndex,
    mint,
    owner,
    uiTokenAmount: { amount },
  })
  const receiptOf = (more: object): SolanaReceipt =>
    ({
      status: 1,
      fee: '5000',
      preBalances: ['100000', '10', '10', '10', '10'],
      postBalances: ['95000', '10', '10', '10', '10'],
      preTokenBalances: [
        balance(1, 'in', wallet, '100'),
        balance(2, 'out', wallet, '0'),
        balance(3, 'in', other, '7'),
        balance(4, 'out', other, '90'),
      ],
      postTokenBalances: [
        balance(1, 'in', wallet, '40'),
        balance(2, 'out', wallet, '33'),
        balance(3, 'in', other, '67'),
        balance(4, 'out', other, '50'),
      ],
      ...more,
    }) as unknown as SolanaReceipt

  it("is what the wallet's own accounts lost and won, whatever others' did, with a token's fee on the way", () => {
    expect(fillOf(receiptOf({}), wallet, { tokenIn, tokenOut })).to.deep.equal({ amountInRaw: 60n, amountOutRaw: 33n })
  })

  it('counts an account that the transaction closed, one that it opened, and all of a mint together', () => {
    const preTokenBalances = [balance(1, 'in', wallet, '100'), balance(3, 'in', wallet, '5')]
    const postTokenBalances = [balance(3, 'in', wallet, '45'), balance(2, 'out', wallet, '33')]
    expect(fillOf(receiptOf({ preTokenBalances, postTokenBalances }), wallet, { tokenIn, tokenOut })).to.deep.equal({
      amountInRaw: 60n,
      amountOutRaw: 33n,
    })
  })

  it('counts no lamports as won that somebody had sent to the address of an account before it was made', () => {
    const more = {
      preBalances: ['100000', '10', '700', '10', '10'],
      postBalances: ['94000', '10', '1700', '10', '10'],
      preTokenBalances: [balance(1, 'in', wallet, '100')],
      postTokenBalances: [balance(1, 'in', wallet, '40'), balance(2, wrappedMint, wallet, '33')],
    }
    expect(fillOf(receiptOf(more), wallet, { tokenIn, tokenOut: sol })).to.deep.equal({ amountInRaw: 60n, amountOutRaw: 0n })
  })

  it('counts the rent of a new account of another token as paid', () => {
    const more = {
      preBalances: ['100000', '10', '10', '0', '10'],
      postBalances: ['93000', '10', '10', '2000', '10'],
      postTokenBalances: [balance(1, 'in', wallet, '40'), balance(3, 'ransom', wallet, '1')],
    }
    expect(fillOf(receiptOf({ ...more, preTokenBalances: [] }), wallet, { tokenIn: sol, tokenOut: tokenIn })).to.deep.equal({
      amountInRaw: 2_000n,
      amountOutRaw: 40n,
    })
    const bought = { ...tokenOut, address: 'ransom' }
    expect(fillOf(receiptOf({ ...more, preTokenBalances: [] }), wallet, { tokenIn: sol, tokenOut: bought })).to.deep.equal({
      amountInRaw: 0n,
      amountOutRaw: 1n,
    })
  })

  it('is not known where a node does not tell whose an account is', () => {
    const { owner: _, ...nobodys } = balance(2, 'out', wallet, '0')
    const preTokenBalances = [balance(1, 'in', wallet, '100'), nobodys]
    expect(fillOf(receiptOf({ preTokenBalances }), wallet, { tokenIn, tokenOut })).to.equal(undefined)
  })

  it('is not known of a failure, without a receipt, without balances, or where it moved the other way', () => {
    for (const more of [{ status: 0 }, { fee: null }, { preTokenBalances: null }, { postBalances: null }])
      expect(fillOf(receiptOf(more), wallet, { tokenIn, tokenOut }), JSON.stringify(more)).to.equal(undefined)
    expect(fillOf(receiptOf({}), wallet, { tokenIn: tokenOut, tokenOut: tokenIn })).to.equal(undefined)
  })
})
