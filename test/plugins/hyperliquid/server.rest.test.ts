import { createServer } from 'node:http'
import { HttpTransport, InfoClient } from '@nktkas/hyperliquid'
import { expect } from 'chai'
import { startServer, venuesReady, type TestServer } from '../../../testkit/server.ts'
import { follow, type Follower } from '../../events/client.ts'
import { failsWith, losesAnswer, losesRequest, type Fault } from '../../../tools/hyperliquid-simulator/exchange/faults.ts'
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { outcome } from '../../http/shared-server.ts'
import { startSite, type Site } from './site.ts'

describe('a server on Hyperliquid', function () {
  this.timeout(300_000)
  let site: Site
  let server: TestServer
  let of: { chain: string; network: string; connector: string; address: string }
  before(async () => {
    site = await startSite()
    server = await startServer(site.server)
    await venuesReady(server.kernel, site)
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
  })
  after(async () => {
    await server?.stop()
    await site?.stop()
  })
  afterEach(() => site.exchange.faults.clear())

  const loses = (fault: Fault, type: string, times = Infinity) =>
    site.exchange.faults.add(fault, (carried) => carried.endpoint === 'exchange' && carried.type === type, times)
  const order = (clientOrderId: string) => ({
    ...of,
    market: 'HYPE-USDC',
    side: 'BUY',
    orderType: 'LIMIT',
    price: '39',
    amount: '1',
    clientOrderId,
  })
  const stateOf = async (clientOrderId: string): Promise<string> => {
    const { status, body, text } = await server.client.get('/clob/orders', { ...of, clientOrderId })
    expect(status, text).to.equal(200)
    return body.orders[0]?.state
  }
  const entryOf = async (id: string) =>
    (await server.client.get('/transactions', { chain: of.chain, network: of.network, txHash: id })).body.transactions[0]

  it('has a chain and a connector of the same name', async () => {
    const { body } = await server.client.get('/plugins')
    expect(body.map(({ name, kind, state }: Record<string, string>) => `${kind} ${name} ${state}`)).to.deep.equal([
      'chain hyperliquid loaded',
      'connector hyperliquid loaded',
    ])
    const config = await server.client.get('/network/chain_config', { chain: 'hyperliquid' })
    expect(config.body).to.have.nested.property('testnet.rpcUrls')
  })

  /** One entry more in the lists of an answer. */
  // eslint-disable-next-line typescript/no-explicit-any -- the exchange's answers
  const adds = (type: string, change: (answer: any) => void) =>
    site.exchange.faults.add(
      ({ run, send }) => {
        const answer = run()
        const body = structuredClone(answer.body)
        change(body)
        send({ ...answer, body })
      },
      (carried) => carried.endpoint === 'info' && carried.type === type,
    )

  it('shows the other balances, positions and trades where entries cannot be read, and says which are missing', async () => {
    adds('spotClearinghouseState', ({ balances }) => balances.push({ coin: 'ODD', token: 9, total: 'much', hold: '0' }, null))
    const spot = await server.client.get('/clob/balances', of)
    expect(outcome(spot), spot.text).to.equal('200')
    expect(spot.body.balances).to.have.property('USDC')
    const missing = ({ body }: typeof spot, name: string) => body.unavailable.map((each: Record<string, string>) => each[name])
    expect(missing(spot, 'token')[0]).to.equal('ODD')
    expect(missing(spot, 'token')).to.have.length(2)

    const held = (coin: string, more: object = {}) => ({
      position: {
        coin,
        szi: '1',
        leverage: { type: 'cross', value: 3 },
        entryPx: '40',
        positionValue: '40',
        unrealizedPnl: '0',
        liquidationPx: null,
        maxLeverage: 10,
        ...more,
      },
    })
    const { address: _, ...venue } = of
    const coin = Object.keys((await server.client.get('/clob/perp/markets', venue)).body.markets).map((name) => name.replace('-USD', ''))
    const [good = '', odd = ''] = coin
    adds('clearinghouseState', ({ assetPositions }) =>
      assetPositions.push(held(good), held(odd, { szi: 'much' }), held('NOWHERE'), 'nothing'),
    )
    const positions = await server.client.get('/clob/perp/positions', of)
    expect(outcome(positions), positions.text).to.equal('200')
    expect(positions.body.positions.map(({ market }: { market: string }) => market)).to.deep.equal([`${good}-USD`])
    expect(missing(positions, 'market').slice(0, 2)).to.deep.equal([`${odd}-USD`, 'NOWHERE-USD'])
    expect(missing(positions, 'market')).to.have.length(3)
    site.exchange.faults.clear()
    adds('clearinghouseState', ({ assetPositions }) => assetPositions.push(held(odd, { szi: 'much' })))
    const none = await server.client.get('/clob/perp/positions', of)
    expect(outcome(none), none.text).to.equal('503 NETWORK')
    // A sum without one of its parts would be wrong.
    const account = await server.client.get('/clob/perp/account', of)
    expect(outcome(account), account.text).to.equal('503 NETWORK')

    adds('recentTrades', (trades) =>
      trades.push(
        { coin: '@107', side: 'A', px: '40', sz: '1', time: 2, hash: `0x${'1'.repeat(64)}`, tid: 76 },
        { coin: '@107', tid: 77, time: 1, px: null },
      ),
    )
    const trades = await server.client.get('/clob/trades', {
      chain: of.chain,
      network: of.network,
      connector: of.connector,
      market: 'HYPE-USDC',
    })
    expect(outcome(trades), trades.text).to.equal('200')
    expect(missing(trades, 'tradeId')).to.deep.equal(['77'])
  })

  it('has in its book what the exchange liquidated', async () => {
    const wallet = { ...of, address: site.wallets[1] ?? '' }
    const other = `0x${'d'.repeat(40)}`
    const { exchange } = site
    exchange.clear('BTC')
    exchange.setOracle('BTC', '100000')
    const amount = '0.05'
    exchange.place(other, { coin: 'BTC', side: 'SELL', price: '100000', size: amount })
    const leverage = { ...wallet, market: 'BTC-USD', leverage: '10', marginMode: 'isolated' }
    expect(outcome(await server.client.post('/clob/perp/leverage', leverage))).to.equal('200')
    const bought = { ...wallet, market: 'BTC-USD', side: 'BUY', orderType: 'LIMIT', price: '100000', amount }
    const placed = await server.client.post('/clob/perp/orders', { ...bought, clientOrderId: 'doomed' })
    expect(outcome(placed), placed.text).to.equal('200')
    exchange.place(other, { coin: 'BTC', side: 'BUY', price: '91000', size: amount })
    exchange.setOracle('BTC', '91100')
    expect((await server.client.get('/clob/perp/positions', wallet)).body.positions).to.deep.equal([])
    const inBook = async (fields: object = {}) => {
      const answer = await server.client.get('/books', { chain: of.chain, network: of.network, address: wallet.address, ...fields })
      expect(outcome(answer), answer.text).to.equal('200')
      return answer.body.perpetuals[0]
    }
    await until(async () => (await inBook())?.fills === 2)
    const { fee, realizedProfit, ...perpetual } = await inBook()
    expect(perpetual).to.include({ market: 'BTC-USD', fills: 2, liquidations: 1 }).and.to.not.have.property('lacksFills')
    const info = new InfoClient({ transport: new HttpTransport({ apiUrl: exchange.apiUrl, isTestnet: exchange.testnet }) })
    const own = await info.userFills({ user: wallet.address })
    const fees = own.reduce((sum, each) => sum + Number(each.fee), 0)
    expect(Number(fee)).to.be.closeTo(fees, 1e-6)
    expect(Number(realizedProfit)).to.be.closeTo(-9_000 * Number(amount) - fees, 1e-6)
  })

  it('shows the other funding payments where some cannot be read, and says which are missing', async () => {
    const { address: _, ...venue } = of
    const [good = '', odd = ''] = Object.keys((await server.client.get('/clob/perp/markets', venue)).body.markets)
    const paid = (market: string, more: object = {}) => ({
      time: Date.now() - 60_000,
      hash: `0x${'0'.repeat(64)}`,
      delta: {
        type: 'funding',
        coin: market.replace('-USD', ''),
        usdc: '-0.5',
        szi: '1',
        fundingRate: '0.0000125',
        nSamples: null,
        ...more,
      },
    })
    adds('userFunding', (payments) => payments.push(paid(good), paid(odd, { usdc: 'much' }), null))
    const all = await server.client.get('/clob/perp/funding/payments', of)
    expect(outcome(all), all.text).to.equal('200')
    expect(all.body.payments.map(({ market }: { market: string }) => market)).to.include(good)
    expect(all.body.unavailable.map(({ market }: { market: string }) => market)).to.include(odd)
    // What is of another market is not missing.
    site.exchange.faults.clear()
    adds('userFunding', (payments) => payments.push(paid(good), paid(odd, { usdc: 'much' })))
    const one = await server.client.get('/clob/perp/funding/payments', { ...of, market: good })
    expect(one.body).not.to.have.property('unavailable')
    expect(one.body.payments[0]).to.include({ market: good, amount: '-0.5' })
  })

  it('shows the orders of a market where one of another kind cannot be read, and none where one of its own cannot', async () => {
    const placed = await server.client.post('/clob/orders', order('beside-others'))
    expect(placed.body.state, placed.text).to.equal('OPEN')
    const { address: _, ...venue } = of
    const [perp = ''] = Object.keys((await server.client.get('/clob/perp/markets', venue)).body.markets)
    const odd = (coin: string) => ({ coin, side: 'A', limitPx: null, sz: '1', origSz: '1', oid: 999_999_999, timestamp: 1 })
    adds('frontendOpenOrders', (orders) => orders.push(odd(perp.replace('-USD', ''))))
    adds('historicalOrders', (orders) => orders.push({ order: odd(perp.replace('-USD', '')), status: 'open', statusTimestamp: 1 }))
    const spot = await server.client.get('/clob/orders', of)
    expect(outcome(spot), spot.text).to.equal('200')
    expect(spot.body.orders.map(({ clientOrderId }: { clientOrderId: string }) => clientOrderId)).to.include('beside-others')
    const refused = await server.client.get('/clob/perp/orders', of)
    expect(outcome(refused), refused.text).to.equal('503 NETWORK')
    expect(refused.body.message).to.contain('the order 999999999')
    site.exchange.faults.clear()
    // A state that cannot be read of an order that is open now.
    const { orderId } = placed.body
    adds('historicalOrders', (orders) => orders.push({ order: { oid: Number(orderId) }, status: 'odd' }))
    expect(outcome(await server.client.get('/clob/orders', of))).to.equal('200')
    // One that says of which it is by its market alone.
    adds('historicalOrders', (orders) => orders.push({ order: { coin: '@107' }, status: 'odd' }))
    expect(outcome(await server.client.get('/clob/orders', of))).to.equal('503 NETWORK')
    expect(outcome(await server.client.get('/clob/orders', { ...of, clientOrderId: 'beside-others' }))).to.equal('200')
    site.exchange.faults.clear()
    const fields = new URLSearchParams({ ...of, market: 'HYPE-USDC', clientOrderId: 'beside-others' })
    expect(outcome(await server.client.request('DELETE', `/clob/orders?${fields.toString()}`))).to.equal('200')
  })

  it('finds an order whose answer was lost, and does not send another', async () => {
    loses(losesAnswer, 'order', 1)
    const { status, body, text } = await server.client.post('/clob/orders', order('lost-answer'))
    expect(status, text).to.equal(200)
    expect(body.state).to.equal('PENDING_OPEN')
    await until(async () => (await stateOf('lost-answer')) === 'OPEN')
    const open = await site.bookOperators.CLOB?.open('HYPE-USDC', of.address)
    expect(open).to.have.length(1)
    const again = await server.client.post('/clob/orders', order('lost-answer'))
    expect(again.body).to.include({ name: 'IDEMPOTENCY_CONFLICT' })
  })

  it('does not call an order refused because its cancel was, while the exchange cannot be queried', async () => {
    const placed = await server.client.post('/clob/orders', { ...order('taken'), price: '39.6' })
    expect(placed.body.state).to.equal('OPEN')
    site.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39.6', size: '1' })
    site.exchange.faults.add(failsWith(502), ({ type }) => type === 'orderStatus')
    const { status, body, text } = await server.client.post('/clob/batchOrders', {
      ...of,
      cancel: [{ market: 'HYPE-USDC', clientOrderId: 'taken' }],
    })
    expect(status, text).to.equal(200)
    expect(body.cancelled[0]).to.not.have.property('state')
    expect(body.cancelled[0]).to.have.nested.property('error.name', 'TRADE_FAILED')
    site.exchange.faults.clear()
    expect(await stateOf('taken')).to.equal('FILLED')
  })

  it('says of an order that rests that its fills may be missing in the book, until somebody has asked for its state', async () => {
    const own = { ...of, address: site.wallets[1] ?? '' }
    const lacking = async (): Promise<number> => {
      const { body, text } = await server.client.get('/books', { chain: own.chain, network: own.network, address: own.address })
      expect(body.lacking, text).to.be.an('object')
      return body.lacking.fills
    }
    expect(await lacking()).to.equal(0)
    await server.client.post('/clob/orders', { ...order('resting'), ...own, price: '39.7' })
    expect(await lacking()).to.equal(1)
    site.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price: '39.7', size: '1' })
    expect(await lacking()).to.equal(1)
    const { body } = await server.client.get('/clob/orders', { ...own, clientOrderId: 'resting' })
    expect(body.orders[0]).to.include({ state: 'FILLED', filledAmount: '1' })
    await until(async () => (await lacking()) === 0)
  })

  it('has in the book of a pair what a batch placed, as what was placed alone', async () => {
    const own = { chain: of.chain, network: of.network, address: site.wallets[1] ?? '', pair: 'HYPE-USDC', since: new Date().toISOString() }
    const sells = (price: string) =>
      site.exchange.place('0x00000000000000000000000000000000000000ee', { coin: '@107', side: 'SELL', price, size: '1' })
    const { address: _, chain, network, connector, ...words } = order('')
    const venue = { chain, network, connector, address: own.address }
    sells('39.71')
    await server.client.post('/clob/orders', { ...venue, ...words, clientOrderId: 'alone', price: '39.71' })
    sells('39.72')
    const batch = await server.client.post('/clob/batchOrders', {
      ...venue,
      create: [{ ...words, clientOrderId: 'in-a-batch', price: '39.72' }],
    })
    expect(batch.body.created?.[0], batch.text).to.include({ state: 'FILLED' })
    await until(async () => {
      const { body } = await server.client.get('/books', own)
      return body.pairs[0]?.trades === 2
    })
  })

  it("gives up an order that never arrived once it has expired by the exchange's clock", async () => {
    loses(losesRequest, 'order')
    const { body } = await server.client.post('/clob/orders', order('lost-request'))
    expect(body.state).to.equal('PENDING_OPEN')
    site.exchange.clock.advance(80_000)
    await until(async () => (await stateOf('lost-request')) === 'FAILED')
    expect((await server.client.get('/clob/orders', { ...of, state: 'OPEN', market: 'HYPE-USDC' })).body.orders).to.have.length(1)
  })

  const openAt = async (price: string) =>
    ((await site.bookOperators.CLOB?.open('HYPE-USDC', of.address)) ?? []).filter((each) => JSON.stringify(each).includes(price))
  const cancel = (clientOrderId: string) => {
    const fields = new URLSearchParams({ ...of, market: 'HYPE-USDC', clientOrderId })
    return server.client.request('DELETE', `/clob/orders?${fields.toString()}`)
  }

  it('never places an order that was cancelled while it was not known whether it had arrived', async () => {
    // It is sent again after a second, which may be before its cancel is asked for.
    let arrives = loses(losesRequest, 'order')
    const placed = await server.client.post('/clob/orders', { ...order('cancelled-unseen'), price: '33.1' })
    expect(placed.body.state, placed.text).to.equal('PENDING_OPEN')
    const cancelled = await cancel('cancelled-unseen')
    expect(cancelled.body, cancelled.text).to.include({ state: 'PENDING_CANCEL' })
    arrives()
    await until(async () => (await stateOf('cancelled-unseen')) === 'FAILED')
    expect(await openAt('33.1')).to.deep.equal([])

    arrives = loses(losesRequest, 'order')
    await server.client.post('/clob/orders', { ...order('cancelled-unseen-2'), price: '33.2' })
    const batch = await server.client.post('/clob/batchOrders', {
      ...of,
      cancel: [{ market: 'HYPE-USDC', clientOrderId: 'cancelled-unseen-2' }],
    })
    expect(batch.body.cancelled?.[0], batch.text).to.include({ state: 'PENDING_CANCEL' })
    arrives()
    await until(async () => (await stateOf('cancelled-unseen-2')) === 'FAILED')
    expect(await openAt('33.2')).to.deep.equal([])
  })

  it('cancels an order that had arrived, while nobody knew', async () => {
    loses(losesAnswer, 'order', 1)
    site.exchange.faults.add(
      ({ send }) => send({ status: 200, body: { status: 'unknownOid' } }),
      ({ type }) => type === 'orderStatus',
      1,
    )
    await server.client.post('/clob/orders', { ...order('arrived-unseen'), price: '33.3' })
    const cancelled = await cancel('arrived-unseen')
    expect(cancelled.body, cancelled.text).to.include({ state: 'CANCELED' })
    expect(await openAt('33.3')).to.deep.equal([])
  })

  it('cancels an order while the exchange answers no questions', async () => {
    const placed = await server.client.post('/clob/orders', { ...order('unasked'), price: '33.5' })
    expect(placed.body.state, placed.text).to.equal('OPEN')
    site.exchange.faults.add(failsWith(502), ({ type }) => type === 'orderStatus')
    const cancelled = await cancel('unasked')
    expect(cancelled.body, cancelled.text).to.include({ state: 'CANCELED' })
    expect(await openAt('33.5')).to.deep.equal([])
  })

  const overAddressLimit: Fault = ({ send }) =>
    send({ status: 200, body: { status: 'err', response: 'Too many cumulative requests sent (10001 > 10000).' } })

  for (const [words, fault] of [
    ['is lost', losesRequest],
    ['is over a limit', overAddressLimit],
  ] as const)
    it(`cancels an order that had arrived, while nobody knew, also where the action in its place ${words}`, async () => {
      const [one, other] = [`excluded-not ${words}`, `excluded-not-2 ${words}`].map((each) => each.replaceAll(' ', '-'))
      const lose = async (clientOrderId = '') => {
        loses(losesAnswer, 'order', 1)
        site.exchange.faults.add(failsWith(502), ({ type }) => type === 'orderStatus')
        await server.client.post('/clob/orders', { ...order(clientOrderId), price: '33.6' })
        loses(fault, 'noop', 1)
      }
      await lose(one)
      const cancelled = await cancel(one ?? '')
      expect(outcome(cancelled), cancelled.text).to.equal('200')
      site.exchange.faults.clear()
      await until(async () => (await openAt('33.6')).length === 0)
      await until(async () => (await stateOf(one ?? '')) === 'CANCELED')

      await lose(other)
      const batch = await server.client.post('/clob/batchOrders', { ...of, cancel: [{ market: 'HYPE-USDC', clientOrderId: other }] })
      expect(outcome(batch), batch.text).to.equal('200')
      site.exchange.faults.clear()
      await until(async () => (await openAt('33.6')).length === 0)
    })

  it('does not say that nothing was cancelled while the action in the place of the order may be carried out', async () => {
    const lose = async (clientOrderId: string) => {
      const end = loses(losesRequest, 'order')
      await server.client.post('/clob/orders', { ...order(clientOrderId), price: '33.8' })
      const endOfOther = loses(losesRequest, 'noop')
      return () => {
        endOfOther()
        end()
      }
    }
    const ends = async (clientOrderId: string) => {
      await until(async () => (await stateOf(clientOrderId)) === 'FAILED')
      expect(await openAt('33.8')).to.deep.equal([])
    }
    let arrives = await lose('contested')
    const cancelled = await cancel('contested')
    expect(outcome(cancelled), cancelled.text).to.equal('504 TIMEOUT')
    arrives()
    await ends('contested')

    arrives = await lose('contested-2')
    const batch = await server.client.post('/clob/batchOrders', { ...of, cancel: [{ market: 'HYPE-USDC', clientOrderId: 'contested-2' }] })
    expect(batch.body.cancelled?.[0]?.error ?? batch.body, batch.text).to.include({ name: 'TIMEOUT' })
    arrives()
    await ends('contested-2')
  })

  it('does not call an order of several impossible to cancel while it may still be placed', async () => {
    const arrives = loses(losesRequest, 'order')
    const several = ['one-of-two', 'two-of-two'].map((clientOrderId) => {
      const { side, orderType, amount } = order(clientOrderId)
      return { market: 'HYPE-USDC', side, orderType, amount, price: '33.4', clientOrderId }
    })
    const placed = await server.client.post('/clob/batchOrders', { ...of, create: several })
    expect(placed.status, placed.text).to.equal(200)
    const first = await cancel('one-of-two')
    expect(first.body, first.text).to.include({ name: 'TRADE_FAILED' })
    expect(first.body.message).to.contain('not known yet').and.to.contain('try again')
    const named = several.map(({ market, clientOrderId }) => ({ market, clientOrderId }))
    const both = await server.client.post('/clob/batchOrders', { ...of, cancel: named.slice(1) })
    expect(both.body.cancelled?.[0]?.error?.message ?? both.body.message, both.text).to.contain('try again')
    arrives()
    for (const { clientOrderId } of named) {
      await until(async () => (await stateOf(clientOrderId)) === 'OPEN')
      expect((await cancel(clientOrderId)).body).to.include({ state: 'CANCELED' })
    }
    expect(await openAt('33.4')).to.deep.equal([])
  })

  it('does not call an order of several cancelled where the exchange answered neither to it nor to its cancel', async () => {
    const several = [1, 2].map((number) => {
      const { side, orderType, amount, market } = order('')
      return { market, side, orderType, amount, price: '33.7', clientOrderId: `unanswered-${number}` }
    })
    const arrives = loses(losesRequest, 'order')
    await server.client.post('/clob/batchOrders', { ...of, create: several })
    const seen = new Set<string>()
    let refused = 0
    const losesFirst: Fault = ({ body, run, send, hangUp }) => {
      if (!seen.has(JSON.stringify(body))) {
        seen.add(JSON.stringify(body))
        return hangUp()
      }
      refused += 1
      send(run())
    }
    loses(losesFirst, 'cancelByCloid')
    const one = await cancel('unanswered-1')
    expect(outcome(one), one.text).to.equal('504 TIMEOUT')
    expect(one.body.message).to.contain('Try again')
    const batch = await server.client.post('/clob/batchOrders', {
      ...of,
      cancel: [{ market: 'HYPE-USDC', clientOrderId: 'unanswered-2' }],
    })
    expect(batch.body.cancelled?.[0]?.error?.message ?? batch.body.message, batch.text).to.contain('Try again')
    // Both cancels come before the orders.
    await until(() => refused === 2)
    arrives()
    for (const { clientOrderId } of several) {
      await until(async () => (await stateOf(clientOrderId)) === 'OPEN')
      expect((await cancel(clientOrderId)).body).to.include({ state: 'CANCELED' })
    }
  })

  it('replaces a withdrawal that never arrived by an action without effect once it has expired', async () => {
    loses(losesRequest, 'withdraw3')
    const { status, body, text } = await server.client.post('/clob/perp/withdraw', { ...of, token: 'USDC', amount: '10' })
    expect(status, text).to.equal(200)
    site.exchange.clock.advance(80_000)
    await until(async () => (await entryOf(body.id)).txState === 'CANCELLED')
    site.exchange.faults.clear()
    expect(site.exchange.withdrawals()).to.deep.equal([])
  })

  it('withdraws to the wallet itself', async () => {
    const { status, body, text } = await server.client.post('/clob/withdraw', { ...of, token: 'USDC', amount: '10' })
    expect(status, text).to.equal(200)
    expect(site.exchange.withdrawals().map(({ destination, usdc }) => `${destination} ${usdc}`)).to.deep.equal([
      // The exchange keeps one dollar.
      `${of.address.toLowerCase()} 9.0`,
    ])
    await until(async () => (await entryOf(body.id)).txState === 'CONFIRMED')
  })

  it('refuses a nonce that a withdrawal of the same signer has used, and withdraws once', async () => {
    const nonce = Date.now() - 5_000
    const withdraw = (amount: string) => server.client.post('/clob/perp/withdraw', { ...of, token: 'USDC', amount, nonce })
    const withdrawn = () => site.exchange.withdrawals().length
    const already = withdrawn()
    const first = await withdraw('20')
    expect(outcome(first), first.text).to.equal('200')
    await until(async () => (await entryOf(first.body.id)).txState === 'CONFIRMED')
    expect(outcome(await withdraw('5'))).to.equal('409 INVALID_NONCE')
    expect(outcome(await withdraw('20'))).to.equal('409 INVALID_NONCE')
    const { body } = await server.client.get('/transactions', { chain: of.chain, network: of.network, address: of.address })
    const own = body.transactions.filter((each: { nonce: number }) => each.nonce === nonce)
    expect(own.map(({ txState }: { txState: string }) => txState)).to.deep.equal(['CONFIRMED'])
    expect(withdrawn()).to.equal(already + 1)
  })

  it('refuses a withdrawal that does not exceed the fee, before anything leaves the spot account', async () => {
    const before = await server.client.get('/clob/balances', of)
    for (const path of ['/clob/withdraw', '/clob/perp/withdraw']) {
      const { status, body } = await server.client.post(path, { ...of, token: 'USDC', amount: '1' })
      expect([status, body.name, body.details?.[0]?.field], path).to.deep.equal([400, 'INCOMPLETE_PARAMS', 'amount'])
    }
    const after = await server.client.get('/clob/balances', of)
    expect(after.body.balances).to.deep.equal(before.body.balances)
  })

  it("finds an order by its number in the exchange's spelling only", async () => {
    const { body } = await server.client.post('/clob/orders', { ...order('numbered'), price: '31' })
    const orderId = `0${body.orderId}`
    const named = `/clob/orders?${new URLSearchParams({ ...of, market: 'HYPE-USDC', orderId }).toString()}`
    for (const method of ['GET', 'DELETE']) {
      const answer = await server.client.request(method, named)
      expect([answer.status, answer.body.name], method).to.deep.equal([404, 'UNKNOWN_ORDER'])
    }
    expect(await stateOf('numbered')).to.equal('OPEN')
  })

  it('deposits from another chain only if that chain is configured, and says what is missing', async () => {
    for (const path of ['/clob/deposit', '/clob/perp/deposit', '/clob/margin/deposit']) {
      const { status, body } = await server.client.post(path, { ...of, token: 'USDC', amount: '10', fromChain: 'arbitrum' })
      expect([status, body.name]).to.deep.equal([501, 'UNSUPPORTED'])
      expect(body.message).to.contain('arbitrum/sepolia').and.to.contain('plugin')
    }
  })

  it('refuses margin requests for an account without margin', async () => {
    for (const verb of ['deposit', 'withdraw', 'borrow', 'repay']) {
      const { status, body } = await server.client.post(`/clob/margin/${verb}`, { ...of, token: 'USDC', amount: '10' })
      expect([status, body.name], verb).to.deep.equal([501, 'UNSUPPORTED'])
      expect(body.message).to.match(/portfolioMargin/)
    }
    const placed = await server.client.post('/clob/margin/orders', order('margin'))
    expect([placed.status, placed.body.name]).to.deep.equal([501, 'UNSUPPORTED'])
    const { body } = await server.client.get('/clob/margin/account', of)
    expect(body).to.deep.include({ mode: 'default', sharedWith: [], borrowed: '0' })
  })

  describe('in /events', () => {
    const stranger = '0x00000000000000000000000000000000000000ef'
    const followers: Follower[] = []
    afterEach(async () => {
      for (const follower of followers.splice(0)) await follower.close()
    })
    const come = (query: Record<string, string> = {}) =>
      follow({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir }, { topics: 'positions', ...of, ...query })
    const listen = async (query?: Record<string, string>) => {
      const follower = await come(query)
      followers.push(follower)
      return follower
    }
    /** The events after the first so many. */
    const next = async (follower: Follower, after: number) =>
      (await follower.hears(`more than ${after}`, (told) => follower.told.indexOf(told) >= after)).data
    const trade = async (side: 'BUY' | 'SELL', price: string, amount: string) => {
      const terms = { market: 'ETH-USD', side, orderType: 'LIMIT', price, amount }
      const { status, body, text } = await server.client.post('/clob/perp/orders', { ...of, ...terms })
      expect(status, text).to.equal(200)
      return body
    }
    const sizes = ({ positions }: { positions: { positionAmt: string }[] }) => positions.map(({ positionAmt }) => positionAmt)

    it('sends positions at once and whenever they open, grow or close, whoever trades', async () => {
      const [all, one, other] = [await listen(), await listen({ market: 'eth-usd' }), await listen({ market: 'BTC-USD' })]
      const both = (after: number) => Promise.all([next(all, after), next(one, after)])
      for (const none of [...(await both(0)), await next(other, 0)]) expect(none).to.deep.include({ ...of, positions: [] })
      await trade('BUY', '4040', '0.1')
      for (const opened of await both(1)) expect(sizes(opened)).to.deep.equal(['0.1'])
      await trade('BUY', '4040', '0.1')
      const [grown] = await both(2)
      expect(sizes(grown)).to.deep.equal(['0.2'])
      const { body } = await server.client.get('/clob/perp/positions', of)
      expect(grown.positions).to.deep.equal(body.positions)
      // Another trader takes a resting order: the server sends nothing.
      await trade('SELL', '4000', '0.2')
      site.exchange.place(stranger, { coin: 'ETH', side: 'BUY', price: '4000', size: '0.2' })
      for (const closed of await both(3)) expect(closed).to.deep.include({ positions: [] })
      expect([all.told.length, one.told.length, other.told.length]).to.deep.equal([4, 4, 1])
    })

    it('sends no event when only the mark price moves, and the current positions to a new stream', async () => {
      await trade('BUY', '4040', '0.1')
      const follower = await listen()
      const { id } = await follower.hears('the position', () => true)
      site.exchange.setMark('ETH', '4012.3')
      await until(async () => {
        const again = await come({ lastEventId: id })
        const { positions } = await next(again, 0)
        await again.close()
        expect(sizes({ positions })).to.deep.equal(['0.1'])
        return positions[0].markPrice === '4012.3'
      })
      expect(follower.told).to.have.length(1)
    })

    it('sends an event when positions are not available, and when they are again', async () => {
      const follower = await listen()
      await next(follower, 0)
      site.exchange.faults.add(failsWith(502), ({ type }) => type === 'clearinghouseState')
      const stale = await next(follower, 1)
      expect(stale).to.deep.equal({ ...of, stale: true, timestamp: stale.timestamp })
      site.exchange.faults.clear()
      expect(await next(follower, 2)).to.have.property('positions')
    })

    it('refuses unknown markets', async () => {
      const { status, body } = await server.client.get('/events', { topics: 'positions', ...of, market: 'ETH-USD,ETH-EUR' })
      expect([status, body.name]).to.deep.equal([404, 'UNKNOWN_ORDER'])
    })
  })
})

