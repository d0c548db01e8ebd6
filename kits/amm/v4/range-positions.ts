// Positions of Uniswap v4. The manager does not list those of a wallet: its transfers to the wallet are searched, and what the server remembers.
import { zeroPadValue } from 'ethers'
import { SluiceError, type At, type Head, type RangePositions } from '../../../core/contracts/index.ts'
import { checksummedIn, hexOfWords, transferTopic } from '../../evm/encoding.ts'
import type { Call, CallResult, EvmReader } from '../../evm/types.ts'
import { KnownPositions, tokenOf, wordsOf, type PositionAnswer, type PositionQuery, type Read } from '../v3/position-manager.ts'
import { amountsAt, boundsOf, type Bounds } from '../v3/range-amounts.ts'
import {
  changedTooFast,
  countIn,
  feeGrowthInside,
  feesOwed,
  isRange,
  maxPositions,
  readersById,
  tooMany,
  unreadIn,
  unreadReason,
  type OnePosition,
} from '../v3/range-positions.ts'
import { priceOf, rangeOf, type TickPosition, type TickRange } from '../v3/range-prices.ts'
import { isPlausible } from '../v3/swap.ts'
import { mostTickSpacing } from './keys.ts'
import { poolId, type PoolKey } from './pools.ts'
import { actOnLiquidity, managerAbi, readState, stateCalls, type V4Positions } from './position-manager.ts'

const maxOwners = 1_000
const maxRounds = 8
/** As far as nodes are asked for logs: `EvmReader.logs`. */
const searchedBlocks = 100_000
/** Blocks that may still change are searched again. */
const unsettledBlocks = 64

/** What never changes of a position: its pool and range. */
interface PositionKey {
  /** As the manager says it. */
  readonly words: string
  /** Of the pool. */
  readonly id: string
  readonly pool: PoolKey
  readonly range: TickRange
  readonly bounds: Bounds
}

/** What is known of a wallet's positions, and the blocks that were searched for them. */
interface Search {
  readonly ids: Set<bigint>
  /** The block at which one was first seen to be the wallet's no longer. */
  readonly gone: Map<bigint, bigint>
  from?: number
  to?: number
}

/** Why a position is not shown; continues "it is not shown: ". */
const reasonOf = ({ poolManager }: V4Positions, pool: PoolKey): string => (actOnLiquidity(pool) ? ofHooks(pool) : unreadReason(poolManager))
const ofHooks = ({ hooks }: PoolKey): string =>
  `the hooks ${hooks} of its pool act when liquidity is added or removed, which their address says, so that nobody but they knows what it is worth`

