// A plugin that is not built in calls a payment a repayment: what its simulation shows counts, and not its word.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { inventExchange, say } from '../handlers/clob/told-exchange.ts'
import { oneChain, outcome, traders } from '../http/shared-server.ts'

const repayment = { chain: 'ethereum', network: 'local', connector: 'told-exchange', address: traders, token: 'ETH', amount: '1' }
/** Keeps what it is sent: SwapRouter of Uniswap v3, asked to do nothing by multicall(bytes[]). */
const keeper = '0xf6B3BC42fbF2B22eBF009751A91Dca74A78397D2'
const keepsAll = { to: keeper, data: `0xac9650d8${'20'.padStart(64, '0')}${''.padStart(64, '0')}`, value: String(10n ** 18n) }

const limited = (limits: object) => ({ permissions: ['read', 'trade', 'thin'], wallets: 'all', limits })
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume'], wallets: 'all' },
  waiting: limited({ approveAbove: '1000' }),
  listed: limited({ allowed: { actions: ['swap'], connectors: ['told-exchange'] } }),
}

describe('a repayment by a plugin that is not built in', function () {
  this.timeout(400_000)
  let folder: string
  let server: TestServer
  let by: Record<'waiting' | 'listed', Client>

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-told-'))
    await inventExchange(folder)
    const conf = { ...oneChain.conf, 'clients.yml': { clients } }
    const declared = { 'connectors/told-exchange.yml': { contractAddresses: { local: { routerAddress: keeper } } } }
    server = await startServer({
      plugins: [folder],
      trusted: ['told-exchange'],
      settings: oneChain.settings,
      conf: { ...conf, ...declared },
    })
    await newClients(server.certsDir, ['waiting', 'listed'])
    const clientOf = (id: string) => createClient(server.url, server.certsDir, id)
    by = { waiting: clientOf('waiting'), listed: clientOf('listed') }
  })
  beforeEach(() => say({ transferCollateral: async () => ({ steps: [keepsAll], needs: [], memo: 'move' }) }))
  after(async () => {
    say({})
    for (const client of Object.values(by ?? {})) client.close()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const repay = (client: Client) => client.post('/clob/margin/repay', repayment)
  const paysNothing = () => say({ transferCollateral: async () => ({ steps: [{ ...keepsAll, value: '0' }], needs: [], memo: 'move' }) })

  it('waits for a second person where it takes more than may be given without one', async () => {
    const answer = await repay(by.waiting)
    expect(outcome(answer), answer.text).to.equal('202 PENDING_APPROVAL')
    paysNothing()
    const nothing = await repay(by.waiting)
    expect(outcome(nothing), nothing.text).to.equal('200')
  })

  it('is held against the lists of the client where it takes something', async () => {
    const answer = await repay(by.listed)
    expect(outcome(answer), answer.text).to.equal('403 LIMIT_EXCEEDED')
    expect(answer.body.details.limit).to.equal('allowed.actions')
    paysNothing()
    const nothing = await repay(by.listed)
    expect(outcome(nothing), nothing.text).to.equal('200')
  })

  it('is stopped by reduce-only where it takes something, also of a client that nothing bounds', async () => {
    const set = await server.client.post('/stops', { mode: 'reduce-only' })
    expect(outcome(set), set.text).to.equal('200')
    const answer = await repay(server.client)
    expect(outcome(answer), answer.text).to.equal('403 STOPPED')
    paysNothing()
    const nothing = await repay(server.client)
    expect(outcome(nothing), nothing.text).to.equal('200')
  })
})
