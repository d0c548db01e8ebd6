import { abs, rescale } from '../../../core/base/decimal.ts'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { notionalAt } from '../../../core/handlers/perp/figures.ts'
import { positionAfterFill } from '../../../core/handlers/perp/margin-check.ts'
import { accounts, ethUsd, markets, positionsIn, quotesIn } from './perp-shapes.ts'

const one = 10n ** 18n
const mark = { numerator: 3000n, denominator: 1n }
const account = {
  decimals: 18,
  valueRaw: 1000n * one,
  freeCollateralRaw: 0n,
  collateralRaw: 0n,
  initialMarginRaw: 0n,
  maintenanceMarginRaw: 0n,
  notionalRaw: 0n,
}
const held = (size: bigint, openNotional: bigint) => ({
  market: ethUsd,
  sizeRaw: size * one,
  openNotionalRaw: openNotional * one,
  unrealizedProfitRaw: 0n,
  pendingFundingRaw: 7n,
  mark,
})
const order = (side: 'LONG' | 'SHORT', size: bigint, quote: bigint) => ({
  order: { market: ethUsd, side, sizeRaw: size * one },
  market: ethUsd,
  quoteRaw: quote * one,
  feeRaw: 0n,
  prices: { mark, index: mark, indexTwap: mark },
  gasUnits: 1n,
  head: { number: 1n, timestamp: 1, hash: '0x' },
})

describe('positionAfterFill', () => {
  for (const [title, before, quote, size, openNotional] of [
    ['opens a long position', held(0n, 0n), order('LONG', 2n, 6010n), 2n, -6010n],
    ['opens a short position', held(0n, 0n), order('SHORT', 2n, 5990n), -2n, 5990n],
    ['adds to a position', held(2n, -6000n), order('LONG', 1n, 3100n), 3n, -9100n],
    ['keeps the entry price of a reduced position', held(3n, -9000n), order('SHORT', 1n, 3100n), 2n, -6000n],
    ['closes a position', held(3n, -9000n), order('SHORT', 3n, 9300n), 0n, 0n],
    ['takes the new price for a reversed long position', held(1n, -3000n), order('SHORT', 3n, 9300n), -2n, 6200n],
    ['takes the new price for a reversed short position', held(-1n, 3000n), order('LONG', 4n, 12_400n), 3n, -9300n],
  ] as const) {
    it(title, () => {
      const { position } = positionAfterFill(quote, before, account)
      expect([position.sizeRaw, position.openNotionalRaw]).to.deep.equal([size * one, openNotional * one])
      expect(position.pendingFundingRaw).to.equal(0n)
    })
  }

  it("takes the exchange's own figures if it gives them", () => {
    const after = { sizeRaw: 5n, openNotionalRaw: -7n }
    expect(positionAfterFill({ ...order('LONG', 1n, 3000n), after }, held(0n, 0n), account).position).to.include(after)
  })

  it('never shows a lower cost or a higher proceed than in proportion', () => {
    fc.assert(
      fc.property(
        fc.bigInt(1n, 1_000n),
        fc.bigInt(1n, 1_000n),
        fc.bigInt(1n, 10n ** 9n),
        fc.boolean(),
        (size, change, quoteRaw, isShort) => {
          const sign = isShort ? -1n : 1n
          const before = { ...held(0n, 0n), sizeRaw: sign * size, openNotionalRaw: -sign * 1_000_003n }
          const reducing = order(isShort ? 'LONG' : 'SHORT', 1n, 1n)
          const quote = { ...reducing, quoteRaw, order: { ...reducing.order, sizeRaw: change } }
          const { openNotionalRaw } = positionAfterFill(quote, before, account).position
          const [paid, whole, left] =
            change <= size ? [before.openNotionalRaw, size, size - change] : [sign * quoteRaw, change, change - size]
          expect(openNotionalRaw * whole <= paid * left).to.equal(true)
          expect((openNotionalRaw + 1n) * whole > paid * left).to.equal(true)
        },
      ),
    )
  })

  it('reduces the account value by the cost above the mark price only', () => {
    expect(positionAfterFill(order('LONG', 2n, 6010n), held(0n, 0n), account).account.valueRaw).to.equal(990n * one)
    expect(positionAfterFill(order('SHORT', 2n, 5990n), held(2n, -6000n), account).account.valueRaw).to.equal(990n * one)
  })

  it('values the position and its margin at the mark price, whatever was there before', () => {
    fc.assert(
      fc.property(
        markets.chain((market) => fc.tuple(quotesIn(market), positionsIn(market), accounts)),
        ([quote, before, account]) => {
          const { market, prices } = quote
          const { position, account: after } = positionAfterFill(quote, { ...before, mark: prices.mark }, account)
          const worthRaw = notionalAt(market, position.sizeRaw, prices.mark)
          expect(position.unrealizedProfitRaw).to.equal(worthRaw + position.openNotionalRaw)
          expect(position.sizeRaw - before.sizeRaw).to.equal(quote.order.side === 'LONG' ? quote.order.sizeRaw : -quote.order.sizeRaw)
          // A position never has got money for what it bought.
          expect(position.sizeRaw > 0n ? position.openNotionalRaw <= 0n : position.openNotionalRaw >= 0n).to.equal(true)
          const heavier = abs(worthRaw) - abs(notionalAt(market, before.sizeRaw, prices.mark))
          const margin = after.maintenanceMarginRaw - account.maintenanceMarginRaw
          expect(heavier > 0n ? margin >= 0n : margin <= 0n).to.equal(true)
          expect(abs(margin) <= abs(rescale(heavier, market.quoteDecimals, account.decimals))).to.equal(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
