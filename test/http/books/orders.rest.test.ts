import { expect } from 'chai'
import type { Answer, Client } from '../../../testkit/client.ts'
import { local, mined, noted, others, outcome, sharedServer, traders, type SharedServer } from '../shared-server.ts'

const oasis = { ...local, connector: 'oasis' } as const
const weth = { market: 'WETH-USDC' }
const envelope = ['network', 'timestamp', 'latency']
const bad = '400 INCOMPLETE_PARAMS'

describe('/clob/orders', function () {
  this.timeout(300_000)
  let server: SharedServer
  let client: Client
  let made = 0
  /** No two runs of a test use one name. */
  const newId = () => `test-${process.pid}-${Date.now()}-${made++}`

  const bid = (fields: object = {}) => ({ ...weth, side: 'BUY', orderType: 'LIMIT', price: '1000', amount: '0.01', ...fields })
  const place = (fields: object = {}, headers = {}, by = client): Promise<Answer> =>
    by.post('/clob/orders', { ...oasis, address: traders, ...bid(fields) }, { headers })
  const cancel = (fields: object, address: string = traders): Promise<Answer> =>
    client.request('DELETE', '/clob/orders', {
      headers: { 'content-type': 'application/json' },
      raw: JSON.stringify({ ...oasis, address, ...weth, ...fields }),
    })
  const list = async (fields: Record<string, string> = {}, address: string = traders): Promise<Answer['body']> => {
    const answer = await client.get('/clob/orders', { ...oasis, address, ...fields })
    expect(answer.status, answer.text).to.equal(200)
    return answer.body
  }
  const one = async (clientOrderId: string) => (await list({ clientOrderId })).orders[0]
  /** Waits until an order is as the test needs it: the journal looks once per block. */
  async function until(clientOrderId: string, ...states: string[]): Promise<Answer['body']> {
    const end = Date.now() + 180_000
    for (;;) {
      const order = await one(clientOrderId)
      if (states.includes(order.state)) return order
      if (Date.now() > end) throw new Error(`${clientOrderId} is ${order.state}, not ${states.join(' or ')}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  async function open(fields: object = {}): Promise<Answer['body']> {
    const { status, body, text } = await place(fields)
    expect(status, text).to.equal(200)
    return until(body.clientOrderId, 'OPEN')
  }
  const nonce = async (): Promise<number> => (await client.get('/evm/nonce', { ...local, address: traders })).body.nonce

  before(async () => {
    server = await sharedServer()
    client = server.client
    for (const address of [traders, others])
      for (const token of ['WETH', 'USDC']) {
        const { body } = await client.post('/evm/approve', { ...local, address, spender: 'oasis', token })
        await mined(client, body.txHash)
      }
  })

  it('shows an order as placed, open and cancelled', async () => {
    const placed = await place()
    expect(placed.body).to.have.all.keys('clientOrderId', 'state', 'txHash', 'nonce', ...envelope)
    expect(placed.body.state).to.equal('PENDING_OPEN')
    const order = await until(placed.body.clientOrderId, 'OPEN')
    expect(order).to.deep.include({ ...weth, side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', price: '1000', amount: '0.01' })
    expect(order).to.include({ filledAmount: '0', txHash: placed.body.txHash })
    expect(order.updatedAt).to.be.at.least(order.createdAt)

    const cancelled = await cancel({ orderId: order.orderId })
    expect(cancelled.body).to.have.all.keys('orderId', 'clientOrderId', 'state', 'txHash', 'nonce', ...envelope)
    expect(cancelled.body).to.include({ orderId: order.orderId, state: 'PENDING_CANCEL' })
    await until(order.clientOrderId, 'CANCELED')
    const again = await cancel({ clientOrderId: order.clientOrderId })
    expect(again.body).to.deep.include({ state: 'CANCELED', filledAmount: '0' })
    expect(again.body).not.to.have.property('txHash')
  })

  it('accepts the fields of GET and DELETE in the query or in a body, and not in both', async () => {
    const { orderId, clientOrderId } = await open()
    const asked = { ...oasis, address: traders, orderId: Number(orderId) }
    const asBody = { headers: { 'content-type': 'application/json' }, raw: JSON.stringify(asked) }
    const got = await client.request('GET', '/clob/orders', asBody)
    expect(got.body.orders.map((each: { clientOrderId: string }) => each.clientOrderId)).to.deep.equal([clientOrderId])
    expect(outcome(await client.request('GET', `/clob/orders?chain=ethereum`, asBody))).to.equal(bad)
    const query = new URLSearchParams({ ...oasis, address: traders, ...weth, clientOrderId }).toString()
    expect(outcome(await client.request('DELETE', `/clob/orders?${query}`, asBody))).to.equal(bad)
    expect((await client.request('DELETE', `/clob/orders?${query}`)).body.state).to.equal('PENDING_CANCEL')
    await until(clientOrderId, 'CANCELED')
  })

  it('refuses an invalid order by its field, and sends nothing', async () => {
    const before = await nonce()
    for (const [fields, expected, field] of [
      [{ market: 'WETH-USD' }, '404 UNKNOWN_ORDER'],
      [{ price: undefined }, bad, 'price'],
      [{ price: '0' }, bad, 'price'],
      [{ orderType: 'MARKET' }, bad, 'price'],
      [{ amount: '0' }, bad, 'amount'],
      [{ amount: '0.0000000000000000001' }, bad, 'amount'],
      [{ amount: '0.0001' }, bad, 'amount'],
      [{ price: '1', amount: '0.01' }, bad, 'amount'],
      [{ orderType: 'LIMIT_MAKER' }, '501 UNSUPPORTED'],
      [{ timeInForce: 'IOC' }, '501 UNSUPPORTED'],
      [{ orderType: 'STOP' }, bad, 'orderType'],
      [{ leverage: '2' }, bad, 'leverage'],
      [{ reduceOnly: true }, bad, 'reduceOnly'],
      [{ side: 'LONG' }, bad, 'side'],
      [{ clientOrderId: 'has a space' }, bad, 'clientOrderId'],
      [{ clientOrderId: 'x'.repeat(65) }, bad, 'clientOrderId'],
      [{ orderType: 'MARKET', price: undefined, limitPrice: '10' }, '422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE'],
      [{ orderType: 'MARKET', price: undefined, side: 'SELL', limitPrice: '100000' }, '422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE'],
      [{ orderType: 'MARKET', price: undefined, allowedSlippage: '1/2' }, bad, 'allowedSlippage'],
      [{ amount: '100000' }, '422 INSUFFICIENT_BALANCE'],
    ] as const) {
      const answer = await place(fields)
      expect(outcome(answer), `${JSON.stringify(fields)}: ${answer.text}`).to.equal(expected)
      if (field !== undefined) expect(answer.body.details.map((each: { field: string }) => each.field)).to.include(field)
    }
    expect(await nonce()).to.equal(before)
  })

  it('suggests the nearest valid values', async () => {
    const { body } = await place({ price: '1000', amount: '0.0100000000000000015' })
    expect(body.details[0].nearest).to.deep.equal(['0.010000000000000001', '0.010000000000000002'])
  })

  it('fills a MARKET order within the slippage of the best price, and shows the limit', async () => {
    const { sells } = (await client.get('/clob/orderBook', { ...oasis, ...weth })).body
    const placed = await place({ orderType: 'MARKET', price: undefined })
    const filled = await until(placed.body.clientOrderId, 'FILLED')
    expect(filled).to.include({ filledAmount: '0.01', averagePrice: sells[0].price, orderType: 'MARKET', price: placed.body.limitPrice })
    expect(Number(placed.body.limitPrice) / Number(sells[0].price)).to.be.within(1.0099, 1.01)
    const { trades } = (await client.get('/clob/trades', { ...oasis, ...weth, address: traders, limit: '1' })).body
    expect(trades[0]).to.include({ side: 'BUY', amount: '0.01', price: sells[0].price, txHash: placed.body.txHash })
  })

  it('accepts a client order id once', async () => {
    const clientOrderId = newId()
    await open({ clientOrderId })
    const before = await nonce()
    const { body } = await place({ clientOrderId })
    expect([body.name, body.details]).to.deep.equal(['IDEMPOTENCY_CONFLICT', { clientOrderId }])
    expect(await nonce()).to.equal(before)
    await cancel({ clientOrderId })
  })

  it('places and cancels once for one Idempotency-Key', async () => {
    const key = { 'idempotency-key': newId() }
    const [first, again] = [await place({}, key), await place({}, key)]
    expect(again.text).to.equal(first.text)
    expect(outcome(await place({ amount: '0.02' }, key))).to.equal('422 IDEMPOTENCY_CONFLICT')
    await until(first.body.clientOrderId, 'OPEN')
    const { clientOrderId } = first.body
    const remove = () =>
      client.request('DELETE', '/clob/orders', {
        headers: { 'content-type': 'application/json', 'idempotency-key': newIdOf(clientOrderId) },
        raw: JSON.stringify({ ...oasis, address: traders, ...weth, clientOrderId }),
      })
    const newIdOf = (id: string) => `cancel-${id}`
    const removed = await remove()
    expect(removed.body.state).to.equal('PENDING_CANCEL')
    expect((await remove()).text).to.equal(removed.text)
    await until(clientOrderId, 'CANCELED')
  })

  it('finds no order of another wallet, or without an id', async () => {
    const { orderId, clientOrderId } = await open()
    for (const name of [{ orderId }, { clientOrderId }] as Record<string, string>[]) {
      expect(outcome(await cancel(name, others))).to.equal('404 UNKNOWN_ORDER')
      expect(outcome(await client.get('/clob/orders', { ...oasis, address: others, ...name }))).to.equal('404 UNKNOWN_ORDER')
    }
    for (const name of [{ orderId: '999999999' }, { clientOrderId: newId() }, { orderId, clientOrderId: newId() }])
      expect(outcome(await cancel(name)), JSON.stringify(name)).to.equal('404 UNKNOWN_ORDER')
    expect(outcome(await cancel({}))).to.equal(bad)
    expect(outcome(await cancel({ orderId, market: 'WETH-DAI' }))).to.equal('404 UNKNOWN_ORDER')
    expect((await one(clientOrderId)).state).to.equal('OPEN')
    await cancel({ orderId })
    await until(clientOrderId, 'CANCELED')
  })

  it('shows an order as filled that was filled before its cancel', async () => {
    const { sells, buys } = (await client.get('/clob/orderBook', { ...oasis, ...weth })).body
    const price = String((Number(sells[0].price) + Number(buys[0].price)) / 2)
    const { clientOrderId } = await open({ price })
    const taken = await client.post('/clob/orders', {
      ...oasis,
      ...weth,
      address: others,
      side: 'SELL',
      orderType: 'MARKET',
      limitPrice: price,
      amount: '0.01',
    })
    await mined(client, taken.body.txHash)
    const { body } = await cancel({ clientOrderId })
    expect(body).to.include({ state: 'FILLED', filledAmount: '0.01' })
    expect(body).not.to.have.property('txHash')
  })

  it('keeps each fill with the transaction that placed the order, though it was final before', async () => {
    const { sells, buys } = (await client.get('/clob/orderBook', { ...oasis, ...weth })).body
    const price = String((Number(sells[0].price) + Number(buys[0].price)) / 2)
    const { clientOrderId, txHash } = await open({ price })
    const ordersOf = async () => (await client.get('/transactions', { ...local, txHash })).body.transactions[0].orders
    expect((await ordersOf())[0]).to.deep.include({ clientOrderId, ...weth, side: 'BUY', price, amount: '0.01', fills: [] })
    const taking = { ...oasis, ...weth, address: others, side: 'SELL', orderType: 'MARKET', limitPrice: price, amount: '0.01' }
    const taken = await client.post('/clob/orders', taking)
    await mined(client, taken.body.txHash)
    await until(clientOrderId, 'FILLED')
    let [order] = await ordersOf()
    for (const end = Date.now() + 180_000; order.fills.length === 0 && Date.now() < end; [order] = await ordersOf())
      await new Promise((resolve) => setTimeout(resolve, 200))
    const [fill, ...more] = order.fills
    expect(more).to.deep.equal([])
    expect(fill).to.include({ price, amount: '0.01', fee: '0', txHash: taken.body.txHash })
    expect(fill.timestamp).to.be.a('number')
  })

  it('has the fills of orders that were filled at once in the book, each for its own side', async () => {
    const since = new Date().toISOString()
    const { sells, buys } = (await client.get('/clob/orderBook', { ...oasis, ...weth })).body
    const best = Number(sells[0].price)
    const above = String(Math.ceil(best * 1.01))
    // The wallet's own offer is the best: the second order takes it, and has no id at the exchange.
    const own = await open({ side: 'SELL', price: String((best + Number(buys[0].price)) / 2), amount: '0.01' })
    const taken = [
      await place({ orderType: 'MARKET', price: undefined, limitPrice: above, amount: '0.02' }),
      await place({ price: above, amount: '0.03' }),
    ]
    for (const { status, body, text } of taken) {
      expect(status, text).to.equal(200)
      expect(await until(body.clientOrderId, 'FILLED')).not.to.have.property('orderId')
    }
    await until(own.clientOrderId, 'FILLED')
    const query = { address: traders, since, ...local }
    let book: Answer['body']
    const end = Date.now() + 180_000
    do book = (await client.get('/books', query)).body
    while ((book.pairs[0]?.trades !== 4 || book.lacking.fills > 0) && Date.now() < end)
    expect(book.lacking).to.include({ fills: 0 })
    expect(book.pairs[0]).to.include({ base: 'WETH', quote: 'USDC', trades: 4, bought: '0.05', sold: '0.01' })
    const fillsOf = async (txHash: string) =>
      (await client.get('/transactions', { ...local, txHash })).body.transactions[0].orders[0].fills.map(
        ({ amount, txHash: by }: { amount: string; txHash: string }) => [amount, by],
      )
    expect(await fillsOf(own.txHash)).to.deep.equal([['0.01', taken[0]?.body.txHash]])
    expect(await fillsOf(taken[0]?.body.txHash)).to.deep.equal(['0.01', '0.01'].map((amount) => [amount, taken[0]?.body.txHash]))
    expect(await fillsOf(taken[1]?.body.txHash)).to.deep.equal([['0.03', taken[1]?.body.txHash]])
  })

  it('cancels an order that is not mined yet, by its client order id', async () => {
    await server.rpc('evm_setIntervalMining', 0)
    await server.rpc('evm_setAutomine', false)
    try {
      const placed = await place()
      const { body } = await cancel({ clientOrderId: placed.body.clientOrderId })
      expect(body).to.include({ clientOrderId: placed.body.clientOrderId, state: 'PENDING_CANCEL', nonce: placed.body.nonce })
      expect(body.txHash).not.to.equal(placed.body.txHash)
      expect((await one(placed.body.clientOrderId)).state).to.equal('PENDING_CANCEL')
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
      expect((await until(placed.body.clientOrderId, 'FAILED')).filledAmount).to.equal('0')
    } finally {
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
    }
  })

  it('sends one cancel, however often it is requested before it is mined', async () => {
    const { orderId, clientOrderId } = await open()
    await server.rpc('evm_setIntervalMining', 0)
    await server.rpc('evm_setAutomine', false)
    try {
      const first = await cancel({ clientOrderId })
      expect(first.body).to.include.keys('txHash', 'nonce')
      for (const name of [{ orderId }, { clientOrderId }]) {
        const { body } = await cancel(name)
        expect(body).to.include({ orderId, clientOrderId, state: 'PENDING_CANCEL' })
        expect(body).not.to.have.property('txHash')
      }
      expect(await nonce()).to.equal(first.body.nonce + 1)
    } finally {
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
    }
    await until(clientOrderId, 'CANCELED')
  })

  it('cancels an order that is being replaced, and not its replacement', async () => {
    const fees = { maxFeePerGas: '100', maxPriorityFeePerGas: '50' }
    const cancels = async () =>
      (await client.get('/transactions', { ...local, address: traders, limit: '500' })).body.transactions.filter(
        ({ kind }: { kind: string }) => kind === 'cancel',
      ).length
    await server.rpc('evm_setIntervalMining', 0)
    await server.rpc('evm_setAutomine', false)
    try {
      const before = await cancels()
      const first = await place()
      const second = await place({ nonce: first.body.nonce, ...fees })
      expect([first.status, second.status], second.text).to.deep.equal([200, 200])
      const { body } = await cancel({ clientOrderId: first.body.clientOrderId })
      expect(body).to.include({ clientOrderId: first.body.clientOrderId, state: 'PENDING_CANCEL' })
      expect(body).not.to.have.property('txHash')
      expect(await cancels()).to.equal(before)

      const third = await place()
      for (const isSent of [true, false]) {
        const stopped = await cancel({ clientOrderId: third.body.clientOrderId })
        expect([stopped.body.state, 'txHash' in stopped.body]).to.deep.equal(['PENDING_CANCEL', isSent])
        expect(await cancels()).to.equal(before + 1)
      }
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
      await until(second.body.clientOrderId, 'OPEN')
      await until(first.body.clientOrderId, 'FAILED')
      await until(third.body.clientOrderId, 'FAILED')
    } finally {
      await server.rpc('evm_setAutomine', true)
      await server.rpc('evm_setIntervalMining', 1)
    }
  })

  it('lists orders newest first, each once, by page and state', async () => {
    const names = [newId(), newId(), newId()]
    for (const clientOrderId of names) await open({ clientOrderId })
    const all = (await list()).orders.map(({ clientOrderId }: { clientOrderId: string }) => clientOrderId)
    expect(all.slice(0, 3)).to.deep.equal(names.toReversed())
    const paged: string[] = []
    for (let cursor: string | undefined = '', pages = 0; cursor !== undefined && pages < 100; pages++) {
      const { orders, nextCursor }: Answer['body'] = await list({ limit: '2', ...(cursor && { cursor }) })
      expect(orders.length).to.be.within(1, 2)
      paged.push(...orders.map(({ clientOrderId }: { clientOrderId: string }) => clientOrderId))
      cursor = nextCursor
    }
    expect(paged).to.deep.equal(all)
    const openOnes = (await list({ state: 'open', limit: '2' })).orders
    expect(openOnes.map(({ state }: { state: string }) => state)).to.deep.equal(['OPEN', 'OPEN'])
    expect((await list({ state: 'REJECTED' })).orders).to.deep.equal([])
    expect(outcome(await client.get('/clob/orders', { ...oasis, address: traders, cursor: 'x' }))).to.equal(bad)
    for (const clientOrderId of names) await cancel({ clientOrderId })
    for (const clientOrderId of names) await until(clientOrderId, 'CANCELED')
  })

  it('lists orders of other software once, among those of this server', async () => {
    const { orderId, clientOrderId } = await open()
    const ids = (await list()).orders.map((each: { orderId?: string }) => each.orderId)
    expect(ids.filter((id: string) => id === orderId)).to.have.length(1)
    // The devnet's maker never asked this server.
    const { chain, network } = local
    const maker = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
    const answer = await client.get('/clob/orders', { chain, network, connector: 'oasis', address: maker, limit: '3' })
    for (const each of answer.body.orders ?? []) expect(each).not.to.have.property('txHash')
    await cancel({ clientOrderId })
    await until(clientOrderId, 'CANCELED')
  })

  it('journals orders and cancels with their kind', async () => {
    const { body } = await place()
    await noted(client, body.txHash)
    const { transactions } = (await client.get('/transactions', { txHash: body.txHash })).body
    expect(transactions[0]).to.include({ kind: 'order', connector: 'oasis' })
    const removed = await cancel({ clientOrderId: body.clientOrderId })
    expect((await client.get('/transactions', { txHash: removed.body.txHash })).body.transactions[0].kind).to.equal('order-cancel')
    await until(body.clientOrderId, 'CANCELED')
  })
})
