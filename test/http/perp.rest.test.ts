import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { endpoints, type Endpoint } from '../../core/api/index.ts'
import type { Answer, Client } from '../../testkit/client.ts'
import { until } from '../transactions/site.ts'
import { admins, local, mined, noted, others, outcome, sharedServer, swap, traders, uniswap, type SharedServer } from './shared-server.ts'
import { JsonRpcProvider } from 'ethers'
import { subtract } from '../../core/base/decimal.ts'
import { devnetPerpOperator } from '../../testkit/devnet-operators.ts'
import { scrape } from './scrape.ts'

const perp = { ...local, connector: 'perp' } as const
const market = { base: 'ETH', quote: 'USD' }
const devnetFile = fileURLToPath(new URL('../../plugins/perp/devnet.ts', import.meta.url))
const order = { ...market, address: traders, side: 'LONG', amount: '0.5', margin: '500', leverage: '5' }
const envelope = ['network', 'timestamp', 'latency']
const gas = ['gasPrice', 'gasPriceToken', 'gasLimit', 'gasCost']
const bad = '400 INCOMPLETE_PARAMS'
const perpEndpoints = (endpoints as readonly Endpoint[]).filter(({ set }) => set === 'PERP_AMM')

/** A good value for every field, by endpoint. */
const fieldsOf: Readonly<Record<string, object>> = {
  price: { ...market, side: 'LONG', amount: '0.5' },
  position: { ...market, wallet_address: traders },
  margin: { wallet_address: traders },
  funding: { wallet_address: traders },
  open: order,
  close: { ...market, address: traders },
  'market-prices': market,
  'market-status': market,
  pairs: {},
  balance: { address: traders },
  estimateGas: {},
  deposit: { address: traders, token: 'USDC', amount: '10' },
  withdraw: { address: traders, token: 'USDC', amount: '1' },
}
const keysOf: Readonly<Record<string, readonly string[]>> = {
  price: [
    'quote',
    'base',
    'side',
    'amount',
    'price',
    'expectedAmount',
    'fee',
    'markPrice',
    'indexPrice',
    'indexTwapPrice',
    'blockNumber',
    ...gas,
  ],
  position: ['position', 'blockNumber'],
  margin: ['margin', 'blockNumber'],
  funding: ['funding', 'blockNumber'],
  open: ['position', 'price', 'limitPrice', 'deadline', 'blockNumber', 'nonce', 'txHash', ...gas],
  close: ['amount', 'price', 'limitPrice', 'deadline', 'blockNumber', 'nonce', 'txHash', ...gas],
  'market-prices': ['markPrice', 'indexPrice', 'indexTwapPrice', 'blockNumber'],
  'market-status': ['isActive', 'status', 'maxLeverage', 'blockNumber'],
  pairs: ['pairs'],
  balance: ['balance', 'token', 'blockNumber'],
  estimateGas: gas,
  deposit: ['token', 'amount', 'nonce', 'txHash', ...gas],
  withdraw: ['token', 'amount', 'nonce', 'txHash', ...gas],
}
const position = [
  'positionAmt',
  'positionSide',
  'unrealizedProfit',
  'leverage',
  'entryPrice',
  'markPrice',
  'liquidationPrice',
  'tickerSymbol',
  'pendingFundingPayment',
]

