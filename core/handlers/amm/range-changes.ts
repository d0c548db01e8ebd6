import { badFields, type AMMLiquidityAddRequest } from '../../api/index.ts'
import type { At, Head, RangePool, TickRange } from '../../contracts/index.ts'
import { fromRaw } from '../../decimal.ts'
import type { Verb } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { effectiveSlippage, tradeRules } from '../slippage.ts'
import { deadlineAfter } from '../../verbs/amm/deadline.ts'
import { depositIn, readMost } from '../../verbs/amm/liquidity/deposit.ts'
import { findPoolToFill, readFee } from './range-pools.ts'
import { orderIn, readPair, reorder, type OrderedPair, type Pair } from '../../verbs/amm/liquidity/pair.ts'
import { findOwnPosition } from '../../verbs/amm/liquidity/position-of.ts'
import { showBounds } from '../../verbs/amm/liquidity/prices.ts'
import { rangeOf } from '../../verbs/amm/liquidity/range-of.ts'
import { submitChange } from '../../verbs/amm/liquidity/submit-change.ts'
import { readWallet } from '../../verbs/read-wallet.ts'
import { rangeIn, readBounds, requireSameRange, type Bounds } from '../../verbs/amm/liquidity/read-range.ts'

export const ammLiquidityAdd: Verb<'AMMLiquidityAdd'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet
  const pair = await readPair(request, network, at)
  const [token0, token1] = pair
  const most = readMost(request, pair)
  const bounds = readBounds(request)

  const place = await placeOf({ ...request, address }, pair, bounds, venue, network, at)
  const { head, pool, ticks, order, tokenId } = place
  const deposit = depositIn(pool, ticks, most, order, range)
  const slippage = effectiveSlippage(venue.config, [pool], request.allowedSlippage)
  const deadline = deadlineAfter(head, tradeRules(venue.config, [pool]).ttlSeconds)
  const native = token0.native === true || token1.native === true
  const plan = range.add({ pool, range: ticks, most: reorder(order, most), tokenId }, { owner: address, slippage, deadline, native })
  const valueRaw = token0.native ? most.amount0Raw : token1.native ? most.amount1Raw : 0n

  const expected = reorder(order, deposit)
  const shown = {
    token0: token0.address,
    token1: token1.address,
    fee: pool.fee,
    pool: pool.address,
    ...showBounds(ticks, order),
    amount0: fromRaw(expected.amount0Raw, token0.decimals),
    amount1: fromRaw(expected.amount1Raw, token1.decimals),
    liquidity: deposit.liquidity.toString(),
    ...(tokenId !== undefined && { tokenId: tokenId.toString() }),
    deadline,
  }
  return submitChange({ plan, order, shown, valueRaw }, wallet, context)
}

interface Place {
  head: Head
  pool: RangePool
  ticks: TickRange
  order: OrderedPair
  tokenId: bigint | undefined
}

type Where = Pick<AMMLiquidityAddRequest, 'fee' | 'tokenId' | 'address'>

/** Where the liquidity goes: a range of a pool, or a position that is there already. */
async function placeOf(
  { fee, tokenId, address }: Where,
  pair: Pair,
  bounds: Bounds | undefined,
  venue: VenueEntry,
  network: NetworkEntry,
  at: At,
): Promise<Place> {
  const range = rangeOf(venue)
  if (tokenId === undefined) {
    if (!bounds) {
      const problem = 'is required: a decimal string such as "1.5" (only with tokenId may both bounds be left out)'
      throw badFields([
        { field: 'lowerPrice', problem },
        { field: 'upperPrice', problem },
      ])
    }
    const { head, pool } = await findPoolToFill(pair, fee, venue, at)
    const order = orderIn(pool, pair)
    return { head, pool, order, ticks: rangeIn(pool, bounds, order, range), tokenId: undefined }
  }

  const { head, position } = await findOwnPosition({ tokenId, address }, venue, network, at)
  const { pool } = position
  if (!(await isPoolOf(pool, pair, venue, at))) {
    const problem = `the position ${position.tokenId} is of the tokens ${pool.token0} and ${pool.token1}: give those`
    throw badFields([
      { field: 'token0', problem },
      { field: 'token1', problem },
    ])
  }
  if ((readFee(fee, range.feeTiers, venue.connector) ?? pool.fee) !== pool.fee)
    throw badFields([{ field: 'fee', problem: `is ${pool.fee} for the position ${position.tokenId}: leave it out` }])
  const order = orderIn(pool, pair)
  if (bounds) requireSameRange(rangeIn(pool, bounds, order, range), position, order)
  return { head, pool, order, ticks: position, tokenId: position.tokenId }
}

/** Whether a pool is of these tokens. Which token stands for the native coin in it, its exchange says. */
async function isPoolOf(pool: RangePool, pair: Pair, venue: VenueEntry, at: At): Promise<boolean> {
  const own = [pool.token0, pool.token1]
  if (!pair.some(({ native }) => native)) return pair.every(({ address }) => own.includes(address))
  if (!pair.some(({ address }) => own.includes(address))) return false
  const { pools } = await rangeOf(venue).rangePools(pair, { fee: pool.fee }, at)
  return pools.some(({ address }) => address === pool.address)
}
