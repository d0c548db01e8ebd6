import { expect } from 'chai'
import type { PerpBookOperator } from '../../../core/contracts/devnet.ts'
import { type Side, waitFor, type BookFixture, type Fields, type Order } from './fixture.ts'
import { exact, plain, sum, times } from './grid.ts'
import { expectSame } from './orders.ts'

type PerpCard = readonly [title: string, run: (desk: PerpBookFixture) => Promise<void>]

/** Of a position, and the order that opens it. */
const sides = [
  ['LONG', 'BUY', 'SELL', 1],
  ['SHORT', 'SELL', 'BUY', -1],
] as const

export const perpCards: readonly PerpCard[] = [
  [
    'PERPBOOK-01 the position is what was filled, at the price that it was filled at',
    async (desk) => {
      const { units, at } = desk
      for (const [positionSide, side] of sides) {
        await closePositions(desk)
        expect(await position(desk)).to.include({ positionAmt: '0' })
        await tradeUnits(desk, side, 1, 2)
        const held = await position(desk)
        expect(held).to.include({ positionSide })
        expectSame(held.positionAmt, units(2), 'size')
        expectSame(held.entryPrice, at(1), 'entry price')
        await tradeUnits(desk, side, 1.02, 2)
        const grown = await position(desk)
        expectSame(grown.positionAmt, units(4), 'size')
        expectClose(grown.entryPrice, plain((exact(at(1)) + exact(at(1.02))) / 2n), 1e-4, 'entry price')
      }
    },
  ],
  [
    "PERPBOOK-02 position, account, margin ratio and liquidation price equal the exchange's own",
    async (desk) => {
      const { operator, market, fair, at } = desk
      for (const [, side, , sign] of sides) {
        await closePositions(desk)
        await setLeverage(desk, '3')
        await tradeUnits(desk, side, 1, 5)
        await expectFigures(desk)
        try {
          await operator.moveIndex(market.market, at(1 + sign * 0.03))
          const { unrealizedProfit } = await expectFigures(desk)
          expect(Number(unrealizedProfit)).to.be.above(0)
          await operator.moveIndex(market.market, at(1 - sign * 0.03))
          expect(Number((await expectFigures(desk)).unrealizedProfit)).to.be.below(0)
        } finally {
          await operator.moveIndex(market.market, String(fair))
        }
      }
    },
  ],
  [
    'PERPBOOK-03 a reduce-only order makes a position smaller, and never grows, opens or turns one',
    async (desk) => {
      const { place, order, act, settled, units, operator, market, owner, at } = desk
      for (const [positionSide, side, back, sign] of sides) {
        await closePositions(desk)
        // There is nothing to reduce.
        await expectNoTrade(desk, order(back, 1 - sign * 0.01, { reduceOnly: true }), back)
        await tradeUnits(desk, side, 1, 2)
        // It would grow.
        await expectNoTrade(desk, order(side, 1 + sign * 0.01, { reduceOnly: true }), side)
        expectSame((await position(desk)).positionAmt, units(2), 'size')
        // It would turn: at most what there is is closed.
        await operator.place(market.market, { side, price: at(1), amount: units(3) })
        const { status, body, text } = await act('orders', order(back, 1, { reduceOnly: true, amount: units(3) }))
        if (status === 200) await settled(body)
        else expect(body.name, text).to.equal('TRADE_FAILED')
        const left = await position(desk)
        expect(Number(left.positionAmt) === 0 || left.positionSide === positionSide, JSON.stringify(left)).to.equal(true)
        for (const each of await operator.open(market.market, owner)) expect(each, 'what still rests').to.not.include({ side: back })
        await operator.clear(market.market, [owner, desk.other])

        await closePositions(desk)
        await tradeUnits(desk, side, 1, 2)
        await operator.place(market.market, { side, price: at(1), amount: units(1) })
        const reduced = await place(order(back, 1, { reduceOnly: true }))
        expect(reduced.state).to.equal('FILLED')
        expectSame((await position(desk)).positionAmt, units(1), 'size')
      }
    },
  ],
  [
    "PERPBOOK-04 a leverage above the market's, and none, are refused by their field; one that it has is shown in the position",
    async (desk) => {
      const { market, order, refused, act, owner } = desk
      const most = Number(market.maxLeverage)
      for (const leverage of [String(most + 1), '1000000', '0', '-1', 'all']) {
        await refused(order('BUY', 0.99, { leverage }), '400 INCOMPLETE_PARAMS', 'leverage')
        const { status, body, text } = await act('leverage', { address: owner, market: market.market, leverage })
        expect(`${status} ${body?.name}`, text).to.equal('400 INCOMPLETE_PARAMS')
        expect(body.details[0].field, text).to.equal('leverage')
      }
      const told = (await refused(order('BUY', 0.99, { leverage: String(most + 1) }), '400 INCOMPLETE_PARAMS', 'leverage')).body.message
      expect(told).to.contain(String(most))
      for (const leverage of ['2', '5']) {
        await closePositions(desk)
        await setLeverage(desk, leverage)
        await tradeUnits(desk, 'BUY', 1, 2)
        expectSame((await position(desk)).leverage, leverage, 'leverage')
      }
    },
  ],
  [
    'PERPBOOK-05 an order that needs more margin than is free is refused, with both',
    async (desk) => {
      const { order, refused, fair, unit } = desk
      const { freeCollateral } = await account(desk)
      const count = Math.ceil((Number(freeCollateral) * Number(desk.market.maxLeverage) * 2) / (fair * Number(unit)))
      for (const side of ['BUY', 'SELL'] as const) {
        const asked = order(side, side === 'BUY' ? 0.99 : 1.01, { amount: desk.units(count) })
        const { body } = await refused(asked, '422 INSUFFICIENT_MARGIN')
        expect(Number(body.details.free)).to.be.below(Number(body.details.needed))
      }
    },
  ],
  [
    'PERPBOOK-06 funding payments are what the rate says on the size of the position, and sum up to what the account got',
    async (desk) => {
      const { operator, market, units, read, answered, owner } = desk
      for (const [, side, , sign] of sides) {
        await closePositions(desk)
        await tradeUnits(desk, side, 1, 5)
        const known = await payments(desk)
        const before = exact((await account(desk)).accountValue)
        const expected: bigint[] = []
        for (const rate of ['0.0001', '-0.0002', '0.0003']) {
          const { price } = await operator.fund(market.market, rate)
          // Longs pay shorts where it is above 0.
          expected.push(-BigInt(sign) * times(times(exact(units(5)), exact(price)), exact(rate)))
        }
        const paid = await waitFor(
          'three payments',
          () => payments(desk),
          ({ length }) => length === known.length + 3,
        )
        const news = paid.slice(0, 3).toReversed()
        expect(news.map(({ rate }) => exact(rate))).to.deep.equal(['0.0001', '-0.0002', '0.0003'].map(exact))
        for (const [index, each] of news.entries()) {
          expect(each.market).to.equal(market.market)
          expectClose(each.amount, plain(expected[index] ?? 0n), 1e-6, 'a payment')
        }
        const got = exact((await account(desk)).accountValue) - before
        expectSame(plain(got), plain(sum(news.map(({ amount }) => exact(amount)))), 'what the account got')
        const page = await answered(read('funding/payments', { address: owner, market: market.market, limit: '2' }))
        expect(page.payments).to.deep.equal(paid.slice(0, 2))
      }
      const info = await answered(read('funding/info', { market: market.market }))
      expect(info.market).to.equal(market.market)
      expect(info.nextFundingTimestamp).to.be.above(info.timestamp)
    },
  ],
  [
    'PERPBOOK-07 what one wallet wins the other loses, but for fees, to the unit',
    async (desk) => {
      const { operator, market, owner, other, trades, at, fair, place, order, units } = desk
      const values = async () => Promise.all([owner, other].map(async (address) => exact((await account(desk, address)).accountValue)))
      await closePositions(desk)
      const before = await values()
      const known = new Set<string>()
      for (const address of [owner, other]) for (const { tradeId } of await trades({ address })) known.add(`${address} ${tradeId}`)
      for (const part of [1, 1.01, 0.98, 1.02]) {
        const [side, back]: [Side, Side] = part > 1 ? ['SELL', 'BUY'] : ['BUY', 'SELL']
        await place(order(side, part, { amount: units(3) }))
        await place(order(back, part, { address: other, amount: units(3) }))
        await operator.moveIndex(market.market, at(part))
      }
      await operator.moveIndex(market.market, String(fair))
      let fees = 0n
      for (const address of [owner, other])
        for (const { tradeId, fee } of await trades({ address })) if (!known.has(`${address} ${tradeId}`)) fees += exact(fee)
      const after = await values()
      expectSame(plain(sum(after)), plain(sum(before) - fees), 'both accounts')
      expectSame((await position(desk)).positionAmt, (await position(desk, other)).positionAmt, 'both positions')
    },
  ],
  [
    'PERPBOOK-08 the last trade price is that of the last trade',
    async (desk) => {
      const { read, answered, market, at } = desk
      await tradeUnits(desk, 'BUY', 1.01, 1)
      const last = async () => (await answered(read('lastTradePrice', { market: market.market }))).lastTradePrice
      await waitFor('it is told', last, (price) => exact(price) === exact(at(1.01)))
    },
  ],
]

