import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { SluiceError } from '../../../core/api/index.ts'
import { rpcTo } from '../../../core/devnet/anvil.ts'
import type { Answer } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import { handlers as verbs } from '../../../core/handlers/handlers.ts'
import { until } from '../../transactions/site.ts'
import { mined, noted } from '../../http/shared-server.ts'
import { inventExchange, say, type Lie } from './told-exchange.ts'

const venue = { chain: 'ethereum', network: 'local', connector: 'told-exchange' } as const
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const eth = { market: 'ETH-USD' }
const envelope = ['network', 'timestamp', 'latency']
const limit = { ...eth, side: 'BUY', orderType: 'LIMIT', price: '1500', amount: '0.1' } as const

const changed =
  (change: object): Lie =>
  async (usual, ...args) => ({ ...(await usual(...args)), ...change })
const each =
  (change: object): Lie =>
  async (usual, ...args) =>
    (await usual(...args)).map((one: object) => ({ ...one, ...change }))
const order = {
  orderId: '1',
  side: 'BUY',
  orderType: 'LIMIT',
  price: '1500',
  amount: '0.1',
  filledAmount: '0',
  state: 'OPEN',
  createdAt: 1,
  updatedAt: 1,
}
const ordered =
  (change: object): Lie =>
  async (_usual, _owner, { market = { id: 'eth', base: 'ETH', quote: 'USD' } }) => [{ ...order, market, ...change }]
/** The same of an exchange that keeps to the names that it is asked for. */
const known =
  (change: { orderId: string; [field: string]: unknown }): Lie =>
  async (usual, owner, query) =>
    query.names?.every(({ orderId }: { orderId?: string }) => orderId !== change.orderId) ? [] : ordered(change)(usual, owner, query)
const planned =
  (change: object): Lie =>
  async (usual, ...args) => {
    const plan = await usual(...args)
    return { ...plan, steps: plan.steps.map((step: object) => ({ ...step, ...change })) }
  }
/** Declared too, but by another connector. */
const sushiswapRouter = '0x016F103Ba6dF278471d2112a7a1776B52314A694'

