// What stops trading or waits for a person is told; what nobody uses is not.
import { expect } from 'chai'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, nobody, oneChain, outcome, swap, traders } from '../http/shared-server.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const limited = (limits: object) => ({ permissions: ['read', 'trade', 'thin'], wallets: [traders], limits })
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin', 'stop', 'resume'], wallets: 'all' },
  waiting: limited({ approveAbove: '0' }),
  listed: limited({ allowed: { tokens: ['DAI'] } }),
}
const seconds = 1
const rules = { notReady: { seconds }, noGoodNode: { seconds }, nodeBehind: { seconds }, limitReached: { requests: 3 } }
/** Every node of them is away. */
const dead = { 'chains/ethereum.yml': { mainnet: { ...nobody, required: true }, sepolia: nobody, local: { required: true, feeCap: 300 } } }

describe('alerts of what stops trading or waits', function () {
  this.timeout(300_000)
  let receiver: Receiver
  let server: TestServer
  let as: Record<'waiting' | 'listed', Client>
  before(async () => {
    receiver = await startReceiver()
    const channels = { ops: { kind: 'webhook', url: receiver.url, allowPrivate: true } }
    server = await startServer({
      settings: oneChain.settings,
      conf: { ...dead, 'clients.yml': { clients }, 'alerts.yml': { channels, rules, groupSeconds: 1, resolveSeconds: 1 } },
    })
    const { certsDir } = server.settings.ssl
    await newClients(certsDir, ['waiting', 'listed'])
    as = { waiting: createClient(server.url, certsDir, 'waiting'), listed: createClient(server.url, certsDir, 'listed') }
  })
  after(async () => {
    for (const client of Object.values(as ?? {})) client.close()
    await server?.stop()
    await receiver?.close()
  })

  const trade = (by: Client) => by.post('/amm/trade', { ...swap, base: 'ETH', address: traders, amount: '0.001' })
  const told = (rule: string, status = 'raised') => receiver.message((body) => body['rule'] === rule && body['status'] === status)
  const subjectsOf = (message: Record<string, unknown>) => (message['items'] as { subject: string }[]).map(({ subject }) => subject)
  const toldSubjects = () => receiver.received.map(({ body }) => body).join('\n')

  it('tell of a required network whose only node was dead at the start', async () => {
    const message = await told('notReady')
    expect(message).to.include({ severity: 'critical' })
    expect(subjectsOf(message)).to.deep.equal(['ethereum/mainnet'])
  })

  it('say nothing of networks that nobody uses, also where the state of all is looked at, and tell of one that a request names', async () => {
    const { body } = await server.client.get('/network/status')
    expect(body.map(({ network }: { network: string }) => network)).to.include('sepolia')
    expect(outcome(await server.client.post('/stops', { mode: 'reduce-only', reason: 'trying' }))).to.equal('200')
    expect(subjectsOf(await told('tradingStopped'))).to.deep.equal(['reduce-only all'])
    await server.client.request('DELETE', '/stops', { raw: '{}', headers: { 'Content-Type': 'application/json' } })
    await told('tradingStopped', 'resolved')
    expect(toldSubjects()).to.not.contain('sepolia')
    const asked = await server.client.get('/network/balances', {
      chain: 'ethereum',
      network: 'sepolia',
      address: traders,
      tokenSymbols: 'ETH',
    })
    expect(outcome(asked), asked.text).to.match(/503/)
    const about = await receiver.message(({ rule, items }) => rule === 'noGoodNode' && JSON.stringify(items).includes('sepolia'))
    expect(subjectsOf(about)).to.include('ethereum/sepolia')
  })

  it('tell of a request that waits for a second person, until it does not', async () => {
    const asked = await trade(as.waiting)
    expect(outcome(asked), asked.text).to.equal('202 PENDING_APPROVAL')
    const message = await told('approvalWaits')
    expect(message).to.deep.include({ severity: 'warning', count: 1 })
    expect(JSON.stringify(message['items'])).to.contain('of the client waiting')
    const [{ id }] = (await as.waiting.get('/approvals')).body.approvals
    const withdrawn = await as.waiting.post('/approvals/withdraw', { id })
    expect(outcome(withdrawn), withdrawn.text).to.equal('200')
    await told('approvalWaits', 'resolved')
  })

  it('say nothing of one request that a limit refused, and tell where it refuses again and again', async () => {
    expect(outcome(await trade(as.listed))).to.equal('403 LIMIT_EXCEEDED')
    expect(outcome(await server.client.post('/stops', { mode: 'stop', address: traders }))).to.equal('200')
    await receiver.message(({ rule, items }) => rule === 'tradingStopped' && JSON.stringify(items).includes('stop the wallet'))
    expect(toldSubjects()).to.not.contain('limitReached')
    await server.client.request('DELETE', '/stops', {
      raw: JSON.stringify({ address: traders }),
      headers: { 'Content-Type': 'application/json' },
    })
    for (let times = 0; times < 2; times += 1) expect(outcome(await trade(as.listed))).to.equal('403 LIMIT_EXCEEDED')
    expect(subjectsOf(await told('limitReached'))).to.deep.equal(['listed allowed.tokens'])
  })

  it('never are of the local network that answers', () => {
    expect(toldSubjects()).to.not.contain(`${local.chain}/${local.network}`)
  })
})
