// Pools, ranges, amounts and slippage of any size, for properties.
import { expect } from 'chai'
import fc from 'fast-check'
import type { Deposit } from '../../../../../core/contracts/index.ts'
import { getSqrtRatioAtTick, maxTick, minTick } from '../../../../../kits/amm/v3/math.ts'
import { amountsAt, boundsOf } from '../../../../../kits/amm/v3/range-amounts.ts'
import { priceOf, rangeOf, type PriceSpan, type TickRange } from '../../../../../kits/amm/v3/range-prices.ts'

const tickSpacing = 10
export const amount = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 6n }), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.constant(2n ** 255n))
export const slippage = fc
  .tuple(fc.bigInt({ min: 0n, max: 3_000n }), fc.constantFrom(10n ** 4n, 10n ** 9n, 10n ** 14n))
  .map(([numerator, denominator]) => ({ numerator, denominator }))

/** A pool at any price, and a range that is probably near it. */
export const place = fc
  .tuple(
    fc.integer({ min: minTick + 30_000, max: maxTick - 30_000 }),
    fc.integer({ min: -2000, max: 2000 }),
    fc.integer({ min: 1, max: 2000 }),
    fc.bigInt({ min: 0n, max: 999n }),
  )
  .map(([tick, offset, width, between]) => ({
    tick,
    between,
    tickLower: (Math.floor(tick / tickSpacing) + offset) * tickSpacing,
    width: width * tickSpacing,
  }))
  .filter(({ tickLower, width }) => tickLower >= minTick && tickLower + width <= maxTick)
  .map(({ tick, between, tickLower, width }) => {
    const [here, next] = [getSqrtRatioAtTick(tick), getSqrtRatioAtTick(tick + 1)]
    return placeAt(here + ((next - here) * between) / 1000n, tick, tickLower, tickLower + width)
  })

export function placeAt(sqrtPriceX96: bigint, tick: number, tickLower: number, tickUpper: number) {
  return { pool: poolAt(sqrtPriceX96, tick), range: rangeOf(tickLower, tickUpper) }
}

export function poolAt(sqrtPriceX96: bigint, tick: number) {
  return {
    address: '0x00000000000000000000000000000000000000AA',
    version: 'v3',
    token0: '0x00000000000000000000000000000000000000A0',
    token1: '0x00000000000000000000000000000000000000A1',
    fee: 500,
    tickSpacing,
    sqrtPriceX96,
    tick,
    liquidity: 1n,
    price: priceOf(sqrtPriceX96),
  }
}

export const within = ({ low, high }: PriceSpan, thousandths: bigint): bigint => low + ((high - low) * thousandths) / 1000n

/** Of a deposit that is made at another price of the span than its ends. What both are worth is of the price of now, in units of 2^192 of token1. */
export function expectWorstAtEnds(now: bigint, range: TickRange, ends: NonNullable<Deposit['ends']>, made: Deposit): void {
  const worth = ({ amount0Raw, amount1Raw }: Pick<Deposit, 'amount0Raw' | 'amount1Raw'>) => amount0Raw * now * now + (amount1Raw << 192n)
  const lost = worth(made) - worth(amountsAt(now, boundsOf(range), made.liquidity, 'down'))
  const worst = ends.map(({ takes, holds }) => worth(takes) - worth(holds)).reduce((most, each) => (each > most ? each : most), 0n)
  // Each amount is rounded by less than one unit.
  const rounded = 2n * worth({ amount0Raw: 1n, amount1Raw: 1n })
  expect(lost <= worst + rounded, `${lost} ${worst}`).to.equal(true)
}
