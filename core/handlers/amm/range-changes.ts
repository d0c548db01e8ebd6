import { badFields, type AMMLiquidityAddRequest, type FieldProblem, SluiceError, type AMMLiquidityRemoveRequest } from '../../api/index.ts'
import type {
  At,
  Head,
  RangePool,
  TickRange,
  AMMRange,
  Deposit,
  RangeAmounts,
  RangePrice,
  RangePosition,
  Plan,
  Json,
  RangeFill,
} from '../../contracts/index.ts'
import { fromRaw, toFraction } from '../../decimal.ts'
import type { SubmitResult } from '../../transactions/submit-request.ts'
import type { Handler, RequestContext, TargetContext, Services } from '../context.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { effectiveSlippage, tradeRules, deadlineAfter } from '../slippage.ts'
import { readRaw } from '../tokens.ts'
import { readWallet, showGas } from '../wallets.ts'
import {
  findPoolToAddTo,
  readFee,
  orderIn,
  readPair,
  reorder,
  type OrderedPair,
  type Pair,
  showBounds,
  rangeOf,
  isBelow,
  toPoolPrice,
} from './range-pools.ts'
import { findOwnPosition, orderOf } from './range-positions.ts'

export const ammLiquidityAdd: Handler<'AMMLiquidityAdd'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet
  const pair = await readPair(request, network, at)
  const [token0, token1] = pair
  const most = readMaxAmounts(request, pair)
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
  return submitLiquidityChange({ plan, order, shown, valueRaw }, wallet, context)
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
    const { head, pool } = await findPoolToAddTo(pair, fee, venue, at)
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

