// Changes of positions of Uniswap v4: what is sent, and what the receipt shows.
import type { Deposit, Json, Need, Plan, RangeAmounts, RangeFill, RangeTerms, SlippageFraction } from '../../../core/contracts/index.ts'
import type { TickPool, TickPosition, TickRange } from '../v3/range-prices.ts'
import * as json from '../../../core/base/json.ts'
import { depositTopic, isAddressTopic, isSameAddress, isTransfer, nativeAddress, toInt256, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { getLiquidityForAmount0, getLiquidityForAmount1, maxTick, minTick } from '../v3/math.ts'
import { amountsAt, boundsOf, lesser, max0InSpan, minRemoved } from '../v3/range-amounts.ts'
import { spanAround } from '../v3/range-prices.ts'
import { action, managerItself, modifyLiquidities, openDelta, wholeBalance, type Action, type V4Positions } from './position-manager.ts'
import type { PoolKey } from './pools.ts'
import { modifyLiquidityTopic } from './pools.ts'

/** What a deposit makes, and the most that it may take while the price is within the slippage. */
interface Offer extends Deposit {
  readonly most: RangeAmounts
}

/** The manager and the pool manager count amounts in 128 bits, with a sign. */
const maxAmountRaw = 2n ** 127n - 1n

/**
 * The manager is told how much liquidity to make, and not of how much: the maxima are where the price may be enforced. So the liquidity is what
 * the offered amounts make at either end of the span in which the price may be. It is carried out anywhere in the span, and never takes more than
 * was offered. A token that is not needed at the present price does not limit it.
 */
export function offerOf(
  { sqrtPriceX96, tickSpacing }: Pick<TickPool, 'sqrtPriceX96' | 'tickSpacing'>,
  range: TickRange,
  offered: RangeAmounts,
  slippage: SlippageFraction,
): Offer {
  const bounds = boundsOf(range)
  const { lower, upper } = bounds
  const span = spanAround(sqrtPriceX96, slippage)
  const { low, high } = span
  const maxLiquidity = maxLiquidityPerTick(tickSpacing)
  // A caller who wants no limit for a token may give any number.
  const amount0Raw = lesser(lesser(offered.amount0Raw, maxAmountRaw), amountsAt(low, bounds, maxLiquidity, 'up').amount0Raw)
  const amount1Raw = lesser(lesser(offered.amount1Raw, maxAmountRaw), amountsAt(high, bounds, maxLiquidity, 'up').amount1Raw)
  let liquidity = maxLiquidity
  if (sqrtPriceX96 < upper) liquidity = lesser(liquidity, getLiquidityForAmount0(low > lower ? low : lower, upper, amount0Raw))
  if (sqrtPriceX96 > lower) liquidity = lesser(liquidity, getLiquidityForAmount1(lower, high < upper ? high : upper, amount1Raw))
  return {
    liquidity,
    ...amountsAt(sqrtPriceX96, bounds, liquidity, 'up'),
    most: {
      // Not what the liquidity takes: by the rounding of LiquidityAmounts that may make less than this liquidity.
      amount0Raw: lesser(amount0Raw, max0InSpan(liquidity, span, bounds)),
      amount1Raw: lesser(amount1Raw, amountsAt(high, bounds, liquidity, 'up').amount1Raw),
    },
  }
}

/** Pool.tickSpacingToMaxLiquidityPerTick of @uniswap/v4-core@1.0.2: the lowest tick is rounded down, unlike in v3. */
function maxLiquidityPerTick(tickSpacing: number): bigint {
  const ticks = Math.trunc(maxTick / tickSpacing) - Math.floor(minTick / tickSpacing) + 1
  return (2n ** 128n - 1n) / BigInt(ticks)
}

export interface Addition {
  /** Of the pool. */
  readonly key: PoolKey
  readonly pool: TickPool
  readonly range: TickRange
  readonly most: RangeAmounts
  /** The one that it adds to. */
  readonly position?: Pick<TickPosition, 'tokenId' | 'liquidity'>
}

/**
 * Opens a position, or adds to one. The maxima hold for the principal alone, and v4 pays a position's fees out with every change of it. So those
 * are taken first: then what is paid is what is added, to the unit.
 */
export function planAdd(
  exchange: V4Positions,
  { key, pool, range, most: offered, position }: Addition,
  { owner, slippage, deadline }: RangeTerms,
): Plan<Evm> {
  const { currency0, currency1 } = key
  const { tickLower, tickUpper } = range
  const { liquidity, most } = offerOf(pool, range, offered, slippage)
  const maxima = [most.amount0Raw, most.amount1Raw]
  const valueRaw = currency0 === nativeAddress ? most.amount0Raw : 0n
  const fees =
    position && position.liquidity > 0n
      ? [action('decrease', position.tokenId, 0n, 0n, 0n, '0x'), action('takePair', currency0, currency1, owner)]
      : []
  const addition = position
    ? action('increase', position.tokenId, liquidity, ...maxima, '0x')
    : action('mint', orderedKey(key), tickLower, tickUpper, liquidity, ...maxima, owner, '0x')
  const actions = [...fees, addition, action('settlePair', currency0, currency1), ...(valueRaw > 0n ? coinToOwner(owner) : [])]
  return {
    steps: [{ to: exchange.positionManager, data: modifyLiquidities(actions, deadline), value: valueRaw.toString() }],
    needs: [
      { token: currency0, amountRaw: most.amount0Raw },
      { token: currency1, amountRaw: most.amount1Raw },
    ].flatMap((each) => needsOf(each, deadline, exchange)),
    deadline,
    memo: memoOf(exchange, { kind: position ? 'increase' : 'mint', tokenId: position?.tokenId, pool, owner, valueRaw }),
  }
}

const orderedKey = ({ currency0, currency1, fee, tickSpacing, hooks }: PoolKey) => ({ currency0, currency1, fee, tickSpacing, hooks })

/** The native coin goes with the call; other tokens are taken by Permit2. */
function needsOf(each: { token: string; amountRaw: bigint }, until: number, { positionManager, permit2 }: V4Positions): readonly Need[] {
  if (each.amountRaw === 0n) return []
  const balance: Need = { is: 'balance', ...each }
  return each.token === nativeAddress ? [balance] : [balance, { is: 'allowance', ...each, spender: positionManager, permit2, until }]
}

/**
 * Gives the owner all that the manager has of the coin: what was left of the value, or what the pool paid. Transfers of the coin leave no log, so
 * it is wrapped and unwrapped on the way: the log of that says to the unit how much it was.
 */
const coinToOwner = (owner: string): readonly Action[] => [
  action('wrap', wholeBalance),
  action('unwrap', wholeBalance),
  action('sweep', nativeAddress, owner),
]

/** Removes liquidity, if any, with all fees, and burns the position where asked: then all that it has at that block is removed. */
export function planRemove(
  exchange: V4Positions,
  position: TickPosition,
  { liquidity, burn }: { liquidity: bigint; burn: boolean },
  { owner, slippage, deadline, native }: RangeTerms,
): Plan<Evm> {
  const { tokenId, pool } = position
  const { token0, token1 } = pool
  const burns = burn && liquidity === position.liquidity
  const min = minRemoved(position, liquidity, slippage)
  const minima = [lesser(min.amount0Raw, maxAmountRaw), lesser(min.amount1Raw, maxAmountRaw)]
  const removal = burns ? action('burn', tokenId, ...minima, '0x') : action('decrease', tokenId, liquidity, ...minima, '0x')
  const unwraps = native && [token0, token1].some((token) => isSameAddress(token, exchange.wrapped))
  const viaManager = (token: string) => token === nativeAddress || (unwraps && isSameAddress(token, exchange.wrapped))
  const payout = [
    ...[token0, token1].map((token) => action('take', token, viaManager(token) ? managerItself : owner, openDelta)),
    ...(unwraps ? [action('unwrap', wholeBalance), action('sweep', nativeAddress, owner)] : []),
    ...(token0 === nativeAddress && !unwraps ? coinToOwner(owner) : []),
  ]
  const kind = burns ? 'burn' : liquidity > 0n ? 'decrease' : 'collect'
  return {
    steps: [{ to: exchange.positionManager, data: modifyLiquidities([removal, ...payout], deadline), value: '0' }],
    needs: [],
    deadline,
    memo: memoOf(exchange, { kind, tokenId, pool, owner, valueRaw: 0n }),
  }
}

const memoFields = {
  positionManager: json.string,
  poolManager: json.string,
  wrapped: json.string,
  pool: json.string,
  currency0: json.string,
  currency1: json.string,
  owner: json.string,
  /** Of the native coin that went with the call. */
  valueRaw: json.digits,
}
/** What `rangeFill` needs to find in a receipt what was done to a position. Stored in the journal, so the words must not change. */
const rangeMemo = json.union(
  json.object({ keptRange: json.literal('mint'), tokenId: json.nothing, ...memoFields }),
  json.object({ keptRange: json.literal('increase', 'decrease', 'collect', 'burn'), tokenId: json.digits, ...memoFields }),
)
type RangeMemo = json.Infer<typeof rangeMemo>

function memoOf(
  { positionManager, poolManager, wrapped }: V4Positions,
  change: { kind: RangeMemo['keptRange']; tokenId: string | undefined; pool: TickPool; owner: string; valueRaw: bigint },
): Json {
  const { kind, tokenId, pool, owner, valueRaw } = change
  return {
    keptRange: kind,
    tokenId: tokenId ?? null,
    positionManager,
    poolManager,
    wrapped,
    pool: pool.address,
    currency0: pool.token0,
    currency1: pool.token1,
    owner,
    valueRaw: valueRaw.toString(),
  }
}

/**
 * What was really done, from the receipt's logs: the liquidity from that of the pool manager, and the amounts from the transfers of the tokens
 * behind it. Undefined where the receipt does not show it.
 */
export function rangeFill({ status, logs }: EvmReceipt, memo: Json): RangeFill | undefined {
  if (status !== 1 || !json.is(rangeMemo, memo)) return undefined
  const tokenId = memo.keptRange === 'mint' ? mintedId(logs, memo) : BigInt(memo.tokenId)
  if (tokenId === undefined) return undefined
  const at = logs.findLastIndex((log) => isChangeOf(log, tokenId, memo))
  // An empty position that is burnt moves nothing.
  if (at === -1)
    return isBurnt(logs, tokenId, memo) ? { tokenId: tokenId.toString(), liquidity: 0n, amount0Raw: 0n, amount1Raw: 0n } : undefined
  const delta = toInt256(wordAt(logs[at]?.data ?? '', 2))
  const isAddition = memo.keptRange === 'mint' || memo.keptRange === 'increase'
  if (isAddition !== delta > 0n) return undefined
  const after = logs.slice(at + 1)
  const [amount0Raw, amount1Raw] = [memo.currency0, memo.currency1].map((currency) => movedOf(currency, after, isAddition, memo))
  const paid = { amount0Raw: amount0Raw ?? 0n, amount1Raw: amount1Raw ?? 0n }
  // The manager pays out at once what is removed: without any, all of it is fees.
  return { tokenId: tokenId.toString(), liquidity: delta < 0n ? -delta : delta, ...paid, ...(delta === 0n && { fees: paid }) }
}

/** The manager mints a new position to its owner. */
function mintedId(logs: readonly EvmLog[], { positionManager, owner }: RangeMemo): bigint | undefined {
  const tokenId = logs.findLast((log) => isTransfer(log, positionManager, nativeAddress, owner))?.topics[3]
  return tokenId === undefined ? undefined : BigInt(tokenId)
}

const isBurnt = (logs: readonly EvmLog[], tokenId: bigint, { keptRange, positionManager, owner }: RangeMemo): boolean =>
  keptRange === 'burn' &&
  logs.some(
    (log) => isTransfer(log, positionManager, owner, nativeAddress) && log.topics[3] !== undefined && BigInt(log.topics[3]) === tokenId,
  )

/** The manager names each of its positions to the pool manager by its id, as a salt. */
function isChangeOf({ address, topics, data }: EvmLog, tokenId: bigint, { poolManager, pool, positionManager }: RangeMemo): boolean {
  return (
    topics[0] === modifyLiquidityTopic &&
    isSameAddress(address, poolManager) &&
    topics[1] === pool &&
    isAddressTopic(topics[2], positionManager) &&
    wordCount(data) >= 4 &&
    wordAt(data, 3) === tokenId
  )
}

/** What the owner paid of a currency, or got of it: 0 where nothing was moved. */
function movedOf(
  currency: string,
  logs: readonly EvmLog[],
  isAddition: boolean,
  { poolManager, positionManager, wrapped, owner, valueRaw }: RangeMemo,
): bigint {
  const amountOf = (log: EvmLog | undefined) => (log && wordCount(log.data) >= 1 ? wordAt(log.data, wordCount(log.data) - 1) : 0n)
  if (currency === nativeAddress) {
    // What passed through the wrapped coin. Some of them log that as a transfer from nobody.
    const wrappedRaw = amountOf(
      logs.findLast(
        (log) =>
          isTransfer(log, wrapped, nativeAddress, positionManager) ||
          (log.topics[0] === depositTopic && isSameAddress(log.address, wrapped) && isAddressTopic(log.topics[1], positionManager)),
      ),
    )
    const paidRaw = BigInt(valueRaw) - wrappedRaw
    return isAddition ? (paidRaw > 0n ? paidRaw : 0n) : wrappedRaw
  }
  return amountOf(
    isAddition
      ? logs.findLast((log) => isTransfer(log, currency, owner, poolManager))
      : logs.findLast((log) => isTransfer(log, currency, poolManager, owner) || isTransfer(log, currency, poolManager, positionManager)),
  )
}
