import { ZeroHash } from 'ethers'
import type { PerpClosing, PerpOrder, PerpTerms, Plan } from '../../core/contracts/index.ts'
import type { Evm } from '../evm/types.ts'
import { divRoundingUp } from '../../core/kits/uniswap-v3/math/full-math.ts'
import { highestPriceX96 } from '../../core/kits/uniswap-v3/pools/swap-path.ts'
import { curieAbi } from './abi.ts'
import { wholeRatio, type Contracts } from './curie.ts'
import { writeMemo } from '../../core/kits/perp/plans/memo.ts'

/** `sqrtPriceAfterX96`: of the pool, where its swap would end; without one where nothing is traded. */
export type CurieClosing = PerpClosing & { readonly sqrtPriceAfterX96?: bigint }

/** All of it, or what the exchange lets go at once. Where the market was closed for good, its settlement, whose price is fixed. */
export function planClose(
  { house }: Contracts,
  { order, market, position, quoteRaw, sqrtPriceAfterX96 = 0n }: CurieClosing,
  { owner, boundRaw, deadline }: PerpTerms,
): Plan<Evm> {
  const wholeRaw = position.sizeRaw < 0n ? -position.sizeRaw : position.sizeRaw
  const memo = writeMemo({ house, trader: owner, market, closing: wholeRaw })
  if (market.status === 'closed')
    return { steps: [{ to: house, data: curieAbi.encodeFunctionData('quitMarket', [owner, market.id]), value: '0' }], needs: [], memo }
  const data = closeCall({
    baseToken: market.id,
    oppositeAmountBound: boundOfWhole(order.side, boundRaw, order.sizeRaw, wholeRaw),
    deadline,
    sqrtPriceLimitX96: priceLimit(order.side, sqrtPriceAfterX96, quoteRaw, boundRaw),
  })
  return { steps: [{ to: house, data, value: '0' }], needs: [], deadline, memo }
}

export const closeCall = (params: {
  baseToken: string
  oppositeAmountBound: bigint
  deadline: bigint | number
  sqrtPriceLimitX96: bigint
}): string => curieAbi.encodeFunctionData('closePosition', [{ ...params, referralCode: ZeroHash }])

/**
 * How far the pool's price may go. The exchange closes what there is by then, which may be more or less than was quoted (another order of
 * the wallet's, a liquidation), and compares all of that with the one bound, which would then allow another price. So the pool's price
 * stops where it would stop at the bound, and a tick later: a price that rounding ends the swap at would leave a unit of the position.
 */
function priceLimit(side: PerpOrder['side'], sqrtPriceAfterX96: bigint, quoteRaw: bigint, boundRaw: bigint): bigint {
  // The root of bound / quote lies between their harmonic mean by the quote and their mean by it: the looser each time.
  if (side === 'SHORT') return (sqrtPriceAfterX96 * 2n * boundRaw * 20_000n) / ((quoteRaw + boundRaw) * 20_001n)
  const limit = (sqrtPriceAfterX96 * (quoteRaw + boundRaw) * 20_001n) / (2n * quoteRaw * 20_000n)
  return limit < highestPriceX96 ? limit : highestPriceX96
}

/**
 * The bound that the exchange wants is that of the whole position. Of a part it takes the same part of the bound, in millionths that
 * are rounded down (Exchange.swap, `closedRatio`), rounded down again (ClearingHouse.closePosition, `mulRatio`). Where it is the least
 * to get, rounded up here, that is the bound of the part, to the unit. Where it is the most to pay, it is the bound's price for whatever
 * part goes in the end, and so stricter for the one that is expected: more would let a larger part cost more than that price.
 */
export function boundOfWhole(side: PerpOrder['side'], boundRaw: bigint, partRaw: bigint, wholeRaw: bigint): bigint {
  const ratio = (partRaw * wholeRatio) / wholeRaw
  if (side === 'LONG') return atLeastOne((boundRaw * wholeRaw) / partRaw)
  return atLeastOne(ratio === 0n ? divRoundingUp(boundRaw * wholeRaw, partRaw) : divRoundingUp(boundRaw * wholeRatio, ratio))
}

/** 0 would be no bound. */
const atLeastOne = (boundRaw: bigint) => (boundRaw > 0n ? boundRaw : 1n)
