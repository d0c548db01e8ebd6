import { ZeroHash } from 'ethers'
import type { PerpClosing, PerpOrder, PerpTerms, Plan } from '../../../contracts/index.ts'
import type { Evm } from '../../evm/types.ts'
import { divRoundingUp } from '../../uniswap-v3/math/full-math.ts'
import { curieAbi } from '../abi.ts'
import { wholeRatio, type Contracts } from '../curie.ts'
import { writeMemo } from './memo.ts'

/** All of it, or what the exchange lets go at once. Where the market was closed for good, its settlement, whose price is fixed. */
export function planClose(
  { house }: Contracts,
  { order, market, position }: PerpClosing,
  { owner, boundRaw, deadline }: PerpTerms,
): Plan<Evm> {
  const wholeRaw = position.sizeRaw < 0n ? -position.sizeRaw : position.sizeRaw
  const memo = writeMemo({ house, trader: owner, market, closing: wholeRaw })
  if (market.status === 'closed')
    return { steps: [{ to: house, data: curieAbi.encodeFunctionData('quitMarket', [owner, market.id]), value: '0' }], needs: [], memo }
  const bound = boundOfWhole(order.side, boundRaw, order.sizeRaw, wholeRaw)
  return { steps: [{ to: house, data: closeCall(market.id, bound, deadline), value: '0' }], needs: [], deadline, memo }
}

export const closeCall = (baseToken: string, oppositeAmountBound: bigint, deadline: bigint | number): string =>
  curieAbi.encodeFunctionData('closePosition', [
    { baseToken, sqrtPriceLimitX96: 0n, oppositeAmountBound, deadline, referralCode: ZeroHash },
  ])

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
