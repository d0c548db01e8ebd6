import { expect } from 'chai'
import * as fc from 'fast-check'
import { SluiceError } from '../../../core/api/index.ts'
import type { BookMarket } from '../../../core/contracts/index.ts'
import { compare } from '../../../core/base/decimal.ts'
import { isOnGrid } from '../../../core/handlers/clob/grids.ts'
import {
  checkOrder,
  requireNotional,
  boundByLimitPrice,
  boundBySlippage,
  type OrderFields,
} from '../../../core/handlers/clob/read-order.ts'

const market: BookMarket = {
  id: '1',
  base: 'WETH',
  quote: 'USDC',
  prices: { step: '0.01' },
  lotSize: '0.001',
  minOrderSize: '0.005',
  minNotional: '10',
  takes: { LIMIT: ['GTC', 'IOC'], MARKET: ['FOK'] },
  makerFee: '0',
  takerFee: '0.001',
  status: 'open',
}
const order: OrderFields = { side: 'BUY', orderType: 'LIMIT', price: '2000', amount: '1' }

/** 200 and the time in force, or the error and the fields that it names. */
function judged(change: Partial<OrderFields>, of: Partial<BookMarket> = {}): string {
  try {
    return checkOrder({ ...order, ...change }, { ...market, ...of })
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    const details = Array.isArray(error.details) ? error.details : []
    return [error.name, ...details.map(({ field, nearest = [] }) => [field, ...nearest].join(' '))].join(', ')
  }
}

describe('checkOrder', () => {
  for (const [what, change, expected, of] of [
    ['of a limit', {}, 'GTC'],
    ['for a time that the market takes', { timeInForce: 'IOC' }, 'IOC'],
    ['with an unsupported time in force', { timeInForce: 'FOK' }, 'UNSUPPORTED'],
    ['of an unsupported type', { orderType: 'LIMIT_MAKER' }, 'UNSUPPORTED'],
    ['with leverage on a market without leverage', { leverage: '2' }, 'UNSUPPORTED'],
    ['with reduceOnly on a market without positions', { reduceOnly: true }, 'UNSUPPORTED'],
    ['with reduceOnly false on a market without positions', { reduceOnly: false }, 'GTC'],
    ['of type LIMIT without a price', { price: undefined }, 'INCOMPLETE_PARAMS, price'],
    ['with a price of 0', { price: '0.000' }, 'INCOMPLETE_PARAMS, price'],
    ['with a price off the grid', { price: '2000.005' }, 'INCOMPLETE_PARAMS, price 2000 2000.01'],
    ['with an amount of 0', { amount: '0' }, 'INCOMPLETE_PARAMS, amount'],
    ['with an amount that is not a multiple of the lot size', { amount: '0.0105' }, 'INCOMPLETE_PARAMS, amount 0.01 0.011'],
    ['below the smallest order', { amount: '0.001' }, 'INCOMPLETE_PARAMS, amount 0.005'],
    ['below the minimum notional', { price: '1999.99', amount: '0.005' }, 'INCOMPLETE_PARAMS, amount'],
    ['of exactly the minimum notional', { price: '2000', amount: '0.005' }, 'GTC'],
    ['with several problems', { price: '0', amount: '0.00001', limitPrice: '1' }, 'INCOMPLETE_PARAMS, limitPrice, price, amount 0.005'],
    ['of type MARKET', { orderType: 'MARKET', price: undefined }, 'FOK'],
    ['of type MARKET with a price', { orderType: 'MARKET' }, 'INCOMPLETE_PARAMS, price'],
    ['of type MARKET with a limit price of 0', { orderType: 'MARKET', price: undefined, limitPrice: '0' }, 'INCOMPLETE_PARAMS, limitPrice'],
    ['of type LIMIT with a slippage', { allowedSlippage: '1/100' }, 'INCOMPLETE_PARAMS, allowedSlippage'],
    ['on a paused market', {}, 'TRADE_FAILED', { status: 'paused' }],
    ['with the maximum leverage', { leverage: '20', reduceOnly: true }, 'GTC', { maxLeverage: '20' }],
    ['above the maximum leverage', { leverage: '20.1' }, 'INCOMPLETE_PARAMS, leverage', { maxLeverage: '20' }],
    ['with a leverage below 1', { leverage: '0.5' }, 'INCOMPLETE_PARAMS, leverage', { maxLeverage: '20' }],
    ['with reduceOnly below the minimum notional', { amount: '0.005', price: '1', reduceOnly: true }, 'GTC', { maxLeverage: '20' }],
  ] satisfies [string, Partial<OrderFields>, string, Partial<BookMarket>?][]) {
    it(`returns ${expected} for an order ${what}`, () => {
      expect(judged(change, of)).to.equal(expected)
    })
  }

  it('names the notional of an order below the minimum', () => {
    expect(() => requireNotional(order, market, '9.99')).to.throw("9.99 is worth 9.99 USDC, below the market's minNotional of 10")
  })
})

