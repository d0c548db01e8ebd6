import { SluiceError, type AMMRange, type At, type Head, type RangeHistory, type RangePrice } from '../../../core/contracts/index.ts'
import { toInt256 } from '../../evm/encoding.ts'
import type { Call, CallResult, Evm, EvmReader, Probe } from '../../evm/types.ts'
import { sortTokens } from '../deployment.ts'
import { poolToken } from '../../pools/price.ts'
import { positionWitnesses } from '../position-witnesses.ts'
import { lensProbe, readLens, type TickWindow } from './lens.ts'
import { poolAddress } from './pools.ts'
import { checkedReader, poolAbi, wordsOf, type RangeExchange, type Read } from './position-manager.ts'
import { deposit, endsOf, lesser, offerOf } from './range-amounts.ts'
import { owedLiquidity } from './owed-liquidity.ts'
import { planAdd, planRemove, rangeFill, type Addition } from './range-plans.ts'
import { positionReader } from './range-positions.ts'
import { priceAtTick, priceOf, rangeAround, spanAround, type TickPool, type TickPosition, type TickRange } from './range-prices.ts'
import { availableOut, type V3PoolState } from './swap.ts'

/** Positions in an exchange's pools, through its position manager: a NonfungiblePositionManager. */
export function v3Range(exchange: RangeExchange, reader: EvmReader): AMMRange<Evm> {
  const { version, fees, feeTiers, positionManager } = exchange
  const { wrapped } = reader
  const read = checkedReader(exchange, reader)
  const { position, positionsById, positionsOf } = positionReader(exchange, read)
  // The pools, ranges and positions of requests are those that it gave itself.
  return {
    rangeVersions: [version],
    // NonfungiblePositionManager and LiquidityManagement of @uniswap/v3-periphery@1.4.4.
    slippageReasons: ['Price slippage check'],
    feeTiers,
    positionManager,
    rangePools([a, b], { fee }, at) {
      const tokens = sortTokens(poolToken(a, wrapped), poolToken(b, wrapped))
      return readPools(read, exchange, tokens, fee === undefined ? fees : [fee].filter(isFee), at)
    },
    rangeAround: (pool: TickPool, lower, upper) => rangeAround(pool, lower, upper),
    deposit(pool: TickPool, range: TickRange, max, slippage) {
      const made = deposit(pool, range, max)
      if (!slippage) return made
      const most = offerOf(pool, range, max, slippage).desired
      return { ...made, most, ends: endsOf(pool, range, slippage, (end) => deposit(pool, range, most, end)) }
    },
    add: (addition: Addition, terms) => planAdd(exchange, wrapped.address, addition, terms),
    position,
    positions: (owner, at) => positionsOf({ owner }, at),
    positionOf: ({ tokenId }, at) => position(tokenId, at),
    ...positionWitnesses(positionManager, reader),
    positionsById: ({ tokenIds }, at) => positionsById(tokenIds, at),
    positionsOf,
    remove: (position: TickPosition, removal, terms) => planRemove(exchange, wrapped.address, position, removal, terms),
    collect: (position: TickPosition, terms) => planRemove(exchange, wrapped.address, position, { liquidity: 0n, burn: false }, terms),
    history: (pool: TickPool, secondsAgo, at) => readHistory(read, pool, secondsAgo, at),
    rangeFill,
    owedLiquidity: owedLiquidity(positionManager, reader),
  }
}

/** A pool's address is made of 24 bits of its fee. */
const isFee = (fee: number) => Number.isInteger(fee) && fee >= 0 && fee < 2 ** 24

/** The pools of two tokens. */
async function readPools(
  read: Read<Call | Probe>,
  exchange: RangeExchange,
  tokens: readonly [token0: string, token1: string],
  fees: readonly number[],
  at: At,
): Promise<{ head: Head; pools: readonly TickPool[] }> {
  const [token0, token1] = tokens
  const keys = fees.map((fee) => ({ address: poolAddress(exchange, tokens, fee), version: exchange.version, token0, token1, fee }))
  const queries = keys.map(({ address }) => ({ pool: address, below: percentWindow, above: percentWindow }))
  const { head, results } = await read(queries.length > 0 ? [lensProbe(queries)] : [], at)
  const states = results[0] ? readLens(results[0], queries) : []
  const found = states.flatMap((state, index) => {
    const key = keys[index]
    return key && state ? [{ key, state }] : []
  })
  return { head, pools: deepestFirst(found) }
}

/** Pools with the state that a window of `percentWindow` shows, those with the most depth first; of equal ones the cheaper first. */
export function deepestFirst(
  found: readonly { readonly key: Pick<TickPool, 'address' | 'version' | 'token0' | 'token1' | 'fee'>; readonly state: V3PoolState }[],
): readonly TickPool[] {
  const pools = found.map(({ key, state }) => {
    const { sqrtPriceX96, tick, tickSpacing, liquidity } = state
    return { pool: { ...key, tickSpacing, sqrtPriceX96, tick, liquidity, price: priceOf(sqrtPriceX96) }, depthRaw: depthOf(state) }
  })
  return pools
    .toSorted((a, b) => (a.depthRaw === b.depthRaw ? a.pool.fee - b.pool.fee : a.depthRaw > b.depthRaw ? -1 : 1))
    .map(({ pool }) => pool)
}

