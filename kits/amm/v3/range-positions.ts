import { solidityPackedKeccak256 } from 'ethers'
import { SluiceError, type At, type Head, type RangeAmounts, type RangePositions } from '../../../core/contracts/index.ts'
import { checksummedIn, hexOfWords, toInt256 } from '../../evm/encoding.ts'
import type { Call, CallResult } from '../../evm/types.ts'
import { maxTick, minTick } from './math.ts'
import { poolAddress } from './pools.ts'
import {
  KnownPositions,
  managerAbi,
  poolAbi,
  tokenOf,
  wordsOf,
  type PositionAnswer,
  type PositionQuery,
  type RangeExchange,
  type Read,
} from './position-manager.ts'
import { amountsAt, boundsOf, lesser, type Bounds } from './range-amounts.ts'
import { priceOf, rangeOf, type TickPool, type TickPosition, type TickRange } from './range-prices.ts'
import { isPlausible } from './swap.ts'

/** Anybody can send a wallet any number of positions. */
export const maxPositions = 1000
/** As many are listed with the first read. */
const usualPositions = 25
const maxRounds = 8

/**
 * Reads positions at one block. The pool and range of a position are read once and kept; after that one round trip reads everything. What is kept
 * is compared with every answer, because a reorganisation can give an id to another position.
 */
export function positionReader(exchange: RangeExchange, read: Read) {
  const queryOf = (tokenId: bigint, key?: PositionKey): PositionQuery<PositionKey> => ({
    tokenId,
    key,
    calls: [positionCall(exchange, tokenId), ...(key ? stateCalls(exchange, tokenId, key) : [])],
  })
  const known = new KnownPositions<PositionKey, OnePosition>(queryOf)

  /** Undefined if another read is needed: then the position's key is known. Empty if there is no such position. */
  function readOne(tokenId: bigint, answer: PositionAnswer<PositionKey> | undefined): OnePosition | undefined {
    if (!answer) return undefined
    return known.madeOf(tokenId, answer, () => {
      const stored = readManagerPosition(exchange, answer.results[0], answer.key)
      if (!stored) return {}
      if (stored.key !== answer.key) {
        known.keepKey(tokenId, stored.key)
        return undefined
      }
      const position = readPosition(exchange, tokenId, stored, answer.results.slice(1))
      return position ? { position } : { unread: unreadReason(stored.key.pool) }
    })
  }

  const readAll = (others: readonly Call[], ids: readonly bigint[], at: At) => known.read(read, others, ids, at)

  return {
    ...readersById(exchange, readAll, readOne),

    async positionsOf({ owner }: { readonly owner: string }, at: At): Promise<RangePositions> {
      let count = usualPositions
      let ids: readonly bigint[] = []
      for (let round = 0; round < maxRounds; round += 1) {
        const list = listCalls(exchange, owner, count)
        const { head, results, answers } = await readAll(list, ids, at)
        const listed = readList(exchange.positionManager, results.slice(0, list.length))
        if (listed.count > maxPositions) throw tooMany(owner, listed.count)
        const found = listed.ids.map((tokenId) => ({ tokenId, one: readOne(tokenId, answers.get(tokenId)) }))
        if (listed.ids.length === listed.count && found.every(({ one }) => one !== undefined))
          return {
            head,
            positions: found.flatMap(({ one }) => one?.position ?? []),
            unread: found.flatMap(({ tokenId, one }) =>
              one?.position ? [] : [unreadIn(exchange, tokenId, one?.unread ?? unreadReason(exchange.positionManager))],
            ),
          }
        count = Math.max(listed.count, 1)
        ids = listed.ids
      }
      throw changedTooFast()
    },
  }
}

/** `unread`: why nobody can say what it is worth. */
export interface OnePosition {
  readonly position?: TickPosition
  readonly unread?: string
}

/**
 * Reading positions by their ids, of which there may be none.
 * @param readOne undefined where another reading is needed: then the position's key is known
 */
