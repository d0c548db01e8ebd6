import { getAddress, solidityPackedKeccak256, toBeHex } from 'ethers'
import { SluiceError, type RangePosition } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../../../kits/evm/types.ts'
import { amountsAt, boundsOf, lesser } from '../../../../../kits/amm/v3/range-amounts.ts'
import { poolAt } from '../../pools/pool-at.ts'
import type { RangeExchange } from '../exchange.ts'
import { rangeOf } from '../prices/range-around.ts'
import { managerAbi, poolAbi } from '../../../../../kits/amm/v3/position-manager.ts'
import { feeGrowthInside, owedNow, type FeeAccount } from './fee-growth.ts'
import { callsOfPool, poolCalls, readPool } from './read-pool.ts'
import { signed, wordsOf } from './words.ts'

/** What never changes of a position: where it lies. */
export interface Place {
  readonly pool: string
  readonly token0: string
  readonly token1: string
  readonly fee: number
  readonly tickLower: number
  readonly tickUpper: number
}

/** What the position manager keeps of one. */
export interface Kept {
  readonly place: Place
  readonly account: FeeAccount
}

export function positionCall({ positionManager }: RangeExchange, tokenId: bigint): Call {
  return { to: positionManager, data: managerAbi.encodeFunctionData('positions', [tokenId]) }
}

/** Undefined where there is no such position, or none any more: the manager reverts then. */
export function readKept(exchange: RangeExchange, result: CallResult | undefined): Kept | undefined {
  const words = wordsOf(result, 12)
  if (!words) return undefined
  const [, , token0 = 0n, token1 = 0n, fee = 0n, lower = 0n, upper = 0n, ...account] = words
  const [first, second] = [addressOf(token0), addressOf(token1)]
  const place = { token0: first, token1: second, fee: Number(fee), tickLower: Number(signed(lower)), tickUpper: Number(signed(upper)) }
  return { place: { pool: poolAt(exchange, [first, second], place.fee), ...place }, account: accountOf(account) }
}

/** All that a position's amounts and fees follow from, beside what the manager keeps of it. */
export function stateCalls({ positionManager }: RangeExchange, tokenId: bigint, { pool, tickLower, tickUpper }: Place): readonly Call[] {
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
export function readPosition(
  exchange: RangeExchange,
  tokenId: bigint,
  { place, account }: Kept,
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
  const owed = counts ? owedNow(position, insideX128) : position.owed
  const held = counts ? owedNow(inPool, insideX128) : inPool.owed
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
