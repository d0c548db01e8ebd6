// One trade of every contract that a plugin can implement, on a real server: what `npm test` has of running exchanges.
// What each contract promises beside that is in the cards of every plugin (`npm run test:rest`).
import { expect } from 'chai'
import type { Answer, Client } from '../testkit/client.ts'
import { startServer, venuesReady, type TestServer } from '../testkit/server.ts'
import { local, mined, oneChain, traders } from './http/shared-server.ts'
import { startSite, type Site } from './plugins/hyperliquid/site.ts'

const ok = ({ status, body, text }: Answer): Answer['body'] => {
  expect(status, text).to.equal(200)
  return body
}

/** Submits, waits for the block, and expects that the chain did not revert it. */
async function submitted(client: Client, path: string, body: object): Promise<Answer['body']> {
  const answer = ok(await client.post(path, { ...local, address: traders, ...body }))
  const { body: poll } = await mined(client, answer.txHash)
  expect(poll.txReceipt.status, poll.reason).to.equal(1)
  return { ...answer, fill: poll.fill }
}

describe('one trade of every contract', function () {
  this.timeout(90_000)
  let server: TestServer
  let client: Client

  before(async () => {
    server = await startServer(oneChain)
    client = server.client
  })
  after(() => server?.stop())

  const approve = (spender: string, token: string) => submitted(client, '/evm/approve', { spender, token })

  for (const connector of ['uniswap', 'balancer', 'curve']) {
    it(`AMM: ${connector} fills a swap with what the quote said`, async () => {
      const { body: plugins } = await client.get('/plugins')
      expect(plugins.find(({ name }: { name: string }) => name === connector)).to.include({ state: 'loaded' })
      const pair = connector === 'curve' ? { base: 'DAI', quote: 'USDC' } : { base: 'WETH', quote: 'USDC' }
      await approve(connector, pair.base)
      const swap = { connector, ...pair, amount: '0.1', side: 'SELL' }
      const quote = ok(await client.get('/amm/price', { ...local, ...swap }))
      const { fill } = await submitted(client, '/amm/trade', swap)
      expect(fill).to.include({ amountIn: quote.amount, amountOut: quote.expectedAmount })
    })
  }

  it('AMM_RANGE: uniswap adds a position, collects its fees and removes it', async () => {
    for (const token of ['WETH', 'USDC']) await approve('uniswap/positions', token)
    const range = { token0: 'WETH', token1: 'USDC', amount0: '1', amount1: '3000', lowerPrice: '2800', upperPrice: '3200' }
    const { fill } = await submitted(client, '/amm/liquidity/add', { connector: 'uniswap', ...range })
    const position = { connector: 'uniswap', tokenId: fill.tokenId }
    await submitted(client, '/amm/liquidity/collect_fees', position)
    await submitted(client, '/amm/liquidity/remove', { ...position, burn: true })
  })

  it('PERP_AMM: perp opens and closes a position', async () => {
    await approve('perp', 'USDC')
    await submitted(client, '/perpAMM/deposit', { connector: 'perp', token: 'USDC', amount: '1000' })
    const market = { connector: 'perp', base: 'ETH', quote: 'USD' }
    const terms = { ...market, side: 'LONG', amount: '0.5', margin: '500', leverage: '5' }
    const { fill } = await submitted(client, '/perpAMM/open', terms)
    expect(Number(fill.size)).to.equal(0.5)
    await submitted(client, '/perpAMM/close', market)
  })

  it('CLOB: oasis places an order, shows it and cancels it', async () => {
    for (const token of ['WETH', 'USDC']) await approve('oasis', token)
    const venue = { ...local, connector: 'oasis', address: traders }
    const named = { market: 'WETH-USDC', clientOrderId: 'one-trade' }
    ok(await client.post('/clob/orders', { ...venue, ...named, side: 'BUY', orderType: 'LIMIT', price: '1000', amount: '0.01' }))
    await stateBecomes(client, '/clob/orders', venue, named.clientOrderId, 'OPEN')
    const cancelled = await client.request('DELETE', '/clob/orders', {
      headers: { 'content-type': 'application/json' },
      raw: JSON.stringify({ ...venue, ...named }),
    })
    ok(cancelled)
    await stateBecomes(client, '/clob/orders', venue, named.clientOrderId, 'CANCELED')
  })
})

describe('one trade of every kind of order book with signed actions', function () {
  this.timeout(90_000)
  let site: Site
  let server: TestServer

  before(async () => {
    site = await startSite()
    server = await startServer(site.server)
    await venuesReady(server.kernel, site)
  })
  after(async () => {
    await server?.stop()
    await site?.stop()
  })

  const orders = {
    CLOB: { path: '/clob/orders', market: 'HYPE-USDC', price: '39', amount: '1' },
    PERP_CLOB: { path: '/clob/perp/orders', market: 'ETH-USD', price: '3900', amount: '0.1' },
    // The account is put into the exchange's mode for margin before its first order.
    MARGIN_CLOB: { path: '/clob/margin/orders', market: 'HYPE-USDC', price: '39', amount: '1' },
  }
  for (const [type, { path, ...order }] of Object.entries(orders))
    it(`${type}: hyperliquid takes an order and shows it as open`, async () => {
      if (type === 'MARGIN_CLOB') await site.bookOperators.MARGIN_CLOB?.clear(order.market, [])
      const [address] = site.wallets
      const venue = { chain: site.chain, network: site.network, connector: 'hyperliquid', address }
      const clientOrderId = `one-trade-${type}`
      ok(await server.client.post(path, { ...venue, ...order, side: 'BUY', orderType: 'LIMIT', clientOrderId }))
      await stateBecomes(server.client, path, venue, clientOrderId, 'OPEN')
    })
})

/** Waits until the order is in that state. */
async function stateBecomes(
  client: Client,
  path: string,
  venue: Record<string, string>,
  clientOrderId: string,
  state: string,
): Promise<void> {
  for (const end = Date.now() + 20_000; ;) {
    const { orders } = ok(await client.get(path, { ...venue, clientOrderId }))
    if (orders[0]?.state === state) return
    if (Date.now() > end) throw new Error(`The order is ${orders[0]?.state}, not ${state}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
