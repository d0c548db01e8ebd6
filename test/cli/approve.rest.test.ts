import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { oneChain, outcome, swap, traders } from '../http/shared-server.ts'
import { runCommand } from './run-command.ts'

const clients = {
  client: { permissions: ['read', 'trade'], wallets: 'all', limits: { approveAbove: '0' } },
  operator: { permissions: ['read', 'approve'], wallets: 'all' },
}

describe('sluice approve', function () {
  this.timeout(300_000)
  let server: TestServer
  before(async () => {
    server = await startServer({ settings: oneChain.settings, conf: { ...oneChain.conf, 'clients.yml': { clients } } })
    await newClient(server.certsDir, 'operator')
    await newClient(server.certsDir, 'reader')
  })
  after(() => server?.stop())

  const askFor = async (quote: string): Promise<string> => {
    const answer = await server.client.post('/amm/trade', { ...swap, base: 'ETH', quote, amount: '0.01', address: traders })
    expect(outcome(answer), answer.text).to.equal('202 PENDING_APPROVAL')
    return String(answer.body.details.id)
  }
  const widest = (text: string) => Math.max(...text.split('\n').map(({ length }) => length))

  it('lists what waits, shows what it would do, and approves it', async () => {
    expect(await runCommand(server, ['approve'])).to.match(/^No request waits/)
    const id = await askFor('USDC')
    const list = await runCommand(server, ['approve'])
    expect(list).to.match(/^id +state +client +request +wallet +value +expires\n/)
    expect(list).to.match(/waiting +client +\/amm\/trade +0x709979… +no price/)
    expect(await runCommand(server, ['approve', '--as', 'reader'])).to.match(/^The certificate "reader" lacks the permission approve/)
    const shown = await runCommand(server, ['approve', id])
    expect(shown).to.match(/fields +connector uniswap, base ETH/)
    expect(shown).to.match(/gives +0\.01 ETH at most/)
    expect(shown).to.match(/value +not known/)
    expect(shown).to.match(/fee +0\.\d+ ETH at most/)
    expect(shown).to.contain(`approve ${id} --yes`)
    for (const text of [list, shown]) expect(widest(text)).to.be.at.most(100)
    expect(await runCommand(server, ['approve', id, '--yes', '--as', 'client'])).to.match(/lacks the permission approve.*failed/s)
    expect(await runCommand(server, ['approve', id, '--yes'])).to.match(/of client is approved, and signed: 0x[0-9a-f]{64}/)
    expect(await runCommand(server, ['approve', '--all'])).to.match(/done +client/)
    expect(JSON.parse(await runCommand(server, ['approve', '--all', '--json'])).approvals[0]).to.include({ state: 'done' })
  })

  it('denies, and says what is unknown', async () => {
    const id = await askFor('DAI')
    expect(await runCommand(server, ['approve', id, '--deny'])).to.match(/of client is denied\. Nothing was signed/)
    expect(await runCommand(server, ['approve', id, '--yes'])).to.match(/operator has denied.*APPROVAL_DENIED.*failed/s)
    expect(await runCommand(server, ['approve', '99'])).to.match(/no request that waits.*failed/s)
    expect(await runCommand(server, ['approve', 'x', '--yes'])).to.match(/INCOMPLETE_PARAMS.*failed/s)
  })

  it('withdraws a request of the own client', async () => {
    const id = await askFor('USDC')
    expect(await runCommand(server, ['approve', id, '--withdraw'])).to.match(/is of the client "client", which alone.*FORBIDDEN.*failed/s)
    expect(await runCommand(server, ['approve', id, '--withdraw', '--as', 'client'])).to.match(
      /of client is withdrawn\. Nothing was signed/,
    )
    expect(await runCommand(server, ['approve', id, '--yes'])).to.match(/APPROVAL_WITHDRAWN.*failed/s)
  })
})