describe('a server on Hyperliquid whose orders live for long', function () {
  this.timeout(300_000)
  let site: Site
  let server: TestServer
  before(async () => {
    site = await startSite({}, { ttl: 180 })
    server = await startServer(site.server)
    await venuesReady(server.kernel, site)
  })
  after(async () => {
    await server?.stop()
    await site?.stop()
  })

  it('never places an order that was cancelled while the exchange took nothing for more than a minute', async () => {
    const { client } = server
    const of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
    const named = { ...of, market: 'HYPE-USDC', clientOrderId: 'long' }
    const comesBack = site.exchange.faults.add(losesRequest, ({ endpoint }) => endpoint === 'exchange')
    await client.post('/clob/orders', { ...named, side: 'BUY', orderType: 'LIMIT', price: '39', amount: '1' })
    const cancelled = await client.request('DELETE', `/clob/orders?${new URLSearchParams(named).toString()}`)
    expect(cancelled.body, cancelled.text).to.include({ state: 'PENDING_CANCEL' })
    site.exchange.clock.advance(75_000)
    let polls = 0
    site.exchange.faults.add(
      ({ run, send }) => {
        polls += 1
        send(run())
      },
      ({ type }) => type === 'exchangeStatus',
    )
    await until(() => polls > 5)
    comesBack()
    let state = ''
    await until(async () => {
      const { body } = await client.get('/clob/orders', { ...of, clientOrderId: 'long' })
      state = body.orders[0]?.state
      return !state.startsWith('PENDING')
    })
    expect(state).to.equal('FAILED')
    expect(await site.bookOperators.CLOB?.open('HYPE-USDC', of.address)).to.deep.equal([])
  })
})

