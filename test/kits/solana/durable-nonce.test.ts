import { expect } from 'chai'
import { generateKeyPairSigner } from '@solana/kit'
import type { KeyPairSigner } from '@solana/kit'
import {
  SYSTEM_PROGRAM_ADDRESS,
  getAuthorizeNonceAccountInstruction,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getNonceSize,
  getWithdrawNonceAccountInstruction,
} from '@solana-program/system'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { dropsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { clientOf, send as sendBy, sign, signDurable, transferTo } from '../../../tools/solana-node/test/site.ts'
import { healthy, startFaultyProxy, telling } from '../../http/trouble/faulty-proxy.ts'
import { freshStore, rejection, soon, until } from '../../transactions/site.ts'
import { chainOver, soon as at } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'

describe('durable nonces on Solana', () => {
  let site: SolanaSite
  let transactions: Transactions
  let account: KeyPairSigner
  let skewMs = 0

  /** An account that is a nonce of that authority. */
  async function create(authority = site.wallet.address): Promise<KeyPairSigner> {
    const { cluster, wallet } = site
    const client = clientOf(cluster)
    const made = await generateKeyPairSigner()
    const lamports = await client.getMinimumBalanceForRentExemption(BigInt(getNonceSize())).send()
    const creation = getCreateAccountInstruction({
      payer: wallet,
      newAccount: made,
      lamports,
      space: getNonceSize(),
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    })
    const initialization = getInitializeNonceAccountInstruction({ nonceAccount: made.address, nonceAuthority: authority })
    await sendBy(client, await sign(client, wallet, [creation, initialization]))
    cluster.blocks(2)
    return made
  }

  beforeEach(async () => {
    site = await startSolanaSite()
    account = await create()
    const foreign = await create(site.cluster.faucet.address)
    const { address } = site.wallet
    const { chain, asked } = chainOver({
      rpcUrls: [site.cluster.url],
      durableNonces: { [address]: [account.address, foreign.address, (await generateKeyPairSigner()).address] },
    })
    await site.chain.stop?.()
    site = { ...site, chain, asked, network: { ...site.network, impl: chain } }
    skewMs = 0
    transactions = await transactionsAt(site, { steadyMs: () => performance.now() + skewMs })
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.stop()
  })

  const order = (nonce?: number, lamports = 1_000n) =>
    orderOf(site, { plan: transfer(site, site.cluster.faucet.address, lamports), ...(nonce !== undefined && { nonce }) })
  const send = async (nonce?: number, lamports?: bigint) => (await transactions.submit(order(nonce, lamports), soon())).txHash
  const slotOf = async (txHash: string) => Object((await entryOf(transactions, txHash))?.sequence)

  it('keep a transaction valid after its blockhashes have expired, until it lands', async () => {
    const { cluster } = site
    cluster.lead(dropsAll)
    const txHash = await send(0)
    expect(await slotOf(txHash)).to.include({ number: 0, nonceAccount: account.address })
    cluster.blocks(400)
    await looks(site)
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    cluster.lead(takesAll)
    skewMs = 2_100
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    // The next one is signed upon the next value.
    const next = await send(0)
    expect((await slotOf(next)).nonce).to.not.equal((await slotOf(txHash)).nonce)
    await comesTo(site, transactions, next, 'CONFIRMED')
  })

  it('take one transaction at a time: another is refused with the hash of the first, one on a blockhash is accepted', async () => {
    const { cluster } = site
    cluster.lead(dropsAll)
    const txHash = await send(0)
    const refused = await rejection(send(0))
    expect(refused.name).to.equal('INVALID_NONCE')
    expect(refused.message).to.contain(txHash)
    expect(refused.details).to.deep.equal({ nonce: 0, txHash })
    cluster.lead(takesAll)
    await comesTo(site, transactions, await send(), 'CONFIRMED')
  })

  it('end a transaction as DROPPED when they have another finalized value and it is in no block', async () => {
    const { cluster, wallet, chain } = site
    cluster.lead(dropsAll)
    const txHash = await send(0)
    const { nonce } = await slotOf(txHash)
    // Other software with the same key uses it up.
    const other = await signDurable(wallet, { nonce, nonceAccountAddress: account.address, nonceAuthorityAddress: wallet.address }, [
      transferTo(wallet, cluster.faucet.address, 5n),
    ])
    await sendBy(clientOf(cluster), other)
    cluster.lead(({ wire }) => (wire.signature === other.signature ? 'takes' : 'drops'))
    cluster.blocks(20)
    await looks(site)
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    cluster.blocks(20)
    await comesTo(site, transactions, txHash, 'DROPPED')
    const entry = await entryOf(transactions, txHash)
    expect(entry && transactions.status(entry)).to.equal(-1)
    expect(entry?.reason).to.contain('Another transaction took its place')
    cluster.lead(takesAll)
    await comesTo(site, transactions, await send(0), 'CONFIRMED')
    expect((await chain.head(at())).number > 0n).to.equal(true)
  })

  it('end no transaction by a node that lists no blocks after it was signed: it landed in one', async () => {
    const { cluster } = site
    const front = await startFaultyProxy()
    front.target = cluster.url
    try {
      await transactions.stop(1000)
      await site.chain.stop?.()
      const durableNonces = { [site.wallet.address]: [account.address] }
      const { chain, asked } = chainOver({ rpcUrls: [`http://127.0.0.1:${front.port}`], durableNonces })
      site = { ...site, chain, asked, network: { ...site.network, impl: chain } }
      transactions = await transactionsAt(site)
      const txHash = await send(0)
      await front.become(
        telling(({ method, params }) => {
          if (method === 'getBlocksWithLimit') return { result: [params[0]] }
          if (method !== 'getSignatureStatuses') return undefined
          return { result: { context: { slot: Number(cluster.ledger.tip.slot) }, value: [null] } }
        }),
      )
      cluster.blocks(400)
      await looks(site, { times: 40 })
      expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
      await front.become(healthy)
      await comesTo(site, transactions, txHash, 'CONFIRMED')
    } finally {
      await front.stop()
    }
  })

  it('end a transaction when their account is closed', async () => {
    const { cluster, wallet } = site
    cluster.lead(dropsAll)
    const txHash = await send(0)
    const client = clientOf(cluster)
    const { value: lamports } = await client.getBalance(account.address).send()
    const closing = getWithdrawNonceAccountInstruction({
      nonceAccount: account.address,
      recipientAccount: wallet.address,
      nonceAuthority: wallet,
      withdrawAmount: lamports,
    })
    const closed = await sign(client, wallet, [closing])
    await sendBy(client, closed)
    cluster.lead(({ wire }) => (wire.signature === closed.signature ? 'takes' : 'drops'))
    cluster.blocks(20)
    await looks(site)
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    cluster.blocks(20)
    await comesTo(site, transactions, txHash, 'DROPPED')
    expect((await rejection(send(0))).name).to.equal('INVALID_NONCE')
  })

  it('keep a transaction open while they have another authority, which may be changed back', async () => {
    const { cluster, wallet } = site
    const client = clientOf(cluster)
    const handOver = async (from: KeyPairSigner, to: KeyPairSigner) => {
      const handed = await sign(client, wallet, [
        getAuthorizeNonceAccountInstruction({ nonceAccount: account.address, nonceAuthority: from, newNonceAuthority: to.address }),
      ])
      await sendBy(client, handed)
      cluster.lead(({ wire }) => (wire.signature === handed.signature ? 'takes' : 'drops'))
      cluster.blocks(1)
    }
    cluster.lead(dropsAll)
    const txHash = await send(0)
    const other = await generateKeyPairSigner()
    await handOver(wallet, other)
    cluster.blocks(60)
    await looks(site)
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    await handOver(other, wallet)
    cluster.lead(takesAll)
    skewMs = 2_100
    await comesTo(site, transactions, txHash, 'CONFIRMED')
  })

  it('advance with a failed transaction too: it ends REVERTED, and the next one uses the next value', async () => {
    const { cluster, chain, wallet } = site
    const [held = 0n] = await chain.balances(wallet.address, [chain.nativeCurrency], at())
    cluster.lead(dropsAll)
    const txHash = await send(0, held - 2_000_000n)
    const other = await sign(clientOf(cluster), wallet, [transferTo(wallet, cluster.faucet.address, held - 1_200_000n)])
    await sendBy(clientOf(cluster), other)
    cluster.lead(({ wire }) => (wire.signature === other.signature ? 'takes' : 'drops'))
    cluster.blocks(1)
    cluster.lead(takesAll)
    skewMs = 2_100
    await comesTo(site, transactions, txHash, 'REVERTED')
    await cluster.fund(wallet.address, 1_000_000_000n)
    cluster.blocks(1)
    await comesTo(site, transactions, await send(0), 'CONFIRMED')
  })

  it('stay held by pending transactions after a restart', async () => {
    const { cluster } = site
    const store = await freshStore()
    await transactions.stop(1000)
    transactions = await transactionsAt(site, { store })
    await comesTo(site, transactions, await send(0), 'CONFIRMED')
    cluster.lead(dropsAll)
    const waiting = await send(0)
    await transactions.stop(1000)
    transactions = await transactionsAt(site, { store })
    const refused = await rejection(send(0))
    expect(refused.name).to.equal('INVALID_NONCE')
    expect(refused.message).to.contain(waiting)
    await transactions.stop(1000)
    await store.close()
  })

  it('end in a refusal where the wallet does not have them, with what to do', async () => {
    const none = await rejection(send(7))
    expect(none.name).to.equal('INCOMPLETE_PARAMS')
    expect(none.details).to.be.an('array')
    expect(JSON.stringify(none.details)).to.contain('the wallet has 3')
    for (const nonce of [1, 2]) {
      const unusable = await rejection(send(nonce))
      expect(unusable.name).to.equal('INVALID_NONCE')
      expect(unusable.message).to.contain('not initialized with the wallet as its authority')
    }
    await until('nothing was kept of it', async () => (await transactions.list({ chain: 'solana', network: 'local' })).entries.length === 0)
  })
})
