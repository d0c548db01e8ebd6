import { expect } from 'chai'
import { newTrader } from './client.ts'
import { startExchange, type HyperliquidExchange } from './exchange/start-exchange.ts'

describe('the simulator of Hyperliquid, by its own client', () => {
  let exchange: HyperliquidExchange

  before(async () => {
    exchange = await startExchange({ testnet: true })
  })
  after(() => exchange.stop())

  it('lists markets of perpetuals and of tokens', async () => {
    const { info } = newTrader(exchange)
    const [meta, spot] = [await info.meta(), await info.spotMeta()]
    expect(meta.universe.map(({ name }) => name)).to.deep.equal(['BTC', 'ETH', 'MATIC', 'HYPE', 'PURR'])
    expect(spot.universe.map(({ name }) => name)).to.deep.equal(['PURR/USDC', '@107', '@142'])
    expect((await info.metaAndAssetCtxs())[1][1]?.oraclePx).to.equal('4000.0')
    expect((await info.spotMetaAndAssetCtxs())[1][1]?.coin).to.equal('@107')
  })

  it('keeps an order of a perpetual on the book until it is filled by another', async () => {
    const [maker, taker] = [newTrader(exchange), newTrader(exchange)]
    for (const { address } of [maker, taker]) exchange.deposit(address, '10000')
    const rested = await maker.exchange.order({ orders: [{ a: 1, b: false, p: '4010', s: '1.5', r: false, t: { limit: { tif: 'Gtc' } } }] })
    expect(rested.response.data.statuses[0]).to.have.property('resting')
    expect((await maker.info.l2Book({ coin: 'ETH' }))?.levels[1]).to.deep.equal([{ px: '4010.0', sz: '1.5', n: 1 }])

    const cloid = '0xa0000000000000000000000000000001'
    const filled = await taker.exchange.order({
      orders: [{ a: 1, b: true, p: '4010', s: '0.5', r: false, t: { limit: { tif: 'Gtc' } }, c: cloid }],
    })
    expect(filled.response.data.statuses[0]).to.have.deep.nested.property('filled.totalSz', '0.5')
    const known = await taker.info.orderStatus({ user: taker.address, oid: cloid })
    expect(known).to.have.nested.property('order.status', 'filled')
    const [open] = await maker.info.openOrders({ user: maker.address })
    expect(open).to.include({ coin: 'ETH', side: 'A', sz: '1.0', origSz: '1.5' })

    const [position] = (await taker.info.clearinghouseState({ user: taker.address })).assetPositions
    expect(position?.position).to.include({ coin: 'ETH', szi: '0.5', entryPx: '4010.0', unrealizedPnl: '-5.0' })
    const [fill] = await taker.info.userFills({ user: taker.address })
    // 0.045 % of 2005 dollars.
    expect(fill).to.include({ px: '4010.0', sz: '0.5', fee: '0.90225', feeToken: 'USDC', crossed: true, dir: 'Open Long', cloid })
  })

  it('holds back what a spot order pays with, and gives it back when the order is canceled', async () => {
    const trader = newTrader(exchange)
    exchange.credit(trader.address, 'USDC', '1000')
    const answer = await trader.exchange.order({
      orders: [{ a: 10_107, b: true, p: '39.5', s: '10', r: false, t: { limit: { tif: 'Alo' } } }],
    })
    const [status] = answer.response.data.statuses
    if (typeof status !== 'object' || !('resting' in status)) throw new Error('it does not rest')
    const held = await trader.info.spotClearinghouseState({ user: trader.address })
    expect(held.balances[0]).to.include({ coin: 'USDC', total: '1000.0', hold: '395.0' })
    await trader.exchange.cancel({ cancels: [{ a: 10_107, o: status.resting.oid }] })
    const free = await trader.info.spotClearinghouseState({ user: trader.address })
    expect(free.balances[0]).to.include({ total: '1000.0', hold: '0.0' })
  })
})
