// What an addition to a range of prices would take, by the steps of the addition itself.
import type { AMMLiquidityQuoteRequest } from '../../api/index.ts'
import type { RangeAmounts } from '../../contracts/index.ts'
import { fromRaw } from '../../base/decimal.ts'
import { badFields } from '../../base/errors.ts'
import type { Handler } from '../context.ts'
import { tradingOf } from '../../plugins/index.ts'
import { readRaw } from '../read-fields.ts'
import { effectiveSlippage } from '../slippage.ts'
import { depositIn, rangeIn, readBounds } from './range-changes.ts'
import { findPoolToAddTo, orderIn, readPoolPair, reorder, showAddition, type Pair } from './range-pools.ts'

/** More than any wallet has: the other amount decides. */
const noLimit = 2n ** 127n - 1n

export const ammLiquidityQuote: Handler<'AMMLiquidityQuote'> = async (request, { network, venue, signal }) => {
  const at = { signal }
  const range = tradingOf('AMM_RANGE', venue)
  const { lowerPrice, upperPrice, allowedSlippage } = request
  const bounds = readBounds({ lowerPrice, upperPrice }) ?? { lowerPrice, upperPrice }
  const pair = await readPoolPair(request, { network, venue }, at)
  const [token0, token1] = pair
  const offered = readMost(request, pair)
  const { head, pool } = await findPoolToAddTo(pair, request, venue, at)
  const ordered = orderIn(pool, pair)
  const ticks = await rangeIn(pool, bounds, ordered, range)
  const deposit = await depositIn({ pool, ticks, ordered }, offered, effectiveSlippage(venue.config, [pool], allowedSlippage), range)
  const takes = reorder(ordered, deposit)
  requireDeciding(request, takes)
  const most = reorder(ordered, deposit.most ?? deposit)
  return {
    ...showAddition(pool, ticks, ordered, takes),
    maxAmount0: fromRaw(most.amount0Raw, token0.decimals),
    maxAmount1: fromRaw(most.amount1Raw, token1.decimals),
    liquidity: deposit.liquidity.toString(),
    blockNumber: Number(head.number),
  }
}

type Amounts = Pick<AMMLiquidityQuoteRequest, 'amount0' | 'amount1'>

/** @throws SluiceError INCOMPLETE_PARAMS without an amount, or with none above 0 */
function readMost({ amount0, amount1 }: Amounts, [token0, token1]: Pair): RangeAmounts {
  const most = {
    amount0Raw: amount0 === undefined ? noLimit : readRaw(amount0, token0, 'amount0'),
    amount1Raw: amount1 === undefined ? noLimit : readRaw(amount1, token1, 'amount1'),
  }
  const isGiven = amount0 !== undefined || amount1 !== undefined
  if (isGiven && (most.amount0Raw > 0n || most.amount1Raw > 0n)) return most
  const problem = isGiven ? 'must be more than 0, or the other amount must be' : 'is required, or the other amount'
  throw badFields([
    { field: 'amount0', problem },
    { field: 'amount1', problem },
  ])
}

/** A range beside the price takes one token alone: an amount of the other one decides nothing. @throws SluiceError INCOMPLETE_PARAMS */
function requireDeciding({ amount0, amount1 }: Amounts, takes: RangeAmounts): void {
  const field =
    amount0 === undefined && takes.amount1Raw === 0n ? 'amount0' : amount1 === undefined && takes.amount0Raw === 0n ? 'amount1' : undefined
  if (field !== undefined)
    throw badFields([{ field, problem: 'is required: the current price is outside the range, which takes this token alone' }])
}
