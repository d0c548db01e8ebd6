import { id } from 'ethers'
import type { Json, RangeFill } from '../../../../contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../../../../kits/evm/types.ts'
import { parseMemo, type RangeMemo } from './memo.ts'

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