type PerpBookFixture = BookFixture<PerpBookOperator>

interface PositionAnswer {
  market: string
  positionAmt: string
  positionSide: string
  unrealizedProfit: string
  leverage: string
  entryPrice: string
  markPrice: string
  liquidationPrice: string
}

const none = {
  positionAmt: '0',
  positionSide: 'LONG',
  unrealizedProfit: '0',
  leverage: '0',
  entryPrice: '0',
  markPrice: '0',
  liquidationPrice: '0',
}

/** One of nothing where there is none. */
async function position({ answered, read, owner, market }: PerpBookFixture, address = owner): Promise<PositionAnswer> {
  const { positions } = await answered(read('positions', { address, market: market.market }))
  return positions[0] ?? { market: market.market, ...none }
}

const account = async ({ answered, read, owner }: PerpBookFixture, address = owner) => answered(read('account', { address }))
const payments = async ({ answered, read, owner, market }: PerpBookFixture): Promise<{ market: string; amount: string; rate: string }[]> =>
  (await answered(read('funding/payments', { address: owner, market: market.market, limit: '500' }))).payments

/** Trades so many units against another trader. */
async function tradeUnits(desk: PerpBookFixture, side: Side, part: number, count: number, fields: Fields = {}): Promise<Order> {
  const { operator, market, place, order, at, units } = desk
  await operator.place(market.market, { side: side === 'BUY' ? 'SELL' : 'BUY', price: at(part), amount: units(count) })
  const filled = await place(order(side, part, { amount: units(count), ...fields }))
  expect(filled.state).to.equal('FILLED')
  return filled
}

