import { id } from 'ethers'
import {
  badFields,
  type Json,
  type Need,
  type Plan,
  type RangeAmounts,
  type RangeFill,
  type RangeTerms,
} from '../../../core/contracts/index.ts'
import type { TickPool, TickPosition, TickRange } from './range-prices.ts'
import * as json from '../../../core/base/json.ts'
import { isSameAddress, nativeAddress, transferTopic, wordsIn } from '../../evm/encoding.ts'
import type { Evm, EvmIntent, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { managerAbi, type RangeExchange } from './position-manager.ts'
import { minRemoved, offerOf } from './range-amounts.ts'
import { needsAgainstDoublePayment } from './router.ts'

export interface Addition {
  readonly pool: TickPool
  readonly range: TickRange
  readonly most: RangeAmounts
  readonly tokenId?: string
}

/** Opens a position, or adds to one. The native coin goes with the call, and the same call returns what is not used of it. */
export function planAdd(
  { positionManager, listed }: RangeExchange,
  wrapped: string,
  { pool, range, most: max, tokenId }: Addition,
  { owner, slippage, deadline, native, listed: listedNow = [] }: RangeTerms,
): Plan<Evm> {
  const { desired, min } = offerOf(pool, range, max, slippage)
  const { tickLower, tickUpper } = range
  const amounts = {
    amount0Desired: desired.amount0Raw,
    amount1Desired: desired.amount1Raw,
    amount0Min: min.amount0Raw,
    amount1Min: min.amount1Raw,
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
  const tokens = [token0, token1].filter((token) => !listedNow.includes(token))
  const ofCoin = asCoin ? needsAgainstDoublePayment({ wrapped, tokens, spender: positionManager, listed }) : []
  const memo = { positionManager, pool: pool.address, owner, tickLower, tickUpper }
  return {
    steps: [managerStep(positionManager, asCoin ? [call, managerAbi.encodeFunctionData('refundETH')] : [call], asCoin?.amountRaw)],
    needs: [...needs, ...ofCoin],
    deadline,
    memo: tokenId === undefined ? { is: 'mint', tokenId: null, ...memo } : { is: 'increase', tokenId, ...memo },
  }
}

/**
 * Removes liquidity, if any, collects everything that is owed to the position, and burns a position that is then empty. The minimum amounts
 * and the deadline are for the liquidity. Collecting fees alone has no deadline: their amounts do not depend on the price, and the manager
 * takes none.
 * @throws SluiceError INCOMPLETE_PARAMS where the coin is wanted beside a token that may take it
 */
export function planRemove(
  { positionManager, listed }: RangeExchange,
  wrapped: string,
  position: TickPosition,
  { liquidity, burn }: { liquidity: bigint; burn: boolean },
  { owner, slippage, deadline, native, listed: listedNow = [] }: RangeTerms,
): Plan<Evm> {
  const { tokenId, tickLower, tickUpper, pool } = position
  if (native) requireCoinIsSafe(pool, wrapped, (token) => listed.has(token) || listedNow.includes(token))
  const removes = liquidity > 0n
  const min = minRemoved(position, liquidity, slippage)
  const decrease = { tokenId, liquidity, amount0Min: min.amount0Raw, amount1Min: min.amount1Raw, deadline }
  const calls = [
    ...payout(tokenId, pool, { min, owner, wrapped: native ? wrapped : undefined }),
    ...(burn && liquidity === position.liquidity ? [managerAbi.encodeFunctionData('burn', [tokenId])] : []),
  ] as const
  return {
    steps: [managerStep(positionManager, removes ? [managerAbi.encodeFunctionData('decreaseLiquidity', [decrease]), ...calls] : calls)],
    needs: [],
    ...(removes ? { deadline } : {}),
    memo: {
      is: removes ? 'decrease' : 'collect',
      tokenId,
      positionManager,
      pool: pool.address,
      owner,
      tickLower,
      tickUpper,
    },
  }
}

/**
 * While the pool pays, a token's code runs, and the manager has the wrapped coin by then: anybody may make it pay that out (PeripheryPayments.unwrapWETH9
 * of @uniswap/v3-periphery@1.4.4), and fees have no minimum. Tokens on the network's list are trusted not to do this.
 */
function requireCoinIsSafe({ token0, token1 }: TickPool, wrapped: string, isListed: (token: string) => boolean): void {
  const other = token0 === wrapped ? token1 : token1 === wrapped ? token0 : undefined
  if (other === undefined || isListed(other)) return
  throw badFields([
    {
      field: 'native',
      problem: `cannot be true: ${other} is not on the network's token list, and its code could take the coin from the position manager while it is paid out. Leave native out: the wrapped coin goes to the wallet itself, and can be unwrapped there`,
    },
  ])
}

interface PayoutTerms {
  readonly min: RangeAmounts
  readonly owner: string
  /** The token to be paid out as the native coin. */
  readonly wrapped: string | undefined
}

/** Stands for the manager itself as a recipient. */
const managerItself = '0x0000000000000000000000000000000000000000'

/** Pays the owner. With the coin, the manager receives both tokens first, unwraps the one and passes the other on. */
function payout(tokenId: string, { token0, token1 }: TickPool, { min, owner, wrapped }: PayoutTerms): readonly [string, ...string[]] {
  if (wrapped === undefined || (token0 !== wrapped && token1 !== wrapped)) return [collectCall(tokenId, owner)]
  const isCoinFirst = token0 === wrapped
  const [coinRaw, otherRaw] = isCoinFirst ? [min.amount0Raw, min.amount1Raw] : [min.amount1Raw, min.amount0Raw]
  return [
    collectCall(tokenId, managerItself),
    managerAbi.encodeFunctionData('unwrapWETH9', [coinRaw, owner]),
    managerAbi.encodeFunctionData('sweepToken', [isCoinFirst ? token1 : token0, otherRaw, owner]),
  ]
}

const maxUint128 = 2n ** 128n - 1n

/** Collects everything that is owed to the position. */
function collectCall(tokenId: string, recipient: string): string {
  return managerAbi.encodeFunctionData('collect', [{ tokenId, recipient, amount0Max: maxUint128, amount1Max: maxUint128 }])
}

/**
 * Beyond an estimate: where the position earns its first fees before the transaction is mined, pool and manager write its growth of fees in both tokens,
 * and what it is owed, into slots that were zero, and a token that it had none of may be paid out.
 */
const spareGas = '150000'

/** One transaction: the call itself, or several calls as one. */
function managerStep(positionManager: string, calls: readonly [string, ...string[]], valueRaw = 0n): EvmIntent {
  const data = calls.length === 1 ? calls[0] : managerAbi.encodeFunctionData('multicall', [calls])
  return { to: positionManager, data, value: valueRaw.toString(), spareGas }
}

const memoFields = {
  positionManager: json.string,
  pool: json.string,
  owner: json.string,
  tickLower: json.number,
  tickUpper: json.number,
}
/** What `rangeFill` needs to find in a receipt what was done to a position. A new position has no id yet. */
export const rangeMemo = json.union(
  json.object({ is: json.literal('mint'), tokenId: json.nothing, ...memoFields }),
  json.object({ is: json.literal('increase', 'decrease', 'collect'), tokenId: json.digits, ...memoFields }),
)
type RangeMemo = json.Infer<typeof rangeMemo>

const increaseTopic = id('IncreaseLiquidity(uint256,uint128,uint256,uint256)')
export const decreaseTopic = id('DecreaseLiquidity(uint256,uint128,uint256,uint256)')
export const managerCollectTopic = id('Collect(uint256,address,uint256,uint256)')
const poolCollectTopic = id('Collect(address,address,int24,int24,uint128,uint128)')

/**
 * What was really done, from the receipt's logs. A token's own code may do the same in between, which is logged before ours, so logs are
 * searched backward. Undefined where the receipt does not show it.
 */
export function rangeFill({ status, logs }: EvmReceipt, memo: Json): RangeFill | undefined {
  if (status !== 1 || !json.is(rangeMemo, memo)) return undefined
  if (memo.is === 'mint') return readAddition(logs, memo, mintedId(logs, memo))
  const tokenId = BigInt(memo.tokenId)
  return memo.is === 'increase' ? readAddition(logs, memo, tokenId) : readRemoval(logs, memo, tokenId)
}

function readAddition(logs: readonly EvmLog[], { positionManager }: RangeMemo, tokenId: bigint | undefined): RangeFill | undefined {
  const log = logs.findLast((each) => isOfPosition(each, positionManager, increaseTopic, tokenId))
  const [liquidity, amount0Raw, amount1Raw] = wordsOfLog(log)
  if (tokenId === undefined || liquidity === undefined || amount0Raw === undefined || amount1Raw === undefined) return undefined
  return { tokenId: tokenId.toString(), liquidity, amount0Raw, amount1Raw }
}

/** The manager mints a new position to its owner. */
function mintedId(logs: readonly EvmLog[], { positionManager, owner }: RangeMemo): bigint | undefined {
  const log = logs.findLast(
    ({ address, topics: [topic, from, to] }) =>
      topic === transferTopic && isSameAddress(address, positionManager) && isWord(from, 0n) && isWord(to, BigInt(owner)),
  )
  const tokenId = log?.topics[3]
  return tokenId === undefined ? undefined : BigInt(tokenId)
}

/**
 * The pool's own log says what it paid, principal and fees together. The manager's log says what it asked for, which is a few units more where
 * the pool rounded them off.
 */
function readRemoval(logs: readonly EvmLog[], memo: RangeMemo, tokenId: bigint): RangeFill | undefined {
  const { positionManager, pool, tickLower, tickUpper } = memo
  const end = logs.findLastIndex((log) => isOfPosition(log, positionManager, managerCollectTopic, tokenId))
  const paid = logs
    .slice(0, Math.max(end, 0))
    .findLast(
      ({ address, topics: [topic, owner, lower, upper] }) =>
        topic === poolCollectTopic &&
        isSameAddress(address, pool) &&
        isWord(owner, BigInt(positionManager)) &&
        isWord(lower, BigInt(tickLower)) &&
        isWord(upper, BigInt(tickUpper)),
    )
  const [, amount0Raw, amount1Raw] = wordsOfLog(paid)
  const [liquidity, principal0Raw, principal1Raw] =
    memo.is === 'decrease' ? wordsOfLog(logs.findLast((log) => isOfPosition(log, positionManager, decreaseTopic, tokenId))) : [0n, 0n, 0n]
  if (liquidity === undefined || principal0Raw === undefined || principal1Raw === undefined) return undefined
  if (amount0Raw === undefined || amount1Raw === undefined) return undefined
  const restOf = (paidRaw: bigint, principalRaw: bigint) => (paidRaw > principalRaw ? paidRaw - principalRaw : 0n)
  const fees = { amount0Raw: restOf(amount0Raw, principal0Raw), amount1Raw: restOf(amount1Raw, principal1Raw) }
  return { tokenId: tokenId.toString(), liquidity, amount0Raw, amount1Raw, fees }
}

function isOfPosition({ address, topics }: EvmLog, positionManager: string, topic: string, tokenId: bigint | undefined): boolean {
  return topics[0] === topic && isSameAddress(address, positionManager) && tokenId !== undefined && isWord(topics[1], tokenId)
}

const wordPattern = /^0x[0-9a-f]{64}$/i

/** A number stands in a topic as a word, in two's complement where it can be negative. */
function isWord(topic: string | undefined, value: bigint): boolean {
  return topic !== undefined && wordPattern.test(topic) && BigInt(topic) === BigInt.asUintN(256, value)
}

const wordsOfLog = (log: EvmLog | undefined): readonly bigint[] => (log ? wordsIn(log.data) : [])
