import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { build } from 'esbuild'
import { tradingWallets } from '../../../core/devnet/anvil.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import type { SubmitRequest } from '../../../core/transactions/submit-request.ts'
import { startExchange, type TestExchange } from '../../fixtures/signed-actions/exchange.ts'
import { soon } from '../site.ts'
import { named } from './venue-site.ts'
import { scrape } from '../../http/scrape.ts'

const local = { chain: 'ethereum', network: 'local' }
const [wallet = '', agent = ''] = tradingWallets
const folder = fileURLToPath(new URL('../../fixtures/signed-actions/fixture-exchange', import.meta.url))

/** A trusted plugin runs from a copy of its own folder: the package that it uses is bundled into it. */
async function bundlePlugin(from: string, to: string): Promise<void> {
  const outfile = path.join(to, 'index.js')
  await build({
    entryPoints: [path.join(from, 'index.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    external: ['sluice/*'],
  })
  await copyFile(path.join(from, 'defaults.yml'), path.join(to, 'defaults.yml'))
}

describe('a connector with its own rail, in the whole server', () => {
  let exchange: TestExchange
  let server: TestServer
  let plugins: string
  before(async () => {
    plugins = await mkdtemp(path.join(tmpdir(), 'sluice-exchange-'))
    exchange = await startExchange()
    exchange.agents.set(agent.toLowerCase(), wallet.toLowerCase())
    await bundlePlugin(folder, path.join(plugins, 'fixture-exchange'))
    server = await startServer({
      plugins: [plugins],
      trusted: ['fixture-exchange'],
      conf: { 'connectors/fixture-exchange.yml': { url: exchange.url } },
    })
  })
  after(async () => {
    await server.stop()
    await exchange.stop()
    await rm(plugins, { recursive: true })
  })

  function orderOf(step: Record<string, string>, more: Partial<SubmitRequest> & { signer?: string } = {}): SubmitRequest {
    const { registry: directory } = server.kernel.services
    const { signer = wallet, ...rest } = more
    return {
      network: directory.network('ethereum', 'local'),
      venue: directory.venue('fixture-exchange', 'ethereum', 'local'),
      address: wallet,
      caller: { id: 'client' },
      requestId: 'request',
      feeOverrides: {},
      kind: 'order',
      commitment: { gives: {} },
      plan: { via: 'venue', signer, steps: [{ user: wallet, ...step }], memo: null },
      scope: { contracts: [], valueRaw: 0n },
      touches: () => ({ action: 'swap', tokens: [] }),
      answer: () => ({}),
      ...rest,
    }
  }
  const submit = (...asked: Parameters<typeof orderOf>) => server.kernel.services.transactions.submit(orderOf(...asked), soon())
  const poll = async (txHash: string) => (await server.client.get('/network/poll', { ...local, txHash })).body

  it('has its actions signed, done, and shown as actions', async () => {
    const sent = await submit({ do: 'order', amount: '1' }, { clientOrders: [named('a')] })
    expect(sent.landed).to.include({ ok: true })
    expect(await poll(sent.txHash)).to.deep.include({
      txHash: sent.txHash,
      txStatus: 1,
      txState: 'CONFIRMED',
      txBlock: -1,
      currentBlock: -1,
      confirmations: 0,
      txData: { user: wallet, do: 'order', amount: '1' },
      txReceipt: sent.landed?.receipt,
    })
    const listed = await server.client.get('/transactions', { ...local, txHash: sent.txHash })
    expect(Object(listed.body).transactions[0]).to.deep.include({
      kind: 'order',
      connector: 'fixture-exchange',
      address: wallet,
      signer: wallet,
      txState: 'CONFIRMED',
      txStatus: 1,
      txBlock: -1,
      nonce: sent.nonce,
    })
  })

  it('reports why the exchange refused', async () => {
    const { txHash } = await submit({ do: 'order', amount: '0' })
    expect(await poll(txHash)).to.deep.include({ txStatus: 1, txState: 'REVERTED', reason: 'the amount is 0' })
  })

  it("lets an agent's key sign for the wallet", async () => {
    const { txHash } = await submit({ do: 'order', amount: '2' }, { signer: agent })
    expect(exchange.done.at(-1)).to.include({ signer: agent.toLowerCase() })
    const mine = await server.client.get('/transactions', { ...local, address: wallet, limit: '1' })
    expect(Object(mine.body).transactions[0]).to.include({ txHash, address: wallet })
  })

  it("lets money leave to the wallet's own address", async () => {
    const { txHash } = await submit({ do: 'withdraw', destination: wallet, amount: '1' }, { kind: 'funds' })
    expect(await poll(txHash)).to.include({ txState: 'CONFIRMED' })
  })

  it('counts its open actions beside those of its chain', async () => {
    exchange.meddle = () => 'cut'
    const { txHash } = await submit({ do: 'order', amount: '3' })
    const lines = (await server.kernel.services.transactions.list({ txHash })).entries.map(({ state }) => state)
    expect(lines).to.deep.equal(['SIGNED'])
    const metrics = (await scrape(server.client)).text
    expect(metrics).to.match(/sluice_transactions_open\{chain="ethereum",network="local",state="SIGNED",age="below 1m"\} 1/)
    expect(metrics).to.match(/sluice_nonce_gap_wallets\{chain="ethereum",network="local"\} 0/)
    exchange.meddle = () => 'pass'
  })
})