/** Neither wallet has a position. */
async function closePositions(desk: PerpBookFixture): Promise<void> {
  const { operator, market, place, order, at } = desk
  await desk.clear()
  for (const address of [desk.owner, desk.other]) {
    const { positionAmt: amount, positionSide } = await position(desk, address)
    if (exact(amount) === 0n) continue
    const [side, back]: [Side, Side] = positionSide === 'LONG' ? ['SELL', 'BUY'] : ['BUY', 'SELL']
    await operator.place(market.market, { side: back, price: at(1), amount })
    await place(order(side, 1, { address, amount, reduceOnly: true }))
    await waitFor(
      'the position is closed',
      () => position(desk, address),
      (now) => exact(now.positionAmt) === 0n,
    )
  }
}

async function setLeverage({ act, answered, owner, market }: PerpBookFixture, leverage: string): Promise<void> {
  const { state, reason } = await answered(act('leverage', { address: owner, market: market.market, leverage }))
  expect(state, reason).to.be.oneOf(['PENDING', 'DONE'])
}

async function expectFigures(desk: PerpBookFixture): Promise<PositionAnswer> {
  const shown = await position(desk)
  const views = await desk.operator.views(desk.market.market, desk.owner)
  expectSame(`${shown.positionSide === 'SHORT' ? '-' : ''}${shown.positionAmt}`, views.size, 'size')
  for (const key of ['entryPrice', 'markPrice', 'unrealizedProfit'] as const) expectSame(shown[key], views[key], key)
  expectSame(shown.liquidationPrice, views.liquidationPrice ?? '0', 'liquidation price')
  const whole = await account(desk)
  for (const key of ['accountValue', 'freeCollateral', 'initialMargin', 'maintenanceMargin'] as const)
    expectSame(whole[key], views[key], key)
  const notional = Math.abs(Number(views.size)) * Number(views.markPrice)
  expectClose(whole.marginRatio, String(Number(views.accountValue) / notional), 1e-9, 'margin ratio')
  return shown
}

/** Another trader would meet it: it is refused, or over without a fill. */
async function expectNoTrade(desk: PerpBookFixture, asked: Fields, side: Side): Promise<void> {
  const { operator, market, act, settled, owner, other, at } = desk
  await operator.place(market.market, { side: side === 'BUY' ? 'SELL' : 'BUY', price: at(1), amount: desk.unit })
  const { status, body, text } = await act('orders', asked)
  if (status === 200) {
    const over = await settled(body)
    expectSame(over.filledAmount, '0', 'filled')
    expect(over.state, text).to.be.oneOf(['REJECTED', 'CANCELED', 'EXPIRED'])
  } else expect(body.name, text).to.equal('TRADE_FAILED')
  expect(await operator.open(market.market, owner)).to.deep.equal([])
  await operator.clear(market.market, [owner, other])
}

/** Equal but for such a part: figures that the exchange rounds. */
function expectClose(actual: string, expected: string, part: number, what: string): void {
  const off = Math.abs(Number(actual) - Number(expected))
  expect(off <= part * Math.abs(Number(expected)), `${what}: ${actual} and ${expected}`).to.equal(true)
}
