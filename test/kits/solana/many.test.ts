import { expect } from 'chai'
import { address, getBase58Decoder, lamports } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { OpenAttempt } from '../../../core/contracts/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { parseNodeJson } from '../../../kits/solana/rpc.ts'
import { failsAt, overItsLimit } from '../../../tools/solana-node/faults.ts'
import { healthy, startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { freshStore, soon } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'

const randomText = (bytes: number) => getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(bytes)))

const send = (transactions: Transactions, of: SolanaSite) =>
  transactions.submit(orderOf(of, { plan: transfer(of, of.cluster.faucet.address, 5n) }), soon())

describe('large batches on Solana', () => {
  let site: SolanaSite
  beforeEach(async () => {
    site = await startSolanaSite()
  })
  afterEach(() => site?.stop())

  const at = () => ({ signal: soon() })
  const attempt = (slot: { since: number; lastValidBlockHeight: number }): OpenAttempt => ({
    id: randomText(64),
    from: site.wallet.address,
    step: null,
    sequence: { number: 1, blockhash: randomText(32), ...slot },
    fees: { computeUnits: 1_000, price: '1' },
  })
  const feeOf = async (transactions: Transactions, txHash: string) =>
    Number(Object((await entryOf(transactions, txHash))?.landed?.receipt).fee)

  it('split balances of many tokens into several requests', async () => {
    const { chain, cluster, wallet, asked } = site
    await cluster.mintTo(wallet.address, cluster.mints.USDC, 9_007_199_254_740_993n)
    cluster.blocks(1)
    asked()
    const tokens = Array.from({ length: 400 }, () => cluster.mints.USDC)
    expect(await chain.balances(wallet.address, tokens, at())).to.deep.equal(tokens.map(() => 9_007_199_254_740_993n))
    expect(asked().filter((method) => method !== 'getGenesisHash')).to.deep.equal(Array.from({ length: 12 }, () => 'getMultipleAccounts'))
  })

  it('read only the beginning of large accounts that are not tokens', async () => {
    const { chain, cluster, wallet } = site
    const huge = Array.from({ length: 4 }, () => address(randomText(32)))
    const account = {
      data: new Uint8Array(10_000_000),
      executable: false,
      lamports: lamports(10n ** 11n),
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }
    for (const each of huge) cluster.svm.setAccount({ ...account, address: each, space: 10_000_000n })
    cluster.blocks(2)
    const tokens = huge.map((each) => ({ symbol: each, address: each, decimals: 6 }))
    expect(await chain.balances(wallet.address, tokens, at())).to.deep.equal(tokens.map(() => undefined))
    expect(chain.nodes?.().map(({ trouble }) => trouble)).to.deep.equal([undefined])
  })

  it('poll more open transactions than one request holds', async () => {
    const { chain } = site
    const open = Array.from({ length: 700 }, () => attempt({ since: 1, lastValidBlockHeight: 1e9 }))
    const { statuses } = await chain.rail.poll(open, await chain.head(at()), at())
    expect(statuses.map(({ id }) => id)).to.have.members(open.map(({ id }) => id))
  })

  it('read the receipts of many final transactions after a restart, none of them empty', async () => {
    const store = await freshStore()
    const before = await transactionsAt(site, { store })
    const sent = await Promise.all(Array.from({ length: 70 }, () => send(before, site)))
    await before.stop(1000)
    site.cluster.blocks(60)
    const after = await transactionsAt(site, { store })
    for (const { txHash } of sent) await comesTo(site, after, txHash, 'CONFIRMED')
    expect(Math.min(...(await Promise.all(sent.map(({ txHash }) => feeOf(after, txHash)))))).to.be.at.least(5_000)
    await after.stop(1000)
    await store.close()
  })

  it('do not block on transactions that no node can decide', async () => {
    const { cluster, chain: old } = site
    await old.stop?.()
    const short = await cluster.addNode({ historyBlocks: 220 })
    const { chain } = chainOver({ rpcUrls: [short.url] })
    cluster.blocks(400)
    const [first, recent] = [cluster.ledger.blocks[0], cluster.ledger.blocks.at(-215)]
    const over = (block = first) => attempt({ since: Number(block?.slot), lastValidBlockHeight: Number(block?.height) + 150 })
    const untold = Array.from({ length: 64 }, () => over())
    const told = Array.from({ length: 6 }, () => over(recent))
    const seen = []
    for (let times = 0; times < 2; times += 1)
      seen.push(...(await chain.rail.poll([...untold, ...told], await chain.head(at()), at())).statuses)
    expect(seen.filter(({ is }) => is === 'expired').map(({ id }) => id)).to.include.members(told.map(({ id }) => id))
    expect(seen.filter(({ id }) => untold.some((each) => each.id === id)).map(({ is }) => is)).to.not.include('expired')
    await chain.stop?.()
    await short.stop()
  })

  it('leave digits in texts of any length unchanged', () => {
    const text = 'A1'.repeat(10_000_000)
    expect(parseNodeJson(`{"data":"${text}","lamports":18446744073709551615}`)).to.deep.equal({
      data: text,
      lamports: '18446744073709551615',
    })
  })
})

