import { getAddress, solidityPackedKeccak256, toBeHex } from 'ethers'
import { SluiceError, type At, type Head, type RangePosition, type RangePool, type RangeAmounts } from '../../../core/contracts/index.ts'
import type { Call, CallResult } from '../../evm/types.ts'
import { poolAddress } from './pools.ts'
import { type RangeExchange, managerAbi, type Read, readAtOnce, wordsOf, poolAbi, signed } from './position-manager.ts'
import { amountsAt, boundsOf, lesser } from './range-amounts.ts'
import { rangeOf, priceOf } from './range-prices.ts'

/** A wallet can be sent any number of them by anybody. */
const mostPositions = 1000
const usualPositions = 25
const mostRemembered = 10_000
const mostRounds = 8

/**
 * Positions at one block. Where one lies is asked once and remembered; after that all of it is one round trip. What is
 * remembered is held against every answer, for a reorganisation can give an id to another position.
 */
export function positionReader(exchange: RangeExchange, read: Read) {
  const places = new Map<bigint, PositionKey>()

  /** Undefined where more must be asked first: `places` knows more then. */
  function readOne(tokenId: bigint, asked: Asked | undefined): { position?: RangePosition } | undefined {
    if (!asked) return undefined
    const kept = readManagerPosition(exchange, asked.results[0])
    if (!kept) return {}
    if (!asked.place || !isSame(asked.place, kept.key)) {
      if (places.size >= mostRemembered) places.clear()
      places.set(tokenId, kept.key)
      return undefined
    }
    return { position: readPosition(exchange, tokenId, kept, asked.results.slice(1)) }
  }

  /** Asks for what is known of these ids, behind other calls. */
  async function ask(others: readonly Call[], ids: readonly bigint[], at: At) {
    const known = ids.map((tokenId) => {
      const place = places.get(tokenId)
      return { tokenId, place, calls: [positionCall(exchange, tokenId), ...(place ? stateCalls(exchange, tokenId, place) : [])] }
    })
    const { head, results } = await readAtOnce(read, [...others, ...known.flatMap(({ calls }) => calls)], at)
    let offset = others.length
    const asked = new Map<bigint, Asked>()
    for (const { tokenId, place, calls } of known) {
      asked.set(tokenId, { place, results: results.slice(offset, offset + calls.length) })
      offset += calls.length
    }
    return { head, results, asked }
  }

  return {
    async position(tokenId: bigint, at: At): Promise<{ head: Head; position: RangePosition } | undefined> {
      for (let round = 0; round < mostRounds; round += 1) {
        const { head, asked } = await ask([], [tokenId], at)
        const found = readOne(tokenId, asked.get(tokenId))
        if (found) return found.position && { head, position: found.position }
      }
      throw restless()
    },

    async positions(owner: string, at: At): Promise<{ head: Head; positions: readonly RangePosition[] }> {
      let count = usualPositions
      let ids: readonly bigint[] = []
      for (let round = 0; round < mostRounds; round += 1) {
        const list = listCalls(exchange, owner, count)
        const { head, results, asked } = await ask(list, ids, at)
        const listed = readList(results.slice(0, list.length))
        if (listed.count > mostPositions) throw tooMany(owner, listed.count)
        const found = listed.ids.map((tokenId) => readOne(tokenId, asked.get(tokenId)))
        if (listed.ids.length === listed.count && found.every((one) => one !== undefined))
          return { head, positions: found.flatMap(({ position }) => position ?? []) }
        count = Math.max(listed.count, 1)
        ids = listed.ids
      }
      throw restless()
    },
  }
}

interface Asked {
  readonly place: PositionKey | undefined
  readonly results: readonly CallResult[]
}

function listCalls({ positionManager }: RangeExchange, owner: string, count: number): readonly Call[] {
  return [
    { to: positionManager, data: managerAbi.encodeFunctionData('balanceOf', [owner]) },
    ...Array.from({ length: count }, (_, index) => ({
      to: positionManager,
      data: managerAbi.encodeFunctionData('tokenOfOwnerByIndex', [owner, index]),
    })),
  ]
}

/** How many there are, and the ids of those that were asked for. */
function readList([balance, ...tokens]: readonly CallResult[]): { count: number; ids: readonly bigint[] } {
  const count = Number(wordsOf(balance, 1)?.[0] ?? 0n)
  return { count, ids: tokens.slice(0, count).flatMap((token) => wordsOf(token, 1)?.[0] ?? []) }
}

