import { expect } from 'chai'
import { roundTripsTo } from '../round-trips.ts'
import { expectClose, expectOk, expectSame, waitFor } from './expect.ts'
import { tickerOf, type Market, type PerpFixture } from './perp-fixture.ts'
import {
  advanceTime,
  atNode,
  highPriorityFields,
  lowPriorityFields,
  inOneBlock,
  mineAfterDeadline,
  minedInOneBlock,
  nodeCall,
  pollOf,
  waitForPoll,
} from './venue.ts'
import type { Card } from './venue.ts'

export const figureCards: readonly Card<PerpFixture>[] = [
  [
    "PERP-14 figures equal the exchange's own view functions to the unit, at that block",
    async (fixture) => {
      const { order, open, market, second, call, operator, owner } = fixture
      for (const [first, other] of [
        ['LONG', 'SHORT'],
        ['SHORT', 'LONG'],
      ] as const) {
        await fixture.clear()
        await open(await order(first, 30_000))
        await expectPosition(fixture, market)
        await expectAccount(fixture)
        await expectLiquidation(fixture)
        await open(await order(other, 20_000, second))
        for (const on of [market, second]) await expectPosition(fixture, on)
        await expectAccount(fixture)
        const { funding } = await call('funding', { wallet_address: owner })
        expect(funding.map((each: { tickerSymbol: string }) => each.tickerSymbol)).to.have.members([market, second].map(tickerOf))
      }
      for (const on of [market, second]) {
        const { markPrice, indexPrice, blockNumber } = await call('market-prices', { ...on })
        const views = await operator.views(owner, tickerOf(on), blockNumber)
        expectSame(markPrice, views.markPrice, 'mark price')
        expectSame(indexPrice, views.indexPrice, 'index price')
      }
    },
  ],
  [
    'PERP-15 funding accrues by the contracts, from longs to shorts where the mark price is above the index price',
    async ({ venue, order, open, close, margin, call, operator, owner, market, clear, position }) => {
      const ticker = tickerOf(market)
      const { indexPrice } = await call('market-prices', { ...market })
      const pendingNow = async () => {
        const { funding, blockNumber } = await call('funding', { wallet_address: owner })
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
          // The mean over time follows later.
          await advanceTime(venue, 300)
          const first = await pendingNow()
          await advanceTime(venue, 60)
          const last = await pendingNow()
          expect(first.pending).to.be.below(0)
          expect(last.pending).to.be.below(first.pending)
          expect(last.rate * sign).to.be.above(0)
          const { pendingFundingPayment } = await position()
          expect(Number(pendingFundingPayment)).to.be.at.most(last.pending)

          const { fill } = await close()
          const funded = Number((await margin()).accountValue) - before - Number(fill.realizedProfit)
          // A few more blocks have passed.
          expect(funded, 'the paid funding').to.be.within(last.pending * 1.1, last.pending + 1e-5)
        }
      } finally {
        await operator.moveIndex(ticker, indexPrice)
      }
    },
  ],
  [
    'PERP-16 position, margin and funding cost one round trip to the node each',
    async ({ order, open, call, venue, owner, market, second }) => {
      await open(await order('LONG', 1_000))
      await open(await order('SHORT', 1_000, second))
      for (const [endpoint, fields] of [
        ['position', { ...market, wallet_address: owner }],
        ['margin', { wallet_address: owner }],
        ['funding', { wallet_address: owner }],
        ['market-prices', { ...market }],
        ['balance', { address: owner }],
      ] as const) {
        const counts: number[] = []
        // Some of them coincide with calls that follow the chain.
        for (let round = 0; round < 5; round++) {
          const trips = roundTripsTo(venue.rpcUrl)
          trips.record()
          await call(endpoint, fields)
          counts.push(trips.take().filter(({ methods }) => methods.includes('eth_call')).length)
        }
        expect([endpoint, Math.min(...counts)]).to.deep.equal([endpoint, 1])
      }
    },
  ],
]

async function expectPosition({ position, operator, owner }: PerpFixture, on: Market): Promise<void> {
  const { blockNumber, ...shown } = await position(on)
  const views = await operator.views(owner, tickerOf(on), blockNumber)
  expectSame(`${shown.positionSide === 'SHORT' ? '-' : ''}${shown.positionAmt}`, views.size, 'size')
  expectSame(shown.unrealizedProfit, views.unrealizedProfit, 'unrealized profit')
  expectSame(shown.pendingFundingPayment, views.pendingFunding, 'pending funding')
  expectSame(shown.markPrice, views.markPrice, 'mark price')
  expectClose(Number(shown.entryPrice) * Number(views.size), -Number(views.openNotional), 1e-14, 'entry price')
  const value = Math.abs(Number(views.size)) * Number(views.markPrice)
  expectClose(shown.leverage, value / Number(views.accountValue), 1e-12, 'leverage')
}

