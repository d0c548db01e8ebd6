// A book without makers as a source of the market: beside the index of its exchange.
import { expect } from 'chai'
import { openMarket } from '../../../core/parts/trading.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import { createClient, type Client } from '../../../testkit/client.ts'
import { startServer, venuesReady, type TestServer } from '../../../testkit/server.ts'
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { failsWith } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { outcome } from '../../http/shared-server.ts'
import { startSite, type Site } from './site.ts'

const stranger = '0x3a4e5742a9000000000000000000000000000000'
const coin = '@107'

describe('the market of a lone book at Hyperliquid', function () {
  this.timeout(300_000)
  let site: Site
  let server: TestServer
  let bot: Client
  let nowMs = 0

  before(async () => {
    site = await startSite()
    const clients = {
      client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' },
      bot: { permissions: ['read', 'trade'], wallets: 'all' },
    }
    server = await startServer({ ...site.server, conf: { ...site.server.conf, 'clients.yml': { clients } } }, undefined, {
      market: { open: (parts) => openMarket(parts, () => nowMs), stop: (market) => market.stop() },
    })
    await venuesReady(server.kernel, site)
    await newClient(server.certsDir, 'bot')
    bot = createClient(server.url, server.certsDir, 'bot')
  })
  after(async () => {
    bot?.close()
    await server?.stop()
    await site?.stop()
  })
  afterEach(() => site.exchange.faults.clear())

  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      nowMs += 10_000
      await server.kernel.services.market.read()
    }
  }
  const of = (wallet = 0) => ({ chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[wallet] ?? '' })
  const priceAt = (mid: number, distance: number) => String(Number((mid * (1 + distance)).toFixed(3)))
  let others: number[] = []
  /** The orders of somebody else move. */
  function makeMarket(mid: number, size: string): void {
    for (const oid of others) site.exchange.cancel(stranger, oid)
    others = (['BUY', 'SELL'] as const).map(
      (side) => site.exchange.place(stranger, { coin, side, price: priceAt(mid, side === 'BUY' ? -0.00125 : 0.00125), size }).oid,
    )
  }
  const order = (fields: object = {}, client = bot, wallet = 0) =>
    client.post('/clob/orders', {
      ...of(wallet),
      market: 'HYPE-USDC',
      side: 'SELL',
      orderType: 'LIMIT',
      price: '41',
      amount: '1',
      ...fields,
    })
  const shown = (best: string | undefined) =>
    until(async () => {
      const query = { chain: site.chain, network: site.network, connector: 'hyperliquid', market: 'HYPE-USDC' }
      return (await server.client.get('/clob/orderBook', query)).body.buys?.[0]?.price === best
    })
  async function cancelOwn(client: Client, wallet: number): Promise<void> {
    const { body } = await client.get('/clob/orders', { ...of(wallet), market: 'HYPE-USDC' })
    const cancel = body.orders.map(({ clientOrderId }: { clientOrderId: string }) => ({ market: 'HYPE-USDC', clientOrderId }))
    if (cancel.length > 0) await client.post('/clob/batchOrders', { ...of(wallet), cancel })
  }
  const reasonOf = async (fields?: object) => {
    const { status, body, text } = await order(fields)
    expect(status, text).to.equal(403)
    return body.details.reason
  }

  it('has no opinion without depth, which orders of the server are not', async () => {
    expect(await reasonOf()).to.equal('market too short')
    for (const fields of [
      { side: 'BUY', price: '39.9' },
      { side: 'SELL', price: '40.1' },
    ]) {
      const placed = await order({ amount: '550', ...fields }, server.client, 1)
      expect(outcome(placed), placed.text).to.equal('200')
    }
    await shown('39.9')
    await pass(330)
    expect(await reasonOf()).to.equal('no market')
  })

  it('counts with depth and the index, with the settings that are given to everybody', async () => {
    makeMarket(40, '600')
    await shown('39.95')
    await pass(10)
    expect(await reasonOf()).to.equal('market too short')
    await pass(310)
    for (const near of [{ price: '39.9' }, { side: 'BUY', price: '40.2' }]) {
      const placed = await order(near)
      expect(outcome(placed), placed.text).to.equal('200')
    }
    for (const far of [{ price: '37' }, { side: 'BUY', price: '43' }]) {
      const refused = await order(far)
      expect(outcome(refused), refused.text).to.equal('403 LIMIT_EXCEEDED')
    }
  })

  it('never refuses a market maker as that of the examples, while the others move their orders and half of their depth is away', async () => {
    for (const wallet of [0, 1]) await cancelOwn(server.client, wallet)
    for (let round = 0; round < 12; round++) {
      // It goes up by 1 % and down again.
      const mid = 40 + 0.4 * Math.sin(round / 2)
      await cancelOwn(bot, 0)
      makeMarket(mid, round % 2 === 0 ? '300' : '600')
      await shown(priceAt(mid, -0.00125))
      await pass(10)
      for (const [side, distance] of [
        ['BUY', -0.004],
        ['SELL', 0.004],
      ] as const) {
        const answer = await order({ side, price: priceAt(mid, distance), amount: '2.5' })
        expect(outcome(answer), answer.text).to.equal('200')
      }
    }
    await cancelOwn(bot, 0)
    makeMarket(40, '600')
    await shown('39.95')
  })

  it('is no market without the index, and for tokens that are not of the chain', async () => {
    site.exchange.faults.add(failsWith(500), ({ type }) => type === 'allBorrowLendReserveStates', Infinity)
    await pass(40)
    expect(await reasonOf()).to.equal('no market')
    site.exchange.faults.clear()
    await pass(10)
    expect(outcome(await order())).to.equal('200')
    expect(await reasonOf({ market: 'UBTC-USDC', price: '110000', amount: '0.001' })).to.equal('no market')
  })

  it('is no market while the exchange is silent, and one again when it is back', async () => {
    site.exchange.feed.welcome(false)
    site.exchange.feed.cut()
    await shown(undefined)
    await pass(10)
    expect(await reasonOf()).to.equal('no market')
    site.exchange.feed.welcome(true)
    await shown('39.95')
    await pass(10)
    expect(outcome(await order())).to.equal('200')
  })

  it('is no market where the index says something else than the book', async () => {
    site.exchange.setOracle('HYPE', '50')
    await pass(40)
    expect(await reasonOf()).to.equal('no market')
  })
})
