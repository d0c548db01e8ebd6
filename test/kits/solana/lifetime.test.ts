import { expect } from 'chai'
import { generateKeyPairSigner } from '@solana/kit'
import type { Signature } from '@solana/kit'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { dropsAll, holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { losesAnswersOf } from '../../../tools/solana-node/faults.ts'
import { clientOf, send as sendBy, sign, transferTo } from '../../../tools/solana-node/test/site.ts'
import { startFaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { rejection, soon, until } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'

describe('the life of a transaction on Solana', () => {
  let site: SolanaSite
  let transactions: Transactions
  let skewMs = 0
  beforeEach(async () => {
    site = await startSolanaSite({ skipped: 0.3 })
    skewMs = 0
    transactions = await transactionsAt(site, { steadyMs: () => performance.now() + skewMs })
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.stop()
  })

  const send = async (lamports = 1n) => {
    const { txHash } = await transactions.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, lamports) }), soon())
    return txHash
  }
  const slotOf = async (txHash: string) => Object((await entryOf(transactions, txHash))?.sequence)
  /** What was sent of the wallet: signatures, each once. */
  const signatures = () => new Set(site.cluster.sent.filter(({ signature }) => signature).map(({ signature }) => signature)).size
  /** The block that it is in, and all upon it. */
  const takeBack = (txHash: string) => {
    const { ledger } = site.cluster
    const height = ledger.find(txHash as Signature)?.block.height ?? ledger.tip.height
    site.cluster.reorganise(Number(ledger.tip.height - height) + 1, 'lost')
  }
  /** The newest height that is finalized. */
  const finalHeight = () => Number(site.cluster.ledger.tip.height) - 32

  it('ends EXPIRED at the first finalized height past its last valid one, and nothing else is signed', async () => {
    const { cluster } = site
    cluster.lead(dropsAll)
    const before = signatures()
    const txHash = await send()
    const { lastValidBlockHeight } = await slotOf(txHash)
    while (finalHeight() < lastValidBlockHeight) cluster.blocks(1)
    expect(finalHeight()).to.equal(lastValidBlockHeight)
    // By slots it would be over long since.
    expect(Number(cluster.ledger.tip.slot) - Number((await slotOf(txHash)).since)).to.be.above(200)
    await looks(site, { still: true, times: 2 })
    expect((await entryOf(transactions, txHash))?.state).to.equal('BROADCAST')
    cluster.blocks(1)
    await comesTo(site, transactions, txHash, 'EXPIRED')
    const entry = await entryOf(transactions, txHash)
    expect(entry?.reason).to.contain('Its time passed')
    expect(entry && transactions.status(entry)).to.equal(-1)
    expect(entry?.attempts).to.have.length(1)
    expect(signatures() - before).to.equal(1)
  })

  it('sends the same bytes again every two seconds until they land', async () => {
    const { cluster } = site
    cluster.lead(dropsAll)
    const txHash = await send()
    const times = () => cluster.sent.filter(({ signature }) => signature === txHash).length
    cluster.blocks(3)
    await looks(site)
    for (const sendings of [times(), times() + 1]) {
      skewMs += 2_100
      cluster.blocks(1)
      await until('it is sent again', async () => times() > sendings)
    }
    cluster.lead(takesAll)
    skewMs += 2_100
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    expect((await entryOf(transactions, txHash))?.attempts).to.have.length(1)
  })

  it('makes two transactions of two equal requests at one blockhash', async () => {
    const to = await generateKeyPairSigner()
    const plan = () => transfer(site, to.address, 1_000_000n)
    const sent = await Promise.all(Array.from({ length: 40 }, () => transactions.submit(orderOf(site, { plan: plan() }), soon())))
    const ids = sent.map(({ txHash }) => txHash)
    expect(new Set(ids).size).to.equal(40)
    expect(new Set(await Promise.all(ids.map(async (id) => (await slotOf(id)).blockhash))).size).to.be.below(5)
    for (const id of ids) await comesTo(site, transactions, id, 'CONFIRMED')
    site.cluster.blocks(1)
    expect(await site.chain.balances(to.address, [site.chain.nativeCurrency], { signal: soon() })).to.deep.equal([40_000_000n])
  })

  it('counts its cost once: after it is in a block, the next one may use the balance', async () => {
    const { cluster, chain, wallet } = site
    const [held = 0n] = await chain.balances(wallet.address, [chain.nativeCurrency], { signal: soon() })
    const half = (held - 890_880n) / 2n - 50_000n
    const first = await send(half)
    const short = await rejection(send(half + 100_000n))
    expect(short.name).to.equal('INSUFFICIENT_BALANCE')
    expect(short.message).to.contain('pending transactions')
    await comesTo(site, transactions, first, 'MINED')
    cluster.blocks(1)
    await comesTo(site, transactions, await send(half + 40_000n), 'MINED')
    expect((await entryOf(transactions, first))?.state).to.equal('MINED')
  })

  it('goes back to pending after a reorganisation, and ends in the block where it lands again', async () => {
    const { cluster } = site
    const txHash = await send()
    await comesTo(site, transactions, txHash, 'MINED')
    const first = (await entryOf(transactions, txHash))?.landed?.blockNumber
    cluster.lead(dropsAll)
    takeBack(txHash)
    await until('it is back', async () => (await entryOf(transactions, txHash))?.state === 'BROADCAST')
    cluster.lead(takesAll)
    skewMs = 2_100
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    expect((await entryOf(transactions, txHash))?.landed?.blockNumber).to.not.equal(first)
    expect(cluster.sent.filter(({ signature }) => signature === txHash).length).to.be.at.least(2)
  })

  it('expires after a reorganisation when no leader takes it again', async () => {
    const { cluster } = site
    const txHash = await send()
    await comesTo(site, transactions, txHash, 'MINED')
    cluster.lead(dropsAll)
    takeBack(txHash)
    await until('it is back', async () => (await entryOf(transactions, txHash))?.state === 'BROADCAST')
    cluster.blocks(190)
    await comesTo(site, transactions, txHash, 'EXPIRED')
  })

  it('ends REVERTED with the reason when it fails in its block', async () => {
    const { cluster, chain, wallet } = site
    const [held = 0n] = await chain.balances(wallet.address, [chain.nativeCurrency], { signal: soon() })
    cluster.lead(holdsAll)
    const txHash = await send(held - 2_000_000n)
    // Other software with the same key is quicker.
    const other = await sign(clientOf(cluster), wallet, [transferTo(wallet, cluster.faucet.address, held - 1_000_000n)])
    await sendBy(clientOf(cluster), other)
    cluster.lead(({ wire }) => (wire.signature === other.signature ? 'takes' : 'holds'))
    cluster.blocks(1)
    cluster.lead(takesAll)
    await comesTo(site, transactions, txHash, 'REVERTED')
    const entry = await entryOf(transactions, txHash)
    expect(entry?.reason).to.contain('System: custom program error: 0x1')
    expect(entry?.landed?.receipt).to.include({ status: 0, fee: entry && String(Object(entry.landed?.receipt).fee) })
    expect(entry && transactions.status(entry)).to.equal(1)
  })

  it('has one transaction even if the broadcast result was lost', async () => {
    const proxy = await startFaultyProxy()
    const { cluster } = site
    proxy.target = cluster.url
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    const own = { ...site, chain, network: { ...site.network, impl: chain } }
    const mine = await transactionsAt(own)
    try {
      await chain.head({ signal: soon() })
      await proxy.become(losesAnswersOf('sendTransaction'))
      const { txHash } = await mine.submit(orderOf(own, { plan: transfer(own, cluster.faucet.address, 5n) }), soon())
      await comesTo(own, mine, txHash, 'CONFIRMED')
    } finally {
      await mine.stop(1000)
      await chain.stop?.()
      await proxy.stop()
    }
  })
})