/** The most of each token, in the caller's order. */
function readMaxAmounts(request: { amount0: string; amount1: string }, [token0, token1]: Pair): RangeAmounts {
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
function depositIn(pool: RangePool, ticks: TickRange, most: RangeAmounts, order: OrderedPair, range: AMMRange): Deposit {
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

/** As in a request: prices of the caller's order. */
interface Bounds {
  lowerPrice: string
  upperPrice: string
}

/** Bounds that make a range whatever the pool is. @throws SluiceError INCOMPLETE_PARAMS */
export function readBounds({ lowerPrice, upperPrice }: Partial<Bounds>): Bounds | undefined {
  if (lowerPrice === undefined && upperPrice === undefined) return undefined
  if (lowerPrice === undefined) throw badFields([{ field: 'lowerPrice', problem: 'is required with upperPrice' }])
  if (upperPrice === undefined) throw badFields([{ field: 'upperPrice', problem: 'is required with lowerPrice' }])
  const [lower, upper] = [toFraction(lowerPrice), toFraction(upperPrice)]
  const zero: FieldProblem = { field: 'lowerPrice', problem: 'must be more than 0: a range has no bound at 0' }
  if (upper.numerator === 0n) throw badFields([{ ...zero, field: 'upperPrice' }])
  if (lower.numerator === 0n) throw badFields([zero])
  if (isBelow(lower, upper)) return { lowerPrice, upperPrice }
  const problem = isBelow(upper, lower)
    ? 'is above upperPrice: swap the two. Prices are token1 per token0 as you ordered them; with the tokens swapped they are inverted'
    : 'is the same as upperPrice: a range needs two bounds'
  throw badFields([{ field: 'lowerPrice', problem }])
}

/** The narrowest range that the pool can have around these bounds. @throws SluiceError INCOMPLETE_PARAMS where it has none */
function rangeIn(pool: RangePool, { lowerPrice, upperPrice }: Bounds, order: OrderedPair, range: AMMRange): TickRange {
  const [lower, upper] = [toPoolPrice(lowerPrice, order), toPoolPrice(upperPrice, order)]
  const found = order.reversed ? range.rangeAround(pool, upper, lower) : range.rangeAround(pool, lower, upper)
  if (found) return found
  const beyond = [...(isBeyond(lower, pool, range) ? ['lowerPrice'] : []), ...(isBeyond(upper, pool, range) ? ['upperPrice'] : [])]
  const problem = 'is beyond the prices that the pool can have: move it towards the current price'
  const [first = 'lowerPrice', ...rest] = beyond
  throw badFields([{ field: first, problem }, ...rest.map((field) => ({ field, problem }))])
}

/** Whether the pool has no range from its price to this one. */
function isBeyond(price: RangePrice, pool: RangePool, range: AMMRange): boolean {
  const [lower, upper] = isBelow(price, pool.price) ? [price, pool.price] : [pool.price, price]
  return isBelow(lower, upper) && range.rangeAround(pool, lower, upper) === undefined
}

/** Bounds that were given for a position that is there already must be its own. */
function requireSameRange(given: TickRange, own: TickRange, order: OrderedPair): void {
  if (given.tickLower === own.tickLower && given.tickUpper === own.tickUpper) return
  const { lowerPrice, upperPrice } = showBounds(own, order)
  throw badFields([
    {
      field: 'lowerPrice',
      problem: `the position's range is ${lowerPrice} to ${upperPrice}: leave both bounds out, or make a new position`,
    },
  ])
}

export const ammLiquidityRemove: Handler<'AMMLiquidityRemove'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet
  const percent = readPercent(request)

  const { head, position } = await findOwnPosition({ ...request, address }, venue, network, at)
  const { pool, tokenId } = position
  const { burn = false, native = false } = request
  if (!burn) requireNotEmpty(position)
  const liquidity = shareOf(position, percent)
  const slippage = effectiveSlippage(venue.config, [pool], request.allowedSlippage)
  const deadline = deadlineAfter(head, tradeRules(venue.config, [pool]).ttlSeconds)
  const plan = range.remove(position, { liquidity, burn }, { owner: address, slippage, deadline, native })

  const order = await orderOf(position, network, at)
  const shown = { tokenId: tokenId.toString(), liquidity: liquidity.toString(), deadline }
  return submitLiquidityChange({ plan, order, shown, valueRaw: 0n }, wallet, context)
}

type Percent = ReturnType<typeof toFraction>

function readPercent({ decreasePercent = '100', burn }: AMMLiquidityRemoveRequest): Percent {
  const percent = toFraction(decreasePercent)
  const { numerator, denominator } = percent
  if (numerator === 0n)
    throw badFields([{ field: 'decreasePercent', problem: 'must be more than 0; for the fees alone there is /amm/liquidity/collect_fees' }])
  if (numerator > 100n * denominator) throw badFields([{ field: 'decreasePercent', problem: 'must be at most 100: all of it' }])
  if (burn && numerator < 100n * denominator)
    throw badFields([{ field: 'burn', problem: 'only an emptied position can be burnt: leave decreasePercent out, or burn' }])
  return percent
}

/** Of its liquidity, rounded down. */
function shareOf({ liquidity, tokenId }: RangePosition, { numerator, denominator }: Percent): bigint {
  const share = (liquidity * numerator) / (denominator * 100n)
  if (share > 0n || numerator === 100n * denominator) return share
  if (liquidity === 0n)
    throw new SluiceError('TRADE_FAILED', `The position ${tokenId} is empty: there is no liquidity to remove.`, {
      details: { reason: 'no liquidity' },
    })
  throw badFields([{ field: 'decreasePercent', problem: `is less than one unit of the position's liquidity of ${liquidity}` }])
}

export const ammLiquidityCollectFees: Handler<'AMMLiquidityCollectFees'> = async (request, context) => {
  const { network, venue, signal } = context
  const at = { signal }
  const range = rangeOf(venue)
  const wallet = readWallet(request, context)
  const { address } = wallet

  const { head, position } = await findOwnPosition({ ...request, address }, venue, network, at)
  requireNotEmpty(position)
  const { pool, unclaimed, tokenId } = position
  const { native = false } = request
  const slippage = effectiveSlippage(venue.config, [pool], undefined)
  const deadline = deadlineAfter(head, tradeRules(venue.config, [pool]).ttlSeconds)
  const plan = range.collect(position, { owner: address, slippage, deadline, native })

  const order = await orderOf(position, network, at)
  const [token0, token1] = order.pair
  const shown = {
    tokenId: tokenId.toString(),
    unclaimedToken0: fromRaw(unclaimed.amount0Raw, token0.decimals),
    unclaimedToken1: fromRaw(unclaimed.amount1Raw, token1.decimals),
  }
  return submitLiquidityChange({ plan, order, shown, valueRaw: 0n }, wallet, context)
}

/** An empty position earns nothing either: whatever is asked of it would only burn gas. */
function requireNotEmpty({ tokenId, liquidity, unclaimed }: RangePosition): void {
  if (liquidity > 0n || unclaimed.amount0Raw > 0n || unclaimed.amount1Raw > 0n) return
  throw new SluiceError(
    'TRADE_FAILED',
    `The position ${tokenId} holds nothing: no liquidity and no fees. /amm/liquidity/remove with burn: true removes the position itself.`,
    { details: { reason: 'the position is empty' } },
  )
}

type Context = RequestContext & { services: Services } & TargetContext<'connector'>

/** Has a plan carried out, and answers with what is shown of it. */
async function submitLiquidityChange<S extends object>(
  change: { plan: Plan; order: OrderedPair; shown: S; valueRaw: bigint },
  wallet: ReturnType<typeof readWallet>,
  context: Context,
) {
  const { plan, order, shown, valueRaw } = change
  const { network, venue, services, signal } = context
  const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
  const scope = { contracts: venue.contracts, valueRaw }
  const about = aboutLiquidity(order)
  return answer(await services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'liquidity', about, answer }, signal))
}

/** What the journal keeps of a change of liquidity, so that its fill can be shown in the order of tokens that the caller knows. */
interface AboutLiquidity {
  reversed: boolean
  decimals: readonly [number, number]
}

const aboutLiquidity = ({ pair: [token0, token1], reversed }: OrderedPair): Json => ({
  reversed,
  decimals: [token0.decimals, token1.decimals],
})

/** @param about what `aboutLiquidity` made: the journal is this server's own, and its `kind` says what is in it */
export function showLiquidityFill(fill: RangeFill, about: Json) {
  const { reversed, decimals } = about as unknown as AboutLiquidity
  const { amount0Raw, amount1Raw } = reorder({ reversed }, fill)
  return {
    tokenId: fill.tokenId.toString(),
    liquidity: fill.liquidity.toString(),
    amount0: fromRaw(amount0Raw, decimals[0]),
    amount1: fromRaw(amount1Raw, decimals[1]),
  }
}