export function readersById<K>(
  exchange: Pick<RangeExchange, 'version'>,
  readAll: (
    others: readonly Call[],
    ids: readonly bigint[],
    at: At,
  ) => Promise<{ readonly head: Head; readonly answers: ReadonlyMap<bigint, PositionAnswer<K>> }>,
  readOne: (tokenId: bigint, answer: PositionAnswer<K> | undefined) => OnePosition | undefined,
) {
  async function readEach(tokenIds: readonly bigint[], at: At) {
    for (let round = 0; round < maxRounds; round += 1) {
      const { head, answers } = await readAll([], tokenIds, at)
      const found = tokenIds.map((tokenId) => ({ tokenId, one: readOne(tokenId, answers.get(tokenId)) }))
      if (found.every(({ one }) => one !== undefined)) return { head, found }
    }
    throw changedTooFast()
  }

  return {
    async position(id: string, at: At): Promise<{ head: Head; position?: TickPosition } | undefined> {
      const tokenId = tokenOf(id)
      if (tokenId === undefined) return undefined
      const { head, found } = await readEach([tokenId], at)
      const { position, unread } = found[0]?.one ?? {}
      if (unread !== undefined) throw unreadPosition(tokenId, unread)
      return { head, ...(position && { position }) }
    },

    async positionsById(ids: readonly string[], at: At) {
      const { head, found } = await readEach(
        ids.flatMap((id) => tokenOf(id) ?? []),
        at,
      )
      return {
        head,
        positions: found.flatMap(({ one }) => one?.position ?? []),
        unread: found.flatMap(({ tokenId, one }) => (one?.unread === undefined ? [] : [unreadIn(exchange, tokenId, one.unread)])),
      }
    },
  }
}

export const unreadIn = ({ version }: Pick<RangeExchange, 'version'>, tokenId: bigint, reason: string) => ({
  tokenId: tokenId.toString(),
  version,
  reason,
})

export const unreadReason = (contract: string): string =>
  `the contract ${contract} does not answer as it should, so that nobody knows what it is worth`

const unreadPosition = (tokenId: bigint, reason: string): SluiceError =>
  new SluiceError('UNSUPPORTED', `The position ${tokenId} is not shown and not changed: ${reason}.`)

function listCalls({ positionManager }: RangeExchange, owner: string, count: number): readonly Call[] {
  // Encoded once: the last word is the index. A portfolio has this list for each of its wallets.
  const ofFirst = managerAbi.encodeFunctionData('tokenOfOwnerByIndex', [owner, 0]).slice(0, -64)
  return [
    { to: positionManager, data: managerAbi.encodeFunctionData('balanceOf', [owner]) },
    ...Array.from({ length: count }, (_, index) => ({ to: positionManager, data: ofFirst + index.toString(16).padStart(64, '0') })),
  ]
}

/** How many positions there are, and the ids that were asked for. @throws SluiceError UNSUPPORTED where the manager does not say it */
function readList(manager: string, [balance, ...tokens]: readonly CallResult[]): { count: number; ids: readonly bigint[] } {
  const count = countIn(manager, balance)
  return { count, ids: tokens.slice(0, count).flatMap((token) => wordsOf(token, 1)?.[0] ?? []) }
}

/** @throws SluiceError UNSUPPORTED */
export function countIn(manager: string, balance: CallResult | undefined): number {
  const [count, ...more] = wordsOf(balance, 1) ?? []
  if (count !== undefined && more.length === 0) return Number(count)
  throw new SluiceError('UNSUPPORTED', `The position manager ${manager} does not say how many positions a wallet has.`)
}

export function tooMany(owner: string, count: number): SluiceError {
  return new SluiceError(
    'UNSUPPORTED',
    `${owner} has ${count} positions, and at most ${maxPositions} are listed: ask for single ones by their tokenId, and burn empty ones.`,
  )
}

export const changedTooFast = () => new SluiceError('NETWORK', 'The positions changed with every block while they were read: ask again.')