/** By the path that is asked: what the exchange says instead. */
const lies: Readonly<Record<string, readonly (readonly [verb: string, lie: Lie])[]>> = {
  'GET /clob/markets': [
    ['markets', () => undefined],
    ['markets', each({ base: '' })],
    ['markets', each({ prices: { step: '0' } })],
    ['markets', each({ prices: { significantFigures: 0, maxDecimals: 2 } })],
    ['markets', each({ prices: 5 })],
    ['markets', each({ lotSize: '1e-3' })],
    ['markets', each({ lotSize: '0' })],
    ['markets', each({ takes: { LIMIT: [] } })],
    ['markets', each({ takes: { STOP: ['GTC'] } })],
    ['markets', each({ takes: { LIMIT: ['DAY'] } })],
    ['markets', each({ status: 'fine' })],
    ['markets', each({ makerFee: 0.1 })],
    ['markets', each({ maxLeverage: 50 })],
  ],
  'GET /clob/orders': [
    ['orders', () => ({})],
    ['orders', ordered({ orderId: 1 })],
    ['orders', ordered({ state: 'WAITING' })],
    ['orders', ordered({ side: 'LONG' })],
    ['orders', ordered({ price: '-1' })],
    ['orders', ordered({ filledAmount: undefined })],
    ['orders', ordered({ createdAt: 'now' })],
    ['orders', ordered({ market: { id: 'btc', base: 'BTC', quote: 'USD' } })],
  ],
  'GET /clob/trades': [
    ['trades', () => 5],
    ['trades', each({ market: { id: 'btc', base: 'BTC', quote: 'USD' } })],
    ['trades', each({ price: '0' })],
    ['trades', each({ fee: undefined })],
    ['trades', async (usual, ...args) => (await usual(...args)).toReversed()],
  ],
  'GET /clob/balances': [['balances', each({ total: 10 })]],
  'POST /clob/orders': [
    ['act', () => []],
    ['act', async (usual, ...args) => [...(await usual(...args)), ...(await usual(...args))]],
    ['act', each({ covers: [1] })],
    ['act', each({ plan: undefined })],
    ['act', each({ plan: { via: 'air', steps: [null], memo: null } })],
    ['act', each({ plan: { via: 'venue', steps: [null] } })],
    [
      'act',
      async (usual, ...args) => [
        { ...(await usual(...args))[0], plan: await planned({ to: sushiswapRouter })(async () => (await usual(...args))[0].plan) },
      ],
    ],
    [
      'act',
      async (usual, ...args) => [
        { ...(await usual(...args))[0], plan: await planned({ value: '1' })(async () => (await usual(...args))[0].plan) },
      ],
    ],
  ],
  'POST /clob/withdraw': [
    ['transferCollateral', () => undefined],
    ['transferCollateral', planned({ to: sushiswapRouter })],
    ['transferCollateral', planned({ value: '1' })],
  ],
  'GET /clob/margin/account': [
    ['account', changed({ mode: '' })],
    ['account', changed({ equity: 100 })],
    ['account', changed({ sharedWith: undefined })],
    ['account', changed({ tokens: [{ symbol: 'USD', deposited: '1' }] })],
  ],
  'GET /clob/perp/account': [
    ['account', changed({ notional: '-1' })],
    ['account', changed({ accountValue: undefined })],
  ],
  'GET /clob/perp/positions': [
    ['positions', each({ side: 'BUY' })],
    ['positions', each({ amount: '-1' })],
    ['positions', each({ marginMode: 'both' })],
    ['positions', each({ liquidationPrice: NaN })],
  ],
  'GET /clob/perp/funding/info': [
    ['prices', changed({ markPrice: '0' })],
    ['prices', changed({ nextFundingTimestamp: 0.5 })],
  ],
  'GET /clob/perp/funding/payments': [['fundingPayments', each({ rate: 1 })]],
  'POST /clob/perp/leverage': [['leverage', planned({ to: sushiswapRouter })]],
}

