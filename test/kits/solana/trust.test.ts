import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { generateKeyPairSigner, signature } from '@solana/kit'
import type { SolanaNetwork } from '../../../kits/solana/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import type { SolanaNode } from '../../../tools/solana-node/start-solana.ts'
import { freshStore, soon, until } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'

/** Blocks after which every blockhash of now is over, by what is finalized too. */
const lifetime = 190

describe('proving on Solana that a transaction is expired', () => {
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

  it('does not believe a node that is ahead of all others', async () => {
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

  it('does not believe a single node when so many slots cannot have passed', async () => {
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

  it('waits for a lagging node', async () => {
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

  it('ignores a node that knows it has stalled', async () => {
    const { cluster } = site
    const still = await node({ lagBlocks: 100, slotsBehind: 300 })
    await over([cluster.url, still.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    cluster.blocks(lifetime)
    // No more of them than the other one is behind: that has not come so far.
    let blocks = 0
    await until('it is over', async () => {
      if (blocks < 80) cluster.blocks(1)
      blocks += 1
      return (await stateOf(txHash)) === 'EXPIRED'
    })
  })

  const histories: Readonly<Record<string, (landed: bigint) => Partial<SolanaNode['options']>>> = {
    'whose history begins after it was signed': () => ({ historyBlocks: 100 }),
    'that was away when it landed, and has older blocks all the same': (landed) => ({ missing: [landed - 20n, landed + 20n] }),
  }
  for (const [which, historyOf] of Object.entries(histories))
    it(`does not believe a node ${which}: one with the whole history reports that it landed`, async () => {
      const { cluster, wallet } = site
      const store = await freshStore()
      const to = await generateKeyPairSigner()
      await over([cluster.url])
      transactions = await transactionsAt(site, { store })
      cluster.lead(holdsAll)
      const txHash = await send(to.address)
      await transactions.stop(1000)
      cluster.blocks(40)
      cluster.lead(takesAll)
      cluster.blocks(400)
      const landed = cluster.ledger.find(signature(txHash))?.block.height ?? 0n

      // The server comes back beside a node that was set up anew.
      const short = await node(historyOf(landed))
      const { chain, asked } = chainOver({ rpcUrls: [short.url] })
      site = { ...site, chain, asked, wallet, network: { ...site.network, impl: chain } }
      transactions = await transactionsAt(site, { store })
      cluster.blocks(3)
      await looks(site)
      expect(await stateOf(txHash)).to.equal('BROADCAST')
      Object.assign(short.options, { historyBlocks: Infinity, missing: undefined })
      await comesTo(site, transactions, txHash, 'CONFIRMED')
      await transactions.stop(1000)
      transactions = undefined
      await store.close()
    })

  it('keeps a transaction open where no node has history', async () => {
    const { cluster } = site
    const front = await startBare(cluster.url)
    const mine = await over([front.url])
    try {
      await comesTo(site, mine, await send(), 'CONFIRMED')
      cluster.lead(holdsAll)
      const txHash = await send()
      cluster.blocks(lifetime)
      await looks(site, { times: 4 })
      expect(await stateOf(txHash)).to.equal('BROADCAST')
      expect(await site.chain.find('5'.repeat(87), { signal: soon() })).to.equal(undefined)
    } finally {
      await front.stop()
    }
  })
})

/** A node with `--no-enable-rpc-transaction-history`, as agave answers then. */
async function startBare(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const noHistory = { code: -32011, message: 'Transaction history is not available from this node' }
  const isAboutHistory = ({ method, params }: { method: string; params: [unknown, { searchTransactionHistory?: boolean }] }) =>
    method === 'getTransaction' || (method === 'getSignatureStatuses' && params[1].searchTransactionHistory === true)
  const server = createServer((request, response) => {
    void (async () => {
      const asked = JSON.parse(await text(request))
      const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) })
      const calls = [asked].flat()
      const told = [JSON.parse(await answer.text())]
        .flat()
        .map((each, index) => (isAboutHistory(calls[index]) ? { jsonrpc: '2.0', id: each.id, error: noHistory } : each))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(asked) ? told : told[0]))
    })()
  })
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
