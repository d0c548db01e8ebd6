import { expect } from 'chai'
import { generateKeyPairSigner } from '@solana/kit'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { rejection, soon } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, startSolanaSite, transactionsAt, type SolanaSite } from './solana-site.ts'
import { soon as at } from './test-cluster.ts'

describe('creating token accounts on Solana', () => {
  let site: SolanaSite
  let transactions: Transactions
  before(async () => {
    site = await startSolanaSite()
    transactions = await transactionsAt(site)
  })
  after(async () => {
    await transactions?.stop(1000)
    await site?.stop()
  })
  const create = (token: (typeof site.cluster.mints)[keyof typeof site.cluster.mints], owner = site.wallet.address) => {
    if (!site.chain.altchain) throw new Error('The chain has no accounts for tokens.')
    return site.chain.altchain.createToken(owner, token, at())
  }
  const planOf = async (token: Parameters<typeof create>[0]) => {
    const made = await create(token)
    if ('exists' in made) throw new Error('It is there already.')
    return made
  }

  for (const symbol of ['USDC', 'FEES'] as const)
    it(`creates the account for ${symbol} once, with the program of the mint, for the planned rent`, async () => {
      const { cluster, chain, wallet, asked } = site
      const token = cluster.mints[symbol]
      const before = await chain.balances(wallet.address, [chain.nativeCurrency], at())
      asked()
      const { plan, account } = await planOf(token)
      expect(asked()).to.deep.equal(['getMinimumBalanceForRentExemption', 'getMultipleAccounts'])
      const { txHash, gas } = await transactions.submit(orderOf(site, { plan }), soon())
      expect(chain.isTransactionId(txHash)).to.equal(true)
      await comesTo(site, transactions, txHash, 'MINED')
      await comesTo(site, transactions, txHash, 'CONFIRMED')
      const made = cluster.svm.getAccount(account as Parameters<typeof cluster.svm.getAccount>[0])
      if (!made?.exists) throw new Error('No account was made.')
      expect(made.programAddress).to.equal(token.program)
      const [step] = plan.steps
      expect(String(made.lamports)).to.equal(step.rent)
      const entry = await entryOf(transactions, txHash)
      const fee = BigInt(String(Reflect.get(Object(entry?.landed?.receipt), 'fee')))
      const after = await chain.balances(wallet.address, [chain.nativeCurrency], at())
      expect((before[0] ?? 0n) - (after[0] ?? 0n)).to.equal(BigInt(step.rent) + fee)
      // Digits that tell messages apart cost less than a hundredth of a cent.
      expect(Number(gas.gasCostRaw - fee)).to.be.within(0, 1_000)
      expect(await create(token)).to.deep.equal({ exists: account })
    })

  it('becomes final only when its block is finalized, 32 blocks later', async () => {
    const { cluster } = site
    const mint = await cluster.createMint({ symbol: 'DEEP', decimals: 2 })
    cluster.blocks(1)
    const { plan } = await planOf(mint)
    const { txHash } = await transactions.submit(orderOf(site, { plan }), soon())
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    const landedAt = cluster.ledger.find(txHash as Parameters<typeof cluster.ledger.find>[0])?.block.height ?? 0n
    expect(Number(cluster.ledger.tip.height - landedAt)).to.be.at.least(32)
  })

  it('refuses an address that is not a mint', async () => {
    const error = await rejection(create({ symbol: 'X', address: site.wallet.address, decimals: 2, program: site.wallet.address }))
    expect(error.name).to.equal('TOKEN_NOT_SUPPORTED')
  })

  it('refuses before signing when the wallet cannot pay the rent or the fee', async () => {
    const { cluster, chain } = site
    const poor = await generateKeyPairSigner()
    const made = await create(cluster.mints.USDC, poor.address)
    if ('exists' in made) throw new Error('It is there already.')
    const tried = () => rejection(chain.rail.check(made.plan.steps, [], poor.address, { feeOverrides: {} }, at()))
    expect((await tried()).name).to.equal('INSUFFICIENT_BALANCE')
    await cluster.fund(poor.address, 2_039_280n)
    cluster.blocks(1)
    const error = await tried()
    expect(error.name).to.equal('OUT_OF_GAS')
    // The rent, the fee, and what an empty account must be left with.
    expect(error.details).to.include({ token: 'SOL', current: '0.002039280', needed: '0.002935160' })
    await cluster.fund(poor.address, 2_000_000n)
    cluster.blocks(1)
    const { prepared } = await chain.rail.check(made.plan.steps, [], poor.address, { feeOverrides: {} }, at())
    expect(prepared).to.have.length(1)
    expect(cluster.sent.some(({ bytes }) => Buffer.from(bytes).includes(poor.address))).to.equal(false)
  })

  it('refuses a step that would fail, with the reason of the program', async () => {
    const { cluster, chain, wallet } = site
    const mint = await cluster.createMint({ symbol: 'NONE', decimals: 1 })
    cluster.blocks(1)
    const made = await create(mint)
    if ('exists' in made) throw new Error('It is there already.')
    const [step] = made.plan.steps
    const [instruction] = step.instructions
    if (!instruction) throw new Error('It has no instruction.')
    const other = await generateKeyPairSigner()
    const wrong = {
      ...instruction,
      accounts: instruction.accounts.map((each, index) => (index === 1 ? { ...each, address: other.address } : each)),
    }
    const error = await rejection(chain.rail.check([{ ...step, instructions: [wrong] }], [], wallet.address, { feeOverrides: {} }, at()))
    expect(error.name).to.equal('TRADE_FAILED')
    expect(error.message).to.contain('Associated Token Account')
  })
})
