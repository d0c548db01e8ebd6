import { expect } from 'chai'
import { startFaultyProxy, healthy, type Fault, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { dropsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { startSolana, type Solana as Cluster } from '../../../tools/solana-node/start-solana.ts'
import { until } from '../../transactions/site.ts'
import { makeHome, pollUntil, startRealServer, type Home, type RealServer } from './real-server.ts'

const here = { chain: 'solana', network: 'local' }

/** Lets nothing signed through, and answers nothing to who sends it. */
const swallowsSignedBytes: Fault = async (exchange) => {
  if (!exchange.methods.includes('sendTransaction')) await healthy(exchange)
}

describe('a server on Solana that is killed', function () {
  this.timeout(300_000)
  let cluster: Cluster
  let proxy: FaultyProxy
  let home: Home
  let server: RealServer | undefined
  beforeEach(async () => {
    cluster = await startSolana({ slotMs: 100, skipped: 0.2 })
    proxy = await startFaultyProxy()
    proxy.target = cluster.url
    home = await makeHome(cluster, { rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    await cluster.fund(home.wallet.address, 5_000_000_000n)
    server = await startRealServer(home)
  })
  afterEach(async () => {
    await server?.stop()
    await proxy?.stop()
    await cluster?.stop()
    await home?.remove()
  })

  const key = { 'idempotency-key': 'one-wish' }
  const create = () =>
    server?.client.post('/altchain/create-token', { ...here, address: home.wallet.address, tokenSymbol: 'USDC' }, { headers: key })
  const ofWallet = () => cluster.sent.filter(({ payer }) => payer === home.wallet.address)

  /** Dies with signed bytes in its journal that never left. */
  async function dieBeforeSending(): Promise<void> {
    await proxy.become(swallowsSignedBytes)
    const asked = create()?.catch(() => undefined)
    await until('it sends', async () => proxy.asked.includes('sendTransaction'))
    // A blockhash lives for seconds here, and a start may take as long.
    cluster.pause()
    await server?.kill()
    await asked
    expect(ofWallet()).to.have.length(0)
    await proxy.become(healthy)
  }

  it('between journal and sending sends the same bytes when it is back: one outcome, and the same answer to the same key', async () => {
    await dieBeforeSending()
    server = await startRealServer(home)
    cluster.resume()
    const { transactions } = (await server.client.get('/transactions', { chain: 'solana' })).body
    expect(transactions).to.have.length(1)
    const again = await create()
    expect(again?.body.txHash).to.equal(transactions[0].txHash)
    await pollUntil(server, transactions[0].txHash, { txState: 'CONFIRMED' })
    expect(new Set(ofWallet().map(({ signature }) => signature))).to.deep.equal(new Set([transactions[0].txHash]))
  })

  it('and comes back when the blockhash is over says EXPIRED, and signs nothing in its place', async () => {
    await dieBeforeSending()
    cluster.lead(dropsAll)
    cluster.blocks(190)
    server = await startRealServer(home)
    cluster.resume()
    const { transactions } = (await server.client.get('/transactions', { chain: 'solana' })).body
    const { txHash } = transactions[0]
    const polled = await pollUntil(server, txHash, { txState: 'EXPIRED' })
    expect(polled).to.include({ txStatus: -1, txBlock: -1 })
    expect(new Set(ofWallet().map(({ signature }) => signature)).size).to.be.at.most(1)
    cluster.lead(takesAll)
    // The first answer stands for its key; whoever wants it still asks anew.
    expect((await create())?.body.txHash).to.equal(txHash)
  })
})