const onePercent = { numerator: 1n, denominator: 100n }
/** Enough to see all ticks of the closest spacing within a percent of the price. */
export const percentWindow: TickWindow = { words: 2, ticks: 128 }

/**
 * How much it takes to move a pool's price by one percent, in the cheaper direction; in token1. The liquidity at the price alone says nothing:
 * in a range of one tick anybody makes any amount of it for next to nothing, at any price. This much at a wrong price would be a gift to
 * arbitrage.
 */
function depthOf(state: V3PoolState): bigint {
  const { low, high } = spanAround(state.sqrtPriceX96, onePercent)
  const { numerator, denominator } = priceOf(state.sqrtPriceX96)
  return lesser(availableOut(state, true, low), (availableOut(state, false, high) * numerator) / denominator)
}

/** The oracle takes seconds as `uint32`. */
const maxSeconds = 2 ** 32 - 1
const maxRounds = 4

/**
 * Mean prices between times, by one `observe`. Only where the pool's oracle does not reach back that far, a second read finds out how far it
 * does: the newest observation's index says where the oldest one is.
 * @throws SluiceError PRICE_FAILED where the pool does not answer
 */
async function readHistory(read: Read, { address }: TickPool, secondsAgo: readonly number[], at: At): Promise<RangeHistory> {
  const times = secondsAgo.map((seconds) => Math.min(seconds, maxSeconds))
  const isWithinUint32 = secondsAgo.every((seconds) => seconds <= maxSeconds)
  const observe: Call = { to: address, data: poolAbi.encodeFunctionData('observe', [times]) }
  const slot0: Call = { to: address, data: poolAbi.encodeFunctionData('slot0') }
  let ring: OracleRing | undefined
  for (let round = 0; round < maxRounds; round += 1) {
    const { head, results } = await read([observe, slot0, ...(ring ? oldestCalls(address, ring) : [])], at)
    const cumulatives = readCumulatives(results[0], times.length)
    if (cumulatives && isWithinUint32) return { is: 'prices', head, prices: meanPrices(cumulatives, times) }

    const now = readRing(results[1])
    if (!now) break
    const oldest = ring?.index === now.index && ring.cardinality === now.cardinality ? readOldest(results.slice(2)) : undefined
    if (oldest !== undefined) {
      // The oracle's clock has 32 bits.
      const holdsSeconds = Number(BigInt.asUintN(32, BigInt(head.timestamp) - oldest))
      if (!isWithinUint32 || holdsSeconds < (times[0] ?? 0)) return { is: 'beyond', head, holdsSeconds }
      break
    }
    ring = now
  }
  throw new SluiceError('PRICE_FAILED', `The pool ${address} does not answer about its past prices: ask for fewer of them, or again.`)
}

/** Observations are a ring: the newest one's index, and how many there can be. */
interface OracleRing {
  readonly index: bigint
  readonly cardinality: bigint
}

function readRing(slot0: CallResult | undefined): OracleRing | undefined {
  const [, , index, cardinality] = wordsOf(slot0, 4) ?? []
  return index !== undefined && cardinality ? { index, cardinality } : undefined
}

/** OracleLibrary.getOldestObservationSecondsAgo of @uniswap/v3-periphery@1.4.4: the next index, or the first while the ring is not full. */
function oldestCalls(address: string, { index, cardinality }: OracleRing): readonly Call[] {
  return [(index + 1n) % cardinality, 0n].map((each) => ({ to: address, data: poolAbi.encodeFunctionData('observations', [each]) }))
}

function readOldest([next, first]: readonly CallResult[]): bigint | undefined {
  const nextWords = wordsOf(next, 4)
  return nextWords?.[3] ? nextWords[0] : wordsOf(first, 4)?.[0]
}

/** The first of two arrays: ticks times seconds, since the pool's start. */
function readCumulatives(result: CallResult | undefined, count: number): readonly bigint[] | undefined {
  const words = wordsOf(result, 3 + count)
  const start = Number(words?.[0] ?? 0n) / 32
  return words && words[start] === BigInt(count) ? words.slice(start + 1, start + 1 + count).map(toInt256) : undefined
}

/** OracleLibrary.consult: the mean tick, rounded down. The sums wrap around at 56 bits. */
function meanPrices(cumulatives: readonly bigint[], secondsAgo: readonly number[]): readonly RangePrice[] {
  return cumulatives.slice(1).map((later, index) => {
    const sum = BigInt.asIntN(56, later - (cumulatives[index] ?? 0n))
    const seconds = BigInt((secondsAgo[index] ?? 0) - (secondsAgo[index + 1] ?? 0))
    const mean = sum / seconds - (sum < 0n && sum % seconds !== 0n ? 1n : 0n)
    return priceAtTick(Number(mean))
  })
}
