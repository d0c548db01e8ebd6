import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { runCommand } from '../cli/run-command.ts'
import { scrape } from '../http/scrape.ts'
import { admins, local, mined, oneChain, others, outcome, swap, traders, uniswap, withoutBlocks } from '../http/shared-server.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const secret = 'a key that signs'
const clients = {
  client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
  bot: { permissions: ['read', 'trade', 'thin'], wallets: [traders], limits: { transactionsPerHour: 5 } },
}
const rules = {
  lowGas: { minBalance: { 'ethereum/local': '1' } },
  stuckTransaction: { seconds: 2 },
  certificateExpiring: { days: 100_000 },
}

describe('alerts of a server', function () {
  this.timeout(300_000)
  let receiver: Receiver
  let server: TestServer
  let bot: Client
  let rpc: Rpc
  before(async () => {
    receiver = await startReceiver()
    const channels = { ops: { kind: 'webhook', url: receiver.url, secret, allowPrivate: true } }
    const heartbeat = { url: `${receiver.url}/alive`, seconds: 1, allowPrivate: true }
    const alerts = { channels, heartbeat, rules, groupSeconds: 1, resolveSeconds: 1, portfolioSeconds: 1 }
    server = await startServer({
      settings: oneChain.settings,
      conf: { ...oneChain.conf, 'clients.yml': { clients }, 'alerts.yml': alerts },
    })
    rpc = rpcTo(server.rpcUrl)
    await newClient(server.settings.ssl.certsDir, 'bot')
    bot = createClient(server.kernel.url, server.settings.ssl.certsDir, 'bot')
  })
  after(async () => {
    bot?.close()
    await server?.stop()
    await receiver?.close()
  })

  const trade = (by: Client, address: string) => by.post('/amm/trade', { ...swap, base: 'ETH', address, amount: '0.001' })
  const told = (rule: string, status = 'raised') => receiver.message((body) => body['rule'] === rule && body['status'] === status)
  const subjectsOf = (message: Record<string, unknown>) => (message['items'] as { subject: string }[]).map(({ subject }) => subject)

  it('tell of a limit that is nearly used and then reached, by messages that are signed', async () => {
    for (let count = 0; count < 4; count += 1) expect(outcome(await trade(bot, traders))).to.equal('200')
    expect(await told('limitNearlyUsed')).to.deep.include({
      severity: 'warning',
      items: [{ subject: 'bot transactionsPerHour', words: 'bot transactionsPerHour: 4 of 5 transactions in a rolling hour' }],
    })
    expect(outcome(await trade(bot, traders))).to.equal('200')
    expect(await told('limitReached')).to.deep.include({
      status: 'raised',
      severity: 'critical',
      title: 'Limit reached',
      count: 1,
      items: [{ subject: 'bot transactionsPerHour', words: 'bot transactionsPerHour: 5 of 5 transactions in a rolling hour' }],
    })
    const posted = receiver.received.find(({ body }) => body.includes('limitReached'))
    const [time, signature] = [posted?.headers['x-sluice-timestamp'], posted?.headers['x-sluice-signature']]
    expect(signature).to.equal(
      `sha256=${createHmac('sha256', secret)
        .update(`${String(time)}.${posted?.body}`)
        .digest('hex')}`,
    )
    expect(Math.abs(Number(time) * 1000 - Date.now())).to.be.lessThan(60_000)
  })

  it('tell of a transaction that is in no block, and when it is', async () => {
    const txHash = await withoutBlocks(rpc, async () => {
      const { body } = await trade(server.client, admins)
      // One of a test before may have waited for as long.
      const isOwn = ({ items }: Record<string, unknown>) => JSON.stringify(items).includes(`trade of ${admins} on ethereum/local`)
      await receiver.message((said) => said['rule'] === 'stuckTransaction' && said['status'] === 'raised' && isOwn(said))
      return String(body.txHash)
    })
    await mined(server.client, txHash)
    await rpc('anvil_mine', '0x40')
    await told('stuckTransaction', 'resolved')
  })

  it('tell of a wallet with little of the coin, and when it has enough again, by the block of that', async () => {
    const before = await rpc('eth_getBalance', others, 'latest')
    const inOneBlock = async (balance: unknown) => {
      await rpc('anvil_setBalance', others, balance)
      await rpc('evm_mine')
      return rpc('eth_blockNumber')
    }
    // No other block comes: what is told then was told for this one.
    await withoutBlocks(rpc, async () => {
      const poor = await inOneBlock('0x38d7ea4c68000')
      const message = await told('lowGas')
      expect(message['items']).to.deep.equal([{ subject: `ethereum/local ${others}`, words: `${others} on ethereum/local has 0.001 ETH` }])
      expect(await rpc('eth_blockNumber')).to.equal(poor)
      const rich = await inOneBlock(before)
      expect(subjectsOf(await told('lowGas', 'resolved'))).to.deep.equal([`ethereum/local ${others}`])
      expect(await rpc('eth_blockNumber')).to.equal(rich)
    })
  })

  it('tell of a position that earns no fees', async () => {
    const range = { token0: 'WETH', token1: 'USDC', fee: 'MEDIUM', amount0: '0.1', amount1: '0', lowerPrice: '6000', upperPrice: '7000' }
    const added = await server.client.post('/amm/liquidity/add', { ...uniswap, ...range, address: admins })
    if (added.body?.name === 'INSUFFICIENT_ALLOWANCE') {
      const { spender } = added.body.details
      const approved = await server.client.post('/evm/approve', { ...local, address: admins, spender, token: 'WETH', amount: '1' })
      await mined(server.client, approved.body.txHash)
    }
    const made = added.status === 200 ? added : await server.client.post('/amm/liquidity/add', { ...uniswap, ...range, address: admins })
    expect(outcome(made), made.text).to.equal('200')
    await mined(server.client, made.body.txHash)
    const [subject = ''] = subjectsOf(await told('outOfRange'))
    expect(subject).to.match(new RegExp(`^ethereum/local ${admins} uniswap \\d+$`))
  })

  it('tell of certificates that end', async () => {
    const message = await told('certificateExpiring')
    expect(subjectsOf(message)).to.include.members(['certificate of the CA', 'certificate of the server'])
    expect(JSON.stringify(message['items'])).to.contain('certs renew server')
  })

  it('ask for the URL of the heartbeat while the server is healthy', async () => {
    const beats = () => receiver.received.filter(({ method, path }) => method === 'GET' && path === '/alive').length
    for (const first = beats(); beats() < first + 2;) await new Promise((resolve) => setTimeout(resolve, 50))
  })

  it('are listed, silenced and tried by commands, for who has the permission', async () => {
    const sluice = (...args: string[]) => runCommand(server, ['alerts', ...args])
    expect(await sluice('list')).to.match(
      /critical\s+limitReached\s+.*told\n.*bot transactionsPerHour: 5 of 5.*\n.*→ Requests of the client/,
    )
    expect(await sluice('silence', '--rule', 'limitReached', '--for', '2h', '--reason', 'known')).to.match(
      /^Nobody is told of limitReached until /,
    )
    expect(await sluice('list')).to.match(
      /limitReached\s+\S+\s+silenced[^]*Silenced until .* by "client": limitReached \(known\)[^]*Channel ops: 0 waiting/,
    )
    expect(await sluice('silence', '--rule', 'limitReched', '--for', '2h')).to.contain('limitReached')
    expect(await sluice('silence', '--for', 'ever')).to.match(/--for is "ever", but must be a time/)
    expect(await sluice('unsilence', '--rule', 'limitReached')).to.match(/^People are told of limitReached again/)
    expect(await sluice('unsilence')).to.match(/^Nothing was silenced for all rules/)
    expect(await sluice('test', 'ops')).to.equal('ops: delivered\n')
    expect(await receiver.message(({ status }) => status === 'test')).to.include({
      title: 'A test by client',
      server: server.kernel.services.alerts?.server,
    })
    expect(await sluice('test', 'opps')).to.match(/no channel.*ops/)
    for (const answer of [await bot.get('/alerts'), await bot.post('/alerts/silences', { minutes: 1 }), await bot.post('/alerts/test', {})])
      expect(outcome(answer)).to.equal('403 FORBIDDEN')
  })

  it('are tried by a command that says what became of its own message, and not of one before', async () => {
    const test = () => runCommand(server, ['alerts', 'test', 'ops'])
    receiver.answerBy((_, response) => void response.writeHead(500).end())
    expect(await test()).to.match(/^(error: )?ops: not delivered: it answers HTTP 500/i)
    receiver.answerBy((_, response) => void response.writeHead(200).end())
    expect(await test()).to.equal('ops: delivered\n')
  })

  it('are counted by channel', async () => {
    const { text } = await scrape(server.client)
    expect(text).to.match(/sluice_alert_messages_total\{channel="ops",outcome="delivered"\} [1-9]/)
    expect(text).to.match(/sluice_alert_messages_total\{channel="heartbeat",outcome="delivered"\} [1-9]/)
  })
})
