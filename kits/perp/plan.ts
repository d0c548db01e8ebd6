import { ZeroHash } from 'ethers'
import type { PerpClosing, PerpOrder, PerpTerms, Plan, PerpQuote, Token } from '../../core/contracts/index.ts'
import { divRoundingUp } from '../amm/v3/math.ts'
import { maxPriceX96 } from '../amm/v3/swap.ts'
import type { Evm } from '../evm/types.ts'
import { curieAbi } from './abi.ts'
import { wholeRatio, type Contracts } from './curie.ts'
import { writeMemo } from './fill.ts'

/** `sqrtPriceAfterX96` is the pool's price at the end of the swap, absent where nothing is swapped. */
export type CurieClosing = PerpClosing & { readonly sqrtPriceAfterX96?: bigint }

/** Closes the position, or the part that the exchange closes at once. In a market that was closed for good it settles at the fixed price. */
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
 * The limit of the pool's price. The exchange closes what the position is by then, which may differ from the quote (after another order or a
 * liquidation), and compares all of it with the one bound, so that the bound would allow another price. So the pool's price is limited to where
 * it would be at the bound, plus one tick: a swap that ended by rounding would leave a unit of the position.
 */
function priceLimit(side: PerpOrder['side'], sqrtPriceAfterX96: bigint, quoteRaw: bigint, boundRaw: bigint): bigint {
  // The root of bound / quote lies between their harmonic mean and their arithmetic mean, each divided by quote. Each side takes the looser one.
  if (side === 'SHORT') return (sqrtPriceAfterX96 * 2n * boundRaw * 20_000n) / ((quoteRaw + boundRaw) * 20_001n)
  const limit = (sqrtPriceAfterX96 * (quoteRaw + boundRaw) * 20_001n) / (2n * quoteRaw * 20_000n)
  return limit < maxPriceX96 ? limit : maxPriceX96
}

/**
 * The exchange takes the bound of the whole position. Of a part it computes the part of the bound by a ratio in millionths that it rounds down
 * (Exchange.swap, `closedRatio`; ClearingHouse.closePosition, `mulRatio`). For a minimum to receive, rounding up here gives the bound of the
 * part to the unit. For a maximum to pay, the bound is scaled exactly. It is stricter for the expected part, since a looser one would let a
 * larger part cost more than the bound's price.
 */
export function boundOfWhole(side: PerpOrder['side'], boundRaw: bigint, partRaw: bigint, wholeRaw: bigint): bigint {
  const ratio = (partRaw * wholeRatio) / wholeRaw
  if (side === 'LONG') return atLeastOne((boundRaw * wholeRaw) / partRaw)
  return atLeastOne(ratio === 0n ? divRoundingUp(boundRaw * wholeRaw, partRaw) : divRoundingUp(boundRaw * wholeRatio, ratio))
}

/** The exchange takes 0 for no bound. */
const atLeastOne = (boundRaw: bigint) => (boundRaw > 0n ? boundRaw : 1n)

/** Trades exactly the order's size of base within the bound. */
export function planOpen({ house }: Contracts, { order: { market, side, sizeRaw } }: PerpQuote, terms: PerpTerms): Plan<Evm> {
  const isShort = side === 'SHORT'
  const params = {
    baseToken: market.id,
    isBaseToQuote: isShort,
    isExactInput: isShort,
    amount: sizeRaw,
    oppositeAmountBound: atLeastOne(terms.boundRaw),
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

/** A withdrawal settles each market in which the wallet has a position. A transaction before it may open one more, which takes so much. */
const oneMoreMarketGas = '500000'

/** Deposits to or withdraws from the wallet's own account. */
export function planMove({ vault }: Contracts, { address }: Token, amountRaw: bigint, how: 'deposit' | 'withdraw'): Plan<Evm> {
  const step = { to: vault, data: curieAbi.encodeFunctionData(how, [address, amountRaw]), value: '0' }
  if (how === 'withdraw') return { steps: [{ ...step, spareGas: oneMoreMarketGas }], needs: [], memo: null }
  return {
    steps: [step],
    needs: [
      { is: 'balance', token: address, amountRaw },
      { is: 'allowance', token: address, spender: vault, amountRaw },
    ],
    memo: null,
  }
}