function isSame(a: PositionKey, b: PositionKey): boolean {
  return a.pool === b.pool && a.tickLower === b.tickLower && a.tickUpper === b.tickUpper
}

function tooMany(owner: string, count: number): SluiceError {
  return new SluiceError(
    'UNSUPPORTED',
    `${owner} has ${count} positions, and at most ${mostPositions} are listed: ask for single ones by their tokenId, and burn those that are empty.`,
  )
}

const restless = () => new SluiceError('NETWORK', 'The positions changed with every block while they were read: ask again.')

/** What never changes of a position: where it lies. */
interface PositionKey {
  readonly pool: string
  readonly token0: string
  readonly token1: string
  readonly fee: number
  readonly tickLower: number
  readonly tickUpper: number
}

/** What the position manager keeps of one. */
interface ManagerPosition {
  readonly key: PositionKey
  readonly account: FeeAccount
}

function positionCall({ positionManager }: RangeExchange, tokenId: bigint): Call {
  return { to: positionManager, data: managerAbi.encodeFunctionData('positions', [tokenId]) }
}

/** Undefined where there is no such position, or none any more: the manager reverts then. */
function readManagerPosition(exchange: RangeExchange, result: CallResult | undefined): ManagerPosition | undefined {
  const words = wordsOf(result, 12)
  if (!words) return undefined
  const [, , token0 = 0n, token1 = 0n, fee = 0n, lower = 0n, upper = 0n, ...account] = words
  const [first, second] = [addressOf(token0), addressOf(token1)]
  const place = { token0: first, token1: second, fee: Number(fee), tickLower: Number(signed(lower)), tickUpper: Number(signed(upper)) }
  return { key: { pool: poolAddress(exchange, [first, second], place.fee), ...place }, account: accountOf(account) }
}

/** All that a position's amounts and fees follow from, beside what the manager keeps of it. */
function stateCalls({ positionManager }: RangeExchange, tokenId: bigint, { pool, tickLower, tickUpper }: PositionKey): readonly Call[] {
  const inPool = solidityPackedKeccak256(['address', 'int24', 'int24'], [positionManager, tickLower, tickUpper])
  return [
    ...poolCalls(pool),
    { to: positionManager, data: managerAbi.encodeFunctionData('ownerOf', [tokenId]) },
    { to: pool, data: poolAbi.encodeFunctionData('feeGrowthGlobal0X128') },
    { to: pool, data: poolAbi.encodeFunctionData('feeGrowthGlobal1X128') },
    { to: pool, data: poolAbi.encodeFunctionData('ticks', [tickLower]) },
    { to: pool, data: poolAbi.encodeFunctionData('ticks', [tickUpper]) },
    { to: pool, data: poolAbi.encodeFunctionData('positions', [inPool]) },
  ]
}

/** @throws SluiceError NETWORK where the node does not say the state of a position that the manager has */
function readPosition(
  exchange: RangeExchange,
  tokenId: bigint,
  { key: place, account }: ManagerPosition,
  state: readonly CallResult[],
): RangePosition {
  const { pool: address, token0, token1, fee, tickLower, tickUpper } = place
  const pool = readPool({ address, version: exchange.version, token0, token1, fee }, state)
  const [owner] = wordsOf(state[callsOfPool], 1) ?? []
  const [global0X128] = wordsOf(state[callsOfPool + 1], 1) ?? []
  const [global1X128] = wordsOf(state[callsOfPool + 2], 1) ?? []
  const lower = wordsOf(state[callsOfPool + 3], 4)
  const upper = wordsOf(state[callsOfPool + 4], 4)
  const inPool = wordsOf(state[callsOfPool + 5], 5)
  if (!pool || owner === undefined || global0X128 === undefined || global1X128 === undefined || !lower || !upper || !inPool)
    throw new SluiceError('NETWORK', `The node does not say the state of position ${tokenId} in the pool ${address}: ask again.`)

  const insideOf = (globalX128: bigint, index: 2 | 3) =>
    feeGrowthInside({ globalX128, outsideLowerX128: lower[index] ?? 0n, outsideUpperX128: upper[index] ?? 0n }, pool.tick, place)
  const { liquidity } = account
  return {
    ...rangeOf(tickLower, tickUpper),
    tokenId,
    owner: addressOf(owner),
    pool,
    liquidity,
    inRange: tickLower <= pool.tick && pool.tick < tickUpper,
    amounts: amountsAt(pool.sqrtPriceX96, boundsOf(place), liquidity, 'down'),
    unclaimed: unclaimed(account, accountOf(inPool), [insideOf(global0X128, 2), insideOf(global1X128, 3)]),
  }
}

