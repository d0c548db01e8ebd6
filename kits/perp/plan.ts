import { ZeroHash } from 'ethers'
import type { PerpClosing, PerpOrder, PerpTerms, Plan, PerpQuote, Token } from '../../core/contracts/index.ts'
import { divRoundingUp } from '../amm/v3/math.ts'
import { maxPriceX96 } from '../amm/v3/swap.ts'
import type { Evm } from '../evm/types.ts'
import { curieAbi } from './abi.ts'
import { wholeRatio, type Contracts } from './curie.ts'
import { writeMemo } from './fill.ts'

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
  return limit < maxPriceX96 ? limit : maxPriceX96
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

/** Exactly the order's size of base, for no more or no less than the bound: 0 would be no bound. */
export function planOpen({ house }: Contracts, { order: { market, side, sizeRaw } }: PerpQuote, terms: PerpTerms): Plan<Evm> {
  const isShort = side === 'SHORT'
  const params = {
    baseToken: market.id,
    isBaseToQuote: isShort,
    isExactInput: isShort,
    amount: sizeRaw,
    oppositeAmountBound: terms.boundRaw > 0n ? terms.boundRaw : 1n,
    deadline: terms.deadline,
    sqrtPriceLimitX96: 0n,
    referralCode: ZeroHash,
  }
  return {
    steps: [{ to: house, data: curieAbi.encodeFunctionData('openPosition', [params]), value: '0' }],
    needs: [],
    deadline: terms.deadline,
    memo: writeMemo({ house, trader: terms.owner, market }),
  }
}

/** Into the wallet's own account, or out of it to the wallet: Vault knows nobody else here. */
export function planMove({ vault }: Contracts, { address }: Token, amountRaw: bigint, how: 'deposit' | 'withdraw'): Plan<Evm> {
  const step = { to: vault, data: curieAbi.encodeFunctionData(how, [address, amountRaw]), value: '0' }
  if (how === 'withdraw') return { steps: [step], needs: [], memo: null }
  return {
    steps: [step],
    needs: [
      { is: 'balance', token: address, amountRaw },
      { is: 'allowance', token: address, spender: vault, amountRaw },
    ],
    memo: null,
  }
}