/** Reads positions at one block. Pool and range of a position are read once and kept; after that one round trip reads everything. */
export function positionReader(exchange: V4Positions, read: Read, reader: Pick<EvmReader, 'logs'>) {
  const known = new KnownPositions<PositionKey, OwnedPosition>(queryOf)
  const searches = new Map<string, Search>()

  function queryOf(tokenId: bigint, key?: PositionKey): PositionQuery<PositionKey> {
    const own = (view: 'ownerOf' | 'getPoolAndPositionInfo') => ({
      to: exchange.positionManager,
      data: managerAbi.encodeFunctionData(view, [tokenId]),
    })
    const state = key ? stateCalls(exchange, { id: key.id, ...key.range, tokenId }) : []
    return { tokenId, key, calls: [own('ownerOf'), own('getPoolAndPositionInfo'), ...state] }
  }

  /** Undefined where another read is needed: then the position's key is known. Empty where there is no such position. */
  function readOne(tokenId: bigint, answer: PositionAnswer<PositionKey> | undefined): OwnedPosition | undefined {
    if (!answer) return undefined
    return known.madeOf(tokenId, answer, () => {
      const [ownerOf, info, ...state] = answer.results
      const [owner] = wordsOf(ownerOf, 1) ?? []
      const key = readKey(info, answer.key)
      if (owner === undefined || !key) return {}
      if (key !== answer.key) {
        known.keepKey(tokenId, key)
        return undefined
      }
      const found = { owner: checksummedIn(owner), key }
      const position = actOnLiquidity(key.pool) ? undefined : positionOf(exchange, tokenId, found, state)
      return { owner: found.owner, ...(position ? { position } : { unread: reasonOf(exchange, key.pool) }) }
    })
  }

  const readAll = (others: readonly Call[], ids: readonly bigint[], at: At) => known.read(read, others, ids, at)

  function searchOf(owner: string): Search {
    const known = searches.get(owner)
    if (known) return known
    if (searches.size >= maxOwners) searches.clear()
    const search: Search = { ids: new Set(), gone: new Map() }
    searches.set(owner, search)
    return search
  }

  /** Looks for transfers to the wallet, as far back as nodes are asked; later only in new blocks. */
  async function searchLogs(owner: string, search: Search, head: Head, at: At): Promise<void> {
    const newest = Number(head.number)
    const earliest = Math.max(newest - searchedBlocks + 1, 0)
    const { from = earliest, to } = search
    const wanted = to === undefined ? from : Math.max(Math.min(to, newest) - unsettledBlocks, from)
    const fromBlock = Math.max(wanted, earliest)
    const logs = await reader.logs(
      { address: exchange.positionManager, topics: [transferTopic, null, zeroPadValue(owner, 32)], fromBlock },
      at,
    )
    for (const { topics } of logs) if (topics[3] !== undefined) search.ids.add(BigInt(topics[3]))
    // Where the last search was too long ago, blocks between are never searched: only what comes after them is whole.
    Object.assign(search, { from: wanted < earliest ? earliest : from, to: newest })
  }

  return {
    ...readersById(exchange, readAll, readOne),

    async positions(owner: string, remembered: readonly string[], at: At): Promise<RangePositions> {
      const search = searchOf(owner)
      const balanceOf = { to: exchange.positionManager, data: managerAbi.encodeFunctionData('balanceOf', [owner]) }
      let isSearched = false
      let notSearched: string | undefined
      for (let round = 0; round < maxRounds; round += 1) {
        const ids = [...new Set([...search.ids, ...remembered.flatMap((id) => tokenOf(id) ?? [])])]
        const { head, results, answers } = await readAll([balanceOf], ids, at)
        const count = countIn(exchange.positionManager, results[0])
        if (count > maxPositions) throw tooMany(owner, count)
        const all = ids.map((tokenId) => ({ tokenId, found: readOne(tokenId, answers.get(tokenId)) }))
        if (all.some(({ found }) => !found)) continue
        const own = all.filter(({ found }) => found?.owner === owner)
        for (const { tokenId } of own) search.ids.add(tokenId)
        // Where one is missing, a wrong answer may be why.
        if (own.length >= count) for (const { tokenId, found } of all) forgetGone(search, tokenId, { isOwn: found?.owner === owner, head })
        if (own.length < count && !isSearched) {
          isSearched = true
          notSearched = await failureOf(() => searchLogs(owner, search, head, at), at)
          continue
        }
        return {
          head,
          positions: own.flatMap(({ found }) => found?.position ?? []).toSorted(byId),
          unread: own.flatMap(({ tokenId, found }) => (found?.unread === undefined ? [] : [unreadIn(exchange, tokenId, found.unread)])),
          ...(search.from !== undefined && { searchedFromBlock: search.from }),
          ...(notSearched !== undefined && { notSearched }),
          ...(count > own.length && { missing: count - own.length }),
        }
      }
      throw changedTooFast()
    },
  }
}

/** A busy wallet would otherwise read all that it ever had. One that comes back is logged again. */
function forgetGone({ ids, gone }: Search, tokenId: bigint, { isOwn, head }: { isOwn: boolean; head: Head }): void {
  const since = gone.get(tokenId) ?? head.number
  if (isOwn || !ids.has(tokenId)) gone.delete(tokenId)
  else if (head.number - since < BigInt(unsettledBlocks)) gone.set(tokenId, since)
  else {
    ids.delete(tokenId)
    gone.delete(tokenId)
  }
}

