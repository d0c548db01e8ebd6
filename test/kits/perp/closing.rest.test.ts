import { expect } from 'chai'
import { formatUnits, type Wallet } from 'ethers'
import { boundOfWhole } from '../../../kits/perp/plan.ts'
import fc from 'fast-check'
import { at } from '../amm/devnet-fixture.ts'
import { rejection } from '../amm/v2/rejection.ts'
import { createPerpFixture, type PerpFixture } from './fixture.ts'
import { refusalOf } from './refusal-of.ts'

const ether = 10n ** 18n

describe('a planned close', () => {
  let fixture: PerpFixture
  before(async () => {
    fixture = await createPerpFixture()
  })
  after(() => fixture.end())

  const opened = async (side: 'LONG' | 'SHORT', sizeRaw: bigint, base = 'ETH'): Promise<Wallet> => {
    const trader = await fixture.newTrader(10n ** 13n)
    const { receipt } = await fixture.open(trader, { market: fixture.named(base), side, sizeRaw })
    expect(receipt.status).to.equal(1)
    await fixture.wait(20)
    return trader
  }

  for (const side of ['LONG', 'SHORT'] as const) {
    it(`fills a ${side} as quoted, to the unit, and leaves nothing`, async () => {
      const market = fixture.named('ETH')
      const trader = await opened(side, 7n * ether)
      const before = (await fixture.exchange.account(trader.address, at())).account
      const { closing, fill } = await fixture.close(trader, market)
      expect(closing.order).to.deep.include({ side: side === 'LONG' ? 'SHORT' : 'LONG', sizeRaw: 7n * ether })
      expect(fill).to.deep.include({
        sizeRaw: 7n * ether,
        quoteRaw: closing.quoteRaw,
        feeRaw: closing.feeRaw,
        closedRatio: { numerator: 1n, denominator: 1n },
      })
      const { account } = await fixture.exchange.account(trader.address, at())
      expect(await fixture.exchange.quoteClose(trader.address, market, at())).to.equal(undefined)
      expect(account.notionalRaw).to.equal(0n)
      // The collateral grew by the realized profit. The rest is funding of these seconds.
      const funding = account.collateralRaw - before.collateralRaw - (fill?.realizedProfitRaw ?? 0n)
      expect(Math.abs(Number(funding))).to.be.below(1e18)
    })
  }

  it('goes as far as the exchange lets the price move at once, and says how much of the position that is', async () => {
    const market = fixture.named('BTC')
    const config = await fixture.contract('Exchange')
    const limit = async (ticks: number) => (await config.getFunction('setMaxTickCrossedWithinBlock').send(market.id, ticks)).wait()
    for (const side of ['LONG', 'SHORT'] as const) {
      const trader = await opened(side, 2n * ether, 'BTC')
      await limit(30)
      fixture.counted.rpc = 0
      const asked = await fixture.exchange.quoteClose(trader.address, market, at())
      // The exchange simulated the close, since no view returns it.
      expect(fixture.counted.rpc).to.equal(2)
      expect(Number(asked?.order.sizeRaw)).to.be.below(2e18).and.above(1e17)
      // The exchange rounds down its part of the bound, in millionths.
      const { closing, fill, receipt } = await fixture.close(trader, market, { slackMillionths: 20n })
      expect(receipt.status).to.equal(1)
      const { order, quoteRaw } = closing
      expect(fill).to.deep.include({ sizeRaw: order.sizeRaw, closedRatio: { numerator: order.sizeRaw, denominator: 2n * ether } })
      expect(fill?.quoteRaw).to.equal(quoteRaw)
      expect(Number(fill?.feeRaw)).to.be.closeTo(Number(closing.feeRaw), 100)
      // No more can be closed in the same moment.
      expect(await rejection(fixture.exchange.quoteClose(trader.address, market, at()))).to.deep.include({
        name: 'TRADE_FAILED',
        details: { reason: 'SPL' },
      })
      await fixture.wait(20)
      await limit(250)
      await fixture.close(trader, market)
      await fixture.wait(20)
    }
  })

  /** How the exchange applies the bound to the part that it closes. */
  const taken = (boundRaw: bigint, partRaw: bigint, wholeRaw: bigint) => (boundRaw * ((partRaw * 1_000_000n) / wholeRaw)) / 1_000_000n
  const bounds = fc.bigInt(10n ** 12n, 10n ** 30n)
  const wholes = fc.bigInt(10n ** 6n, 10n ** 24n)
  const millionths = fc.bigInt(0n, 1_000_000n)

  it("has a minimum to receive that equals the part's bound, to the unit, after the exchange has scaled it", () => {
    fc.assert(
      fc.property(bounds, wholes, millionths, (boundRaw, wholeRaw, ratio) => {
        const partRaw = (wholeRaw * ratio) / 1_000_000n || 1n
        const bound = boundOfWhole('SHORT', boundRaw, partRaw, wholeRaw)
        if ((partRaw * 1_000_000n) / wholeRaw > 0n) expect(taken(bound, partRaw, wholeRaw)).to.equal(boundRaw)
        // The whole position is never closed at a lower price.
        expect(taken(bound, wholeRaw, wholeRaw) * partRaw >= boundRaw * wholeRaw).to.equal(true)
      }),
    )
  })

  it('has a maximum to pay that no part exceeds the price of, whichever part is closed', () => {
    fc.assert(
      fc.property(bounds, wholes, millionths, millionths, (boundRaw, wholeRaw, planned, closed) => {
        const [partRaw, closedRaw] = [planned, closed].map((ratio) => (wholeRaw * ratio) / 1_000_000n || 1n) as [bigint, bigint]
        const bound = boundOfWhole('LONG', boundRaw, partRaw, wholeRaw)
        expect(taken(bound, closedRaw, wholeRaw) * partRaw <= boundRaw * closedRaw).to.equal(true)
      }),
    )
  })

  it('reverts on chain one unit past its bound', async () => {
    const market = fixture.named('ETH')
    const trader = await opened('LONG', ether)
    const closing = await fixture.exchange.quoteClose(trader.address, market, at())
    if (!closing) throw new Error('There is nothing to close.')
    const terms = { owner: trader.address, boundRaw: closing.quoteRaw + 1n, deadline: await fixture.deadline() }
    const { steps } = fixture.exchange.close(closing, terms)
    expect(await refusalOf(fixture.provider.call({ from: trader.address, ...steps[0] }))).to.equal('CH_TLRS')
  })

  it('gets a new quote if the position grew while the close was simulated', async () => {
    const market = fixture.named('BTC')
    const trader = await opened('LONG', 2n * ether, 'BTC')
    const config = await fixture.contract('Exchange')
    const limit = async (ticks: number) => (await config.getFunction('setMaxTickCrossedWithinBlock').send(market.id, ticks)).wait()
    await limit(30)
    let isFirst = true
    const exchange = await fixture.exchangeWith({
      async beforeCall() {
        if (!isFirst) return
        isFirst = false
        await limit(250)
        await fixture.open(trader, { market, side: 'LONG', sizeRaw: ether })
      },
    })
    const closing = await exchange.quoteClose(trader.address, market, at())
    expect([isFirst, closing?.position.sizeRaw, closing?.order.sizeRaw]).to.deep.equal([false, 3n * ether, 3n * ether])
    await fixture.close(trader, market)
    await fixture.wait(20)
  })

  it("keeps the bound's price even if the position has changed", async () => {
    const market = fixture.named('ETH')
    const other = await fixture.newTrader(10n ** 13n)
    for (const [side, changed, away] of [
      // Half of it was closed, or four times as much added, while the price moved away.
      ['SHORT', 'LONG', 'LONG'],
      ['LONG', 'LONG', 'SHORT'],
    ] as const) {
      const trader = await opened(side, 6n * ether)
      const closing = await fixture.exchange.quoteClose(trader.address, market, at())
      if (!closing) throw new Error('There is nothing to close.')
      const boundRaw = (closing.quoteRaw * (side === 'SHORT' ? 101n : 99n)) / 100n
      const plan = fixture.exchange.close(closing, { owner: trader.address, boundRaw, deadline: await fixture.deadline() })
      await fixture.open(trader, { market, side: changed, sizeRaw: changed === side ? 24n * ether : 3n * ether })
      expect((await fixture.provider.call({ from: trader.address, ...plan.steps[0] })).length).to.be.above(2)
      await fixture.open(other, { market, side: away, sizeRaw: 300n * ether })
      const { status } = await fixture.executeBy(trader, plan)
      expect(status, side).to.equal(0)
      await fixture.wait(20)
      await fixture.close(other, market)
      await fixture.wait(20)
    }
  })

  it('has a quote in a paused market, and the fixed price in a closed one', async () => {
    const market = fixture.named('ETH')
    const [long, short] = [await opened('LONG', 3n * ether), await opened('SHORT', 2n * ether)]
    const token = await fixture.contractAt('BaseToken', market.id)
    await (await token.getFunction('pause').send()).wait()
    for (const trader of [long, short]) {
      const paused = await fixture.exchange.position(trader.address, market, at())
      const { market: shown } = paused.position
      expect(shown.status).to.equal('paused')
      const { indexPrice: _, ...views } = await fixture.operator.views(trader.address, 'ETHUSD', Number(paused.head.number))
      expect(formatUnits(paused.account.valueRaw, 18)).to.equal(views.accountValue)
      expect((await fixture.exchange.quoteClose(trader.address, market, at()))?.market.status).to.equal('paused')
    }
    const order = { market, side: 'LONG', sizeRaw: ether } as const
    expect((await fixture.exchange.quote(order, undefined, at())).market.status).to.equal('paused')

    await (await token.getFunction('close(uint256)').send(2900n * ether)).wait()
    for (const [trader, sizeRaw] of [
      [long, 3n * ether],
      [short, 2n * ether],
    ] as const) {
      const before = (await fixture.exchange.account(trader.address, at())).account
      const { closing, fill, plan } = await fixture.close(trader, market)
      expect(closing).to.deep.include({ quoteRaw: 2900n * sizeRaw, feeRaw: 0n })
      expect(plan.deadline).to.equal(undefined)
      expect(fill).to.deep.include({ sizeRaw, quoteRaw: 2900n * sizeRaw, feeRaw: 0n, closedRatio: { numerator: 1n, denominator: 1n } })
      const { account } = await fixture.exchange.account(trader.address, at())
      expect(account.notionalRaw).to.equal(0n)
      expect(Number(account.valueRaw)).to.be.closeTo(Number(before.valueRaw), 1e13)
    }
    expect((await fixture.exchange.funding(long.address, at())).funding).to.deep.equal([])
  })
})
