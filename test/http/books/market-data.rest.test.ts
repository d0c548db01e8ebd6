import { expect } from 'chai'
import { endpoints, type Endpoint } from '../../../core/api/index.ts'
import type { Client } from '../../../testkit/client.ts'
import { local, outcome, sharedServer, traders } from '../shared-server.ts'

const oasis = { ...local, connector: 'oasis' } as const
const weth = { market: 'WETH-USDC' }
const envelope = ['network', 'timestamp', 'latency']
const market = [
  'market',
  'base',
  'quote',
  'lotSize',
  'minOrderSize',
  'minNotional',
  'orderTypes',
  'timeInForce',
  'takes',
  'makerFee',
  'takerFee',
  'status',
]

describe('/clob', function () {
  this.timeout(300_000)
  let client: Client
  before(async () => {
    client = (await sharedServer()).client
  })

  it('lists the markets, or one by its name in any letter case', async () => {
    const { body } = await client.get('/clob/markets', oasis)
    expect(body).to.have.all.keys('markets', ...envelope)
    for (const [name, each] of Object.entries<Record<string, unknown>>(body.markets)) {
      expect(each).to.have.all.keys(market)
      expect(name).to.equal(`${String(each.base)}-${String(each.quote)}`)
    }
    const one = await client.post('/clob/markets', { ...oasis, market: 'weth-usdc' })
    expect(one.body.markets).to.deep.equal({ 'WETH-USDC': body.markets['WETH-USDC'] })
    const unknown = await client.get('/clob/markets', { ...oasis, market: 'WETH-USDX' })
    expect(outcome(unknown)).to.equal('404 UNKNOWN_ORDER')
    expect(unknown.body.message).to.contain('did you mean "WETH-USDC"?')
  })

  it('shows the book best first up to the depth, with its time and sequence', async () => {
    const { body } = await client.get('/clob/orderBook', { ...oasis, ...weth })
    expect(body).to.have.all.keys('market', 'buys', 'sells', 'sequence', 'blockNumber', ...envelope)
    const prices = (side: readonly { price: string }[]) => side.map(({ price }) => Number(price))
    expect(prices(body.buys)).to.deep.equal(prices(body.buys).toSorted((a, b) => b - a))
    expect(prices(body.sells)).to.deep.equal(prices(body.sells).toSorted((a, b) => a - b))
    expect(prices(body.buys)[0]).to.be.below(prices(body.sells)[0] ?? 0)
    const top = await client.get('/clob/orderBook', { ...oasis, ...weth, depth: '1' })
    expect([top.body.buys, top.body.sells]).to.deep.equal([body.buys.slice(0, 1), body.sells.slice(0, 1)])
    expect(top.body.sequence).to.be.at.least(body.sequence)
    expect(Date.now() - top.body.timestamp).to.be.below(60_000)
    expect(outcome(await client.get('/clob/orderBook', { ...oasis, ...weth, depth: '0' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('shows the best prices of one market, and of all', async () => {
    const { buys, sells } = (await client.get('/clob/orderBook', { ...oasis, ...weth })).body
    const { body } = await client.get('/clob/ticker', { ...oasis, ...weth })
    expect(body.markets['WETH-USDC']).to.include({ bestBid: buys[0].price, bestAsk: sells[0].price })
    const all = await client.get('/clob/ticker', oasis)
    const { markets } = (await client.get('/clob/markets', oasis)).body
    expect(all.body.markets).to.have.all.keys(Object.keys(markets))
    expect(all.body).not.to.have.property('failing')
  })

  it('shows the gas cost of an order, and the balances of a wallet', async () => {
    const gas = await client.get('/clob/estimateGas', oasis)
    expect(gas.body).to.have.all.keys('gasPrice', 'gasPriceToken', 'gasLimit', 'gasCost', ...envelope)
    expect(gas.body.gasLimit).to.be.above(0)
    const { body, status, text } = await client.get('/clob/balances', { ...oasis, address: traders })
    expect(status, text).to.equal(200)
    for (const each of Object.values(body.balances)) expect(each).to.have.all.keys('total', 'available', 'locked')
  })

  it('pages through trades', async () => {
    const { body, status, text } = await client.get('/clob/trades', { ...oasis, ...weth, limit: '1' })
    expect(status, text).to.equal(200)
    expect(body.trades.length).to.be.at.most(1)
    expect(outcome(await client.get('/clob/trades', { ...oasis, ...weth, cursor: 'none' }))).to.equal('400 INCOMPLETE_PARAMS')
    expect(outcome(await client.get('/clob/trades', { ...oasis, ...weth, limit: '501' }))).to.equal('400 INCOMPLETE_PARAMS')
  })

  it('answers 1016 at every endpoint that the exchange lacks', async () => {
    const good = {
      ...oasis,
      ...weth,
      address: traders,
      token: 'USDC',
      amount: '1',
      leverage: '2',
      side: 'BUY',
      orderType: 'LIMIT',
      price: '1',
    }
    const absent = (endpoints as readonly Endpoint[]).filter(
      ({ set, path }) => set === 'MARGIN_CLOB' || set === 'PERP_CLOB' || path === '/clob/deposit' || path === '/clob/withdraw',
    )
    for (const { method, path, request } of absent) {
      const fields = { ...good, clientOrderId: 'a', cancel: [{ ...weth, orderId: '1' }] }
      const known = Object.fromEntries(Object.entries(fields).filter(([name]) => name in request.properties))
      const answer = await client.request(method, path, { headers: { 'content-type': 'application/json' }, raw: JSON.stringify(known) })
      expect(outcome(answer), `${method} ${path}: ${answer.text}`).to.equal('501 UNSUPPORTED')
    }
    expect(absent).to.have.length(35)
    expect(outcome(await client.get('/clob/markets', { ...oasis, connector: 'uniswap' }))).to.equal('501 UNSUPPORTED')
  })
})
