import { expect } from 'chai'
import type { PerpBookOperator } from '../../../core/contracts/devnet.ts'
import { bodyOf, expectClose, expectSame, waitFor } from '../expect.ts'
import type { BookCard, BookFixture, Fields, Order, Side } from './fixture.ts'
import { exact, plain, sum, times } from './grid.ts'

/** Side of a position, side of the order that opens it, the other side, and the position's sign. */
const sides = [
  ['LONG', 'BUY', 'SELL', 1],
  ['SHORT', 'SELL', 'BUY', -1],
] as const

export const perpCards: readonly BookCard<PerpBookOperator>[] = [
  [
    'PERPBOOK-01 the position is what was filled, at the price of the fill',
    async (fixture) => {
      const { units, at } = fixture
      for (const [positionSide, side] of sides) {
        await closePositions(fixture)
        expect(await position(fixture)).to.include({ positionAmt: '0' })
        await tradeUnits(fixture, side, 1, 2)
        const held = await position(fixture)
        expect(held).to.include({ positionSide })
        expectSame(held.positionAmt, units(2), 'size')
        expectSame(held.entryPrice, at(1), 'entry price')
        await tradeUnits(fixture, side, 1.02, 2)
        const grown = await position(fixture)
        expectSame(grown.positionAmt, units(4), 'size')
        expectClose(grown.entryPrice, plain((exact(at(1)) + exact(at(1.02))) / 2n), 1e-4, 'entry price')
      }
    },
  ],
  [
    "PERPBOOK-02 position, account, margin ratio and liquidation price equal the exchange's own",
    async (fixture) => {
      const { operator, market, fair, at } = fixture
      for (const [, side, , sign] of sides) {
        await closePositions(fixture)
        await setLeverage(fixture, '3')
        await tradeUnits(fixture, side, 1, 5)
        await expectFigures(fixture)
        try {
          await operator.moveIndex(market.market, at(1 + sign * 0.03))
          const { unrealizedProfit } = await expectFigures(fixture)
          expect(Number(unrealizedProfit)).to.be.above(0)
          await operator.moveIndex(market.market, at(1 - sign * 0.03))
          expect(Number((await expectFigures(fixture)).unrealizedProfit)).to.be.below(0)
        } finally {
          await operator.moveIndex(market.market, String(fair))
        }
      }
    },
  ],
  [
    'PERPBOOK-03 a reduce-only order reduces a position, and never increases, opens or turns one',
    async (fixture) => {
      const { place, order, post, settled, units, operator, market, owner, at } = fixture
      for (const [positionSide, side, back, sign] of sides) {
        await closePositions(fixture)
        // Without a position there is nothing to reduce.
        await expectNoTrade(fixture, order(back, 1 - sign * 0.01, { reduceOnly: true }), back)
        await tradeUnits(fixture, side, 1, 2)
        // It would increase the position.
        await expectNoTrade(fixture, order(side, 1 + sign * 0.01, { reduceOnly: true }), side)
        expectSame((await position(fixture)).positionAmt, units(2), 'size')
        // It would turn the position. At most the whole position is closed.
        await operator.place(market.market, { side, price: at(1), amount: units(3) })
        const { status, body, text } = await post('orders', order(back, 1, { reduceOnly: true, amount: units(3) }))
        if (status === 200) await settled(body)
        else expect(body.name, text).to.equal('TRADE_FAILED')
        const left = await position(fixture)
        expect(Number(left.positionAmt) === 0 || left.positionSide === positionSide, JSON.stringify(left)).to.equal(true)
        for (const each of await operator.open(market.market, owner)) expect(each, 'what still rests').to.not.include({ side: back })
        await operator.clear(market.market, [owner, fixture.other])

        await closePositions(fixture)
        await tradeUnits(fixture, side, 1, 2)
        await operator.place(market.market, { side, price: at(1), amount: units(1) })
        const reduced = await place(order(back, 1, { reduceOnly: true }))
        expect(reduced.state).to.equal('FILLED')
        expectSame((await position(fixture)).positionAmt, units(1), 'size')
      }
    },
  ],
  [
    'PERPBOOK-04 a leverage above the maximum, and an invalid one, are refused, naming the field; a set one is shown in the position',
    async (fixture) => {
      const { market, order, refused, post, owner } = fixture
      const maxLeverage = Number(market.maxLeverage)
      for (const leverage of [String(maxLeverage + 1), '1000000', '0', '-1', 'all']) {
        await refused(order('BUY', 0.99, { leverage }), '400 INCOMPLETE_PARAMS', 'leverage')
        const { status, body, text } = await post('leverage', { address: owner, market: market.market, leverage })
        expect(`${status} ${body?.name}`, text).to.equal('400 INCOMPLETE_PARAMS')
        expect(body.details[0].field, text).to.equal('leverage')
      }
      const message = (await refused(order('BUY', 0.99, { leverage: String(maxLeverage + 1) }), '400 INCOMPLETE_PARAMS', 'leverage')).body
        .message
      expect(message).to.contain(String(maxLeverage))
      for (const leverage of ['2', '5']) {
        await closePositions(fixture)
        await setLeverage(fixture, leverage)
        await tradeUnits(fixture, 'BUY', 1, 2)
        expectSame((await position(fixture)).leverage, leverage, 'leverage')
      }
    },
  ],
  [
    'PERPBOOK-05 an order that needs more margin than is free is refused, with both',
    async (fixture) => {
      const { order, refused, fair, unit } = fixture
      const { freeCollateral } = await account(fixture)
      const count = Math.ceil((Number(freeCollateral) * Number(fixture.market.maxLeverage) * 2) / (fair * Number(unit)))
      for (const side of ['BUY', 'SELL'] as const) {
        const request = order(side, side === 'BUY' ? 0.99 : 1.01, { amount: fixture.units(count) })
        const { body } = await refused(request, '422 INSUFFICIENT_MARGIN')
        expect(Number(body.details.free)).to.be.below(Number(body.details.needed))
      }
    },
  ],
  [
    'PERPBOOK-06 funding payments are rate times position, and add up to the change of the account',
    async (fixture) => {
      const { operator, market, units, read, owner } = fixture
      for (const [, side, , sign] of sides) {
        await closePositions(fixture)
        await tradeUnits(fixture, side, 1, 5)
        const known = await payments(fixture)
        const before = exact((await account(fixture)).accountValue)
        const expected: bigint[] = []
        for (const rate of ['0.0001', '-0.0002', '0.0003']) {
          const { price } = await operator.fund(market.market, rate)
          // Longs pay shorts at a positive rate.
          expected.push(-BigInt(sign) * times(times(exact(units(5)), exact(price)), exact(rate)))
        }
        const paid = await waitFor(
          'there are three payments',
          () => payments(fixture),
          ({ length }) => length === known.length + 3,
        )
        const newPayments = paid.slice(0, 3).toReversed()
        expect(newPayments.map(({ rate }) => exact(rate))).to.deep.equal(['0.0001', '-0.0002', '0.0003'].map(exact))
        for (const [index, each] of newPayments.entries()) {
          expect(each.market).to.equal(market.market)
          expectClose(each.amount, plain(expected[index] ?? 0n), 1e-6, 'a payment')
        }
        const got = exact((await account(fixture)).accountValue) - before
        expectSame(plain(got), plain(sum(newPayments.map(({ amount }) => exact(amount)))), 'what the account got')
        const page = await bodyOf(read('funding/payments', { address: owner, market: market.market, limit: '2' }))
        expect(page.payments).to.deep.equal(paid.slice(0, 2))
      }
      const info = await bodyOf(read('funding/info', { market: market.market }))
      expect(info.market).to.equal(market.market)
      expect(info.nextFundingTimestamp).to.be.above(info.timestamp)
    },
  ],
  [
    'PERPBOOK-07 what one wallet wins the other loses, except for fees, to the unit',
    async (fixture) => {
      const { operator, market, owner, other, trades, at, fair, place, order, units } = fixture
      const values = async () => Promise.all([owner, other].map(async (address) => exact((await account(fixture, address)).accountValue)))
      await closePositions(fixture)
      const before = await values()
      const known = new Set<string>()
      for (const address of [owner, other]) for (const { tradeId } of await trades({ address })) known.add(`${address} ${tradeId}`)
      for (const multiple of [1, 1.01, 0.98, 1.02]) {
        const [side, back]: [Side, Side] = multiple > 1 ? ['SELL', 'BUY'] : ['BUY', 'SELL']
        await place(order(side, multiple, { amount: units(3) }))
        await place(order(back, multiple, { address: other, amount: units(3) }))
        await operator.moveIndex(market.market, at(multiple))
      }
      await operator.moveIndex(market.market, String(fair))
      let fees = 0n
      for (const address of [owner, other])
        for (const { tradeId, fee } of await trades({ address })) if (!known.has(`${address} ${tradeId}`)) fees += exact(fee)
      const after = await values()
      expectSame(plain(sum(after)), plain(sum(before) - fees), 'both accounts')
      expectSame((await position(fixture)).positionAmt, (await position(fixture, other)).positionAmt, 'both positions')
    },
  ],
  [
    'PERPBOOK-08 the last trade price is that of the last trade',
    async (fixture) => {
      const { read, market, at } = fixture
      await tradeUnits(fixture, 'BUY', 1.01, 1)
      const last = async () => (await bodyOf(read('lastTradePrice', { market: market.market }))).lastTradePrice
      await waitFor('the last trade price is returned', last, (price) => exact(price) === exact(at(1.01)))
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

const noPosition = {
  positionAmt: '0',
  positionSide: 'LONG',
  unrealizedProfit: '0',
  leverage: '0',
  entryPrice: '0',
  markPrice: '0',
  liquidationPrice: '0',
}

/** An empty position where there is none. */
async function position({ read, owner, market }: PerpBookFixture, address = owner): Promise<PositionAnswer> {
  const { positions } = await bodyOf(read('positions', { address, market: market.market }))
  return positions[0] ?? { market: market.market, ...noPosition }
}

const account = async ({ read, owner }: PerpBookFixture, address = owner) => bodyOf(read('account', { address }))
const payments = async ({ read, owner, market }: PerpBookFixture): Promise<{ market: string; amount: string; rate: string }[]> =>
  (await bodyOf(read('funding/payments', { address: owner, market: market.market, limit: '500' }))).payments

/** Trades so many units against another trader. */
async function tradeUnits(fixture: PerpBookFixture, side: Side, multiple: number, count: number, fields: Fields = {}): Promise<Order> {
  const { operator, market, place, order, at, units } = fixture
  await operator.place(market.market, { side: side === 'BUY' ? 'SELL' : 'BUY', price: at(multiple), amount: units(count) })
  const filled = await place(order(side, multiple, { amount: units(count), ...fields }))
  expect(filled.state).to.equal('FILLED')
  return filled
}

/** Closes the positions of both wallets. */
async function closePositions(fixture: PerpBookFixture): Promise<void> {
  const { operator, market, place, order, at } = fixture
  await fixture.clear()
  for (const address of [fixture.owner, fixture.other]) {
    const { positionAmt: amount, positionSide } = await position(fixture, address)
    if (exact(amount) === 0n) continue
    const [side, back]: [Side, Side] = positionSide === 'LONG' ? ['SELL', 'BUY'] : ['BUY', 'SELL']
    await operator.place(market.market, { side: back, price: at(1), amount })
    await place(order(side, 1, { address, amount, reduceOnly: true }))
    await waitFor(
      'the position is closed',
      () => position(fixture, address),
      (shown) => exact(shown.positionAmt) === 0n,
    )
  }
}

async function setLeverage({ post, owner, market }: PerpBookFixture, leverage: string): Promise<void> {
  const { state, reason } = await bodyOf(post('leverage', { address: owner, market: market.market, leverage }))
  expect(state, reason).to.be.oneOf(['PENDING', 'DONE'])
}

async function expectFigures(fixture: PerpBookFixture): Promise<PositionAnswer> {
  const shown = await position(fixture)
  const views = await fixture.operator.views(fixture.market.market, fixture.owner)
  expectSame(`${shown.positionSide === 'SHORT' ? '-' : ''}${shown.positionAmt}`, views.size, 'size')
  for (const key of ['entryPrice', 'markPrice', 'unrealizedProfit'] as const) expectSame(shown[key], views[key], key)
  expectSame(shown.liquidationPrice, views.liquidationPrice ?? '0', 'liquidation price')
  const shownAccount = await account(fixture)
  for (const key of ['accountValue', 'freeCollateral', 'initialMargin', 'maintenanceMargin'] as const)
    expectSame(shownAccount[key], views[key], key)
  const notional = Math.abs(Number(views.size)) * Number(views.markPrice)
  expectClose(shownAccount.marginRatio, String(Number(views.accountValue) / notional), 1e-9, 'margin ratio')
  return shown
}

/** Sends an order that could trade with another trader's. It must be refused, or end without a fill. */
async function expectNoTrade(fixture: PerpBookFixture, request: Fields, side: Side): Promise<void> {
  const { operator, market, post, settled, owner, other, at } = fixture
  await operator.place(market.market, { side: side === 'BUY' ? 'SELL' : 'BUY', price: at(1), amount: fixture.unit })
  const { status, body, text } = await post('orders', request)
  if (status === 200) {
    const ended = await settled(body)
    expectSame(ended.filledAmount, '0', 'filled amount')
    expect(ended.state, text).to.be.oneOf(['REJECTED', 'CANCELED', 'EXPIRED'])
  } else expect(body.name, text).to.equal('TRADE_FAILED')
  expect(await operator.open(market.market, owner)).to.deep.equal([])
  await operator.clear(market.market, [owner, other])
}
