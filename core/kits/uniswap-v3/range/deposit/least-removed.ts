import type { RangeAmounts, RangePosition, SlippageFraction } from '../../../../contracts/index.ts'
import { spanAround } from '../../../../../kits/amm/v3/range-prices.ts'
import { amountsAt, boundsOf } from '../../../../../kits/amm/v3/range-amounts.ts'

/** What so much liquidity gives at either end of the span in which the price may be: of each token the lesser. */
export function leastRemoved(position: RangePosition, liquidity: bigint, slippage: SlippageFraction): RangeAmounts {
  const bounds = boundsOf(position)
  const { low, high } = spanAround(position.pool.sqrtPriceX96, slippage)
  return {
    amount0Raw: amountsAt(high, bounds, liquidity, 'down').amount0Raw,
    amount1Raw: amountsAt(low, bounds, liquidity, 'down').amount1Raw,
  }
}