describe('a server on Hyperliquid whose EVM node is over its limits from the start', function () {
  this.timeout(300_000)
  const node = createServer((_, response) =>
    response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":"Too Many Requests"}'),
  )
  let site: Site
  let server: TestServer
  let of: { chain: string; network: string; connector: string; address: string }
  before(async () => {
    site = await startSite()
    await new Promise<void>((resolve) => void node.listen(0, '127.0.0.1', resolve))
    const address = node.address()
    const rpcUrls = [`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`]
    const conf = { ...site.server.conf, 'chains/hyperliquid.yml': { mainnet: { rpcUrls }, testnet: { rpcUrls } } }
    server = await startServer({ ...site.server, conf })
    of = { chain: site.chain, network: site.network, connector: 'hyperliquid', address: site.wallets[0] }
  })
  after(async () => {
    await server?.stop()
    node.closeAllConnections()
    node.close()
    await site?.stop()
  })

  it('lists markets, shows books, takes and cancels orders, and tells of them', async () => {
    const { client } = server
    const { address: _, ...market } = of
    for (const path of ['/clob/markets', '/clob/perp/markets', '/clob/balances', '/clob/perp/positions', '/clob/orders']) {
      const { status, text } = await client.get(path, path.endsWith('markets') ? market : of)
      expect(status, `${path} ${text}`).to.equal(200)
    }
    const book = await client.get('/clob/orderBook', { ...market, market: 'HYPE-USDC' })
    expect(book.status, book.text).to.equal(200)
    const order = { ...of, market: 'HYPE-USDC', side: 'BUY', orderType: 'LIMIT', price: '39', amount: '1', clientOrderId: 'no-node' }
    const placed = await client.post('/clob/orders', order)
    expect(placed.body, placed.text).to.include({ state: 'OPEN' })
    const named = new URLSearchParams({ ...of, market: 'HYPE-USDC', clientOrderId: 'no-node' })
    const cancelled = await client.request('DELETE', `/clob/orders?${named.toString()}`)
    expect(cancelled.body, cancelled.text).to.include({ state: 'CANCELED' })
    const shown = await client.get('/clob/orders', { ...of, clientOrderId: 'no-node' })
    expect(shown.body.orders[0], shown.text).to.include({ state: 'CANCELED' })
  })

  it('refuses what goes by the chain, and says that its nodes are the reason', async () => {
    const deposit = await server.client.post('/clob/deposit', { ...of, token: 'USDC', amount: '5' })
    expect(deposit.body, deposit.text).to.have.property('name', 'RATE_LIMIT')
  })
})
