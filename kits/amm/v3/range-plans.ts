import { id } from 'ethers'
import type {
  Need,
  Plan,
  RangeAmounts,
  RangePool,
  RangeTerms,
  TickRange,
  RangePosition,
  Json,
  RangeFill,
} from '../../../core/contracts/index.ts'
import { nativeAddress } from '../../evm/index.ts'
import type { Evm, EvmIntent, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { type RangeExchange, managerAbi } from './position-manager.ts'
import { offerOf, minRemoved } from './range-amounts.ts'
import { needsAgainstDoublePayment } from './router.ts'

interface Addition {
  readonly pool: RangePool
  readonly range: TickRange
  readonly most: RangeAmounts
  readonly tokenId?: bigint
}

/** A new position, or more in one. The coin goes with the call, and what is not used of it comes back in the same one. */
export function planAdd(
  { positionManager, listed }: RangeExchange,
  wrapped: string,
  { pool, range, most, tokenId }: Addition,
  { owner, slippage, deadline, native }: RangeTerms,
): Plan<Evm> {
  const { desired, min: least } = offerOf(pool, range, most, slippage)
  const { tickLower, tickUpper } = range
  const amounts = {
    amount0Desired: desired.amount0Raw,
    amount1Desired: desired.amount1Raw,
    amount0Min: least.amount0Raw,
    amount1Min: least.amount1Raw,
    deadline,
  }
  const { token0, token1, fee } = pool
  const call =
    tokenId === undefined
      ? managerAbi.encodeFunctionData('mint', [{ token0, token1, fee, tickLower, tickUpper, recipient: owner, ...amounts }])
      : managerAbi.encodeFunctionData('increaseLiquidity', [{ tokenId, ...amounts }])

  const offered = [
    { token: token0, amountRaw: desired.amount0Raw },
    { token: token1, amountRaw: desired.amount1Raw },
  ].filter(({ amountRaw }) => amountRaw > 0n)
  const asCoin = offered.find(({ token }) => native && token === wrapped)
  const needs = offered.flatMap((each): Need[] =>
    each === asCoin
      ? [{ is: 'balance', token: nativeAddress, amountRaw: each.amountRaw }]
      : [
          { is: 'balance', ...each },
          { is: 'allowance', ...each, spender: positionManager },
        ],
  )
  const takenOnce = asCoin ? needsAgainstDoublePayment({ wrapped, tokens: [token0, token1], spender: positionManager, listed }) : []
  const memo = { positionManager, pool: pool.address, owner, tickLower, tickUpper }
  return {
    steps: [managerStep(positionManager, asCoin ? [call, managerAbi.encodeFunctionData('refundETH')] : [call], asCoin?.amountRaw)],
    needs: [...needs, ...takenOnce],
    deadline,
    memo: memoOf(tokenId === undefined ? { is: 'mint', tokenId: null, ...memo } : { is: 'increase', tokenId: tokenId.toString(), ...memo }),
  }
}

/**
 * Takes liquidity out, if there is any to take, with all that is owed to the position, and burns it where it is empty then.
 * The least amounts and the deadline belong to the liquidity. Fees have no price that could move against their owner and
 * are worth no less later: collecting them alone does not expire, and the manager knows no deadline for it.
 */
export function planRemove(
  { positionManager }: RangeExchange,
  wrapped: string,
  position: RangePosition,
  { liquidity, burn }: { liquidity: bigint; burn: boolean },
  { owner, slippage, deadline, native }: RangeTerms,
): Plan<Evm> {
  const { tokenId, tickLower, tickUpper, pool } = position
  const takes = liquidity > 0n
  const least = minRemoved(position, liquidity, slippage)
  const decrease = { tokenId, liquidity, amount0Min: least.amount0Raw, amount1Min: least.amount1Raw, deadline }
  const calls = [
    ...payout(tokenId, { pool, least, owner, wrapped: native ? wrapped : undefined }),
    ...(burn && liquidity === position.liquidity ? [managerAbi.encodeFunctionData('burn', [tokenId])] : []),
  ] as const
  return {
    steps: [managerStep(positionManager, takes ? [managerAbi.encodeFunctionData('decreaseLiquidity', [decrease]), ...calls] : calls)],
    needs: [],
    ...(takes ? { deadline } : {}),
    memo: memoOf({
      is: takes ? 'decrease' : 'collect',
      tokenId: tokenId.toString(),
      positionManager,
      pool: pool.address,
      owner,
      tickLower,
      tickUpper,
    }),
  }
}

interface Payout {
  readonly pool: RangePosition['pool']
  readonly least: RangeAmounts
  readonly owner: string
  /** The token that is to be paid as the coin. */
  readonly wrapped: string | undefined
}

const toManager = '0x0000000000000000000000000000000000000000'

/** To the owner; where the coin is among it, to the manager itself first, which unwraps it and passes the other token on. */
function payout(tokenId: bigint, { pool, least, owner, wrapped }: Payout): readonly [string, ...string[]] {
  const { token0, token1 } = pool
  if (wrapped === undefined || (token0 !== wrapped && token1 !== wrapped)) return [collectCall(tokenId, owner)]
  const coinFirst = token0 === wrapped
  const [coinRaw, otherRaw] = coinFirst ? [least.amount0Raw, least.amount1Raw] : [least.amount1Raw, least.amount0Raw]
  return [
    collectCall(tokenId, toManager),
    managerAbi.encodeFunctionData('unwrapWETH9', [coinRaw, owner]),
    managerAbi.encodeFunctionData('sweepToken', [coinFirst ? token1 : token0, otherRaw, owner]),
  ]
}

/** One transaction: the call itself, or several as one. */
function managerStep(positionManager: string, calls: readonly [string, ...string[]], valueRaw = 0n): EvmIntent {
  const data = calls.length === 1 ? calls[0] : managerAbi.encodeFunctionData('multicall', [calls])
  return { to: positionManager, data, value: valueRaw.toString() }
}

const all = 2n ** 128n - 1n

/** Everything that is owed to the position. */
function collectCall(tokenId: bigint, recipient: string): string {
  return managerAbi.encodeFunctionData('collect', [{ tokenId, recipient, amount0Max: all, amount1Max: all }])
}

const increased = id('IncreaseLiquidity(uint256,uint128,uint256,uint256)')
const decreased = id('DecreaseLiquidity(uint256,uint128,uint256,uint256)')
const transferred = id('Transfer(address,address,uint256)')
const collectedByManager = id('Collect(uint256,address,uint256,uint256)')
const collectedFromPool = id('Collect(address,address,int24,int24,uint128,uint128)')

/**
 * What was really done, from the receipt's logs. A token's own code may do the like in between, before ours is logged: hence
 * from the end. Undefined where the receipt shows no such thing.
 */
export function rangeFill(receipt: EvmReceipt, json: Json): RangeFill | undefined {
  const memo = parseMemo(json)
  if (!memo || receipt.status !== 1) return undefined
  return memo.tokenId === null || memo.is === 'increase'
    ? filledByAdding(receipt.logs, memo)
    : filledByTaking(receipt.logs, memo, BigInt(memo.tokenId))
}

function filledByAdding(logs: readonly EvmLog[], memo: RangeMemo): RangeFill | undefined {
  const tokenId = memo.tokenId === null ? mintedTo(logs, memo) : BigInt(memo.tokenId)
  const log = logs.findLast((each) => isOf(each, memo.positionManager, increased, tokenId))
  const [liquidity, amount0Raw, amount1Raw] = wordsOf(log)
  if (tokenId === undefined || liquidity === undefined || amount0Raw === undefined || amount1Raw === undefined) return undefined
  return { tokenId, liquidity, amount0Raw, amount1Raw }
}

/** The manager gives a new position to its owner out of nothing. */
function mintedTo(logs: readonly EvmLog[], { positionManager, owner }: RangeMemo): bigint | undefined {
  const log = logs.findLast(
    ({ address, topics: [topic, from, to] }) =>
      topic === transferred && same(address, positionManager) && isWord(from, 0n) && isWord(to, BigInt(owner)),
  )
  const tokenId = log?.topics[3]
  return tokenId === undefined ? undefined : BigInt(tokenId)
}

/**
 * The pool's own log says what it paid, principal and fees together. The manager's says what it asked for, which is a few
 * units more where the pool had rounded them off.
 */
function filledByTaking(logs: readonly EvmLog[], memo: RangeMemo, tokenId: bigint): RangeFill | undefined {
  const { positionManager, pool, tickLower, tickUpper } = memo
  const end = logs.findLastIndex((log) => isOf(log, positionManager, collectedByManager, tokenId))
  const paid = logs
    .slice(0, Math.max(end, 0))
    .findLast(
      ({ address, topics: [topic, owner, lower, upper] }) =>
        topic === collectedFromPool &&
        same(address, pool) &&
        isWord(owner, BigInt(positionManager)) &&
        isWord(lower, BigInt(tickLower)) &&
        isWord(upper, BigInt(tickUpper)),
    )
  const [, amount0Raw, amount1Raw] = wordsOf(paid)
  const [liquidity] = memo.is === 'decrease' ? wordsOf(logs.findLast((log) => isOf(log, positionManager, decreased, tokenId))) : [0n]
  if (liquidity === undefined || amount0Raw === undefined || amount1Raw === undefined) return undefined
  return { tokenId, liquidity, amount0Raw, amount1Raw }
}

function isOf({ address, topics }: EvmLog, positionManager: string, topic: string, tokenId: bigint | undefined): boolean {
  return topics[0] === topic && same(address, positionManager) && tokenId !== undefined && isWord(topics[1], tokenId)
}

const wordPattern = /^0x[0-9a-f]{64}$/i

/** A number stands in a topic as a word, in two's complement where it can be negative. */
function isWord(topic: string | undefined, value: bigint): boolean {
  return topic !== undefined && wordPattern.test(topic) && BigInt(topic) === BigInt.asUintN(256, value)
}

/** A log's data is words. */
function wordsOf(log: EvmLog | undefined): readonly bigint[] {
  return (log?.data.match(/[0-9a-f]{64}/gi) ?? []).map((digits) => BigInt(`0x${digits}`))
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** What `rangeFill` needs to find in a receipt what was done to a position. */
interface RangeMemo {
  readonly is: 'mint' | 'increase' | 'decrease' | 'collect'
  readonly positionManager: string
  readonly pool: string
  readonly owner: string
  readonly tickLower: number
  readonly tickUpper: number
  /** A decimal string; null for one that is to be made. */
  readonly tokenId: string | null
}

function memoOf(memo: RangeMemo): Json {
  return { ...memo }
}

const kinds = ['mint', 'increase', 'decrease', 'collect'] as const

/** Undefined where it is no memo of a position. */
function parseMemo(memo: Json): RangeMemo | undefined {
  if (!isObject(memo)) return undefined
  const { positionManager, pool, owner, tickLower, tickUpper, tokenId } = memo
  const is = kinds.find((kind) => kind === memo['is'])
  if (is === undefined || typeof positionManager !== 'string' || typeof pool !== 'string' || typeof owner !== 'string') return undefined
  if (typeof tickLower !== 'number' || typeof tickUpper !== 'number') return undefined
  if (is === 'mint' ? tokenId !== null : typeof tokenId !== 'string' || !/^\d+$/.test(tokenId)) return undefined
  return { is, positionManager, pool, owner, tickLower, tickUpper, tokenId: typeof tokenId === 'string' ? tokenId : null }
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
