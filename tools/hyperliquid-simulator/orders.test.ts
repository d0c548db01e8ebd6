import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ExchangeClient, HttpTransport } from '@nktkas/hyperliquid'
import { newTrader } from './client.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

type Trader = ReturnType<typeof newTrader>
type Orders = Parameters<Trader['exchange']['order']>[0]['orders']
type Wire = Omit<Orders[number], 'a' | 'r' | 't'> & { a?: number; r?: boolean; tif?: 'Gtc' | 'Ioc' | 'Alo' }

const documented = JSON.parse(readFileSync(new URL('../../test/fixtures/hyperliquid/error-responses.json', import.meta.url), 'utf8'))
const [eth, hypeUsdc] = [1, 10_107]
const minute = 60_000
const others = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2'] as const

describe('orders on the simulator of Hyperliquid', () => {
  let exchange: HyperliquidExchange
  let trader: Trader

  beforeEach(async () => {
    exchange = await startExchange()
    trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '100000')
    exchange.credit(trader.address, 'HYPE', '1000')
    exchange.deposit(trader.address, '10000')
  })
  afterEach(() => exchange.stop())

  const wire = ({ a = eth, r = false, tif = 'Gtc', ...order }: Wire): Orders[number] => ({ a, r, t: { limit: { tif } }, ...order })
  /** What is answered, refusals too: the client throws those. */
  const send = async (...orders: Wire[]): Promise<unknown[]> => {
    const sent = trader.exchange.order({ orders: orders.map(wire) }).catch((error: { response: unknown }) => error.response)
    return ((await sent) as { response: { data: { statuses: unknown[] } } }).response.data.statuses
  }
  const oidOf = (status: unknown) => (status as { resting: { oid: number } }).resting.oid
  const open = async () => (await trader.info.frontendOpenOrders({ user: trader.address })).map(({ oid }) => oid)
  const statusOf = async (oid: number | `0x${string}`) => {
    const told = await trader.info.orderStatus({ user: trader.address, oid })
    return told.status === 'order' ? told.order.status : told.status
  }

  it('fill the best price first, and of one price the oldest', async () => {
    const [late, soon] = others
    exchange.place(late, { coin: 'ETH', side: 'SELL', price: '4002', size: '1' })
    exchange.place(late, { coin: 'ETH', side: 'SELL', price: '4001', size: '1' })
    exchange.place(soon, { coin: 'ETH', side: 'SELL', price: '4001', size: '1' })
    expect(await send({ b: true, p: '4002', s: '2.5' })).to.have.deep.nested.property('[0].filled.avgPx', '4001.2')
    const fills = exchange.engine.accounts.get(trader.address)!.fills
    const makers = exchange.engine.states.get('ETH')!.trades.map(({ seller }) => seller)
    expect(fills.map(({ sz }) => sz)).to.deep.equal([100_000_000n, 100_000_000n, 50_000_000n])
    expect(makers).to.deep.equal([late, soon, late])
  })

  it('are told of as filled where they are for now only, as far as they were', async () => {
    exchange.place(others[0], { coin: 'ETH', side: 'SELL', price: '4000', size: '0.4' })
    const [status] = await send({ b: true, p: '4000', s: '1', tif: 'Ioc', c: '0xa0000000000000000000000000000001' })
    expect(status).to.have.deep.nested.property('filled.totalSz', '0.4')
    expect(await statusOf('0xa0000000000000000000000000000001')).to.equal('filled')
    expect(await open()).to.deep.equal([])
  })

  it('rest with what was not filled', async () => {
    exchange.place(others[0], { coin: 'ETH', side: 'SELL', price: '4000', size: '0.4' })
    const [status] = await send({ b: true, p: '4000', s: '1' })
    const [order] = await trader.info.openOrders({ user: trader.address })
    expect(order).to.include({ oid: oidOf(status), sz: '0.6', origSz: '1.0' })
  })

  it('are refused one by one, in the words of the documentation, and remembered by their names', async () => {
    exchange.place(others[0], { coin: 'ETH', side: 'SELL', price: '4000', size: '1' })
    const names = ['1', '2', '3', '4', '5', '6'].map((n) => `0xb000000000000000000000000000000${n}` as const)
    const statuses = await send(
      { b: true, p: '4000', s: '0.1', tif: 'Alo', c: names[0]! },
      { b: true, p: '3999', s: '0.1', tif: 'Ioc', c: names[1]! },
      { b: true, p: '3900', s: '0.002', c: names[2]! },
      { a: hypeUsdc, b: true, p: '39', s: '0.2', c: names[3]! },
      { b: true, p: '3900', s: '1000', c: names[4]! },
      { b: false, p: '4100', s: '0.1', r: true, c: names[5]! },
      { b: true, p: '3900', s: '0.1' },
    )
    const words = [
      documented.BadAloPx.replace('{bbo}', 'None@4000'),
      documented.IocCancel,
      documented.MinTradeNtl,
      documented.MinTradeSpotNtl.replace('{quote_token}', 'USDC'),
      documented.PerpMargin,
      documented.ReduceOnly,
    ]
    expect(statuses.slice(0, 6)).to.deep.equal(words.map((error, index) => ({ error: `${error} asset=${index === 3 ? hypeUsdc : eth}` })))
    expect(statuses[6]).to.have.property('resting')
    expect(await Promise.all(names.map(statusOf))).to.deep.equal([
      'badAloPxRejected',
      'iocCancelRejected',
      'minTradeNtlRejected',
      'minTradeNtlRejected',
      'perpMarginRejected',
      'reduceOnlyRejected',
    ])
  })

  it('are all refused with one error where one of them can be none', async () => {
    for (const [wrong, error] of [
      [{ b: true, p: '3900.05', s: '0.1' }, `${documented.Tick} asset=${eth}`],
      [{ b: true, p: '3900.123', s: '0.1' }, `${documented.Tick} asset=${eth}`],
      [{ b: true, p: '3900', s: '0.00001' }, 'Order has invalid size.'],
      [{ b: true, p: '3900', s: '0' }, 'Order has zero size.'],
    ] as const)
      expect(await send({ b: true, p: '3900', s: '0.1' }, wrong), wrong.p).to.deep.equal([{ error }])
    expect(await open()).to.deep.equal([])
    expect(await send({ b: true, p: '123456', s: '0.0005' }), 'a whole number always is a price').to.not.deep.equal([
      { error: `${documented.Tick} asset=${eth}` },
    ])
  })

  it('take the place of others by their number or name, under a new number', async () => {
    const [first] = await send({ b: true, p: '3900', s: '1', c: '0xc0000000000000000000000000000001' })
    const order = wire({ b: true, p: '3901', s: '2', c: '0xc0000000000000000000000000000001' })
    const changed = await trader.exchange.batchModify({ modifies: [{ oid: '0xc0000000000000000000000000000001', order }] })
    const [status] = changed.response.data.statuses
    expect(await open()).to.deep.equal([oidOf(status)])
    expect(await statusOf(oidOf(first))).to.equal('canceled')
    const again = await trader.exchange.modify({ oid: oidOf(first), order }).catch(String)
    expect(again).to.contain('Cannot modify canceled or filled order')
  })

  it('have names that no other open order of the wallet has, and that can be used again', async () => {
    const named = { b: true, p: '3900', s: '1', c: '0xd0000000000000000000000000000001' } as const
    const [first] = await send(named)
    expect(await send(named)).to.deep.equal([{ error: `Duplicate cloid among open orders. asset=${eth}` }])
    await trader.exchange.cancelByCloid({ cancels: [{ asset: eth, cloid: named.c }] })
    const [second] = await send(named)
    expect(oidOf(second)).to.not.equal(oidOf(first))
    expect(await statusOf(named.c)).to.equal('open')
  })

  it('do not trade with their own wallet: the one that rests is gone', async () => {
    const [resting] = await send({ b: false, p: '4000', s: '1' })
    await send({ b: true, p: '4000', s: '1' })
    expect(await statusOf(oidOf(resting))).to.equal('selfTradeCanceled')
    expect(await trader.info.userFills({ user: trader.address })).to.deep.equal([])
    expect(await open()).to.have.length(1)
  })

  it('that may only reduce a position never grow or turn it, and go with it', async () => {
    exchange.place(others[0], { coin: 'ETH', side: 'SELL', price: '4000', size: '1' })
    await send({ b: true, p: '4000', s: '1' })
    const [first] = await send({ b: false, p: '4010', s: '0.7', r: true })
    const [second] = await send({ b: false, p: '4010', s: '0.7', r: true })
    exchange.place(others[1], { coin: 'ETH', side: 'BUY', price: '4010', size: '3' })
    expect((await trader.info.clearinghouseState({ user: trader.address })).assetPositions).to.deep.equal([])
    expect(await statusOf(oidOf(first))).to.equal('filled')
    expect(await statusOf(oidOf(second))).to.equal('reduceOnlyCanceled')
  })

  it('are canceled once', async () => {
    const [status] = await send({ b: true, p: '3900', s: '1' })
    const cancels = [{ a: eth, o: oidOf(status) }]
    await trader.exchange.cancel({ cancels })
    const again = await trader.exchange.cancel({ cancels }).catch(String)
    expect(again).to.contain(`${documented.MissingOrder} asset=${eth}`)
  })

  it('are canceled at a time that was set before', async () => {
    await send({ b: true, p: '3900', s: '1' })
    await trader.exchange.scheduleCancel({ time: exchange.clock.now() + minute })
    expect(await open()).to.have.length(1)
    exchange.clock.advance(minute)
    expect(await open()).to.deep.equal([])
  })

  it('of spot pay fees of what they get, and what is less than a unit is dropped', async () => {
    exchange.place(others[0], { coin: '@107', side: 'SELL', price: '40.123', size: '3.33' })
    await send({ a: hypeUsdc, b: true, p: '40.123', s: '3.33' })
    const [fill] = await trader.info.userFills({ user: trader.address })
    // 3.33 × 40.123 = 133.60959 dollars, 0.07 % of it 0.09352671 with eight decimals, and that in HYPE.
    expect(fill).to.include({ fee: '0.00233099', feeToken: 'HYPE', dir: 'Buy' })
    const { balances } = await trader.info.spotClearinghouseState({ user: trader.address })
    expect(balances.map(({ coin, total }) => `${total} ${coin}`)).to.deep.equal(['99866.39041 USDC', '1003.32766901 HYPE'])
  })

  it('are refused where the market stands still or is gone', async () => {
    exchange.setHalted('ETH', true)
    expect(await send({ b: true, p: '3900', s: '1' })).to.deep.equal([{ error: `Trading is halted. asset=${eth}` }])
    expect(await send({ a: 2, b: true, p: '0.5', s: '100' })).to.deep.equal([{ error: 'Trading is halted. asset=2' }])
  })

  it('are refused far from the price', async () => {
    const [status] = await send({ a: hypeUsdc, b: false, p: '201', s: '1' })
    expect(status).to.deep.equal({ error: `Order price cannot be more than 80% away from the reference price asset=${hypeUsdc}` })
    expect((await send({ b: true, p: '190', s: '1' }))[0])
      .to.have.property('error')
      .that.contains('95%')
  })

  it('are found by their names only after a while, where a test wants it so', async () => {
    exchange.engine.rules.orderStatusLagMs = minute
    await send({ b: true, p: '3900', s: '1', c: '0xe0000000000000000000000000000001' })
    expect(await statusOf('0xe0000000000000000000000000000001')).to.equal('unknownOid')
    exchange.clock.advance(minute)
    expect(await statusOf('0xe0000000000000000000000000000001')).to.equal('open')
  })

  it('of mainnet mean nothing on testnet', async () => {
    const strayed = new HttpTransport({ apiUrl: exchange.apiUrl, isTestnet: true })
    const client = new ExchangeClient({ transport: strayed, wallet: trader.wallet })
    const answer = await client.order({ orders: [wire({ b: true, p: '3900', s: '1' })] }).catch(String)
    expect(answer).to.match(/User or API Wallet 0x[0-9a-f]{40} does not exist\./)
  })
})