describe('the receipt of a transaction on Solana', () => {
  const noHistory = failsAt('getTransaction', { code: -32011, message: 'Transaction history is not available from this node' })
  let own: SolanaSite
  let proxy: FaultyProxy
  let transactions: Transactions
  beforeEach(async () => {
    own = await startSolanaSite()
    proxy = await startFaultyProxy()
    proxy.target = own.cluster.url
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await own?.stop()
    await proxy?.stop()
  })

  /** A transaction that is final, by way of a node without history and of others. */
  const final = async (others: readonly string[] = []) => {
    await own.chain.stop?.()
    const { chain, asked } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`, ...others] })
    own = { ...own, chain, asked, network: { ...own.network, impl: chain } }
    transactions = await transactionsAt(own)
    const { txHash } = await send(transactions, own)
    await proxy.become(noHistory)
    own.cluster.blocks(40)
    return txHash
  }
  const feeOf = async (txHash: string) => Object((await entryOf(transactions, txHash))?.landed?.receipt).fee

  it('waits until a node has it', async () => {
    const txHash = await final()
    await looks(own)
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    await proxy.become(healthy)
    await comesTo(own, transactions, txHash, 'CONFIRMED')
    expect(Number(await feeOf(txHash))).to.be.above(5_000)
  })

  it('comes from another node when the one in use keeps no history', async () => {
    const txHash = await final([own.cluster.url])
    await comesTo(own, transactions, txHash, 'CONFIRMED')
    expect(Number(await feeOf(txHash))).to.be.above(5_000)
  })

  it('is waited for where the node that keeps history gives no answer for a while', async () => {
    const keeper = await startFaultyProxy()
    keeper.target = own.cluster.url
    try {
      await keeper.become(overItsLimit)
      const txHash = await final([`http://127.0.0.1:${keeper.port}`])
      await looks(own, { times: 16 })
      expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
      await keeper.become(healthy)
      await comesTo(own, transactions, txHash, 'CONFIRMED')
      expect(Number(await feeOf(txHash))).to.be.above(5_000)
    } finally {
      await keeper.stop()
    }
  })

  it('comes from the journal after a restart, where no node has it any more', async () => {
    const store = await freshStore()
    await own.chain.stop?.()
    const { chain, asked } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    own = { ...own, chain, asked, network: { ...own.network, impl: chain } }
    transactions = await transactionsAt(own, { store })
    const { txHash } = await send(transactions, own)
    await comesTo(own, transactions, txHash, 'MINED')
    await transactions.stop(1000)
    await chain.stop?.()
    await proxy.become(noHistory)
    const later = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    own = { ...own, ...later, network: { ...own.network, impl: later.chain } }
    transactions = await transactionsAt(own, { store })
    await comesTo(own, transactions, txHash, 'CONFIRMED')
    expect(Number(await feeOf(txHash))).to.be.above(5_000)
    await transactions.stop(1000)
    await store.close()
  })

  it('has no fee when no node ever has it, and the transaction still becomes final', async () => {
    const txHash = await final()
    await comesTo(own, transactions, txHash, 'CONFIRMED')
    expect(await feeOf(txHash)).to.equal(null)
  })
})