const byId = (a: TickPosition, b: TickPosition): number => (BigInt(a.tokenId) < BigInt(b.tokenId) ? -1 : 1)

/** Nodes may refuse `eth_getLogs`: then what is known is shown. */
async function failureOf(search: () => Promise<void>, at: At): Promise<string | undefined> {
  try {
    await search()
    return undefined
  } catch (error) {
    if (at.signal.aborted || !(error instanceof SluiceError)) throw error
    return error.message
  }
}

/** `unread` where the pool's hooks decide what it is worth, or its state cannot be read. */
interface OwnedPosition extends OnePosition {
  readonly owner?: string
}

/**
 * Undefined where there is no such position. PositionInfo of @uniswap/v4-periphery@1.0.3: a flag, both ticks, and most of the pool's id.
 * @param known its key before, which it has again where it is the same
 */
function readKey(result: CallResult | undefined, known: PositionKey | undefined): PositionKey | undefined {
  const [currency0, currency1, fee, tickSpacing, hooks, info] = wordsOf(result, keyWords) ?? []
  if (!result || currency0 === undefined || currency1 === undefined || fee === undefined || tickSpacing === undefined) return undefined
  if (hooks === undefined || !info) return undefined
  const words = hexOfWords(result.data, 0, keyWords)
  if (known?.words === words) return known
  const [lower, upper] = [BigInt.asIntN(24, info >> 8n), BigInt.asIntN(24, info >> 32n)]
  if (tickSpacing < 1n || tickSpacing > BigInt(mostTickSpacing) || !isRange(fee, lower, upper)) return undefined
  const pool = {
    currency0: checksummedIn(currency0),
    currency1: checksummedIn(currency1),
    fee: Number(fee),
    tickSpacing: Number(tickSpacing),
    hooks: checksummedIn(hooks),
  }
  const range = rangeOf(Number(lower), Number(upper))
  return { words, id: poolId(pool), pool, range, bounds: boundsOf(range) }
}

/** The key of its pool, and its info. */
const keyWords = 6

/** Undefined where its state cannot be read. */
function positionOf(
  { version }: V4Positions,
  tokenId: bigint,
  { owner, key }: { readonly owner: string; readonly key: PositionKey },
  results: readonly CallResult[],
): TickPosition | undefined {
  const { id, pool, range, bounds } = key
  const state = readState(results)
  if (!state || !isPlausible({ ...state, tickSpacing: pool.tickSpacing, liquidity: state.poolLiquidity })) return undefined
  const { sqrtPriceX96, tick, liquidity, global, outsideLower, outsideUpper, insideLast } = state
  const insideOf = (index: 0 | 1) =>
    feeGrowthInside(
      { globalX128: global[index], outsideLowerX128: outsideLower[index], outsideUpperX128: outsideUpper[index] },
      tick,
      range,
    )
  return {
    ...range,
    tokenId: tokenId.toString(),
    owner,
    pool: {
      address: id,
      version,
      token0: pool.currency0,
      token1: pool.currency1,
      fee: pool.fee,
      tickSpacing: pool.tickSpacing,
      sqrtPriceX96,
      tick,
      liquidity: state.poolLiquidity,
      price: priceOf(sqrtPriceX96),
    },
    liquidity,
    inRange: range.tickLower <= tick && tick < range.tickUpper,
    amounts: amountsAt(sqrtPriceX96, bounds, liquidity, 'down'),
    // Each position is an account of its own in the pool, which owes nothing from before: every change pays all fees out.
    unclaimed: feesOwed(
      { liquidity, inside0LastX128: insideLast[0], inside1LastX128: insideLast[1], owed: { amount0Raw: 0n, amount1Raw: 0n } },
      [insideOf(0), insideOf(1)],
    ),
  }
}
