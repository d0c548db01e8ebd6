import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { newClient } from '../../core/tls/certificates.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { local, oneChain, outcome, traders } from '../http/shared-server.ts'
import { runCommand } from './run-command.ts'

const clients = {
  client: { permissions: ['read', 'trade', 'admin'], wallets: 'all', limits: { transactionsPerHour: 5, maxDailyGas: '1', maxFee: '0.5' } },
  other: { permissions: ['read'] },
  typist: { permissions: ['read'], limits: { allowed: { connectors: ['unswap'], networks: ['ethereum/lokal'] } } },
}

describe('sluice limits show', function () {
  this.timeout(300_000)
  let server: TestServer
  before(async () => {
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    await newClient(server.certsDir, 'other')
    await newClient(server.certsDir, 'stranger')
  })
  after(() => server?.stop())

  it('shows what is left of each limit, with cells whole where it is no terminal', async () => {
    expect(outcome(await server.client.post('/evm/wrap', { ...local, address: traders, amount: '1' }))).to.equal('200')
    const said = await runCommand(server, ['limits', 'show'])
    expect(said).to.match(/^client\nlimit +allowed +used +left/)
    expect(said).to.match(/maxFee +0\.5 .*each/)
    expect(said).to.match(/transactionsPerHour +5 +1 +4 +transactions +hour/)
    expect(said).to.match(/maxDailyGas +1 +0\.0\d+ +0\.9\d+ +ETH on ethereum\/local +day/)
    // The default is of networks that are not local.
    expect(said).to.match(/maxDailyLoss \(default\) +20 +0 +20 +reference token +day *\n +2 % of \d+(\.\d+)?, and at least 20\n/)
    expect(said).to.match(/maxLeverage \(default\) +1 +times +each/)
    expect(JSON.parse(await runCommand(server, ['limits', 'show', '--json'])).limits).to.have.length(5)
  })

  it('is begun by a start that says which names in conf/clients.yml nobody knows', () => {
    const said = server.kernel.warnings.filter((each) => each.includes('"typist"'))
    expect(said).to.have.length(2)
    expect(said.join('\n'))
      .to.match(/unswap.*did you mean "uniswap"/)
      .and.match(/ethereum\/lokal.*did you mean "ethereum\/local"/)
    expect(server.kernel.warnings.filter((each) => each.includes('conf/clients.yml'))).to.have.length(2)
  })

  it('says which of the names nobody knows, with what was probably meant', async () => {
    for (const command of ['show', 'check'])
      expect(await runCommand(server, ['limits', command, 'typist']))
        .to.match(/^! limits\.allowed\.connectors .*unswap.*did you mean "uniswap"/m)
        .and.match(/^! limits\.allowed\.networks .*ethereum\/lokal/m)
    expect(await runCommand(server, ['limits', 'show'])).not.to.match(/^!/m)
  })

  it('says who has none, whom nobody knows, and who may not ask', async () => {
    expect(await runCommand(server, ['limits', 'show', 'other'])).to.match(/^The client other has no limits/)
    expect(await runCommand(server, ['limits', 'show', '--as', 'stranger'])).to.match(
      /^The certificate stranger has no entry in conf\/clients\.yml/,
    )
    expect(await runCommand(server, ['limits', 'show', 'othr'])).to.match(/"othr" has no entry in conf\/clients\.yml.*failed/s)
    expect(await runCommand(server, ['limits', 'show', 'client', '--as', 'other'])).to.match(/lacks the permission admin.*failed/s)
  })

  it('checks what transactions of before would have hit by the limits that are in conf/clients.yml now', async () => {
    const before = await runCommand(server, ['limits', 'check'])
    expect(before).to.match(/^client: \d+ transactions? in 7 days\n.*would have refused none/)
    for (let count = 0; count < 2; count += 1)
      expect(outcome(await server.client.post('/evm/wrap', { ...local, address: traders, amount: '1' }))).to.equal('200')
    const changed = { ...clients.client, limits: { transactionsPerHour: 2, maxSlippage: 1, allowed: { actions: ['swap'], hours: [] } } }
    await writeFile(path.join(server.settings.confDir, 'clients.yml'), stringify({ clients: { ...clients, client: changed } }))
    const endsAt = Date.now() + 180_000
    let said = ''
    while (!said.includes('allowed.actions') && Date.now() < endsAt) said = await runCommand(server, ['limits', 'check', '--days', '30'])
    expect(said).to.match(/^client: 3 transactions in 30 days\nlimit +would have refused +first +last/)
    expect(said).to.match(/allowed\.actions +3 .*\n +the last: 0x[0-9a-f]{64}/)
    expect(said)
      .to.match(/allowed\.hours +3 /)
      .and.match(/transactionsPerHour +1 /)
    expect(said).to.match(/Not known.*maxSlippage/)
    const { hits } = JSON.parse(await runCommand(server, ['limits', 'check', 'client', '--json']))
    expect(hits).to.have.length(3)
    expect(await runCommand(server, ['limits', 'check', '--days', '99'])).to.match(/days: must be a whole number from 1 to 30.*failed/s)
    expect(await runCommand(server, ['limits', 'check', 'client', '--as', 'other'])).to.match(/lacks the permission admin.*failed/s)
  })
})