/** What never changes of a position: its pool and range. */
interface PositionKey {
  /** As the manager says it. */
  readonly words: string
  readonly pool: string
  readonly token0: string
  readonly token1: string
  readonly fee: number
  readonly range: TickRange
  readonly bounds: Bounds
}

/** A position as the manager keeps it. */
interface ManagerPosition {
  readonly key: PositionKey
  readonly account: FeeAccount
}

function positionCall({ positionManager }: RangeExchange, tokenId: bigint): Call {
  return { to: positionManager, data: managerAbi.encodeFunctionData('positions', [tokenId]) }
}

/** As the factory's pools can have it. */
export const isRange = (fee: bigint, lower: bigint, upper: bigint): boolean =>
  fee < 2n ** 24n && lower >= BigInt(minTick) && lower < upper && upper <= BigInt(maxTick)

/** In the manager's record: both tokens, the fee and both ticks. */
const keyWords = { from: 2, to: 7 }

/**
 * Undefined where there is no such position, or no longer: then the manager reverts.
 * @param known its key before, which it has again where it is the same
 */
function readManagerPosition(
  exchange: RangeExchange,
  result: CallResult | undefined,
  known: PositionKey | undefined,
): ManagerPosition | undefined {
  const values = wordsOf(result, 12)
  if (!values || !result) return undefined
  const [, , word0 = 0n, word1 = 0n, fee = 0n, lower = 0n, upper = 0n, ...numbers] = values
  const account = accountOf(numbers)
  const words = hexOfWords(result.data, keyWords.from, keyWords.to)
  if (known?.words === words) return { key: known, account }
  if (!isRange(fee, toInt256(lower), toInt256(upper))) return undefined
  const [token0, token1] = [checksummedIn(word0), checksummedIn(word1)]
  const range = rangeOf(Number(toInt256(lower)), Number(toInt256(upper)))
  const pool = poolAddress(exchange, [token0, token1], Number(fee))
  return { key: { words, pool, token0, token1, fee: Number(fee), range, bounds: boundsOf(range) }, account }
}

/** The state that a position's amounts and fees depend on, without the manager's record. */
function stateCalls(
  { positionManager }: RangeExchange,
  tokenId: bigint,
  { pool, range: { tickLower, tickUpper } }: PositionKey,
): readonly Call[] {
  const keyInPool = solidityPackedKeccak256(['address', 'int24', 'int24'], [positionManager, tickLower, tickUpper])
  return [
    ...poolViews.map((data) => ({ to: pool, data })),
    { to: positionManager, data: managerAbi.encodeFunctionData('ownerOf', [tokenId]) },
    { to: pool, data: poolAbi.encodeFunctionData('feeGrowthGlobal0X128') },
    { to: pool, data: poolAbi.encodeFunctionData('feeGrowthGlobal1X128') },
    { to: pool, data: poolAbi.encodeFunctionData('ticks', [tickLower]) },
    { to: pool, data: poolAbi.encodeFunctionData('ticks', [tickUpper]) },
    { to: pool, data: poolAbi.encodeFunctionData('positions', [keyInPool]) },
  ]
}

const poolViews = (['slot0', 'liquidity', 'tickSpacing'] as const).map((view) => poolAbi.encodeFunctionData(view))

