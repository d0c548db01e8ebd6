// Changes of conf/clients.yml while the server runs.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { scrape } from './scrape.ts'
import { local, mined, oneChain, outcome, traders } from './shared-server.ts'

describe('a change of conf/clients.yml', function () {
  this.timeout(300_000)
  let server: TestServer
  let bot: Client
  const wrap = () => bot.post('/evm/wrap', { ...local, address: traders, amount: '0.1' })
  const admin = { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }
  const trader = { permissions: ['read', 'trade', 'thin'], wallets: [traders] }

  before(async () => {
    server = await startServer({
      settings: oneChain.settings,
      conf: { ...oneChain.conf, 'clients.yml': { clients: { client: admin, bot: trader } } },
    })
    await newClient(server.certsDir, 'bot')
    bot = createClient(server.url, server.certsDir, 'bot')
  })
  after(async () => {
    bot.close()
    await server.stop()
  })

  async function write(entry: object | string): Promise<void> {
    const text = typeof entry === 'string' ? entry : stringify({ clients: { client: admin, bot: entry } })
    await writeFile(path.join(server.settings.confDir, 'clients.yml'), text)
  }
  /** Asks until the answer is that, on the connection that is open already. */
  async function until(wanted: string, ask: () => ReturnType<typeof wrap>): Promise<Awaited<ReturnType<typeof wrap>>> {
    const endsAt = Date.now() + 180_000
    for (;;) {
      const answer = await ask()
      if (outcome(answer) === wanted) return answer
      if (Date.now() > endsAt) throw new Error(`not ${wanted}: ${answer.text}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('holds within seconds, without a restart, on connections that are open: limits, permissions and wallets', async () => {
    expect(outcome(await wrap())).to.equal('200')
    const stream = bot.get('/events', { topics: 'transactions' })
    await write({ ...trader, limits: { allowed: { actions: ['swap'] } } })
    const refused = await until('403 LIMIT_EXCEEDED', wrap)
    expect(refused.body.details.limit).to.equal('allowed.actions')
    await write({ ...trader, permissions: ['read'] })
    await until('403 FORBIDDEN', wrap)
    // It ended then: the client comes again, and sees what it may see by then.
    expect((await stream).text).to.contain('ready')
    await write(trader)
    await until('200', wrap)
    await write({ ...trader, wallets: [] })
    await until('403 FORBIDDEN', wrap)
  })

  it('counts from then on, and refuses a limit below what was spent until that frees', async () => {
    await write({ ...trader, limits: { transactionsPerHour: 3 } })
    const limitsOf = async () => (await bot.get('/limits')).body.limits
    const endsAt = Date.now() + 180_000
    while ((await limitsOf()).length === 0 && Date.now() < endsAt) await new Promise((resolve) => setTimeout(resolve, 100))
    for (let count = 0; count < 3; count += 1) expect(outcome(await wrap())).to.equal('200')
    expect(outcome(await wrap())).to.equal('403 LIMIT_EXCEEDED')
    await write({ ...trader, limits: { transactionsPerHour: 1 } })
    for (const end = Date.now() + 180_000; (await limitsOf())[0].allowed !== '1' && Date.now() < end;)
      await new Promise((resolve) => setTimeout(resolve, 100))
    expect((await limitsOf())[0]).to.include({ allowed: '1', used: '3', left: '0' })
    const refused = await wrap()
    expect(outcome(refused)).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.left).to.equal('0')
    await write({ ...trader, limits: { transactionsPerHour: 9 } })
    await until('200', wrap)
  })

  it('bounds what may be open in perpetuals from then on', async () => {
    const perp = { ...local, connector: 'perp', address: traders }
    const done = async (path: string, body: object) => {
      const answer = await server.client.post(path, body)
      expect(outcome(answer), answer.text).to.equal('200')
      await mined(server.client, answer.body.txHash)
    }
    await done('/evm/approve', { ...local, address: traders, spender: 'perp', token: 'USDC' })
    await done('/perp/deposit', { ...perp, token: 'USDC', amount: '2000' })
    await write({ ...trader, limits: { maxOpenNotional: '1' } })
    const order = { base: 'ETH', quote: 'USD', side: 'LONG', amount: '0.01', margin: '100', leverage: '2' }
    const endsAt = Date.now() + 180_000
    while ((await bot.get('/limits')).body.limits[0]?.limit !== 'maxOpenNotional' && Date.now() < endsAt)
      await new Promise((resolve) => setTimeout(resolve, 100))
    const refused = await bot.post('/perp/open', { ...perp, ...order })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxOpenNotional')
    await write(trader)
    await until('200', wrap)
  })

  it('changes nothing where the file is wrong', async () => {
    const isWrong = async () => /^sluice_clients_file_wrong (.*)$/m.exec((await scrape(server.client)).text)?.[1]
    expect(await isWrong()).to.equal('0')
    await write('clients: [')
    for (const endsAt = Date.now() + 180_000; (await isWrong()) !== '1' && Date.now() < endsAt;)
      await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await isWrong()).to.equal('1')
    expect(outcome(await wrap())).to.equal('200')
    expect(outcome(await server.client.get('/health/ready'))).to.equal('200')
    await write({ ...trader, limits: { allowed: { actions: [] } } })
    await until('403 LIMIT_EXCEEDED', wrap)
    expect(await isWrong()).to.equal('0')
  })

  it('that lets nothing wait any more carries out nothing that has waited: a key keeps its outcome', async () => {
    const swap = { ...local, connector: 'uniswap', base: 'ETH', quote: 'USDC', side: 'SELL', amount: '0.01', address: traders }
    const trade = (key: string) => bot.post('/amm/trade', swap, { headers: { 'Idempotency-Key': key } })
    await write({ ...trader, limits: { approveAbove: '0' } })
    await until('202 PENDING_APPROVAL', () => trade(`first-${Date.now()}`))
    const waiting = await trade('waits')
    expect(outcome(await trade('waits-on'))).to.equal('202 PENDING_APPROVAL')
    expect(outcome(await bot.post('/approvals/withdraw', { id: waiting.body.details.id }))).to.equal('200')
    await write(trader)
    await until('200', () => trade(`new-${Date.now()}`))
    expect((await trade('waits')).body.name).to.equal('APPROVAL_WITHDRAWN')
    expect(outcome(await trade('waits-on'))).to.equal('202 PENDING_APPROVAL')
  })
})
