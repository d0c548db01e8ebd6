import { badFields } from '../../../api/index.ts'
import type { AMMRange, Deposit, RangeAmounts, RangePool, TickRange } from '../../../contracts/index.ts'
import { readRaw } from '../../../handlers/tokens.ts'
import { reorder, type OrderedPair, type Pair } from './pair.ts'
import { isBelow } from './prices.ts'

/** The most of each token, in the caller's order. */
export function readMost(request: { amount0: string; amount1: string }, [token0, token1]: Pair): RangeAmounts {
  const most = { amount0Raw: readRaw(request.amount0, token0, 'amount0'), amount1Raw: readRaw(request.amount1, token1, 'amount1') }
  if (most.amount0Raw > 0n || most.amount1Raw > 0n) return most
  const problem = 'one of both amounts must be more than 0'
  throw badFields([
    { field: 'amount0', problem },
    { field: 'amount1', problem },
  ])
}

/**
 * What is added of at most these amounts, in the pool's order.
 * @param most in the caller's order
 * @throws SluiceError INCOMPLETE_PARAMS where the range takes what is not offered, or next to nothing is
 */
export function depositIn(pool: RangePool, ticks: TickRange, most: RangeAmounts, order: OrderedPair, range: AMMRange): Deposit {
  // As LiquidityAmounts.getLiquidityForAmounts of @uniswap/v3-periphery has it: on a bound, one token only.
  const taken = [isBelow(pool.price, ticks.upperPrice), isBelow(ticks.lowerPrice, pool.price)]
  if (order.reversed) taken.reverse()
  const offered = [most.amount0Raw, most.amount1Raw]
  const lacking = [0, 1].filter((side) => taken[side] && offered[side] === 0n)
  for (const side of lacking) {
    const where = taken[1 - side]
      ? 'the current price is inside of the range, which takes both tokens'
      : `the current price is outside of the range, which takes ${order.pair[side]?.symbol} only`
    throw badFields([{ field: `amount${side}`, problem: `must be more than 0: ${where}` }])
  }
  const deposit = range.deposit(pool, ticks, reorder(order, most))
  if (deposit.liquidity > 0n) return deposit
  const problem = 'is too little for any liquidity in this range'
  throw badFields([{ field: `amount${taken[0] ? 0 : 1}`, problem }])
}
