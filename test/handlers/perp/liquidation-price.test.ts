import { abs } from '../../../core/base/decimal.ts'
import { expect } from 'chai'
import * as fc from 'fast-check'
import { liquidationPrice } from '../../../core/handlers/perp/figures.ts'
import { showPosition } from '../../../core/handlers/perp/account.ts'
import { accounts, ethUsd, markets, positionsIn } from './perp-shapes.ts'

const one = 10n ** 18n
const mark = { numerator: 3000n, denominator: 1n }
const held = { market: ethUsd, openNotionalRaw: 0n, unrealizedProfitRaw: 0n, pendingFundingRaw: 0n, mark }
const at = (value: bigint, margin: bigint) => ({ decimals: 18, valueRaw: value * one, maintenanceMarginRaw: margin * one })

describe('the liquidation price', () => {
  it('makes the account value equal its maintenance margin, for any position, account and decimals', () => {
    fc.assert(
      fc.property(
        markets.chain((market) => fc.tuple(positionsIn(market), accounts)),
        ([position, account]) => {
          const price = liquidationPrice(position, account)
          if (!price) return
          const { market, sizeRaw, mark: now } = position
          const { numerator: part, denominator: whole } = market.maintenanceRatio
          // All in units of 1 / (price · mark · whole · base · account): both sides are whole numbers then.
          const [unit, base] = [10n ** BigInt(account.decimals), 10n ** BigInt(market.baseDecimals)]
          const moved = price.numerator * now.denominator - now.numerator * price.denominator
          const scale = price.denominator * now.denominator * base
          const value = account.valueRaw * scale * whole + sizeRaw * moved * unit * whole
          const margin = account.maintenanceMarginRaw * scale * whole + part * abs(sizeRaw) * moved * unit
          expect(value).to.equal(margin)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  // One ETH long at 3000 with 300: 300 + (p − 3000) = 187.5 + 0.0625·(p − 3000), so p = 3000 − 112.5 / 0.9375.
  for (const [title, sizeRaw, account, price] of [
    ['is below the mark price for a long position', one, at(300n, 187n), /^2879\.4666/],
    ['is above the mark price for a short position', -one, at(300n, 187n), /^3106\.3529/],
    ['is 0 for a long position that cannot lose all of the account', one, at(3300n, 187n), /^0$/],
    ['is above the mark price for a long position that can be liquidated already', one, at(100n, 187n), /^3092\.8/],
    ['is below the mark price for a short position that can be liquidated already', -one, at(100n, 187n), /^2918\.1/],
    ['is 0 without a position', 0n, at(300n, 0n), /^0$/],
  ] as const) {
    it(title, () => expect(showPosition({ ...held, sizeRaw }, account).liquidationPrice).to.match(price))
  }
})

describe('showPosition', () => {
  it('shows zeros and the prices without a position', () => {
    expect(showPosition({ ...held, sizeRaw: 0n }, at(100n, 0n))).to.deep.equal({
      positionAmt: '0',
      positionSide: 'LONG',
      unrealizedProfit: '0.000000000000000000',
      leverage: '0',
      entryPrice: '0',
      markPrice: '3000',
      liquidationPrice: '0',
      tickerSymbol: 'ETHUSD',
      pendingFundingPayment: '0.000000000000000000',
    })
  })

  it('shows the size without sign, the side, and amounts against the wallet below zero', () => {
    const short = {
      ...held,
      sizeRaw: (-3n * one) / 2n,
      openNotionalRaw: 4_400n * one,
      unrealizedProfitRaw: -100n * one,
      pendingFundingRaw: -1n,
    }
    expect(showPosition(short, at(900n, 281n))).to.deep.include({
      positionAmt: '1.500000000000000000',
      positionSide: 'SHORT',
      unrealizedProfit: '-100.000000000000000000',
      pendingFundingPayment: '-0.000000000000000001',
      leverage: '5.000000000000000000',
    })
  })

  it('rounds the entry price against the trader', () => {
    const third = { ...held, sizeRaw: 3n * one, openNotionalRaw: -10n * one }
    expect(showPosition(third, at(1n, 0n)).entryPrice).to.match(/^3\.3{16,}4$/)
    expect(showPosition({ ...third, sizeRaw: -3n * one, openNotionalRaw: 10n * one }, at(1n, 0n)).entryPrice).to.match(/^3\.3{17,}$/)
  })

  it('shows a high leverage for an account without value', () => {
    for (const valueRaw of [0n, -5n]) {
      const { leverage } = showPosition({ ...held, sizeRaw: one }, at(valueRaw, 187n))
      expect(leverage).to.equal(`${held.mark.numerator * one}`)
    }
  })
})
