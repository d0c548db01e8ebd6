// What orders of signed actions hold of the limits of a client, and what is free again once they have ended, by the exchange's last word.
import { expect } from 'chai'
import { newClient } from '../../core/tls/certificates.ts'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import type { TestServer } from '../../testkit/server.ts'
import { until } from '../../tools/hyperliquid-simulator/client.ts'
import { failsWith } from '../../tools/hyperliquid-simulator/exchange/faults.ts'
import { outcome } from '../http/shared-server.ts'
import type { Site } from '../plugins/hyperliquid/site.ts'
import { signedExchange } from './signed-exchange.ts'

const taker = '0x00000000000000000000000000000000000000ee'

describe('orders of signed actions, for a client with limits', function () {
  this.timeout(400_000)
  const started = signedExchange()
  let site: Site
  let server: TestServer
  let bot: Client
  let of: { chain: string; network: string; connector: string; address: string }

  before(async () => {
    ;({ site, server } = await started())
    await newClient(server.certsDir, 'spot')
    bot = createClient(server.url, server.certsDir, 'spot')
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
  })
  after(() => bot?.close())
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
    for (const until = Date.now() + 180_000; Date.now() < until && Math.abs((await used()) - amount) > 2e-6;)
      await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await used()).to.be.closeTo(amount, 2e-6)
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

  /** Orders of one request, which is one signed action. */
  async function placeTogether(create: readonly object[]): Promise<readonly Record<string, string>[]> {
    const all = create.map((order) => ({ market, side: 'BUY', orderType: 'LIMIT', price: '10', ...order }))
    const { status, body, text } = await bot.post('/clob/batchOrders', { ...of, create: all })
    expect(status, text).to.equal(200)
    return body.created
  }
  const cancelTogether = (orders: readonly Record<string, string>[]) =>
    bot.post('/clob/batchOrders', { ...of, cancel: orders.map(({ clientOrderId = '' }) => ({ market, clientOrderId })) })

  it('frees each of several orders of one request by itself', async () => {
    const before = await used()
    const [first = {}, second = {}] = await placeTogether([{ amount: '11' }, { amount: '12' }])
    const reserved = (await used()) - before
    expect(reserved).to.be.within(230, 235)
    await cancelTogether([first])
    await becomes(before + (reserved * 12) / 23)
    await cancelTogether([second])
    await becomes(before)
    await bot.get('/clob/orders', of)
    await becomes(before)
  })

  it('keeps what was filled of one of several orders', async () => {
    const before = await used()
    const { price } = await bestBid()
    const [best = {}, other = {}] = await placeTogether([{ price, amount: '2' }, { amount: '12' }])
    const reserved = (await used()) - before
    const ofBest = (reserved * 2 * Number(price)) / (2 * Number(price) + 120)
    site.exchange.place(taker, { coin: '@107', side: 'SELL', price, size: '0.5' })
    await cancelTogether([best, other])
    await becomes(before + ofBest / 4)
  })

  it('counts an order that was filled at once with what it gave', async () => {
    const before = await used()
    const { price } = await bestAsk()
    site.exchange.place(taker, { coin: '@107', side: 'SELL', price, size: '2' })
    const limit = (Number(price) * 1.02).toFixed(2)
    const { body } = await buy({ price: limit, amount: '2', timeInForce: 'IOC' })
    expect(body.state).to.equal('FILLED')
    expect(Number(body.averagePrice)).to.be.below(Number(limit) * 0.995)
    await becomes(before + 2 * Number(body.averagePrice) * 1.0007)
    await bot.get('/clob/orders', of)
    await becomes(before + 2 * Number(body.averagePrice) * 1.0007)
  })

  it('frees an order that the exchange refused, or ended unfilled, and keeps the others of its request', async () => {
    const before = await used()
    const { price } = await bestAsk()
    const [refused = {}, unfilled = {}, resting = {}] = await placeTogether([
      { price, amount: '2', orderType: 'LIMIT_MAKER' },
      { price: '11', amount: '3', timeInForce: 'IOC' },
      { amount: '12' },
    ])
    expect([refused, unfilled, resting].map((order) => order['state'])).to.deep.equal(['REJECTED', 'REJECTED', 'OPEN'])
    await becomes(before + 120 * 1.0007)
    await cancelTogether([resting])
    await becomes(before)
  })

  /** A little above it, so that who sells takes the bot's first. */
  async function bestBid(): Promise<{ price: string }> {
    const { address: _, ...venue } = of
    const { body } = await server.client.get('/clob/orderBook', { ...venue, market })
    return { price: (Number(body.buys[0].price) + 0.01).toFixed(2) }
  }
  async function bestAsk(): Promise<{ price: string }> {
    const { address: _, ...venue } = of
    const { body } = await server.client.get('/clob/orderBook', { ...venue, market })
    return { price: body.sells[0].price }
  }
})

describe('a loan of an exchange of signed actions', function () {
  this.timeout(400_000)
  const started = signedExchange()
  let site: Site
  let server: TestServer
  let bot: Client
  let of: { chain: string; network: string; connector: string; address: string }

  before(async () => {
    ;({ site, server } = await started())
    await newClient(server.certsDir, 'tightest')
    bot = createClient(server.url, server.certsDir, 'tightest')
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[2] }
    site.exchange.setMode(of.address, 'portfolioMargin')
  })
  after(() => {
    bot?.close()
    // Other files have this wallet, too. With portfolio margin there was one balance: what was for perpetuals stays with the rest.
    site?.exchange.setMode(of.address, 'disabled')
    site?.exchange.deposit(of.address, '50000')
  })

  const owed = async (): Promise<number> => Number((await server.client.get('/clob/margin/account', of)).body.borrowed)
  const move = (how: string, amount: string, by: Client) => by.post(`/clob/margin/${how}`, { ...of, token: 'USDC', amount })
  const becomesOwed = (amount: number) => until(async () => Math.abs((await owed()) - amount) < 0.01)

  it('is repaid by a client whose limits allow nothing, also under reduce-only, and not under a stop', async () => {
    const lent = await move('borrow', '100', server.client)
    expect(outcome(lent), lent.text).to.equal('200')
    await becomesOwed(100)
    // Whatever else it asks for is refused.
    for (const how of ['borrow', 'deposit']) {
      const refused = await move(how, '10', bot)
      expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    }
    const part = await move('repay', '40', bot)
    expect(outcome(part), part.text).to.equal('200')
    await becomesOwed(60)
    const stopped = async (mode: string) => {
      expect(outcome(await server.client.post('/stops', { mode }))).to.equal('200')
      const answer = await move('repay', '200', bot)
      await server.client.request('DELETE', '/stops', { raw: '{}', headers: { 'Content-Type': 'application/json' } })
      return answer
    }
    expect(outcome(await stopped('stop'))).to.equal('403 STOPPED')
    const rest = await stopped('reduce-only')
    expect(outcome(rest), rest.text).to.equal('200')
    await becomesOwed(0)
  })
})