/**
 * What `collect` would give. The manager owes the position its fees, and the pool owes the manager those of all its positions
 * in one range together, rounded down more often: it cannot give more than that. Without liquidity the pool is not
 * asked to count up to now.
 */
function unclaimed(position: FeeAccount, inPool: FeeAccount, insideX128: readonly [bigint, bigint]) {
  const counts = position.liquidity > 0n
  const owed = counts ? feesOwed(position, insideX128) : position.owed
  const held = counts ? feesOwed(inPool, insideX128) : inPool.owed
  return { amount0Raw: lesser(owed.amount0Raw, held.amount0Raw), amount1Raw: lesser(owed.amount1Raw, held.amount1Raw) }
}

/** The manager and the pool keep the same five numbers in the same order. */
function accountOf([
  liquidity = 0n,
  inside0LastX128 = 0n,
  inside1LastX128 = 0n,
  amount0Raw = 0n,
  amount1Raw = 0n,
]: readonly bigint[]): FeeAccount {
  return { liquidity, inside0LastX128, inside1LastX128, owed: { amount0Raw, amount1Raw } }
}

const addressOf = (word: bigint): string => getAddress(toBeHex(BigInt.asUintN(160, word), 20))

type PoolKey = Pick<RangePool, 'address' | 'token0' | 'token1' | 'fee' | 'version'>

const data = (['slot0', 'liquidity', 'tickSpacing'] as const).map((view) => poolAbi.encodeFunctionData(view))
const callsOfPool = data.length

function poolCalls(address: string): readonly Call[] {
  return data.map((each) => ({ to: address, data: each }))
}

/** Undefined where there is no pool, or none that has a price yet. */
export function readPool(key: PoolKey, [slot0, liquidity, tickSpacing]: readonly CallResult[]): RangePool | undefined {
  const [sqrtPriceX96, tick] = wordsOf(slot0, 2) ?? []
  const [inRange] = wordsOf(liquidity, 1) ?? []
  const [spacing] = wordsOf(tickSpacing, 1) ?? []
  if (!sqrtPriceX96 || tick === undefined || inRange === undefined || spacing === undefined) return undefined
  return {
    ...key,
    tickSpacing: Number(signed(spacing)),
    sqrtPriceX96,
    tick: Number(signed(tick)),
    liquidity: inRange,
    price: priceOf(sqrtPriceX96),
  }
}

const wrap256 = (value: bigint): bigint => BigInt.asUintN(256, value)
const wrap128 = (value: bigint): bigint => BigInt.asUintN(128, value)

/** Of one token, per unit of liquidity, times 2^128. Such counters wrap around; only differences between them mean something. */
interface FeeGrowth {
  readonly globalX128: bigint
  readonly outsideLowerX128: bigint
  readonly outsideUpperX128: bigint
}

/** Tick.getFeeGrowthInside of @uniswap/v3-core@1.0.1. */
export function feeGrowthInside(
  growth: FeeGrowth,
  tick: number,
  { tickLower, tickUpper }: { tickLower: number; tickUpper: number },
): bigint {
  const { globalX128, outsideLowerX128, outsideUpperX128 } = growth
  const below = tick >= tickLower ? outsideLowerX128 : globalX128 - outsideLowerX128
  const above = tick < tickUpper ? outsideUpperX128 : globalX128 - outsideUpperX128
  return wrap256(globalX128 - below - above)
}

/** What a contract keeps of fees in a range, for a position of its own or for all of an owner's together. */
interface FeeAccount {
  readonly liquidity: bigint
  readonly inside0LastX128: bigint
  readonly inside1LastX128: bigint
  readonly owed: RangeAmounts
}

/** What it owes once it has counted up to now: each account rounds down by itself, and wraps as the contracts do. */
export function feesOwed(
  { liquidity, inside0LastX128, inside1LastX128, owed }: FeeAccount,
  insideX128: readonly [bigint, bigint],
): RangeAmounts {
  const earned = (nowX128: bigint, lastX128: bigint) => (wrap256(nowX128 - lastX128) * liquidity) >> 128n
  return {
    amount0Raw: wrap128(owed.amount0Raw + earned(insideX128[0], inside0LastX128)),
    amount1Raw: wrap128(owed.amount1Raw + earned(insideX128[1], inside1LastX128)),
  }
}
