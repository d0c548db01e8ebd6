import type { RangeAmounts, RangePool, SlippageFraction, TickRange } from '../../../../contracts/index.ts'
import { divRoundingUp } from '../../math/full-math.ts'
import { spanAround, type PriceSpan } from '../../../../../kits/amm/v3/range-prices.ts'
import { amountsAt, boundsOf, deposit, lesser, type Bounds } from '../../../../../kits/amm/v3/range-amounts.ts'

/** What a deposit offers to the position manager, and the least that it must take of each. */
export interface Offer {
  readonly desired: RangeAmounts
  readonly least: RangeAmounts
}

const oneX96 = 2n ** 96n

/**
 * The manager makes as much liquidity of the desired amounts as the price of its block allows. So the least amounts are
 * what it would take at either end of the span in which the price may be: a part of the amounts of now would be no bound
 * on the price, since in a narrow range they change much faster than it does. A range that lies within the span has
 * none: whatever the price, what it trades at is within the slippage.
 */
export function offerOf(pool: RangePool, range: TickRange, most: RangeAmounts, slippage: SlippageFraction): Offer {
  const bounds = boundsOf(range)
  const span = spanAround(pool.sqrtPriceX96, slippage)
  const { liquidity } = deposit(pool, range, most)
  const desired = {
    amount0Raw: lesser(most.amount0Raw, wanted0(liquidity, span, bounds)),
    amount1Raw: lesser(most.amount1Raw, wanted1(liquidity, span, bounds)),
  }

  const [low, high] = [deposit(pool, range, desired, span.low), deposit(pool, range, desired, span.high)]
  const greater = low.liquidity > high.liquidity ? low.liquidity : high.liquidity
  const unsure = roundedOff(greater, span, bounds)
  return {
    desired,
    least: {
      amount0Raw: notBelowZero(high.amount0Raw - amountsAt(span.low, bounds, unsure, 'up').amount0Raw),
      amount1Raw: notBelowZero(low.amount1Raw - amountsAt(span.high, bounds, unsure, 'up').amount1Raw),
    },
  }
}

// How much it takes to make that liquidity anywhere in the span, by the rounding of LiquidityAmounts: so at the price of now
// the liquidity is that of the whole offer, and a wallet need not hold more of the other token than can be taken.
function wanted0(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  const from = within(low, { lower, upper })
  return divRoundingUp(liquidity * (upper - from), (from * upper) / oneX96 || 1n)
}

function wanted1(liquidity: bigint, { high }: PriceSpan, { lower, upper }: Bounds): bigint {
  return divRoundingUp(liquidity * (within(high, { lower, upper }) - lower), oneX96)
}

/**
 * By how much liquidity the manager's rounding can differ between one price of the span and another: a unit, and where
 * prices are very low what it cuts off the product of the bounds' roots.
 */
function roundedOff(liquidity: bigint, { low }: PriceSpan, { lower, upper }: Bounds): bigint {
  return 1n + liquidity / ((within(low, { lower, upper }) * upper) / oneX96 || 1n)
}

const within = (root: bigint, { lower, upper }: Bounds): bigint => (root < lower ? lower : root > upper ? upper : root)
const notBelowZero = (value: bigint): bigint => (value < 0n ? 0n : value)
