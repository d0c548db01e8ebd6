import {
  type AMMRange,
  type At,
  type Token,
  type RangePool,
  SluiceError,
  type RangeHistory,
  type RangePrice,
} from '../../../core/contracts/index.ts'
import type { Evm, EvmReader, CallResult, Probe, Call } from '../../evm/types.ts'
import { lensProbe, lensQuery, readLens, type TickWindow } from './lens.ts'
import { poolAddress, sortTokens } from './pools.ts'
import { type RangeExchange, checkedRead, poolAbi, type Read, signed, wordsOf } from './position-manager.ts'
import { deposit, lesser } from './range-amounts.ts'
import { planAdd, rangeFill, planRemove } from './range-plans.ts'
import { positionReader } from './range-positions.ts'
import { rangeAround, priceOf, spanAround, priceAtTick } from './range-prices.ts'
import { availableOut, type V3PoolState } from './swap.ts'

/** Positions in an exchange's pools, through its position manager: a NonfungiblePositionManager. */
export function v3Range(exchange: RangeExchange, reader: EvmReader): AMMRange<Evm> {
  const { version, fees, feeTiers, positionManager } = exchange
  const wrapped = reader.wrapped.address
  const read = checkedRead(exchange, reader)
  const { position, positions } = positionReader(exchange, read)
  const addressOf = (token: Token) => (token.native ? wrapped : token.address)

  return {
    rangeVersions: [version],
    feeTiers,
    positionManager,
    async rangePools([a, b], { fee }, at: At) {
      const reading = rangePools(exchange, [addressOf(a), addressOf(b)], fee === undefined ? fees : [fee].filter(isFee))
      const { head, results } = await read(reading.calls, at)
      return { head, pools: reading.pools(results) }
    },
    rangeAround,
    deposit: (pool, range, most) => deposit(pool, range, most),
    add: (what, terms) => planAdd(exchange, wrapped, what, terms),
    position,
    positions,
    remove: (position, what, terms) => planRemove(exchange, wrapped, position, what, terms),
    collect: (position, terms) => planRemove(exchange, wrapped, position, { liquidity: 0n, burn: false }, terms),
    history: (pool, secondsAgo, at) => history(read, pool, secondsAgo, at),
    rangeFill,
  }
}

/** Pools are told apart by 24 bits of it. */
const isFee = (fee: number) => Number.isInteger(fee) && fee >= 0 && fee < 2 ** 24

/** What must be asked to know the pools of two tokens, and how the answers are read. */
function rangePools(exchange: RangeExchange, tokens: readonly [string, string], fees: readonly number[]) {
  const sorted = sortTokens(...tokens)
  const [token0, token1] = sorted
  const keys = fees.map((fee) => ({ address: poolAddress(exchange, sorted, fee), version: exchange.version, token0, token1, fee }))
  const looks = keys.map(({ address }) => lensQuery(address, percentWindow, percentWindow))
  return {
    calls: looks.length > 0 ? [lensProbe(looks)] : ([] satisfies Probe[]),
    pools([seen]: readonly CallResult[]): readonly RangePool[] {
      const states = seen ? readLens(seen, looks) : []
      const found = states.flatMap((state, index) => {
        const key = keys[index]
        if (!key || !state) return []
        const { sqrtPriceX96, tick, tickSpacing, liquidity } = state
        return [{ pool: { ...key, tickSpacing, sqrtPriceX96, tick, liquidity, price: priceOf(sqrtPriceX96) }, depthRaw: depthOf(state) }]
      })
      return found.toSorted(deepestFirst).map(({ pool }) => pool)
    },
  }
}

interface Found {
  readonly pool: RangePool
  readonly depthRaw: bigint
}

/** Of equal ones the cheaper first. */
function deepestFirst(a: Found, b: Found): number {
  return a.depthRaw === b.depthRaw ? a.pool.fee - b.pool.fee : a.depthRaw > b.depthRaw ? -1 : 1
}

const aPercent = { numerator: 1n, denominator: 100n }

/** Enough to see all ticks of the closest spacing within a percent of the price. */
const percentWindow: TickWindow = { words: 2, ticks: 128 }