describe('/perpAMM and /perp', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  const ask = (verb: string, fields: object = {}, prefix = '/perpAMM', by = client): Promise<Answer> =>
    by.post(`${prefix}/${verb}`, { ...perp, ...fieldsOf[verb], ...fields })
  const asQuery = (fields: object) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: traders })).body.nonce
  async function made(verb: string, fields: object = {}, prefix?: string): Promise<Answer['body']> {
    const { body, status, text } = await ask(verb, fields, prefix)
    expect(status, text).to.equal(200)
    const { body: poll } = await mined(client, body.txHash)
    expect(poll.txReceipt.status, poll.reason).to.equal(1)
    return { ...body, fill: poll.fill }
  }
  async function refused(verb: string, fields: object, expected: string, field?: string): Promise<Answer> {
    const before = await nonce()
    for (const prefix of ['/perpAMM', '/perp']) {
      const answer = await ask(verb, fields, prefix)
      expect(outcome(answer), `${prefix}/${verb} ${JSON.stringify(fields)}: ${answer.text}`).to.equal(expected)
      if (field !== undefined) expect(answer.body.details.map((each: { field: string }) => each.field)).to.include(field)
    }
    expect(await nonce()).to.equal(before)
    return ask(verb, fields)
  }

  before(async () => {
    server = await sharedServer()
    client = server.client
    const { body } = await client.post('/evm/approve', { ...local, address: traders, spender: 'perp', token: 'USDC' })
    await mined(client, body.txHash)
    await made('deposit', { amount: '5000' })
  })

  it('answer every endpoint under both prefixes, with every field and the envelope', async () => {
    for (const prefix of ['/perpAMM', '/perp']) {
      for (const verb of Object.keys(fieldsOf)) {
        const answer = await ask(verb, {}, prefix)
        expect(answer.status, `${prefix}/${verb}: ${answer.text}`).to.equal(200)
        expect(answer.body, verb).to.have.all.keys(...(keysOf[verb] ?? []), ...envelope)
        if (answer.body.position !== undefined) expect(answer.body.position).to.have.all.keys(position)
        if (answer.body.txHash !== undefined) await mined(client, answer.body.txHash)
      }
    }
    expect(perpEndpoints).to.have.length(2 * Object.keys(fieldsOf).length)
  })

  it('answer reads by GET and POST alike', async () => {
    for (const { method, path } of perpEndpoints) {
      const verb = path.split('/').at(-1) ?? ''
      const got = await client.get(path, asQuery({ ...perp, ...fieldsOf[verb] }))
      expect(outcome(got), `${path}: ${got.text}`).to.equal(method === 'GET' ? '200' : '405 INCOMPLETE_PARAMS')
      if (method === 'GET') expect(got.body).to.have.all.keys(...(keysOf[verb] ?? []), ...envelope)
    }
  })

  it('accept BUY and SELL, and names, in any letter case', async () => {
    for (const [side, shown] of [
      ['long', 'LONG'],
      ['Buy', 'LONG'],
      ['SHORT', 'SHORT'],
      ['sell', 'SHORT'],
    ]) {
      const { body, text } = await ask('price', { base: 'eth', quote: 'Usd', side })
      expect([body.side, body.base, body.quote], text).to.deep.equal([shown, 'ETH', 'USD'])
    }
  })

  it('accept an answered price as limitPrice, and journal the trade', async () => {
    const { body: quoted } = await ask('price', { side: 'SHORT' })
    const opened = await made('open', { side: 'SHORT', limitPrice: quoted.price })
    expect(opened.limitPrice).to.equal(quoted.price)
    expect(opened.position).to.include({ positionSide: 'SHORT', positionAmt: quoted.amount, tickerSymbol: 'ETHUSD' })
    expect(opened.fill).to.include({ size: quoted.amount, price: quoted.price, fee: quoted.fee })
    const closed = await made('close', {}, '/perp')
    expect(closed.fill).to.have.all.keys('size', 'price', 'fee', 'realizedProfit', 'funding', 'closedRatio')
    const { body: page } = await client.get('/transactions', { address: traders, limit: '3' })
    expect(page.transactions.slice(0, 2).map((each: { kind: string }) => each.kind)).to.deep.equal(['position', 'position'])
    expect(page.transactions[0]).to.include({ connector: 'perp', deadline: closed.deadline })
  })

  it('make the position that the book has by their fills, and no other', async () => {
    await made('open', { side: 'SHORT', amount: '0.05' })
    const { txHash } = await made('open', { side: 'LONG', amount: '0.02' })
    await until('it is final', async () => (await client.get('/transactions', { txHash })).body.transactions[0].final)
    const market = await ethBook()
    expect(market.fills).to.be.at.least(2)
    expect(market).to.not.have.property('lacksFills')
    await made('close')
  })

  async function ethBook(query: Record<string, string> = {}): Promise<Answer['body']> {
    let book: Answer['body']
    await until('the book is whole', async () => {
      book = (await client.get('/books', { ...local, connector: 'perp', ...query })).body
      return book.complete
    })
    return book.perpetuals.find((each: { market: string }) => each.market === 'ETH-USD')
  }

  it('have in the book what the exchange liquidated, and what that took from the account', async () => {
    const provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true })
    try {
      const operator = await devnetPerpOperator(devnetFile, provider)
      const { txHash } = await made('open', { side: 'LONG', amount: '0.05' })
      await until('it is final', async () => (await client.get('/transactions', { txHash })).body.transactions[0].final)
      const before = await ethBook()
      // Deposits and realized profit.
      const collateral = async () => (await ask('margin')).body.margin.collateral
      const held = await collateral()
      for (let tries = 0; tries < 10 && (await ask('position')).body.position.positionAmt !== '0'; tries += 1)
        await operator?.liquidate(traders, 'ETHUSD')
      const left = await collateral()
      const after = await ethBook()
      expect(after.liquidations).to.be.at.least(1)
      expect(after.fills - before.fills).to.equal(after.liquidations - (before.liquidations ?? 0))
      expect(after).to.not.have.property('lacksFills')
      expect(Number(subtract(after.realizedProfit, before.realizedProfit))).to.be.closeTo(Number(subtract(left, held)), 1e-6)
      expect(Number(subtract(after.fee, before.fee))).to.be.above(0)
      expect(await ethBook({ client: 'client' })).to.not.have.property('liquidations')
    } finally {
      provider.destroy()
    }
  })

  it('make one position however often a request with a key is repeated', async () => {
    const headers = { 'idempotency-key': `perp-${Date.now()}` }
    const first = await client.post('/perp/open', { ...perp, ...order }, { headers })
    expect(first.status, first.text).to.equal(200)
    expect((await client.post('/perp/open', { ...perp, ...order }, { headers })).text).to.equal(first.text)
    const other = await client.post('/perp/open', { ...perp, ...order, amount: '0.6' }, { headers })
    expect(outcome(other)).to.equal('422 IDEMPOTENCY_CONFLICT')
    await mined(client, first.body.txHash)
    const { body } = await ask('position')
    expect(Number(body.position.positionAmt)).to.equal(0.5)
    await made('close')
  })

  it('use nonce and fees of the request, and refuse invalid fees', async () => {
    const next = await nonce()
    const opened = await made('open', { nonce: next, maxFeePerGas: '50', maxPriorityFeePerGas: '2' })
    expect(opened.nonce).to.equal(next)
    await noted(client, opened.txHash)
    expect(outcome(await ask('close', { nonce: next }))).to.equal('409 INVALID_NONCE')
    await refused('close', { maxFeePerGas: '50000000000' }, bad, 'maxFeePerGas')
    await made('close', { nonce: next + 1 })
  })

  for (const [title, verb, fields, expected, field] of [
    ['an unknown market', 'open', { base: 'DOGE' }, '404 PAIR_NOT_FOUND'],
    ['a market that is named as one word', 'position', { base: 'ETHUSD' }, '404 PAIR_NOT_FOUND'],
    ['a size of zero', 'open', { amount: '0' }, bad, 'amount'],
    ['a size below zero', 'open', { amount: '-1' }, bad, 'amount'],
    ['a size with more decimals than sizes have', 'price', { amount: `0.${'0'.repeat(18)}1` }, bad, 'amount'],
    ['a size that the market cannot take', 'open', { amount: '1e9' }, '422 PRICE_FAILED'],
    ['a size that no market could have', 'open', { amount: '1e60' }, bad, 'amount'],
    ['a leverage of zero', 'open', { leverage: '0' }, bad, 'leverage'],
    ['a leverage above the most', 'open', { leverage: '10.5' }, bad, 'leverage'],
    ['a side that is neither', 'open', { side: 'UP' }, bad, 'side'],
    ['an address in the wrong format', 'open', { address: 'So11111111111111111111111111111111111111112' }, bad, 'address'],
    ['an address with a wrong checksum', 'margin', { wallet_address: traders.replace('C5', 'c5') }, bad, 'wallet_address'],
    ['an unknown field', 'open', { size: '1' }, bad, 'size'],
    ['an `address` where `wallet_address` is meant', 'position', { address: traders }, bad, 'address'],
    ['a margin that is too small', 'open', { margin: '299' }, '422 INSUFFICIENT_MARGIN'],
    ['a margin that the account has not free', 'open', { margin: '1000000' }, '422 INSUFFICIENT_MARGIN'],
    ['a margin with more decimals than the collateral', 'open', { margin: '300.0000001' }, bad, 'margin'],
    ['a long above the limit', 'open', { limitPrice: '2000' }, '422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE'],
    ['a short below the limit', 'open', { side: 'SHORT', limitPrice: '4000' }, '422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'],
    ['looser slippage than configured', 'open', { allowedSlippage: '1/2' }, bad, 'allowedSlippage'],
    ['a close of nothing', 'close', {}, '404 UNKNOWN_POSITION'],
    ['collateral that is no token', 'deposit', { token: 'DOGE' }, '404 TOKEN_NOT_SUPPORTED'],
    ['collateral that the exchange does not take', 'deposit', { token: 'WBTC' }, '404 TOKEN_NOT_SUPPORTED'],
    ['more collateral than the wallet has', 'deposit', { amount: '1e12' }, '422 INSUFFICIENT_BALANCE'],
    ['a withdrawal of nothing', 'withdraw', { amount: '0' }, bad, 'amount'],
    ['a withdrawal of more than is there', 'withdraw', { amount: '1e9' }, '422 INSUFFICIENT_MARGIN'],
    ['a wallet whose key is not here', 'open', { address: `0x${'1'.repeat(40)}` }, '404 LOAD_WALLET'],
    ['a network that the connector does not serve', 'open', { network: 'mainnet' }, '404 UNKNOWN_CHAIN_ERROR'],
    ['a connector that there is not', 'price', { connector: 'perps' }, '404 UNKNOWN_CONNECTOR'],
  ] as const) {
    it(`refuse ${title}`, () => refused(verb, fields, expected, field))
  }

  it('answer 1016 for a connector without perpetuals, as other groups do for a connector without them', async () => {
    for (const verb of Object.keys(fieldsOf)) await refused(verb, uniswap, '501 UNSUPPORTED')
    for (const path of ['/amm/price', '/amm/trade', '/amm/estimateGas', '/amm/liquidity/price', '/amm/liquidity/positions']) {
      const fields = path.includes('liquidity') ? { token0: 'WETH', token1: 'USDC', fee: 500 } : path.includes('Gas') ? {} : swap
      const wallet = /trade|positions/.test(path) ? { address: traders } : {}
      const asked = path.endsWith('positions') ? wallet : { ...fields, ...wallet }
      expect(outcome(await client.post(path, { ...asked, ...perp })), path).to.equal('501 UNSUPPORTED')
    }
  })

  it('show and spend only wallets of the certificate', async () => {
    const { trader, reader, visitor, idle } = server.as
    for (const prefix of ['/perpAMM', '/perp']) {
      for (const verb of Object.keys(fieldsOf)) {
        const fields = fieldsOf[verb] ?? {}
        const wallet = ['address', 'wallet_address'].find((name) => name in fields)
        const outcomes = async (by: Client, over: object = {}) => outcome(await ask(verb, over, prefix, by))
        const about = `${prefix}/${verb}`
        if (wallet === undefined) {
          for (const by of [trader, reader, visitor]) expect(await outcomes(by), about).to.equal('200')
          expect(await outcomes(idle), about).to.equal('403 FORBIDDEN')
          continue
        }
        for (const stranger of [admins, others]) expect(await outcomes(trader, { [wallet]: stranger }), about).to.equal('403 FORBIDDEN')
        expect(await outcomes(visitor), about).to.equal('403 FORBIDDEN')
        if (perpEndpoints.find(({ path }) => path === about)?.method === 'GET') {
          const got = async (by: Client, over: object) => outcome(await by.get(about, asQuery({ ...perp, ...fields, ...over })))
          expect([await got(trader, {}), await got(trader, { [wallet]: admins }), await got(visitor, {})], about).to.deep.equal([
            '200',
            '403 FORBIDDEN',
            '403 FORBIDDEN',
          ])
        }
        if (perpEndpoints.find(({ path }) => path === about)?.acts) expect(await outcomes(reader), about).to.equal('403 FORBIDDEN')
        else for (const by of [trader, reader]) expect(await outcomes(by), about).to.equal('200')
      }
    }
  })

  it('require an allowance to deposit, and name the spender', async () => {
    const { body: config } = await client.get('/connector/config', { connector: 'perp' })
    const none = { ...local, address: admins, spender: 'perp', token: 'USDC', amount: '0' }
    await mined(client, (await client.post('/evm/approve', none)).body.txHash)
    const { body, text } = await ask('deposit', { address: admins })
    expect([body.name, body.details?.spender], text).to.deep.equal(['INSUFFICIENT_ALLOWANCE', config.contractAddresses.local.vaultAddress])
  })

  it('count in /metrics by path, and stand in the OpenAPI document with their schemas', async () => {
    const { text } = await scrape(client)
    for (const { path } of perpEndpoints) expect(text, path).to.contain(`"${path}"`)
    const { body } = await client.get('/openapi.json')
    for (const { path, name } of perpEndpoints) {
      expect(body.paths, path).to.have.property(path)
      expect(body.components.schemas, name).to.include.keys(`${name}Request`, `${name}Response`)
    }
  })
})
