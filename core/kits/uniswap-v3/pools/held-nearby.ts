import { getAmount0Delta, getAmount1Delta } from '../math/sqrt-price-math.ts'
import { maxTick, minTick } from '../../../../kits/amm/v3/math.ts'
import type { RangePoolState } from './range-pool-state.ts'
import { ratioAt } from './ratio-at.ts'
import { highestPriceX96, lowestPriceX96 } from './swap-path.ts'

/**
 * What a pool has of what a swap takes out, from its price to another or to where what is known of its ticks ends: rounded
 * down.
 */
export function heldNearby(
  { sqrtPriceX96, tick, liquidity, ticks: known }: RangePoolState,
  zeroForOne: boolean,
  limitX96 = zeroForOne ? lowestPriceX96 : highestPriceX96,
): bigint {
  const [end, amountBetween, onward] = zeroForOne ? [known.from, getAmount1Delta, -1] : [known.to, getAmount0Delta, 1]
  if (tick < known.from || tick >= known.to) return 0n
  const isBeyond = (priceX96: bigint) => (zeroForOne ? priceX96 < limitX96 : priceX96 > limitX96)
  let [fromX96, heldRaw] = [sqrtPriceX96, 0n]
  for (let index = known.upTo(tick) - (zeroForOne ? 1 : 0); ; index += onward) {
    const initialised = index < 0 ? undefined : known.ticks[index]
    const tickX96 = ratioAt(Math.min(Math.max(initialised ?? end, minTick), maxTick))
    const toX96 = isBeyond(tickX96) ? limitX96 : tickX96
    heldRaw += amountBetween(fromX96, toX96, liquidity, false)
    if (toX96 === limitX96 || initialised === undefined) return heldRaw
    fromX96 = toX96
    const net = known.liquidity.net(index)
    liquidity += zeroForOne ? -net : net
  }
}
