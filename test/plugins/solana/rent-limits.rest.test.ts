// What accounts keep of the coin, for a client that has no limits but the defaults.
import { expect } from 'chai'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse, stringify } from 'yaml'
import { startSolana, type Solana as Cluster } from '../../../tools/solana-node/start-solana.ts'
import { until } from '../../transactions/site.ts'
import { makeHome, outcome, pollUntil, startRealServer, type Home, type RealServer } from './real-server.ts'

const here = { chain: 'solana', network: 'local' }
/** Of an account of 165 bytes: (165 + 128) × 6,960 lamports. */
const rent = 0.00203928

describe('the rent of accounts on Solana, of a client with no limits of its own', function () {
  this.timeout(300_000)
  let cluster: Cluster
  let home: Home
  let server: RealServer
  before(async () => {
    cluster = await startSolana({ slotMs: 40 })
    home = await makeHome(cluster)
    await cluster.fund(home.wallet.address, 5_000_000_000n)
    const file = path.join(home.folder, 'conf/server.yml')
    await writeFile(file, stringify({ ...parse(await readFile(file, 'utf8')), limits: { onLocalNetworks: true } }))
    const clients = { client: { permissions: ['read', 'trade'], wallets: 'all' } }
    await writeFile(path.join(home.folder, 'conf/clients.yml'), stringify({ clients }))
    server = await startRealServer(home)
  })
  after(async () => {
    await server?.stop()
    await cluster?.stop()
    await home?.remove()
  })
  const create = (tokenSymbol: string) =>
    server.client.post('/altchain/create-token', { ...here, address: home.wallet.address, tokenSymbol })
  const spent = async () => {
    const { body } = await server.client.get('/limits')
    const found = body.limits.find(
      ({ limit, network }: { limit: string; network?: string }) => limit === 'maxDailyGas' && network === 'local',
    )
    return Number(found.used)
  }

  it('stays counted in maxDailyGas once the transaction is final', async () => {
    const made = await create('USDC')
    expect(outcome(made), made.text).to.equal('200')
    await pollUntil(server, made.body.txHash, { txState: 'CONFIRMED' })
    await until('what was reserved is settled', async () => (await spent()) < rent + 0.00001)
    expect(await spent()).to.be.within(rent, rent + 0.00001)
  })

  it('is not paid for a token that nobody lists: who made it may freeze the account', async () => {
    const { address } = await cluster.createMint({ symbol: 'OWN', decimals: 3 })
    cluster.blocks(1)
    const refused = await create(address)
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('allowed.tokens')
  })
})
