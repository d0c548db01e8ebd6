import { getAmount0Delta, getAmount1Delta, getSqrtRatioAtTick, maxTick, minTick } from '../math/index.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { highestPriceX96, lowestPriceX96 } from './swap.ts'

/**
 * What a pool has of what a swap takes out, from its price to another or to where what is known of its ticks ends: rounded
 * down.
 */
export function heldNearby(
  { sqrtPriceX96, liquidity, below, above }: RangePoolState,
  zeroForOne: boolean,
  limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96,
): bigint {
  const [ticks, amountBetween] = zeroForOne ? [below, getAmount1Delta] : [above, getAmount0Delta]
  const isBeyond = (priceX96: bigint) => (zeroForOne ? priceX96 < limitX96 : priceX96 > limitX96)
  let [fromX96, heldRaw] = [sqrtPriceX96, 0n]
  for (let index = 0; index <= ticks.count; index += 1) {
    const initialised = index < ticks.count
    const tickX96 = getSqrtRatioAtTick(Math.min(Math.max(initialised ? ticks.tick(index) : ticks.end, minTick), maxTick))
    const toX96 = isBeyond(tickX96) ? limitX96 : tickX96
    heldRaw += amountBetween(fromX96, toX96, liquidity, false)
    if (toX96 === limitX96) break
    fromX96 = toX96
    if (initialised) liquidity += zeroForOne ? -ticks.liquidityNet(index) : ticks.liquidityNet(index)
  }
  return heldRaw
}
