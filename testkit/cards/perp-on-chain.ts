import { expect } from 'chai'
import { roundTripsTo } from '../round-trips.ts'
import { node, type Bench } from './venue.ts'
import { expectClose, expectSame } from '../../core/testing/cards/perp/amounts.ts'
import { tickerOf, type Desk, type Market } from './perp-fixture.ts'
import type { Card } from '../../core/testing/cards/perp/index.ts'

export const figureCards: readonly Card[] = [
  [
    "PERP-14 figures equal the exchange's own view functions to the unit, at that block",
    async (desk) => {
      const { order, open, market, second, answered, operator, owner } = desk
      for (const [first, other] of [
        ['LONG', 'SHORT'],
        ['SHORT', 'LONG'],
      ] as const) {
        await desk.clear()
        await open(await order(first, 30_000))
        await holdPosition(desk, market)
        await holdAccount(desk)
        await holdLiquidation(desk)
        await open(await order(other, 20_000, second))
        for (const on of [market, second]) await holdPosition(desk, on)
        await holdAccount(desk)
        const { funding } = await answered('funding', { wallet_address: owner })
        expect(funding.map((each: { tickerSymbol: string }) => each.tickerSymbol)).to.have.members([market, second].map(tickerOf))
      }
      for (const on of [market, second]) {
        const { markPrice, indexPrice, blockNumber } = await answered('market-prices', { ...on })
        const views = await operator.views(owner, tickerOf(on), blockNumber)
        expectSame(markPrice, views.markPrice, 'mark price')
        expectSame(indexPrice, views.indexPrice, 'index price')
      }
    },
  ],
  [
    'PERP-15 funding accrues as the contract says, from longs to shorts where the mark price is above the index price',
    async ({ bench, order, open, close, margin, answered, operator, owner, market, clear, position }) => {
      const ticker = tickerOf(market)
      const { indexPrice } = await answered('market-prices', { ...market })
      const pendingNow = async () => {
        const { funding, blockNumber } = await answered('funding', { wallet_address: owner })
        const [{ pendingFundingPayment, fundingRate, indexPrice: index }] = funding
        const views = await operator.views(owner, ticker, blockNumber)
        expectSame(pendingFundingPayment, views.pendingFunding, 'pending funding')
        expectSame(index, views.indexPrice, 'index price')
        return { pending: Number(pendingFundingPayment), rate: Number(fundingRate) }
      }
      try {
        for (const [side, sign] of [
          ['LONG', 1],
          ['SHORT', -1],
        ] as const) {
          await clear()
          const before = Number((await margin()).accountValue)
          await open(await order(side, 50_000))
          await operator.moveIndex(ticker, (Number(indexPrice) * (1 - 0.02 * sign)).toFixed(6))
          // Its mean over time has to follow.
          await pass(bench, 300)
          const first = await pendingNow()
          await pass(bench, 60)
          const last = await pendingNow()
          expect(first.pending).to.be.below(0)
          expect(last.pending).to.be.below(first.pending)
          expect(last.rate * sign).to.be.above(0)
          const { pendingFundingPayment } = await position()
          expect(Number(pendingFundingPayment)).to.be.at.most(last.pending)

          const { fill } = await close()
          const funded = Number((await margin()).accountValue) - before - Number(fill.realizedProfit)
          // A few blocks more than were seen.
          expect(funded, 'what funding took').to.be.within(last.pending * 1.1, last.pending + 1e-5)
        }
      } finally {
        await operator.moveIndex(ticker, indexPrice)
      }
    },
  ],
  [
    'PERP-16 position, margin and funding cost one round trip to the node each',
    async ({ order, open, answered, bench, owner, market, second }) => {
      await open(await order('LONG', 1_000))
      await open(await order('SHORT', 1_000, second))
      for (const [verb, fields] of [
        ['position', { ...market, wallet_address: owner }],
        ['margin', { wallet_address: owner }],
        ['funding', { wallet_address: owner }],
        ['market-prices', { ...market }],
        ['balance', { address: owner }],
      ] as const) {
        const counts: number[] = []
        // The chain is followed beside some of them.
        for (let round = 0; round < 5; round++) {
          const trips = roundTripsTo(bench.rpcUrl)
          trips.record()
          await answered(verb, fields)
          counts.push(trips.take().filter(({ methods }) => methods.includes('eth_call')).length)
        }
        expect([verb, Math.min(...counts)]).to.deep.equal([verb, 1])
      }
    },
  ],
]

/** Time of the chain's clock. */
async function pass(bench: Bench, seconds: number): Promise<void> {
  await node(bench, 'evm_increaseTime', seconds)
  await node(bench, 'evm_mine')
}

async function holdPosition({ position, operator, owner }: Desk, on: Market): Promise<void> {
  const { blockNumber, ...shown } = await position(on)
  const views = await operator.views(owner, tickerOf(on), blockNumber)
  expectSame(`${shown.positionSide === 'SHORT' ? '-' : ''}${shown.positionAmt}`, views.size, 'size')
  expectSame(shown.unrealizedProfit, views.unrealizedProfit, 'unrealized profit')
  expectSame(shown.pendingFundingPayment, views.pendingFunding, 'pending funding')
  expectSame(shown.markPrice, views.markPrice, 'mark price')
  expectClose(Number(shown.entryPrice) * Number(views.size), -Number(views.openNotional), 1e-14, 'entry price')
  const worth = Math.abs(Number(views.size)) * Number(views.markPrice)
  expectClose(shown.leverage, worth / Number(views.accountValue), 1e-12, 'leverage')
}

async function holdAccount({ margin, operator, owner, market }: Desk): Promise<void> {
  const { blockNumber, marginRatio, leverage, ...shown } = await margin()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  for (const key of ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'] as const)
    expectSame(shown[key], views[key], key)
  expectClose(marginRatio, Number(views.accountValue) / Number(views.notional), 1e-12, 'margin ratio')
  expectClose(leverage, Number(views.notional) / Number(views.accountValue), 1e-12, 'leverage')
}

/** Put back into the account's own sum, where it has this position only. */
async function holdLiquidation({ position, operator, owner, market }: Desk): Promise<void> {
  const { blockNumber, liquidationPrice } = await position()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  const [price, size] = [Number(liquidationPrice), Number(views.size)]
  // The account has more than a long can lose.
  if (price === 0) return void expect(size).to.be.above(0)
  const part = Number(views.maintenanceMargin) / Number(views.notional)
  const value = Number(views.accountValue) + size * (price - Number(views.markPrice))
  expectClose(value, part * Math.abs(size) * price, 1e-9, 'value at the liquidation price')
}