const level = (price: string) => ({ price, quantity: '1' })
const book = { buys: [level('1999.5'), level('1990')], sells: [level('2000'), level('2100')] }

describe('the bound of a MARKET order', () => {
  it('equals the best price moved by the slippage, rounded to the grid', () => {
    const slippage = { numerator: 1n, denominator: 300n }
    expect(boundBySlippage('BUY', market, book, slippage)).to.deep.equal({ price: '2006.66', reference: '2000' })
    expect(boundBySlippage('SELL', market, book, slippage)).to.deep.equal({ price: '1992.84', reference: '1999.5' })
  })

  it('never exceeds the slippage, and includes the best price', () => {
    const prices = fc.constantFrom({ step: '0.01' }, { step: '5' }, { significantFigures: 5, maxDecimals: 4 }, 'any' as const)
    const slippages = fc.tuple(fc.bigInt({ min: 0n, max: 99n }), fc.constantFrom(100n, 1000n))
    fc.assert(
      fc.property(prices, fc.integer({ min: 1, max: 99_999 }), slippages, (grid, whole, [numerator, denominator]) => {
        const best = String(whole * 5)
        const of = { ...market, prices: grid }
        const both = { buys: [level(best)], sells: [level(best)] }
        const buy = boundBySlippage('BUY', of, both, { numerator, denominator }).price
        const sell = boundBySlippage('SELL', of, both, { numerator, denominator }).price
        const exact = (price: string) => BigInt(Math.round(Number(price) * 1e9))
        expect(exact(buy) * denominator <= exact(best) * (denominator + numerator)).to.equal(true)
        if (grid !== 'any') expect(exact(sell) * denominator >= exact(best) * (denominator - numerator)).to.equal(true)
        expect([compare(buy, best) >= 0, compare(sell, best) <= 0]).to.deep.equal([true, true])
        expect([isOnGrid(buy, grid), isOnGrid(sell, grid)]).to.deep.equal([true, true])
      }),
    )
  })

  it("equals the caller's limit rounded to the grid, never looser", () => {
    expect(boundByLimitPrice('BUY', market, book, '2000.019')).to.deep.equal({ price: '2000.01', reference: '2000' })
    expect(boundByLimitPrice('SELL', market, undefined, '1999.001')).to.deep.equal({ price: '1999.01' })
  })

  it('throws if the market is past the limit, if the limit is below the smallest price, and if the book is empty', () => {
    const name = (ask: () => unknown): string => {
      try {
        ask()
        return 'nothing'
      } catch (error) {
        return error instanceof SluiceError ? error.name : 'a defect'
      }
    }
    expect(name(() => boundByLimitPrice('BUY', market, book, '1999.999'))).to.equal('SWAP_PRICE_EXCEEDS_LIMIT_PRICE')
    expect(name(() => boundByLimitPrice('SELL', market, book, '1999.501'))).to.equal('SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
    expect(name(() => boundByLimitPrice('BUY', market, undefined, '0.001'))).to.equal('INCOMPLETE_PARAMS')
    expect(name(() => boundBySlippage('BUY', market, { ...book, sells: [] }, { numerator: 1n, denominator: 100n }))).to.equal(
      'PRICE_FAILED',
    )
  })
})