describe('an exchange with order books', function () {
  this.timeout(300_000)
  let folder: string
  let server: TestServer
  let made = 0
  const { now } = Date
  /** By how much the server's clock is. */
  let aheadMs = 0
  const newId = () => `told-${made++}`

  const fieldsOf = (path: string): object => {
    if (path.endsWith('orders')) return { ...limit, address }
    if (/(deposit|withdraw|borrow|repay)$/.test(path)) return { address, token: 'USDC', amount: '1' }
    if (path.endsWith('leverage')) return { address, ...eth, leverage: '5' }
    if (/(trades|info|lastTradePrice|orderBook)$/.test(path)) return eth
    return /(balances|account|positions|payments)$/.test(path) ? { address } : {}
  }
  const ask = (method: string, target: string, fields: object = {}, headers = {}): Promise<Answer> => {
    const known = { ...venue, ...fieldsOf(target), ...fields }
    if (method === 'GET') {
      const asked = target.endsWith('/orders') ? { ...venue, address, ...eth, ...fields } : known
      return server.client.get(target, asked)
    }
    return server.client.request(method, target, {
      headers: { 'content-type': 'application/json', ...headers },
      raw: JSON.stringify(known),
    })
  }
  const nonce = async (): Promise<number> =>
    (await server.client.get('/evm/nonce', { chain: 'ethereum', network: 'local', address })).body.nonce
  async function landed(target: string, fields: object = {}, headers = {}): Promise<Answer['body']> {
    const { body, status, text } = await ask('POST', target, fields, headers)
    expect(status, text).to.equal(200)
    await noted(server.client, body.txHash)
    return body
  }

  /** The clock is a day and more ahead for one request. */
  async function passDay(): Promise<void> {
    aheadMs = 26 * 3_600_000
    const { status } = await ask('POST', '/clob/orders', { price: '0' }, { 'idempotency-key': newId() })
    aheadMs = 0
    expect(status).to.equal(400)
  }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-told-'))
    await inventExchange(folder)
    // Before anything of the server keeps hold of it.
    Date.now = () => now() + aheadMs
    server = await startServer({ plugins: [folder], trusted: ['told-exchange'] })
  })
  afterEach(() => say({}))
  after(async () => {
    Date.now = now
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [asked, told] of Object.entries(lies)) {
    for (const [index, [verb, lie]] of told.entries()) {
      it(`appears in the error of an invalid response, and nothing is signed: ${asked}, ${verb} ${index + 1}`, async () => {
        const before = await nonce()
        const [method = '', target = ''] = asked.split(' ')
        say({ [verb]: lie })
        const { status, body, text } = await ask(method, target)
        expect([status, body.name], text).to.deep.equal([500, 'UNKNOWN_ERROR'])
        if (!/sends|calls/.test(body.message)) expect(body.message).to.contain("'told-exchange' has failed")
        expect(await nonce()).to.equal(before)
      })
    }
  }

  it('serves the endpoints of margin accounts', async () => {
    const account = await ask('GET', '/clob/margin/account')
    const { mode, sharedWith, marginRatio, tokens } = account.body
    expect({ mode, sharedWith, marginRatio }).to.deep.equal({ mode: 'portfolio', sharedWith: ['perpetuals'], marginRatio: '0' })
    expect(tokens.USD).to.deep.equal({ deposited: '120', borrowed: '20', available: '80', borrowRate: '0.05', borrowCap: '500' })
    for (const how of ['deposit', 'withdraw', 'borrow', 'repay']) {
      const body = await landed(`/clob/margin/${how}`)
      expect(body).to.have.all.keys('id', 'state', 'token', 'amount', 'txHash', 'nonce', ...envelope)
      expect(body).to.include({ id: body.txHash, state: 'PENDING', amount: '1.000000' })
      const { transactions } = (await server.client.get('/transactions', { txHash: body.txHash })).body
      expect(transactions[0].kind).to.equal('funds')
    }
    expect((await ask('POST', '/clob/margin/borrow', { amount: '0' })).body.details[0].field).to.equal('amount')
  })

  it('serves the endpoints of perpetuals', async () => {
    const { positions } = (await ask('GET', '/clob/perp/positions')).body
    expect(positions).to.deep.equal([
      {
        market: 'ETH-USD',
        tickerSymbol: 'ETHUSD',
        positionAmt: '1.5',
        positionSide: 'SHORT',
        unrealizedProfit: '-150',
        leverage: '3',
        entryPrice: '2000',
        markPrice: '2100',
        liquidationPrice: '2500',
        pendingFundingPayment: '0',
        marginMode: 'cross',
      },
      { ...positions[1], market: 'BTC-USD', liquidationPrice: '0', positionSide: 'LONG' },
    ])
    expect((await ask('GET', '/clob/perp/positions', { market: 'btc-usd' })).body.positions).to.deep.equal([positions[1]])
    const account = (await ask('GET', '/clob/perp/account')).body
    expect([Number(account.marginRatio), Number(account.leverage)]).to.deep.equal([1 / 3, 3])
    expect(account).to.have.all.keys(
      'accountValue',
      'freeCollateral',
      'collateral',
      'initialMargin',
      'maintenanceMargin',
      'marginRatio',
      'leverage',
      ...envelope,
    )
    expect((await ask('GET', '/clob/perp/funding/info')).body).to.include({ ...eth, fundingRate: '-0.00001', nextFundingTimestamp: 2e12 })
    expect((await ask('GET', '/clob/perp/funding/payments')).body.payments[0]).to.include({ ...eth, amount: '-0.01' })
    expect((await ask('GET', '/clob/perp/lastTradePrice')).body).to.include({ ...eth, lastTradePrice: '2000' })
    expect(await landed('/clob/perp/leverage')).to.include({ ...eth, leverage: '5', state: 'PENDING' })
    expect((await ask('POST', '/clob/perp/leverage', { leverage: '50.5' })).body.details[0].field).to.equal('leverage')
  })

  it('gets LONG and SHORT of a perpetual, leverage and reduceOnly', async () => {
    const sent: object[] = []
    say({ act: (usual, ...args) => (sent.push(args[1][0].order), usual(...args)) })
    await landed('/clob/perp/orders', {
      side: 'short',
      leverage: 5,
      reduceOnly: true,
      amount: '0.001',
      timeInForce: 'ioc',
      clientOrderId: 'p-1',
    })
    expect(sent).to.deep.equal([
      {
        clientOrderId: 'p-1',
        side: 'SELL',
        orderType: 'LIMIT',
        timeInForce: 'IOC',
        price: '1500',
        amount: '0.001',
        leverage: '5',
        reduceOnly: true,
      },
    ])
    expect((await ask('POST', '/clob/perp/orders', { leverage: '51' })).body.details[0].field).to.equal('leverage')
  })

  it('gets a MARKET order with a bound from the book, on the grid', async () => {
    for (const [side, bound] of [
      ['BUY', '2021'],
      ['SELL', '1979.1'],
    ])
      expect((await landed('/clob/orders', { side, orderType: 'MARKET', price: undefined })).limitPrice).to.equal(bound)
    const own = await landed('/clob/orders', { orderType: 'MARKET', price: undefined, limitPrice: '2500.19' })
    expect(own.limitPrice).to.equal('2500.1')
  })

  it('has its outcomes shown from the receipt, and its later reports', async () => {
    const { clientOrderId } = await landed('/clob/orders')
    const one = async () => (await ask('GET', '/clob/orders', { clientOrderId })).body.orders[0]
    const orderId = `on-exchange-${clientOrderId}`
    expect(await one()).to.include({ orderId, state: 'OPEN' })
    say({ orders: known({ orderId, state: 'PARTIALLY_FILLED', filledAmount: '0.040', averagePrice: '1499.50', updatedAt: Date.now() }) })
    expect(await one()).to.include({ orderId, state: 'PARTIALLY_FILLED', filledAmount: '0.04', averagePrice: '1499.5' })
    const listed = (await ask('GET', '/clob/orders')).body.orders.filter((each: { orderId: string }) => each.orderId === orderId)
    expect(listed).to.have.length(1)
    expect(listed[0]).to.include({ clientOrderId, state: 'PARTIALLY_FILLED' })
    say({
      outcome: () => {
        throw new Error('not today')
      },
    })
    // What was kept of it, where its block is final by then.
    expect((await one()).state).to.be.oneOf(['OPEN', 'PARTIALLY_FILLED'])

    const refused = await landed('/clob/orders')
    say({ outcome: () => [{ state: 'REJECTED', reason: 'it would trade at once' }] })
    const { orders } = (await ask('GET', '/clob/orders', { clientOrderId: refused.clientOrderId })).body
    expect(orders[0]).to.include({ state: 'REJECTED', reason: 'it would trade at once' })
  })

  it('has an end state stored by the time of the chain, not by a clock that is ahead of it', async () => {
    const { clientOrderId, txHash } = await landed('/clob/orders')
    const one = async () => (await ask('GET', '/clob/orders', { clientOrderId })).body.orders[0].state
    const orderId = `on-exchange-${clientOrderId}`
    await until('it is final', async () => {
      const { body } = await server.client.get('/network/poll', { chain: 'ethereum', network: 'local', txHash })
      return body.txState === 'CONFIRMED'
    })
    const filledAt = Date.now()
    aheadMs = 20 * 60_000
    say({ orders: known({ orderId, state: 'FILLED', filledAmount: '0.1', updatedAt: filledAt }) })
    expect(await one()).to.equal('FILLED')
    // The chain has taken that back.
    say({ orders: known({ orderId, state: 'OPEN', filledAmount: '0', updatedAt: filledAt }) })
    expect(await one()).to.equal('OPEN')
    await rpcTo(server.rpcUrl)('evm_increaseTime', 20 * 60)
    await mined(server.client, (await ask('POST', '/clob/orders')).body.txHash)
    say({ orders: known({ orderId, state: 'FILLED', filledAmount: '0.1', updatedAt: filledAt }) })
    expect(await one()).to.equal('FILLED')
    say({ orders: known({ orderId, state: 'OPEN', filledAmount: '0', updatedAt: filledAt }) })
    expect(await one()).to.equal('FILLED')
    aheadMs = 0
  })

  it('has no other order shown for the one that was named', async () => {
    const { clientOrderId } = await landed('/clob/orders')
    say({ orders: ordered({ orderId: 'of-somebody' }) })
    expect((await ask('GET', '/clob/orders', { clientOrderId })).body.name).to.equal('UNKNOWN_ERROR')
    expect((await ask('GET', '/clob/orders', { orderId: 'unknown' })).body.name).to.equal('UNKNOWN_ERROR')
  })

  it('gets the valid actions of a list of which it refuses some', async () => {
    const ids = Array.from({ length: 7 }, newId)
    const isBad = (id: string) => id === ids[1] || id === ids[6]
    say({
      act: (usual, owner, actions, at) => {
        if (actions.some(({ order: { clientOrderId } }: { order: { clientOrderId: string } }) => isBad(clientOrderId)))
          throw new SluiceError('TRADE_FAILED', 'The exchange would refuse one of them.', { details: { reason: 'odd' } })
        return usual(owner, actions, at)
      },
    })
    const { body, text } = await ask('POST', '/clob/batchOrders', {
      address,
      create: ids.map((clientOrderId) => ({ ...limit, clientOrderId })),
      ...Object.fromEntries(Object.keys(limit).map((name) => [name, undefined])),
    })
    const said = body.created.map(({ state, error }: { state?: string; error?: { name: string } }) => state ?? error?.name)
    expect(said, text).to.deep.equal(ids.map((id) => (isBad(id) ? 'TRADE_FAILED' : 'PENDING_OPEN')))
    for (const { txHash } of body.created) if (txHash) await mined(server.client, txHash)
  })

  it('has a batch fail as a whole, and its key freed, if nothing of it was sent for a temporary reason', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': newId() }
    const raw = JSON.stringify({ ...venue, address, create: [limit, { ...limit, price: '0' }] })
    const batch = () => server.client.request('POST', '/clob/batchOrders', { headers, raw })
    say({
      act: () => {
        throw new SluiceError('NETWORK', 'The exchange is away.')
      },
    })
    const before = await nonce()
    expect((await batch()).body.name).to.equal('NETWORK')
    expect(await nonce()).to.equal(before)
    say({})
    const { created } = (await batch()).body
    expect([created[0].state, created[1].error.name]).to.deep.equal(['PENDING_OPEN', 'INCOMPLETE_PARAMS'])
    await mined(server.client, created[0].txHash)
  })

  it('has the sent part of a batch shown, even if the exchange goes away before the rest', async () => {
    const away = () => {
      throw new SluiceError('NETWORK', 'The exchange is away.')
    }
    const batch = async (fields: object) => server.client.post('/clob/batchOrders', { ...venue, address, ...fields })
    const rpc = rpcTo(server.rpcUrl)
    await rpc('evm_setIntervalMining', 0)
    await rpc('evm_setAutomine', false)
    say({})
    const { body: waiting } = await server.client.post('/clob/orders', { ...venue, address, ...limit })
    // What waits is cancelled by a transaction in its place, for which the exchange is not needed.
    say({ act: away })
    const stopping = await batch({ create: [limit], cancel: [{ ...eth, clientOrderId: waiting.clientOrderId }] })
    expect(stopping.status, stopping.text).to.equal(200)
    const { created, cancelled } = stopping.body
    expect([cancelled[0].state, created[0].error.name]).to.deep.equal(['PENDING_CANCEL', 'NETWORK'])
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
    await mined(server.client, cancelled[0].txHash)

    for (const orders of [away, () => 'what is no list']) {
      say({
        act: (usual, owner, actions) => {
          if (actions.some((action: { do: string }) => action.do === 'cancel')) throw new SluiceError('TRADE_FAILED', 'It is over.')
          return usual(owner, actions)
        },
        orders,
      })
      const placing = await batch({ create: [limit], cancel: [{ ...eth, orderId: '77' }] })
      expect(placing.status, placing.text).to.equal(200)
      expect(placing.body.cancelled[0].error.name).to.equal('TRADE_FAILED')
      await mined(server.client, placing.body.created[0].txHash)
    }
    say({})
  })

  it('has the end state shown of an order that a batch could not cancel, and again when the request is repeated with its key', async () => {
    const { clientOrderId, txHash } = await landed('/clob/orders')
    await mined(server.client, txHash)
    const orderId = `on-exchange-${clientOrderId}`
    say({
      act: (usual, owner, actions) => {
        if (actions.some((action: { do: string }) => action.do === 'cancel')) throw new SluiceError('TRADE_FAILED', 'It is over.')
        return usual(owner, actions)
      },
      orders: ordered({ orderId, filledAmount: '0.1', averagePrice: '1500', state: 'FILLED' }),
    })
    const headers = { 'content-type': 'application/json', 'idempotency-key': newId() }
    const raw = JSON.stringify({ ...venue, address, create: [limit], cancel: [{ ...eth, clientOrderId }] })
    const { body, text } = await server.client.request('POST', '/clob/batchOrders', { headers, raw })
    expect(body.cancelled, text).to.deep.equal([{ orderId, clientOrderId, state: 'FILLED', filledAmount: '0.1' }])
    await mined(server.client, body.created[0].txHash)
    expect((await server.client.request('POST', '/clob/batchOrders', { headers, raw })).body.cancelled).to.deep.equal(body.cancelled)
  })

  it('gets no order twice when a request whose response was lost is repeated', async () => {
    const key = newId()
    const claim = { client: 'client', path: '/clob/orders', key, claim: 1 }
    const first = await landed('/clob/orders', {}, { 'idempotency-key': key })
    const before = await nonce()
    const { services } = server.kernel
    const [network] = services.registry.networks.filter((each) => each.chain === 'ethereum' && each.network === 'local')
    const found = services.registry.venue('told-exchange', 'ethereum', 'local')
    if (!network) throw new Error('The network is not there.')
    const caller = { id: 'client', fingerprint: '', permissions: new Set<never>(), wallets: 'all' } as const
    const keyed = ({ clientOrderId }: { clientOrderId: string }, of: object = {}) => ({
      claim: { ...claim, ...of },
      tag: clientOrderId.replace(/-0$/, ''),
      answerOf: () => ({ status: 200, body: '' }),
      onRecorded: () => {},
    })
    const context = { services, caller, requestId: 'again', signal: AbortSignal.timeout(200_000), network, venue: found }
    const again = await verbs.CLOBOrdersPost({ ...venue, address, ...limit }, { ...context, keyed: keyed(first) })
    expect(again).to.include({ clientOrderId: first.clientOrderId, state: 'OPEN', txHash: first.txHash, nonce: first.nonce })

    const create = [limit, { ...limit, clientOrderId: newId() }, { ...limit, price: '1501' }]
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const raw = JSON.stringify({ ...venue, address, create })
    const batch = await server.client.request('POST', '/clob/batchOrders', { headers, raw })
    for (const { txHash } of batch.body.created) await noted(server.client, txHash)
    const after = await nonce()
    expect(after).to.equal(before + 2)
    const repeated = await verbs.CLOBBatchOrders(
      { ...venue, address, create: create.map((each) => ({ ...each })) },
      { ...context, keyed: keyed(batch.body.created[0], { path: '/clob/batchOrders' }) },
    )
    expect(repeated.created.map(({ clientOrderId }) => clientOrderId)).to.deep.equal(
      batch.body.created.map(({ clientOrderId }: { clientOrderId: string }) => clientOrderId),
    )
    for (const { state } of repeated.created) expect(state).to.equal('OPEN')
    expect(await nonce()).to.equal(after)
  })

  it('gets no second order under a key, though the clock jumps a day ahead', async () => {
    const place = (key: string, fields: object = {}) => landed('/clob/orders', fields, { 'idempotency-key': key })
    const [key, clientOrderId] = [newId(), newId()]
    const first = await place(key)
    const named = await place(clientOrderId, { clientOrderId })
    await passDay()
    expect((await place(key)).txHash).to.equal(first.txHash)
    const other = await ask('POST', '/clob/orders', { price: '1502' }, { 'idempotency-key': key })
    expect(other.body.name).to.equal('IDEMPOTENCY_CONFLICT')
    const again = await ask('POST', '/clob/orders', { clientOrderId, price: '1502' }, { 'idempotency-key': clientOrderId })
    expect(again.body.name, named.txHash).to.equal('IDEMPOTENCY_CONFLICT')
  })

  it('has all trades of one millisecond listed across pages', async () => {
    const seen: string[] = []
    for (let cursor: string | undefined = '', pages = 0; cursor !== undefined && pages < 20; pages++) {
      const { trades, nextCursor }: Answer['body'] = (await ask('GET', '/clob/trades', { limit: 2, ...(cursor && { cursor }) })).body
      seen.push(...trades.map(({ tradeId }: { tradeId: string }) => tradeId))
      cursor = nextCursor
    }
    expect(seen).to.deep.equal(['0', '1', '2', '3', '4', '5', '6'])
  })

  it('has its orders and those of the journal listed once each, newest first, on pages of any size', async () => {
    const own: Answer['body'][] = []
    for (let i = 0; i < 4; i++) own.push(await landed('/clob/margin/orders'))
    const all = (await ask('GET', '/clob/margin/orders')).body.orders
    const times = all.map(({ createdAt }: { createdAt: number }) => createdAt)
    const foreign = [times[0] + 5, times[0], times[1], times[2] - 1, times[3] - 1, times[3] - 1, times[3] - 1, times[3] - 2].map(
      (createdAt, index) => ({
        ...order,
        orderId: `foreign-${index}`,
        createdAt,
        updatedAt: createdAt,
      }),
    )
    const ours = all.map(({ orderId, createdAt }: { orderId: string; createdAt: number }) => ({
      ...order,
      orderId,
      createdAt: createdAt + 3,
      updatedAt: createdAt,
    }))
    const market = { id: 'eth', base: 'ETH', quote: 'USD' }
    say({ orders: async () => [...foreign, ...ours].map((one) => ({ ...one, market })) })
    const whole = (await ask('GET', '/clob/margin/orders')).body.orders
    expect(whole).to.have.length(foreign.length + ours.length)
    const newestFirst = whole.map(({ createdAt }: { createdAt: number }) => createdAt)
    expect(newestFirst).to.deep.equal(newestFirst.toSorted((a: number, b: number) => b - a))
    expect(new Set(whole.map(({ orderId }: { orderId: string }) => orderId)).size).to.equal(whole.length)
    for (const size of [1, 2, 3, 5]) {
      const paged: string[] = []
      for (let cursor: string | undefined = '', pages = 0; cursor !== undefined && pages < 50; pages++) {
        const { orders, nextCursor }: Answer['body'] = (await ask('GET', '/clob/margin/orders', { limit: size, ...(cursor && { cursor }) }))
          .body
        paged.push(...orders.map(({ orderId }: { orderId: string }) => orderId))
        cursor = nextCursor
      }
      expect(paged, `pages of ${size}`).to.deep.equal(whole.map(({ orderId }: { orderId: string }) => orderId))
    }
  })
})
