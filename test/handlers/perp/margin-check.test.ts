import { expect } from 'chai'
import * as fc from 'fast-check'
import { SluiceError } from '../../../core/api/index.ts'
import { readMarginRequest, requireMargin, type MarginRequest } from '../../../core/handlers/perp/margin-check.ts'
import { accounts, ethUsd, markets, positionsIn, quotesIn } from './perp-shapes.ts'

const settlement = { symbol: 'USDC', address: '0xUSDC', decimals: 6 }
const one = 10n ** 18n
const price = { numerator: 3000n, denominator: 1n }
const account = {
  decimals: 18,
  valueRaw: 0n,
  freeCollateralRaw: 1000n * one,
  collateralRaw: 0n,
  initialMarginRaw: 0n,
  maintenanceMarginRaw: 0n,
  notionalRaw: 0n,
}
const none = { market: ethUsd, sizeRaw: 0n, openNotionalRaw: 0n, unrealizedProfitRaw: 0n, pendingFundingRaw: 0n, mark: price }
const quote = (side: 'LONG' | 'SHORT', sizeRaw: bigint, quoteRaw: bigint) => ({
  order: { market: ethUsd, side, sizeRaw },
  market: ethUsd,
  quoteRaw,
  feeRaw: 0n,
  prices: { mark: price, index: price, indexTwap: price },
  gasUnits: 1n,
  head: { number: 1n, timestamp: 1, hash: '0x' },
})
const stake = (margin: string, leverage: string) => readMarginRequest({ margin, leverage }, settlement)

/** What was thrown, with its details; undefined where all is well. */
function refusal(check: () => void): SluiceError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
}

describe('readMarginRequest', () => {
  for (const [margin, leverage, field] of [
    ['0', '5', 'margin'],
    ['0.0000001', '5', 'margin'],
    ['1e78', '5', 'margin'],
    ['100', '0', 'leverage'],
    ['100', '0.000', 'leverage'],
  ] as const) {
    it(`refuses with the field: margin ${margin}, leverage ${leverage}`, () => {
      expect(refusal(() => stake(margin, leverage))).to.have.nested.property('details[0].field', field)
    })
  }
})

describe('requireMargin', () => {
  for (const [title, leverage, outcome] of [
    ['accepts the maximum leverage of the market', '10', undefined],
    ['accepts a leverage below 1', '0.5', undefined],
    ['refuses slightly more than the maximum leverage', '10.000000000000000001', 'leverage'],
  ] as const) {
    it(title, () => {
      const error = refusal(() => requireMargin(quote('LONG', one / 1000n, 3n * one), none, account, stake('1000', leverage)))
      expect(error && JSON.stringify(error.details)).to.satisfy((told?: string) => (outcome ? told?.includes(outcome) : told === undefined))
    })
  }
  for (const [title, margin, outcome] of [
    ['accepts exactly the needed margin', '300', undefined],
    ['refuses one unit less than the needed margin', '299.999999', { free: '299.999999', needed: '300.000000' }],
    ['refuses a margin above the free collateral', '1000.000001', { free: '1000.000000000000000000', needed: '1000.000001' }],
  ] as const) {
    it(title, () => {
      const error = refusal(() => requireMargin(quote('LONG', one, 3000n * one), none, account, stake(margin, '10')))
      expect(error && [error.name, error.details]).to.deep.equal(outcome && ['INSUFFICIENT_MARGIN', outcome])
    })
  }
  for (const [title, side, held, size, needed] of [
    ['needs no margin to reduce a long position', 'SHORT', 2n, 2n, undefined],
    ['needs no margin to reduce a short position', 'LONG', -2n, 1n, undefined],
    ['needs margin for an increase', 'LONG', 2n, 1n, '300.000000'],
    ['needs margin for the part beyond zero', 'SHORT', 2n, 3n, '300.000000'],
  ] as const) {
    it(title, () => {
      const order = quote(side, size * one, size * 3000n * one)
      const error = refusal(() => requireMargin(order, { ...none, sizeRaw: held * one }, account, stake('1', '10')))
      expect(error?.details).to.deep.equal(needed && { free: '1.000000', needed })
    })
  }

  it('refuses exactly if size times price exceeds margin times leverage, or free collateral is below the margin', () => {
    const stakes: fc.Arbitrary<MarginRequest> = fc.record({
      marginRaw: fc.bigInt({ min: 1n, max: 10n ** 30n }),
      leverage: fc.record({ numerator: fc.bigInt({ min: 1n, max: 100_000n }), denominator: fc.constantFrom(1n, 1000n) }),
      settlement: fc.constant(settlement),
    })
    fc.assert(
      fc.property(
        markets.chain((market) => fc.tuple(quotesIn(market), positionsIn(market), accounts, stakes)),
        ([order, position, account, stake]) => {
          const { marginRaw, leverage } = stake
          const { market, quoteRaw } = order
          const error = refusal(() => requireMargin(order, { ...position, sizeRaw: 0n }, account, stake))
          const unit = (decimals: number) => 10n ** BigInt(decimals)
          const tooMuchLeverage = leverage.numerator > market.maxLeverage.numerator * leverage.denominator
          const cost = quoteRaw * leverage.denominator * unit(settlement.decimals)
          const tooSmall = cost > marginRaw * leverage.numerator * unit(market.quoteDecimals)
          const notFree = account.freeCollateralRaw * unit(settlement.decimals) < marginRaw * unit(account.decimals)
          const expected = tooMuchLeverage ? 'INCOMPLETE_PARAMS' : tooSmall || notFree ? 'INSUFFICIENT_MARGIN' : undefined
          expect(error?.name).to.equal(expected)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
