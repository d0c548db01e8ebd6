// What orders of signed actions hold of the limits of a client, and what is free again once they have ended, by the exchange's last word.
import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, venuesReady, type TestServer } from '../../testkit/server.ts'
import { failsWith } from '../../tools/hyperliquid-simulator/exchange/faults.ts'
import { startSite, type Site } from '../plugins/hyperliquid/site.ts'

const limits = { maxDailyGas: '10', tokens: { 'hyperliquid/testnet': { USDC: { perDay: '1000' } } } }
const ofBots = { permissions: ['read', 'trade', 'thin'], wallets: 'all', limits }
const taker = '0x00000000000000000000000000000000000000ee'

describe('orders of signed actions, for a client with limits', function () {
  this.timeout(90_000)
  let site: Site
  let server: TestServer
  let bot: Client
  let of: { chain: string; network: string; connector: string; address: string }

  before(async () => {
    site = await startSite()
    const clients = { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }, bot: ofBots }
    server = await startServer({ ...site.server, conf: { ...site.server.conf, 'clients.yml': { clients } } })
    await venuesReady(server.kernel, site)
    await newClient(server.certsDir, 'bot')
    bot = createClient(server.url, server.certsDir, 'bot')
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
  })
  after(async () => {
    bot?.close()
    await server?.stop()
    await site?.stop()
  })
  afterEach(() => site.exchange.faults.clear())

  const market = 'HYPE-USDC'
  const buy = async (fields: object = {}): Promise<Answer> => {
    const answer = await bot.post('/clob/orders', { ...of, market, side: 'BUY', orderType: 'LIMIT', price: '30', amount: '2', ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer
  }
  const cancel = async ({ body: { clientOrderId } }: Answer) => {
    const answer = await bot.request('DELETE', `/clob/orders?${new URLSearchParams({ ...of, market, clientOrderId }).toString()}`)
    expect(answer.status, answer.text).to.equal(200)
  }
  const used = async (): Promise<number> => {
    const { body } = await bot.get('/limits')
    return Number(body.limits.find((row: Record<string, string>) => row.limit === 'tokens.perDay').used)
  }
  async function becomes(amount: number): Promise<void> {
    for (const until = Date.now() + 10_000; Date.now() < until && Math.abs((await used()) - amount) > 1e-6;)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await used()).to.be.closeTo(amount, 1e-6)
  }

  it('frees what was not filled of an order that was cancelled, and keeps the rest', async () => {
    const order = await buy()
    const held = await used()
    expect(held).to.be.within(60, 61)
    await cancel(order)
    await becomes(0)

    const { price } = await bestBid()
    const partly = await buy({ price, amount: '2' })
    const reserved = await used()
    site.exchange.place(taker, { coin: '@107', side: 'SELL', price, size: '0.5' })
    await cancel(partly)
    await becomes(reserved / 4)
    // Its end is told once.
    await bot.get('/clob/orders', of)
    await becomes(reserved / 4)
  })

  it('keeps all of it while the exchange cannot say what was filled, until orders are listed', async () => {
    const before = await used()
    const order = await buy()
    const reserved = await used()
    site.exchange.faults.add(failsWith(502), ({ type }) => type === 'orderStatus')
    const { clientOrderId } = order.body
    const cancelled = await bot.post('/clob/batchOrders', { ...of, cancel: [{ market, clientOrderId }] })
    expect(cancelled.body.cancelled[0], cancelled.text).to.include({ state: 'CANCELED' })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(await used()).to.equal(reserved)
    site.exchange.faults.clear()
    await bot.get('/clob/orders', of)
    await becomes(before)
  })

  it('keeps what was reserved for several orders of one request', async () => {
    const before = await used()
    const create = [1, 2].map((amount) => ({ market, side: 'BUY', orderType: 'LIMIT', price: '10', amount: String(amount + 10) }))
    const placed = await bot.post('/clob/batchOrders', { ...of, create })
    const reserved = await used()
    expect(reserved - before, placed.text).to.be.within(230, 235)
    const created = placed.body.created as { clientOrderId: string }[]
    await bot.post('/clob/batchOrders', { ...of, cancel: created.map(({ clientOrderId }) => ({ market, clientOrderId })) })
    await bot.get('/clob/orders', of)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await used()).to.equal(reserved)
  })

  /** A little above it, so that who sells takes the bot's first. */
  async function bestBid(): Promise<{ price: string }> {
    const { address: _, ...venue } = of
    const { body } = await server.client.get('/clob/orderBook', { ...venue, market })
    return { price: (Number(body.buys[0].price) + 0.01).toFixed(2) }
  }
})
