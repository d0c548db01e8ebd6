import { expect } from 'chai'
import { roundTripsTo } from '../round-trips.ts'
import { expectClose, expectSame, tickerOf, type PerpFixture, type Market } from './perp-fixture.ts'
import type { Card } from './perp.ts'
import { nodeCall, type TestVenue, inOneBlock, waitForMined } from './venue.ts'

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
async function pass(bench: TestVenue, seconds: number): Promise<void> {
  await nodeCall(bench, 'evm_increaseTime', seconds)
  await nodeCall(bench, 'evm_mine')
}

async function holdPosition({ position, operator, owner }: PerpFixture, on: Market): Promise<void> {
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

async function holdAccount({ margin, operator, owner, market }: PerpFixture): Promise<void> {
  const { blockNumber, marginRatio, leverage, ...shown } = await margin()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  for (const key of ['accountValue', 'freeCollateral', 'collateral', 'initialMargin', 'maintenanceMargin'] as const)
    expectSame(shown[key], views[key], key)
  expectClose(marginRatio, Number(views.accountValue) / Number(views.notional), 1e-12, 'margin ratio')
  expectClose(leverage, Number(views.notional) / Number(views.accountValue), 1e-12, 'leverage')
}

/** Put back into the account's own sum, where it has this position only. */
async function holdLiquidation({ position, operator, owner, market }: PerpFixture): Promise<void> {
  const { blockNumber, liquidationPrice } = await position()
  const views = await operator.views(owner, tickerOf(market), blockNumber)
  const [price, size] = [Number(liquidationPrice), Number(views.size)]
  // The account has more than a long can lose.
  if (price === 0) return void expect(size).to.be.above(0)
  const part = Number(views.maintenanceMargin) / Number(views.notional)
  const value = Number(views.accountValue) + size * (price - Number(views.markPrice))
  expectClose(value, part * Math.abs(size) * price, 1e-9, 'value at the liquidation price')
}

const sides = [
  ['LONG', 'SHORT'],
  ['SHORT', 'LONG'],
] as const

export const onChainCards: readonly Card[] = [
  [
    'PERP-17 a price that moved past the bound reverts on chain and costs only gas',
    async ({ bench, order, open, ask, clear, position, owner, other, market }) => {
      for (const [side, back] of sides) {
        await clear()
        await open(await order(side, 10_000))
        const strict = { allowedSlippage: '0/1' }
        for (const [verb, fields, moving] of [
          ['open', { ...(await order(side, 10_000)), ...strict }, side],
          ['close', { ...market, address: owner, ...strict }, back],
        ] as const) {
          const { positionAmt } = await position()
          const first = await order(moving, 20_000, { address: other, maxFeePerGas: '100', maxPriorityFeePerGas: '50' })
          let txHash = ''
          await inOneBlock(bench, async () => {
            const held = await ask(verb, fields)
            expect(held.status, held.text).to.equal(200)
            txHash = held.body.txHash
            // It pays more, so it goes first.
            const answer = await ask('open', first)
            expect(answer.status, answer.text).to.equal(200)
          })
          const { txReceipt, fill } = await waitForMined(bench, txHash)
          expect([verb, txReceipt.status, fill]).to.deep.equal([verb, 0, undefined])
          expect((await position()).positionAmt).to.equal(positionAmt)
        }
      }
    },
  ],
  [
    'PERP-18 what is mined after its deadline reverts on chain and costs only gas',
    async ({ bench, order, open, ask, position, owner, market }) => {
      await open(await order('LONG', 1_000))
      const { positionAmt } = await position()
      for (const [verb, fields] of [
        ['open', await order('LONG', 1_000)],
        ['close', { ...market, address: owner }],
      ] as const) {
        let txHash = ''
        await inOneBlock(bench, async () => {
          const { status, body, text } = await ask(verb, fields)
          expect(status, text).to.equal(200)
          txHash = body.txHash
          await nodeCall(bench, 'evm_setNextBlockTimestamp', body.deadline + 1)
        })
        const { txReceipt } = await waitForMined(bench, txHash)
        expect([verb, txReceipt.status]).to.deep.equal([verb, 0])
        expect((await position()).positionAmt).to.equal(positionAmt)
      }
    },
  ],
  [
    'PERP-19 a liquidation in between is told as what it is',
    async (desk) => {
      const { position, operator, refused, owner, market } = desk
      await nearlyLiquidated(desk, async ({ fill, blockNumber }) => {
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++) {
          const before = Number((await position()).positionAmt)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
          expect(Number((await position()).positionAmt)).to.be.below(before)
        }
        const { body } = await refused('close', { ...market, address: owner }, '404 UNKNOWN_POSITION')
        expect(body.message).to.contain('liquidated')
        const told: { txHash: string; blockNumber: number; size: string }[] = body.details.liquidations
        expect(told.map((each) => each.txHash)).to.deep.equal(hashes)
        const sizes = told.reduce((sum, each) => sum + Number(each.size), 0)
        expectClose(sizes, fill.size, 1e-12, 'what was liquidated')
        for (const each of told) expect(each.blockNumber).to.be.above(blockNumber)
      })
    },
  ],
  [
    'PERP-20 a close that comes after a liquidation says so',
    async (desk) => {
      const { bench, ask, position, operator, owner, market } = desk
      await nearlyLiquidated(desk, async () => {
        let txHash = ''
        await inOneBlock(bench, async () => {
          const { status, body, text } = await ask('close', { ...market, address: owner })
          expect(status, text).to.equal(200)
          txHash = body.txHash
          // The nodes have forgotten it when the liquidation comes; the server sends it again.
          await nodeCall(bench, 'anvil_dropTransaction', txHash)
        })
        const hashes: string[] = []
        for (let tries = 0; tries < 10 && (await position()).positionAmt !== '0'; tries++)
          hashes.push(await operator.liquidate(owner, tickerOf(market)))
        const { txReceipt } = await waitForMined(bench, txHash)
        expect(txReceipt.status).to.equal(0)
        expect(await reasonOf(bench, txHash))
          .to.contain('liquidated')
          .and.to.contain(hashes[0])
      })
    },
  ],
]

/** Opens a position with as little behind it as the market allows, and puts the rest of the collateral back in the end. */
async function nearlyLiquidated(
  { order, open, move, margin, answered, market }: PerpFixture,
  work: (opened: Awaited<ReturnType<PerpFixture['open']>>) => Promise<void>,
): Promise<void> {
  const { maxLeverage } = await answered('market-status', { ...market })
  const worth = 20_000
  const { freeCollateral } = await margin()
  const left = (worth / Number(maxLeverage)) * 1.1
  const taken = (Number(freeCollateral) - left).toFixed(2)
  await move('withdraw', taken)
  try {
    await work(await open(await order('LONG', worth, { leverage: maxLeverage, margin: (left * 0.95).toFixed(2) })))
    expect(Number((await margin()).accountValue)).to.be.below(left)
  } finally {
    await move('deposit', taken)
  }
}

/** Why it reverted: found out once the journal knows that it did. */
async function reasonOf({ client, chain, network }: TestVenue, txHash: string): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await client.get('/network/poll', { chain, network, txHash })
    if (body.reason !== undefined && body.txState !== 'BROADCAST') return String(body.reason)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`It is not told why ${txHash} reverted`)
}
