// What a client may have open in perpetuals at an exchange of signed actions.
import { expect } from 'chai'
import { newClients } from '../../core/tls/certificates.ts'
import { createClient, type Client } from '../../testkit/client.ts'
import type { TestServer } from '../../testkit/server.ts'
import { losesAnswer } from '../../tools/hyperliquid-simulator/exchange/faults.ts'
import { outcome } from '../http/shared-server.ts'
import type { Site } from '../plugins/hyperliquid/site.ts'
import { until } from '../transactions/site.ts'
import { signedExchange } from './signed-exchange.ts'

describe('limits of what is open at an exchange of signed actions', function () {
  this.timeout(400_000)
  const started = signedExchange()
  let site: Site
  let server: TestServer
  let by: Record<string, Client>
  let of: { chain: string; network: string; connector: string; address: string }
  let index = 0
  let next = 0

  before(async () => {
    ;({ site, server } = await started())
    const ids = ['notional', 'leverage', 'loss', 'onlyLoss', 'fees', 'bot', 'out']
    await newClients(server.certsDir, ids)
    by = Object.fromEntries(ids.map((id) => [id, createClient(server.url, server.certsDir, id)]))
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
    const prices = await server.client.get('/clob/perp/funding/info', {
      chain: of.chain,
      network: of.network,
      connector: of.connector,
      market: 'ETH-USD',
    })
    index = Number(prices.body.indexPrice)
    expect(index, prices.text).to.be.greaterThan(0)
  })
  after(async () => {
    for (const client of Object.values(by ?? {})) client.close()
  })
  beforeEach(() => {
    next++
    of = { ...of, address: site.wallets[next % 3] ?? '' }
  })
  afterEach(() => site.exchange.faults.clear())

  /** So far from the index that nobody takes it. */
  const order = (client: Client | undefined, fields: object = {}) =>
    client?.post('/clob/perp/orders', {
      ...of,
      market: 'ETH-USD',
      side: 'BUY',
      orderType: 'LIMIT',
      price: String(Math.round(index * 0.9)),
      amount: '0.1',
      ...fields,
    }) ?? Promise.reject(new Error('no client'))
  const open = async () =>
    (await server.client.get('/clob/perp/orders', { ...of, market: 'ETH-USD' })).body.orders as { state: string; clientOrderId: string }[]
  const cancelAll = async () => {
    const cancel = (await open()).filter(({ state }) => state === 'OPEN').map(({ clientOrderId }) => ({ market: 'ETH-USD', clientOrderId }))
    if (cancel.length > 0) await server.client.post('/clob/perp/batchOrders', { ...of, cancel })
  }
  afterEach(() => cancelAll())

  it('count positions and open orders, also of others, and let reduceOnly and cancels pass', async () => {
    // Each is worth about 360, or 400 at the mark.
    expect(outcome(await order(server.client))).to.equal('200')
    expect(outcome(await order(by['notional']))).to.equal('200')
    const refused = await order(by['notional'])
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxOpenNotional')
    expect(Number(refused.body.details.left)).to.be.within(200, 399)
    expect(outcome(await order(by['notional'], { amount: '0.05' }))).to.equal('200')
    const batch = await by['notional']?.post('/clob/perp/batchOrders', {
      ...of,
      create: [{ market: 'ETH-USD', side: 'BUY', orderType: 'LIMIT', price: String(Math.round(index * 0.9)), amount: '1' }],
      cancel: (await open()).filter(({ state }) => state === 'OPEN').map(({ clientOrderId }) => ({ market: 'ETH-USD', clientOrderId })),
    })
    expect(batch?.body.created[0].error ?? batch?.body.created[0], batch?.text).to.have.property('name', 'LIMIT_EXCEEDED')
    expect(await open().then((orders) => orders.filter(({ state }) => state === 'OPEN'))).to.deep.equal([])
    expect(outcome(await order(by['notional']))).to.equal('200')
  })

  it('hold of several orders at once those that fit, and no more', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => order(by['notional'])))
    const outcomes = answers.map((answer) => outcome(answer)).toSorted()
    expect(outcomes).to.deep.equal(['200', '200', ...Array.from({ length: 4 }, () => '403 LIMIT_EXCEEDED')])
  })

  it('hold an order whose answer was lost until the exchange shows it', async () => {
    site.exchange.faults.add(losesAnswer, (carried) => carried.endpoint === 'exchange' && carried.type === 'order', 1)
    const lost = order(by['notional'], { amount: '0.2' })
    const [, second] = await Promise.all([lost, order(by['notional'])])
    expect(outcome(second), second.text).to.equal('403 LIMIT_EXCEEDED')
  })

  it('bound the leverage of the account, and what is set at the exchange', async () => {
    // The account is worth 50,000, so 1,000 may be open.
    expect(outcome(await order(by['leverage'], { amount: '0.2' }))).to.equal('200')
    const refused = await order(by['leverage'], { amount: '0.2' })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxLeverage')
    const withdraw = (amount: string) => by['leverage']!.post('/clob/perp/withdraw', { ...of, token: 'USDC', amount })
    const withdrawn = await withdraw('20000')
    expect(outcome(withdrawn), withdrawn.text).to.equal('403 LIMIT_EXCEEDED')
    expect(withdrawn.body.details.limit).to.equal('maxLeverage')
    const allowed = await withdraw('100')
    expect(outcome(allowed), allowed.text).to.equal('200')
    const set = await by['leverage']?.post('/clob/perp/leverage', { ...of, market: 'ETH-USD', leverage: '3' })
    expect(set && outcome(set), set?.text).to.equal('403 LIMIT_EXCEEDED')
  })

  it('count what the exchange keeps of each withdrawal as a loss', async () => {
    const outcomes: string[] = []
    for (const path of ['/clob/perp/withdraw', '/clob/withdraw', '/clob/perp/withdraw', '/clob/withdraw', '/clob/perp/withdraw']) {
      const answer = await by['fees']!.post(path, { ...of, token: 'USDC', amount: '1.1' })
      outcomes.push(`${outcome(answer)} ${answer.body.details?.limit ?? ''}`)
    }
    const refused = '403 LIMIT_EXCEEDED maxDailyLoss'
    expect(outcomes).to.deep.equal(['200 ', '200 ', '200 ', refused, refused])
    expect(outcome(await server.client.post('/clob/perp/withdraw', { ...of, token: 'USDC', amount: '1.1' }))).to.equal('200')
  })

  it('bound the leverage by 1 where a daily loss is limited and no leverage', async () => {
    // The account is worth 50,000.
    const refused = await order(by['onlyLoss'], { amount: '13' })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxLeverage')
    expect(refused.body.message).to.contain('because the client has a maxDailyLoss and no maxLeverage')
    expect(outcome(await order(by['onlyLoss'], { amount: '5' }))).to.equal('200')
  })

  const lossOf = async (client: Client | undefined) => {
    const { body, text } = (await client?.get('/limits')) ?? {}
    const row = body?.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss')
    expect(row, text).to.have.property('used')
    return { used: Number(row.used), left: String(row.left) }
  }

  it('count what an order may lose against the index, with its fees, in the daily loss', async () => {
    const price = String(Math.round(index * 1.02))
    // 2 % of 1,200, and fees.
    const refused = await order(by['loss'], { price, amount: '0.3', timeInForce: 'IOC' })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxDailyLoss')
    // A better price than the index loses fees alone.
    expect(outcome(await order(by['loss']))).to.equal('200')
    expect((await lossOf(by['loss'])).used).to.be.below(1)
  })

  it('settle an order that was filled at once to its fill, and keep what it lost', async () => {
    const before = (await lossOf(by['loss'])).used
    const price = Math.round(index * 1.02)
    const { body, text } = await order(by['loss'], { price: String(price), orderType: 'LIMIT', timeInForce: 'IOC' })
    expect(body.state, text).to.equal('FILLED')
    // 2 % of 400 was reserved. What is left is the fill's distance from the index, and the fee of its own price.
    const atLeast = Math.max(0, Number(body.averagePrice) - index) * 0.1
    await until('the order is settled', async () => (await lossOf(by['loss'])).used - before < 8)
    expect((await lossOf(by['loss'])).used - before).to.be.within(atLeast, atLeast + price * 0.1 * 0.001)
    // Its end is told once: no listing frees it again.
    const settled = (await lossOf(by['loss'])).used
    await open()
    expect((await lossOf(by['loss'])).used).to.equal(settled)
  })

  it('let a position be closed near the index where nothing is left of the daily loss, and count what that loses', async () => {
    const at = (part: number) => ({ price: String(Math.round(index * part)), timeInForce: 'IOC' })
    // Who buys at once pays 1 % more than the index here, and who sells gets 1 % less: twice 4 and fees is more than the limit.
    expect((await order(by['out'], at(1.02))).body.state).to.equal('FILLED')
    await until('the order is settled', async () => (await lossOf(by['out'])).used < 8)
    const opens = await order(by['out'], at(1.02))
    expect(opens.body.details?.limit, opens.text).to.equal('maxDailyLoss')
    const far = await order(by['out'], { ...at(0.94), side: 'SELL', reduceOnly: true })
    expect(far.body.details?.limit, far.text).to.equal('maxDailyLoss')
    const closed = await order(by['out'], { ...at(0.96), side: 'SELL', reduceOnly: true })
    expect(closed.body.state, closed.text).to.equal('FILLED')
    await until('the close is settled', async () => (await lossOf(by['out'])).used < 9)
    const { used, left } = await lossOf(by['out'])
    expect(used).to.be.within(8.3, 9)
    expect(left).to.equal('0')
    // Far from the index it may not rest in the book, either; and what turns a position over opens one, at any price.
    const resting = await order(by['out'], { price: String(Math.round(index * 0.94)), side: 'SELL', reduceOnly: true })
    expect(resting.body.details?.limit, resting.text).to.equal('maxDailyLoss')
    const flipped = await order(by['out'], { ...at(1.05), side: 'SELL', amount: '0.2' })
    expect(flipped.body.details?.limit, flipped.text).to.equal('maxDailyLoss')
  })

  it('hold what is lost against the index to a part of what the account is worth, without thin', async () => {
    // 3 % of twice the account's value is 6 % of it.
    const price = String(Math.round(index * 1.03))
    const refused = await order(by['bot'], { price, amount: '25', timeInForce: 'IOC' })
    expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    expect(refused.body.details.limit).to.equal('maxPriceImpact')
    expect(Number(refused.body.details.worstPercent)).to.be.within(5.5, 7)
    expect(outcome(await order(by['bot'], { price, amount: '0.1', timeInForce: 'IOC' }))).to.equal('200')
  })

  it('bound what is withdrawn at /clob where its balances are margin of perpetuals, and not where they are not', async () => {
    const withdraw = (amount: string) => by['leverage']!.post('/clob/withdraw', { ...of, token: 'USDC', amount })
    expect(outcome(await order(server.client, { amount: '1' }))).to.equal('200')
    const apart = await withdraw('20')
    expect(outcome(apart), apart.text).to.equal('200')
    site.exchange.setMode(of.address.toLowerCase(), 'portfolioMargin')
    const shared = await withdraw('20')
    expect(outcome(shared), shared.text).to.equal('403 LIMIT_EXCEEDED')
    expect(shared.body.details.limit).to.equal('maxLeverage')
    await cancelAll()
    const side = { side: 'SELL', reduceOnly: true, timeInForce: 'IOC', price: String(Math.round(index * 0.98)) }
    const { body } = await server.client.get('/clob/perp/positions', of)
    for (const { positionAmt: amount } of body.positions) {
      const closed = await order(server.client, { ...side, amount })
      expect(outcome(closed), closed.text).to.equal('200')
    }
    const nothingOpen = await withdraw('20')
    expect(outcome(nothingOpen), nothingOpen.text).to.equal('200')
  })
})
