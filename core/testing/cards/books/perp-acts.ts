import { expect } from 'chai'
import type { PerpBookOperator } from '../../../contracts/devnet.ts'
import type { Desk, Fields, Order, Side } from '../../../../testkit/cards/books/fixture.ts'
import { exact } from './exact.ts'
import { expectSame } from '../../../../testkit/cards/books/orders.ts'
import { until } from './until.ts'

export type PerpDesk = Desk<PerpBookOperator>

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
export async function position({ answered, read, owner, market }: PerpDesk, address = owner): Promise<PositionAnswer> {
  const { positions } = await answered(read('positions', { address, market: market.market }))
  return positions[0] ?? { market: market.market, ...none }
}

export const account = async ({ answered, read, owner }: PerpDesk, address = owner) => answered(read('account', { address }))
export const payments = async ({ answered, read, owner, market }: PerpDesk): Promise<{ market: string; amount: string; rate: string }[]> =>
  (await answered(read('funding/payments', { address: owner, market: market.market, limit: '500' }))).payments

/** Trades so many units against another trader. */
export async function fill(desk: PerpDesk, side: Side, part: number, count: number, fields: Fields = {}): Promise<Order> {
  const { operator, market, place, order, at, units } = desk
  await operator.place(market.market, { side: side === 'BUY' ? 'SELL' : 'BUY', price: at(part), amount: units(count) })
  const filled = await place(order(side, part, { amount: units(count), ...fields }))
  expect(filled.state).to.equal('FILLED')
  return filled
}

/** Neither wallet has a position. */
export async function flat(desk: PerpDesk): Promise<void> {
  const { operator, market, place, order, at } = desk
  await desk.clear()
  for (const address of [desk.owner, desk.other]) {
    const { positionAmt: amount, positionSide } = await position(desk, address)
    if (exact(amount) === 0n) continue
    const [side, back]: [Side, Side] = positionSide === 'LONG' ? ['SELL', 'BUY'] : ['BUY', 'SELL']
    await operator.place(market.market, { side: back, price: at(1), amount })
    await place(order(side, 1, { address, amount, reduceOnly: true }))
    await until(
      'the position is closed',
      () => position(desk, address),
      (now) => exact(now.positionAmt) === 0n,
    )
  }
}

export async function setLeverage({ act, answered, owner, market }: PerpDesk, leverage: string): Promise<void> {
  const { state, reason } = await answered(act('leverage', { address: owner, market: market.market, leverage }))
  expect(state, reason).to.be.oneOf(['PENDING', 'DONE'])
}

export async function holdFigures(desk: PerpDesk): Promise<PositionAnswer> {
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
export async function mustNotTrade(desk: PerpDesk, asked: Fields, side: Side): Promise<void> {
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
export function expectClose(actual: string, expected: string, part: number, what: string): void {
  const off = Math.abs(Number(actual) - Number(expected))
  expect(off <= part * Math.abs(Number(expected)), `${what}: ${actual} and ${expected}`).to.equal(true)
}
