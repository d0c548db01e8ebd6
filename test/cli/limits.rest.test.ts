import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, oneChain, outcome, traders } from '../http/shared-server.ts'
import { runCommand } from './run-command.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'admin'], wallets: 'all', limits: { transactionsPerHour: 5, maxDailyGas: '1', maxFee: '0.5' } },
  other: { permissions: ['read'] },
}

describe('sluice limits show', function () {
  this.timeout(60_000)
  let server: TestServer
  before(async () => {
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    await newClient(server.certsDir, 'other')
  })
  after(() => server?.stop())

  it('shows what is left of each limit, in a table of 100 columns', async () => {
    expect(outcome(await server.client.post('/evm/wrap', { ...local, address: traders, amount: '1' }))).to.equal('200')
    const said = await runCommand(server, ['limits', 'show'])
    expect(said).to.match(/^client\nlimit +allowed +used +left/)
    expect(said).to.match(/maxFee +0\.5 .*each/)
    expect(said).to.match(/transactionsPerHour +5 +1 +4 +transactions +hour/)
    expect(said).to.match(/maxDailyGas +1 +0\.0\d+ +0\.9\d+ +ETH on ethereum\/local +day/)
    expect(Math.max(...said.split('\n').map(({ length }) => length))).to.be.at.most(100)
    expect(JSON.parse(await runCommand(server, ['limits', 'show', '--json'])).limits).to.have.length(3)
  })

  it('says who has none, whom nobody knows, and who may not ask', async () => {
    expect(await runCommand(server, ['limits', 'show', 'other'])).to.match(/^The client other has no limits/)
    expect(await runCommand(server, ['limits', 'show', 'othr'])).to.match(/"othr" has no entry in conf\/clients\.yml.*failed/s)
    expect(await runCommand(server, ['limits', 'show', 'client', '--as', 'other'])).to.match(/lacks the permission admin.*failed/s)
  })
})