/** Undefined where the pool does not answer as one. @param state what `stateCalls` returned */
function readPosition(
  exchange: RangeExchange,
  tokenId: bigint,
  { key, account }: ManagerPosition,
  state: readonly CallResult[],
): TickPosition | undefined {
  const { pool: address, token0, token1, fee, range, bounds } = key
  const pool = readPool({ address, version: exchange.version, token0, token1, fee }, state)
  const [ownerOf, growth0, growth1, ticksLower, ticksUpper, positions] = state.slice(poolViews.length)
  const [owner] = wordsOf(ownerOf, 1) ?? []
  const [global0X128] = wordsOf(growth0, 1) ?? []
  const [global1X128] = wordsOf(growth1, 1) ?? []
  const [lower, upper, inPool] = [wordsOf(ticksLower, 4), wordsOf(ticksUpper, 4), wordsOf(positions, 5)]
  if (!pool || owner === undefined || global0X128 === undefined || global1X128 === undefined || !lower || !upper || !inPool)
    return undefined

  const insideOf = (globalX128: bigint, index: 2 | 3) =>
    feeGrowthInside({ globalX128, outsideLowerX128: lower[index] ?? 0n, outsideUpperX128: upper[index] ?? 0n }, pool.tick, range)
  const { liquidity } = account
  return {
    ...range,
    tokenId: tokenId.toString(),
    owner: checksummedIn(owner),
    pool,
    liquidity,
    inRange: range.tickLower <= pool.tick && pool.tick < range.tickUpper,
    amounts: amountsAt(pool.sqrtPriceX96, bounds, liquidity, 'down'),
    unclaimed: unclaimed(account, accountOf(inPool), [insideOf(global0X128, 2), insideOf(global1X128, 3)]),
  }
}

/**
 * A pool from its `slot0`, `liquidity` and `tickSpacing`; undefined where there is none, or none with a price yet.
 * Forks return further values behind these.
 */
export function readPool(
  key: Pick<TickPool, 'address' | 'token0' | 'token1' | 'fee' | 'version'>,
  [slot0, liquidity, ofTicks]: readonly CallResult[],
): TickPool | undefined {
  const [sqrtPriceX96, tick] = wordsOf(slot0, 2) ?? []
  const [inRange] = wordsOf(liquidity, 1) ?? []
  const [spacing] = wordsOf(ofTicks, 1) ?? []
  if (!sqrtPriceX96 || tick === undefined || inRange === undefined || spacing === undefined) return undefined
  const [atTick, tickSpacing] = [Number(toInt256(tick)), Number(toInt256(spacing))]
  if (!isPlausible({ sqrtPriceX96, tick: atTick, tickSpacing, liquidity: inRange })) return undefined
  return {
    ...key,
    tickSpacing,
    sqrtPriceX96,
    tick: atTick,
    liquidity: inRange,
    price: priceOf(sqrtPriceX96),
  }
}

/**
 * What `collect` would give. The manager owes the position its fees. The pool owes the manager the fees of all its positions in one range
 * together, rounded down more often, and the manager cannot give more than that. Without liquidity the pool does not count up to now.
 */
function unclaimed(position: FeeAccount, inPool: FeeAccount, insideX128: readonly [bigint, bigint]): RangeAmounts {
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

const wrap256 = (value: bigint): bigint => BigInt.asUintN(256, value)
const wrap128 = (value: bigint): bigint => BigInt.asUintN(128, value)

/** Of one token, per unit of liquidity, times 2^128. These counters wrap around; only differences between them mean something. */
interface FeeGrowth {
  readonly globalX128: bigint
  readonly outsideLowerX128: bigint
  readonly outsideUpperX128: bigint
}

/** Tick.getFeeGrowthInside of @uniswap/v3-core@1.0.1. */
export function feeGrowthInside(
  { globalX128, outsideLowerX128, outsideUpperX128 }: FeeGrowth,
  tick: number,
  { tickLower, tickUpper }: { tickLower: number; tickUpper: number },
): bigint {
  const below = tick >= tickLower ? outsideLowerX128 : globalX128 - outsideLowerX128
  const above = tick < tickUpper ? outsideUpperX128 : globalX128 - outsideUpperX128
  return wrap256(globalX128 - below - above)
}

/** The fees in a range as a contract keeps them: for one position, or for all of an owner's together. */
interface FeeAccount {
  readonly liquidity: bigint
  readonly inside0LastX128: bigint
  readonly inside1LastX128: bigint
  readonly owed: RangeAmounts
}

/** What the account owes once it counts up to now. Each account rounds down by itself, and wraps as the contracts do. */
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
