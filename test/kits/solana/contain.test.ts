import { expect } from 'chai'
import { generateKeyPairSigner, signBytes, type Address, type KeyPairSigner } from '@solana/kit'
import { getTransferInstruction } from '@solana-program/token'
import type { Plan, Token } from '../../../core/contracts/index.ts'
import { checkMessage } from '../../../core/wallet/policy-solana.ts'
import {
  fromKit,
  heldIn,
  nativeAddress,
  swapAccounts,
  swapPlan,
  tokenAccountOf,
  wrappedMint,
  type Solana,
  type SolanaIntent,
} from '../../../kits/solana/index.ts'
import { wrappedSol } from '../../../tools/solana-node/mints.ts'
import { createPool, swapInstruction, type Pool } from '../../../tools/solana-node/programs/pool.ts'
import { soon, startCluster, type TestCluster } from './test-cluster.ts'

const sol: Token = { symbol: 'SOL', address: nativeAddress, decimals: 9, native: true }

describe('how a plan of a contained plugin on Solana is signed for', () => {
  let site: TestCluster
  let pool: Pool
  let usdc: Token
  let delegate: KeyPairSigner
  before(async () => {
    site = await startCluster()
    const { cluster, wallet } = site
    const { USDC } = cluster.mints
    usdc = { symbol: 'USDC', address: USDC.address, decimals: USDC.decimals }
    pool = await createPool(cluster, [wrappedSol, USDC], [1_000_000_000_000n, 150_000_000_000n], 30n)
    await cluster.mintTo(wallet.address, USDC, 1_000_000_000n)
    cluster.blocks(2)
  })
  beforeEach(async () => {
    delegate = await generateKeyPairSigner()
  })
  after(() => site?.stop())

  /** As a plugin makes it, for the wallet. */
  async function planned(tokenIn: Token, tokenOut: Token, amountRaw: bigint): Promise<Plan<Solana>> {
    const { chain, wallet } = site
    const wish = { wallet: wallet.address, tokenIn, tokenOut, maxInRaw: amountRaw }
    const accounts = await swapAccounts(chain.reader, wish, soon())
    const instruction = await swapInstruction(pool, wallet, { pays: tokenIn.native ? 0 : 1, exact: 'paid', amountRaw, limitRaw: 1n })
    return swapPlan(wish, accounts, { instructions: [fromKit(instruction)], memo: null })
  }
  const contain = async (plan: Plan<Solana>) => {
    const contained = await site.chain.altchain?.contain?.(plan, { wallet: site.wallet.address, delegate: delegate.address }, soon())
    const [step] = contained?.steps ?? []
    if (!step) throw new Error('It has no step.')
    return step
  }
  /** By what the real signer would sign, with the program as a contained plugin's. */
  async function carriesOut(step: SolanaIntent) {
    const { chain, cluster, wallet } = site
    const { prepared, synced } = await chain.rail.check([step], [], wallet.address, { feeOverrides: {} }, soon())
    const [sequence = null] = chain.rail.claim(synced, [], 1)
    const draft = chain.rail.draft({ step, fees: prepared[0]?.fees ?? null }, sequence)
    const program = new Set([pool.program as string])
    const rules = {
      keys: 'ed25519' as const,
      name: 'solana/local',
      feeCapRaw: 10n ** 9n,
      local: true,
      contracts: program,
      contained: program,
    }
    checkMessage(draft.bytes, wallet.address, rules, [delegate.address])
    const [first, second] = await Promise.all([wallet, delegate].map(({ keyPair }) => signBytes(keyPair.privateKey, draft.bytes)))
    if (!first || !second) throw new Error('There are two signatures.')
    const sealed = chain.rail.seal(draft, first, [second])
    expect(await chain.rail.send(sealed, soon())).to.include({ is: 'accepted' })
    cluster.blocks(2)
    const found = await chain.find(sealed.id, soon())
    expect(found?.receipt).to.include({ status: 1 })
  }
  const held = async (mint: string) => {
    const owner = site.wallet.address
    const { accounts } = await site.chain.reader.accounts([tokenAccountOf(owner, mint)], soon())
    return heldIn(accounts[0], { mint, owner })
  }

  it('swaps a token for SOL and SOL for a token: the program gets the signature of the new account alone', async () => {
    const before = (await held(usdc.address)) ?? 0n
    await carriesOut(await contain(await planned(usdc, sol, 100_000_000n)))
    expect(await held(usdc.address)).to.equal(before - 100_000_000n)
    expect(await held(wrappedMint)).to.equal(undefined)
    delegate = await generateKeyPairSigner()
    const step = await contain(await planned(sol, usdc, 1_000_000_000n))
    const call = step.instructions.find(({ program }) => program === pool.program)
    expect(call?.accounts.filter(({ signer }) => signer).map((each) => each.address)).to.deep.equal([delegate.address])
    expect(call?.accounts.map((each) => each.address)).to.not.include(site.wallet.address)
    await carriesOut(step)
    expect(((await held(usdc.address)) ?? 0n) > before - 100_000_000n).to.equal(true)
    expect(await held(wrappedMint)).to.equal(undefined)
  })

  it('lets the program take no more than the plan needs: one that takes more fails', async () => {
    const plan = await planned(usdc, sol, 100_000_000n)
    const less: Plan<Solana> = { ...plan, needs: [{ is: 'balance', token: usdc.address, amountRaw: 99_999_999n }] }
    const step = await contain(less)
    const refusal = await Promise.resolve(site.chain.rail.check([step], [], site.wallet.address, { feeOverrides: {} }, soon())).then(
      () => 'checked',
      ({ name, message }: Error) => `${name} ${message}`,
    )
    expect(refusal).to.match(/^TRADE_FAILED .*insufficient funds/)
  })

  it('asks no node again for a mint that it knows', async () => {
    const plan = await planned(usdc, sol, 100_000_000n)
    await contain(plan)
    site.asked()
    await contain(plan)
    expect(site.asked()).to.deep.equal([])
  })

  it('refuses a plan that moves tokens, has accounts of its own, needs what is no mint, or calls nothing', async () => {
    const plan = await planned(usdc, sol, 100_000_000n)
    const [step] = plan.steps
    if (!step) throw new Error('It has no step.')
    const own = tokenAccountOf(site.wallet.address, usdc.address) as Address
    const moving = fromKit(getTransferInstruction({ source: own, destination: own, authority: site.wallet, amount: 1n }))
    const refused = (changed: Partial<Plan<Solana>>) =>
      contain({ ...plan, ...changed }).then(
        () => 'contained',
        ({ message }: Error) => message,
      )
    const steps = (change: Partial<SolanaIntent>): Pick<Plan<Solana>, 'steps'> => ({ steps: [{ ...step, ...change }] })
    expect(await refused(steps({ instructions: [...step.instructions, moving] }))).to.match(/instruction of the Token program/)
    expect(await refused(steps({ signers: [own] }))).to.match(/new accounts of its own/)
    expect(await refused(steps({ instructions: [] }))).to.match(/calls no program/)
    expect(await refused({ steps: [step, step] })).to.match(/several steps/)
    const needing = (token: string) => refused({ needs: [{ is: 'balance', token, amountRaw: 1n }] })
    expect(await needing(site.wallet.address)).to.match(/not the mint of a token/)
    // A node is put aside that refuses what is no address.
    site.asked()
    for (const token of ['', 'x', `${usdc.address}1`, '0x00']) expect(await needing(token)).to.match(/not the mint of a token/)
    expect(site.asked()).to.deep.equal([])
  })

  it('asks no node for an account that is no address, where a plan expects something of one', async () => {
    const { chain, wallet } = site
    const [step] = (await planned(usdc, sol, 100_000_000n)).steps
    if (!step) throw new Error('It has no step.')
    site.asked()
    for (const account of ['', 'x', `${usdc.address}1`]) {
      const checking = chain.rail.check(
        [{ ...step, expects: [{ account, mint: usdc.address, isThere: true }] }],
        [],
        wallet.address,
        { feeOverrides: {} },
        soon(),
      )
      expect(await checking.then(String, ({ message }: Error) => message)).to.match(/which is not an address: nothing was signed/)
    }
    expect(site.asked()).to.deep.equal([])
  })
})