/**
 * How much it takes to move a pool's price by a percent, in the direction in which that is less; in token1. Liquidity at
 * the price alone would say nothing: in a range of one tick anybody makes any amount of it for next to nothing, at a
 * price of his own. This much at a wrong price is a gift to whoever puts the price right.
 */
function depthOf(state: V3PoolState): bigint {
  const { low, high } = spanAround(state.sqrtPriceX96, aPercent)
  const { numerator, denominator } = priceOf(state.sqrtPriceX96)
  return lesser(availableOut(state, true, low), (availableOut(state, false, high) * numerator) / denominator)
}

const mostSeconds = 2 ** 32 - 1
const mostRounds = 4

/**
 * Mean prices between times, by one `observe`. Only where the pool's oracle does not hold that much it is asked how far it
 * does: where its oldest observation is follows from the newest one's place.
 */
async function history(read: Read, { address }: RangePool, secondsAgo: readonly number[], at: At): Promise<RangeHistory> {
  const asked = secondsAgo.map((seconds) => Math.min(seconds, mostSeconds))
  const observe: Call = { to: address, data: poolAbi.encodeFunctionData('observe', [asked]) }
  const slot0: Call = { to: address, data: poolAbi.encodeFunctionData('slot0') }
  let place: OraclePlace | undefined
  for (let round = 0; round < mostRounds; round += 1) {
    const { head, results } = await read([observe, slot0, ...(place ? oldestCalls(address, place) : [])], at)
    const cumulatives = readCumulatives(results[0], asked.length)
    const within = secondsAgo.every((seconds) => seconds <= mostSeconds)
    if (cumulatives && within) return { is: 'prices', head, prices: meanPrices(cumulatives, asked) }

    const now = readPlace(results[1])
    if (!now) break
    const oldest = place?.index === now.index && place.cardinality === now.cardinality ? readOldest(results.slice(2)) : undefined
    if (oldest !== undefined) {
      // Its clock has 32 bits.
      const holdsSeconds = Number(BigInt.asUintN(32, BigInt(head.timestamp) - oldest))
      if (!within || holdsSeconds < (asked[0] ?? 0)) return { is: 'beyond', head, holdsSeconds }
      break
    }
    place = now
  }
  throw new SluiceError('PRICE_FAILED', `The pool ${address} does not say its past prices: ask for fewer of them, or again.`)
}

interface OraclePlace {
  readonly index: bigint
  readonly cardinality: bigint
}

function readPlace(slot0: CallResult | undefined): OraclePlace | undefined {
  const [, , index, cardinality] = wordsOf(slot0, 4) ?? []
  return index !== undefined && cardinality ? { index, cardinality } : undefined
}

/** OracleLibrary.getOldestObservationSecondsAgo of @uniswap/v3-periphery@1.4.4: the next place, or the first where the ring is not full yet. */
function oldestCalls(address: string, { index, cardinality }: OraclePlace): readonly Call[] {
  return [(index + 1n) % cardinality, 0n].map((each) => ({ to: address, data: poolAbi.encodeFunctionData('observations', [each]) }))
}

function readOldest([next, first]: readonly CallResult[]): bigint | undefined {
  const ofNext = wordsOf(next, 4)
  return ofNext?.[3] ? ofNext[0] : wordsOf(first, 4)?.[0]
}

/** The first of two arrays: ticks times seconds, from when the pool began. */
function readCumulatives(result: CallResult | undefined, count: number): readonly bigint[] | undefined {
  const words = wordsOf(result, 3 + count)
  const start = Number(words?.[0] ?? 0n) / 32
  return words && words[start] === BigInt(count) ? words.slice(start + 1, start + 1 + count).map(signed) : undefined
}

/** OracleLibrary.consult: the mean tick rounded down. The sums wrap around at 56 bits. */
function meanPrices(cumulatives: readonly bigint[], secondsAgo: readonly number[]): readonly RangePrice[] {
  return cumulatives.slice(1).map((later, index) => {
    const sum = BigInt.asIntN(56, later - (cumulatives[index] ?? 0n))
    const seconds = BigInt((secondsAgo[index] ?? 0) - (secondsAgo[index + 1] ?? 0))
    const mean = sum / seconds - (sum < 0n && sum % seconds !== 0n ? 1n : 0n)
    return priceAtTick(Number(mean))
  })
}
