// The manager of positions keeps what was removed until it is collected, together with fees and without telling them apart: NonfungiblePositionManager of
// @uniswap/v3-periphery@1.4.4 adds both to `tokensOwed`. What of it was liquidity, only the logs of the position tell.
import type { At, RangeAmounts } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { dropOldest } from '../../../core/base/oldest.ts'
import { transferTopic, word, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmReader, EvmReceipt, FoundLog } from '../../evm/types.ts'
import type { AMMRange, Json } from '../../../core/contracts/index.ts'
import { managerAbi, tokenOf, wordsOf } from './position-manager.ts'
import { decreaseTopic, managerCollectTopic, rangeMemo } from './range-plans.ts'

const nothing: RangeAmounts = { amount0Raw: 0n, amount1Raw: 0n }
const maxKept = 1_000

/** Kept by transaction and block: callers poll. */
export function owedLiquidity(
  positionManager: string,
  reader: Pick<EvmReader, 'logs' | 'readEach'>,
): NonNullable<AMMRange<Evm>['owedLiquidity']> {
  const known = new Map<string, Promise<RangeAmounts | undefined>>()
  return (receipt: EvmReceipt, memo: Json, at: At) => {
    const tokenId = json.is(rangeMemo, memo) && memo.is !== 'mint' ? tokenOf(memo.tokenId) : undefined
    if (tokenId === undefined) return Promise.resolve(undefined)
    const key = `${receipt.blockHash}/${receipt.transactionHash}`
    const reading = known.get(key) ?? read(tokenId, receipt, at)
    known.set(key, reading)
    dropOldest(known, maxKept)
    reading.catch(() => known.delete(key))
    return reading
  }

  async function read(tokenId: bigint, { blockNumber, transactionHash }: EvmReceipt, at: At): Promise<RangeAmounts | undefined> {
    const isClear = await owesNothing(tokenId, blockNumber - 1, at)
    const ofPosition = { address: positionManager, fromBlock: isClear ? blockNumber : 0 }
    const id = `0x${word(tokenId)}`
    const [changes, mints] = await Promise.all([
      reader.logs({ ...ofPosition, topics: [[decreaseTopic, managerCollectTopic], id] }, at),
      isClear ? undefined : reader.logs({ ...ofPosition, topics: [transferTopic, `0x${word(0n)}`, null, id] }, at),
    ])
    const own = changes.findIndex((log) => log.transactionHash === transactionHash)
    // What was removed before the logs begin, nobody can tell.
    if (own === -1 || mints?.length === 0) return undefined
    return leftAfter(changes.slice(0, own))
  }

  /** Before a block. A position that was not there is owed nothing; of what no node says, logs have to. */
  async function owesNothing(tokenId: bigint, block: number, at: At): Promise<boolean> {
    const call = { to: positionManager, data: managerAbi.encodeFunctionData('positions', [tokenId]) }
    const readings = (await reader.readEach?.([call], BigInt(block), at)) ?? []
    const answers = readings.flatMap(({ results: [result] }) => {
      const words = wordsOf(result, 12)
      return words ? [words[10] === 0n && words[11] === 0n] : []
    })
    return answers.length > 0 && answers.every((isClear) => isClear)
  }
}

/** Where a collect took a part alone, liquidity counts as paid first, so that fees are never more than they were. */
function leftAfter(changes: readonly FoundLog[]): RangeAmounts {
  let left = nothing
  for (const { topics, data } of changes) {
    const isDecrease = topics[0] === decreaseTopic
    const count = wordCount(data)
    // Both end with the two amounts.
    const [amount0Raw, amount1Raw] = count < 3 ? [0n, 0n] : [wordAt(data, count - 2), wordAt(data, count - 1)]
    left = isDecrease
      ? { amount0Raw: left.amount0Raw + amount0Raw, amount1Raw: left.amount1Raw + amount1Raw }
      : { amount0Raw: rest(left.amount0Raw, amount0Raw), amount1Raw: rest(left.amount1Raw, amount1Raw) }
  }
  return left
}

const rest = (left: bigint, paid: bigint): bigint => (left > paid ? left - paid : 0n)
