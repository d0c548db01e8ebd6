import { expect } from 'chai'
import { newTrader } from './client.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

type Trader = ReturnType<typeof newTrader>

const [btc, eth, purr] = [0, 1, 4]
const other = '0x00000000000000000000000000000000000000aa'
const hour = 3_600_000

describe('perpetuals on the simulator of Hyperliquid', () => {
  let exchange: HyperliquidExchange
  let trader: Trader

  beforeEach(async () => {
    exchange = await startExchange()
    trader = newTrader(exchange)
    exchange.deposit(trader.address, '10000')
  })
  afterEach(() => exchange.stop())

  /** A position at this price. */
  const enter = async (a: number, side: 'BUY' | 'SELL', price: string, size: string) => {
    const { coin } = exchange.engine.listing.byAsset(a)!
    exchange.place(other, { coin, side: side === 'BUY' ? 'SELL' : 'BUY', price, size })
    const sent = trader.exchange.order({ orders: [{ a, b: side === 'BUY', p: price, s: size, r: false, t: { limit: { tif: 'Ioc' } } }] })
    return sent.catch(String)
  }
  const state = () => trader.info.clearinghouseState({ user: trader.address })
  const position = async () => (await state()).assetPositions[0]?.position

  it('are worth what they cost and what they won, less fees', async () => {
    await enter(eth, 'BUY', '4000', '2')
    exchange.setOracle('ETH', '4100')
    const { marginSummary, withdrawable, crossMaintenanceMarginUsed } = await state()
    // 3.6 dollars of fees for 8000; twenty times across is 410 of margin, a tenth of 8200 is more.
    expect(marginSummary).to.deep.equal({ accountValue: '10196.4', totalNtlPos: '8200.0', totalRawUsd: '1996.4', totalMarginUsed: '410.0' })
    expect(withdrawable).to.equal('9376.4')
    expect(crossMaintenanceMarginUsed).to.equal('164.0')
    expect(await position()).to.deep.include({
      szi: '2.0',
      entryPx: '4000.0',
      unrealizedPnl: '200.0',
      returnOnEquity: '0.5',
      marginUsed: '410.0',
    })
  })

  it('pay funding at every full hour, by the price of the oracle', async () => {
    await enter(btc, 'SELL', '100000', '0.05')
    exchange.setFunding('BTC', '0.0001')
    exchange.setOracle('BTC', '99000')
    const now = exchange.clock.now()
    exchange.clock.advance((Math.floor(now / hour) + 2) * hour - now)
    const payments = await trader.info.userFunding({ user: trader.address, startTime: 0 })
    expect(payments.map(({ delta: { usdc, szi, fundingRate } }) => [usdc, szi, fundingRate])).to.deep.equal([
      ['0.495', '-0.05', '0.0001'],
      ['0.495', '-0.05', '0.0001'],
    ])
    expect((await position())?.cumFunding.sinceOpen).to.equal('-0.99')
    // 10000 less the fee of 2.25, and what was won and received.
    expect((await state()).marginSummary.accountValue).to.equal('10048.74')
    const history = await trader.info.fundingHistory({ coin: 'BTC', startTime: now })
    expect(history.map(({ fundingRate }) => fundingRate)).to.deep.equal(['0.0001', '0.0001'])
  })

  it('take the leverage that was set, up to that of the market, for what is opened', async () => {
    expect(await trader.exchange.updateLeverage({ asset: eth, isCross: true, leverage: 26 }).catch(String)).to.contain(
      'Invalid leverage value',
    )
    await trader.exchange.updateLeverage({ asset: eth, isCross: true, leverage: 4 })
    expect(await enter(eth, 'BUY', '4000', '11')).to.contain('Insufficient margin to place order. asset=1')
    await enter(eth, 'BUY', '4000', '5')
    expect((await state()).marginSummary.totalMarginUsed).to.equal('5000.0')
    expect(await trader.exchange.updateLeverage({ asset: eth, isCross: false, leverage: 4 }).catch(String)).to.contain(
      'Cannot switch leverage type with open position.',
    )
    expect(await trader.exchange.updateLeverage({ asset: eth, isCross: true, leverage: 1 }).catch(String)).to.contain(
      'Cross position does not have sufficient margin available to decrease leverage.',
    )
  })

  it('hold back margin for orders that rest, and not for those that only close', async () => {
    await trader.exchange.updateLeverage({ asset: eth, isCross: true, leverage: 1 })
    const limit = (b: boolean, p: string, s: string) => ({ a: eth, b, p, s, r: false, t: { limit: { tif: 'Gtc' as const } } })
    await trader.exchange.order({ orders: [limit(true, '3900', '2')] })
    expect((await state()).withdrawable).to.equal('2000.0')
    expect(await trader.exchange.order({ orders: [limit(true, '3900', '1')] }).catch(String)).to.contain('Insufficient margin')
    exchange.place(other, { coin: 'ETH', side: 'SELL', price: '3900', size: '2' })
    await trader.exchange.order({ orders: [limit(false, '4100', '2')] })
    expect(await trader.info.openOrders({ user: trader.address })).to.have.length(1)
  })

  it('of isolated margin stand for themselves, and can be given more', async () => {
    await trader.exchange.updateLeverage({ asset: eth, isCross: false, leverage: 10 })
    await enter(eth, 'BUY', '4000', '1')
    const first = await position()
    expect(first?.leverage).to.deep.equal({ type: 'isolated', value: 10, rawUsd: '-3601.8' })
    // The margin of 400 less the fee of 1.8; 2 % must be left.
    expect(first).to.include({ marginUsed: '398.2', liquidationPx: '3675.306122449' })
    await trader.exchange.updateIsolatedMargin({ asset: eth, isBuy: true, ntli: 100_000_000 })
    expect((await position())?.marginUsed).to.equal('498.2')
    expect((await state()).crossMarginSummary.accountValue).to.equal('9500.0')
    exchange.place(other, { coin: 'ETH', side: 'BUY', price: '4100', size: '1' })
    await trader.exchange.order({ orders: [{ a: eth, b: false, p: '4100', s: '0.5', r: true, t: { limit: { tif: 'Ioc' } } }] })
    expect((await position())?.marginUsed, 'half of 598.2, less the fee of 0.9225 and what the mark is lower').to.equal('248.1775')
    expect((await state()).crossMarginSummary.accountValue).to.equal('9799.1')
  })

  it('that may be isolated only are so from the start', async () => {
    expect(await trader.exchange.updateLeverage({ asset: purr, isCross: true, leverage: 2 }).catch(String)).to.contain(
      'Cross margin is not allowed',
    )
    await enter(purr, 'BUY', '0.2', '1000')
    expect((await position())?.leverage.type).to.equal('isolated')
  })

  it('are sold on the book where the margin falls below what must be there, at its liquidation price and not before', async () => {
    await trader.exchange.updateLeverage({ asset: btc, isCross: true, leverage: 40 })
    await enter(btc, 'BUY', '100000', '2')
    const { liquidationPx } = (await position())!
    expect(liquidationPx).to.equal('96248.1012658228')
    exchange.place(other, { coin: 'BTC', side: 'BUY', price: '96100', size: '5' })
    exchange.setOracle('BTC', '96249')
    expect((await position())?.szi).to.equal('2.0')
    exchange.setOracle('BTC', '96248')
    expect(await position()).to.equal(undefined)
    const [fill] = await trader.info.userFills({ user: trader.address })
    expect(fill).to.deep.include({ px: '96100.0', liquidation: { liquidatedUser: trader.address, markPx: '96248.0', method: 'market' } })
    const updates = await trader.info.userNonFundingLedgerUpdates({ user: trader.address })
    expect(updates.at(-1)?.delta).to.deep.include({
      type: 'liquidation',
      leverageType: 'Cross',
      liquidatedPositions: [{ coin: 'BTC', szi: '2.0' }],
    })
    // 10000 - 90 of fee - 7800 lost - 86.49 of fee.
    expect((await state()).marginSummary.accountValue).to.equal('2023.51')
  })

  it('are taken over where the book does not help, with all that stands behind them', async () => {
    await trader.exchange.updateLeverage({ asset: btc, isCross: true, leverage: 40 })
    await enter(btc, 'BUY', '100000', '2')
    exchange.clear('BTC')
    exchange.setOracle('BTC', '95500')
    const { marginSummary, assetPositions } = await state()
    expect(assetPositions).to.deep.equal([])
    expect(marginSummary.accountValue).to.equal('0.0')
  })

  it('of isolated margin are liquidated by themselves', async () => {
    await trader.exchange.updateLeverage({ asset: eth, isCross: false, leverage: 20 })
    await enter(eth, 'SELL', '4000', '1')
    exchange.place(other, { coin: 'ETH', side: 'SELL', price: '4120', size: '1' })
    exchange.setOracle('ETH', '4120')
    const { marginSummary, assetPositions } = await state()
    expect(assetPositions).to.deep.equal([])
    // 200 of margin: 1.8 and 1.854 of fees and 120 are lost of it.
    expect(marginSummary.accountValue).to.equal('9876.346')
  })

  it('are bounded by the margin tier of their size', async () => {
    const small = await startExchange({ testnet: true })
    try {
      const rich = newTrader(small)
      small.deposit(rich.address, '1000000')
      const sent = rich.exchange.order({ orders: [{ a: btc, b: true, p: '99000', s: '1', r: false, t: { limit: { tif: 'Gtc' } } }] })
      expect(await sent.catch(String)).to.contain('Order would cause position to exceed margin tier limit at current leverage')
    } finally {
      await small.stop()
    }
  })

  it('tell how much more can be traded', async () => {
    await trader.exchange.updateLeverage({ asset: eth, isCross: true, leverage: 10 })
    const data = await trader.info.activeAssetData({ user: trader.address, coin: 'ETH' })
    expect(data).to.deep.include({
      leverage: { type: 'cross', value: 10 },
      maxTradeSzs: ['25.0', '25.0'],
      availableToTrade: ['10000.0', '10000.0'],
    })
  })
})
