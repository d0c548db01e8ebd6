import { expect } from 'chai'
import { generateKeyPairSigner } from '@solana/kit'
import type { SolanaNetwork } from '../../../core/kits/solana/index.ts'
import type { Transactions } from '../../../core/transactions/index.ts'
import { holdsAll, takesAll } from '../../solana/ledger/leaders.ts'
import type { SolanaNode } from '../../solana/start-solana.ts'
import { freshStore, soon } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer } from './solana-site.ts'
import type { SolanaSite } from './solana-site.ts'

/** Blocks after which every blockhash of now is over, by what is finalized too. */
const lifetime = 190

describe('who is believed that a transaction on Solana is over', function () {
  this.timeout(60_000)
  let site: SolanaSite
  let transactions: Transactions | undefined
  const nodes: SolanaNode[] = []
  beforeEach(async () => {
    site = await startSolanaSite()
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.stop()
    for (const node of nodes.splice(0)) await node.stop()
  })

  const node = async (options: Parameters<typeof site.cluster.addNode>[0]) => {
    const added = await site.cluster.addNode(options)
    nodes.push(added)
    return added
  }
  /** The same wallet by other nodes. */
  const over = async (urls: readonly string[], definition: Partial<SolanaNetwork> = {}) => {
    await site.chain.stop?.()
    const { chain, asked } = chainOver({ rpcUrls: urls }, definition)
    site = { ...site, chain, asked, network: { ...site.network, impl: chain } }
    transactions = await transactionsAt(site)
    return transactions
  }
  const send = async (to = site.cluster.faucet.address) => {
    const sent = await transactions?.submit(orderOf(site, { plan: transfer(site, to, 1_000_000n) }), soon())
    return sent?.txHash ?? ''
  }
  const stateOf = async (txHash: string) => transactions && (await entryOf(transactions, txHash))?.state

  it('not a node that has run ahead of all the others: what was held up lands after all', async () => {
    const { cluster } = site
    const liar = await node({})
    const mine = await over([liar.url, cluster.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    liar.options.aheadBlocks = 1_000n
    for (let round = 0; round < 3; round += 1) {
      cluster.blocks(25)
      await looks(site)
    }
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    cluster.lead(takesAll)
    liar.options.aheadBlocks = 0n
    await comesTo(site, mine, txHash, 'CONFIRMED')
  })

  it('not such a node though it is the only one: so many slots cannot have passed', async () => {
    const { cluster } = site
    const liar = await node({})
    const mine = await over([liar.url], { leastSlotSeconds: 0.3 })
    cluster.lead(holdsAll)
    const txHash = await send()
    liar.options.aheadBlocks = 1_000n
    for (let round = 0; round < 3; round += 1) {
      cluster.blocks(20)
      await looks(site)
    }
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    cluster.lead(takesAll)
    liar.options.aheadBlocks = 0n
    await comesTo(site, mine, txHash, 'CONFIRMED')
  })

  it('not before a node that lags has seen it, too', async () => {
    const { cluster } = site
    const late = await node({ lagBlocks: 100 })
    const mine = await over([cluster.url, late.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    cluster.blocks(lifetime)
    await looks(site)
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    late.options.lagBlocks = 0
    await comesTo(site, mine, txHash, 'EXPIRED')
  })

  it('without a node that stands still and says so', async () => {
    const { cluster } = site
    const still = await node({ lagBlocks: 100, slotsBehind: 300 })
    const mine = await over([cluster.url, still.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    cluster.blocks(lifetime)
    const { height } = cluster.ledger.tip
    await comesTo(site, mine, txHash, 'EXPIRED')
    // The other one has not come so far.
    expect(Number(cluster.ledger.tip.height - height)).to.be.below(90)
  })

  it('not a node whose history begins after it was signed: one that has it all tells that it landed', async () => {
    const { cluster, wallet } = site
    const store = await freshStore()
    const to = await generateKeyPairSigner()
    await over([cluster.url])
    transactions = await transactionsAt(site, { store })
    cluster.lead(holdsAll)
    const txHash = await send(to.address)
    await transactions.stop(1000)
    cluster.lead(takesAll)
    cluster.blocks(400)

    // The server comes back beside a node that was set up anew.
    const short = await node({ historyBlocks: 100 })
    const { chain, asked } = chainOver({ rpcUrls: [short.url] })
    site = { ...site, chain, asked, wallet, network: { ...site.network, impl: chain } }
    transactions = await transactionsAt(site, { store })
    cluster.blocks(3)
    await looks(site)
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    short.options.historyBlocks = Infinity
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    await transactions.stop(1000)
    transactions = undefined
    await store.close()
  })
})
