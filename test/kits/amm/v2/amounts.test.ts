import { expect } from 'chai'
import * as fc from 'fast-check'
import { feeDecimal, getAmountIn, getAmountOut, maxReserveRaw, type Fee } from '../../../../kits/amm/v2/pools.ts'

const fees: readonly Fee[] = [
  [3n, 1000n],
  [25n, 10_000n],
  [1n, 100n],
  [0n, 1n],
]
const reserve = fc.bigInt(1n, 2n ** 100n)
const pool = fc.record({ reserveIn: reserve, reserveOut: reserve, fee: fc.constantFrom(...fees) })
const amount = fc.bigInt(1n, 2n ** 100n)

describe('amounts of a constant-product pool', () => {
  it('never let the product of the reserves shrink', () => {
    fc.assert(
      fc.property(pool, amount, ({ reserveIn, reserveOut, fee }, amountIn) => {
        const out = getAmountOut(amountIn, reserveIn, reserveOut, fee) ?? 0n
        return (reserveIn + amountIn) * (reserveOut - out) >= reserveIn * reserveOut
      }),
    )
  })

  it('give at least the exact output for the input that they compute', () => {
    fc.assert(
      fc.property(pool, amount, ({ reserveIn, reserveOut, fee }, amountOut) => {
        const amountIn = getAmountIn(amountOut, reserveIn, reserveOut, fee)
        return amountIn === undefined || (getAmountOut(amountIn, reserveIn, reserveOut, fee) ?? 0n) >= amountOut
      }),
    )
  })

  it('ask for at most one unit too much', () => {
    fc.assert(
      fc.property(pool, amount, ({ reserveIn, reserveOut, fee }, amountOut) => {
        const amountIn = getAmountIn(amountOut, reserveIn, reserveOut, fee)
        if (amountIn === undefined || amountIn <= 2n) return true
        return (getAmountOut(amountIn - 2n, reserveIn, reserveOut, fee) ?? 0n) < amountOut
      }),
    )
  })

  it('never give a larger input a better price, except for one unit of rounding', () => {
    fc.assert(
      fc.property(pool, amount, amount, ({ reserveIn, reserveOut, fee }, a, b) => {
        const [small, large] = a < b ? [a, b] : [b, a]
        const [some, more] = [getAmountOut(small, reserveIn, reserveOut, fee), getAmountOut(large, reserveIn, reserveOut, fee)]
        return some === undefined || more === undefined || more * small <= (some + 1n) * large
      }),
    )
  })

  it('equal the figures of the library contract for a known pool', () => {
    expect(getAmountOut(2n, 100n, 100n, [3n, 1000n])).to.equal(1n)
    expect(getAmountIn(1n, 100n, 100n, [3n, 1000n])).to.equal(2n)
    expect(getAmountOut(10n ** 18n, 5n * 10n ** 18n, 10n ** 19n, [3n, 1000n])).to.equal(1_662_497_915_624_478_906n)
  })

  it('stay undefined where the pair would revert', () => {
    expect(getAmountOut(1n, 0n, 100n, [3n, 1000n])).to.equal(undefined)
    expect(getAmountOut(maxReserveRaw, 100n, 100n, [3n, 1000n])).to.equal(undefined)
    expect(getAmountIn(100n, 100n, 100n, [3n, 1000n])).to.equal(undefined)
    expect(getAmountIn(99n, maxReserveRaw, 100n, [3n, 1000n])).to.equal(undefined)
  })
})

describe('the fee of a pool', () => {
  it('shows as an exact decimal', () => {
    expect(fees.map(feeDecimal)).to.deep.equal(['0.003', '0.0025', '0.01', '0'])
  })
})