async function expectAccount({ margin, operator, owner, market }: PerpFixture): Promise<void> {
  const { blockNumber, marginRatio, leverage, ...shown } = await margin()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  for (const key of ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'] as const)
    expectSame(shown[key], views[key], key)
  expectClose(marginRatio, Number(views.accountValue) / Number(views.notional), 1e-12, 'margin ratio')
  expectClose(leverage, Number(views.notional) / Number(views.accountValue), 1e-12, 'leverage')
}

/** At the liquidation price the account's value must equal its maintenance margin. Only for an account with a single position. */
async function expectLiquidation({ position, operator, owner, market }: PerpFixture): Promise<void> {
  const { blockNumber, liquidationPrice } = await position()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  const [price, size] = [Number(liquidationPrice), Number(views.size)]
  // A long position cannot lose all of the account.
  if (price === 0) return void expect(size).to.be.above(0)
  const ratio = Number(views.maintenanceMargin) / Number(views.notional)
  const value = Number(views.accountValue) + size * (price - Number(views.markPrice))
  expectClose(value, ratio * Math.abs(size) * price, 1e-9, 'value at the liquidation price')
}

const sides = [
  ['LONG', 'SHORT'],
  ['SHORT', 'LONG'],
] as const

const boundMissing =
  'The price moved past the limit, and the trade was carried out: `open` and `close` have to put terms.boundRaw into the call, where the contract enforces it.'
const deadlineMissing =
  'The trade was mined after its deadline, and carried out: `open` and `close` have to put terms.deadline into the call, in seconds, where the contract enforces it.'

export const onChainCards: readonly Card<PerpFixture>[] = [
  [
    'PERP-17 a price that moved past the limit reverts on chain and costs only gas',
    async ({ venue, order, open, send, clear, position, owner, other, market }) => {
      for (const [side, back] of sides) {
        await clear()
        await open(await order(side, 10_000))
        const strict = { allowedSlippage: '0/1', ...lowPriorityFields(venue) }
        for (const [endpoint, fields, moving] of [
          ['open', { ...(await order(side, 10_000)), ...strict }, side],
          ['close', { ...market, address: owner, ...strict }, back],
        ] as const) {
          const { positionAmt } = await position()
          const first = await order(moving, 20_000, { address: other, ...highPriorityFields(venue) })
          const { txReceipt, fill } = await minedInOneBlock(venue, async () => {
            const { txHash } = expectOk(await send(endpoint, fields))
            await atNode(venue, expectOk(await send('open', first)).txHash)
            return txHash
          })
          expect([endpoint, txReceipt.status, fill], boundMissing).to.deep.equal([endpoint, 0, undefined])
          expect((await position()).positionAmt).to.equal(positionAmt)
        }
      }
    },
  ],
  [
    'PERP-18 a transaction after its deadline reverts on chain and costs only gas',
    async ({ venue, order, open, send, position, owner, market }) => {
      await open(await order('LONG', 1_000))
      const { positionAmt } = await position()
      for (const [endpoint, fields] of [
        ['open', await order('LONG', 1_000)],
        ['close', { ...market, address: owner }],
      ] as const) {
        const { txReceipt } = await minedInOneBlock(venue, async () => mineAfterDeadline(venue, expectOk(await send(endpoint, fields))))
        expect([endpoint, txReceipt.status], deadlineMissing).to.deep.equal([endpoint, 0])
        expect((await position()).positionAmt).to.equal(positionAmt)
      }
    },
  ],
  [
    'PERP-19 a liquidation in between is returned as one',
    async (fixture) => {
      const { position, operator, refused, owner, market } = fixture
      await withLittleMargin(fixture, async ({ fill, blockNumber }) => {
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++) {
          const before = Number((await position()).positionAmt)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
          expect(Number((await position()).positionAmt)).to.be.below(before)
        }
        const { body } = await refused('close', { ...market, address: owner }, '404 UNKNOWN_POSITION')
        expect(body.message).to.contain('liquidated')
        const liquidations: { txHash: string; blockNumber: number; size: string }[] = body.details.liquidations
        expect(liquidations.map((each) => each.txHash)).to.deep.equal(hashes)
        const sizes = liquidations.reduce((sum, each) => sum + Number(each.size), 0)
        expectClose(sizes, fill.size, 1e-12, 'the liquidated size')
        for (const each of liquidations) expect(each.blockNumber).to.be.above(blockNumber)
      })
    },
  ],
  [
    'PERP-20 a close after a liquidation says why it failed',
    async (fixture) => {
      const { venue, send, position, operator, owner, market } = fixture
      await withLittleMargin(fixture, async () => {
        let txHash = ''
        await inOneBlock(venue, async () => {
          const body = expectOk(await send('close', { ...market, address: owner }))
          txHash = body.txHash
          await atNode(venue, txHash)
          // The node drops it before the liquidation. The server broadcasts it again.
          await nodeCall(venue, 'anvil_dropTransaction', txHash)
        })
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
        // The server asks for it by itself, and sends it again, after some blocks without it. No others come here.
        const { txReceipt } = await waitFor(
          `${txHash} is mined`,
          async () => {
            await nodeCall(venue, 'evm_mine')
            return pollOf(venue, txHash)
          },
          ({ txStatus }) => txStatus === 1,
        )
        expect(txReceipt.status).to.equal(0)
        // The reason is known once the journal has the receipt.
        const isKnown = ({ reason: why, txState }: { reason?: string; txState: string }) => why !== undefined && txState !== 'BROADCAST'
        const { reason } = await waitForPoll(venue, txHash, 'has a reason for its revert', isKnown)
        expect(reason).to.contain('liquidated').and.to.contain(hashes[0])
      })
    },
  ],
]

/** Opens a position with as little margin as the market allows. Deposits the rest of the collateral again at the end. */
async function withLittleMargin(
  { order, open, move, margin, call, market }: PerpFixture,
  work: (opened: Awaited<ReturnType<PerpFixture['open']>>) => Promise<void>,
): Promise<void> {
  const { maxLeverage } = await call('market-status', { ...market })
  const value = 20_000
  const { freeCollateral } = await margin()
  const left = (value / Number(maxLeverage)) * 1.1
  const withdrawn = (Number(freeCollateral) - left).toFixed(2)
  await move('withdraw', withdrawn)
  try {
    await work(await open(await order('LONG', value, { leverage: maxLeverage, margin: (left * 0.95).toFixed(2) })))
    expect(Number((await margin()).accountValue)).to.be.below(left)
  } finally {
    await move('deposit', withdrawn)
  }
}
