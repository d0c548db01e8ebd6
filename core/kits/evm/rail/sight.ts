import type { OpenAttempt, Sighting } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import type { RpcAnswer } from '../../nodes/types.ts'
import type { Block } from '../reading/block.ts'
import { readReceipt } from '../../../../kits/evm/receipts.ts'
import type { EvmFees } from '../../../../kits/evm/fees.ts'

export type Attempt = Omit<OpenAttempt<string, number, EvmFees>, 'step'>

/** The block that a look holds for. */
export interface View {
  latest: Block
  /** The node does not know the newest blocks: that it has something is news, that it lacks something is not. */
  lags: boolean
  /** What is mined up to here has all its confirmations. */
  finalBlock: number
  /** The lower one of the head that was known before and the node's: neither alone makes anything final. */
  newest: number
}

/** An account's counts: at the final block and at the latest; undefined where the node did not say. */
export interface Counts {
  final: number | undefined
  latest: number | undefined
}

/** In no block and in no mempool, and the count at the final block is beyond its nonce: it seems that something else has that. */
export type Ousted = { is: 'ousted' }

/** What the answers about one attempt say; undefined where they say nothing. */
export function sight(
  { id, slot, fees }: Attempt,
  { latest, lags, newest, finalBlock }: View,
  counts: Counts | undefined,
  receipt: RpcAnswer | undefined,
  tx: RpcAnswer | undefined,
): Sighting | Ousted | undefined {
  if (!receipt || !tx || receipt.error || tx.error) return undefined
  if (receipt.result !== null) {
    const read = readReceipt(receipt.result)
    if (!read || !isHash(read.transactionHash, id)) return undefined
    const { status, blockNumber, blockHash } = read
    // The receipt of a block that a reorganisation undid: caches and backends keep such.
    if (blockNumber <= finalBlock && counts?.final !== undefined && counts.final <= slot) return undefined
    return { id, is: 'landed', ok: status === 1, blockNumber, blockHash, depth: Math.max(1, newest - blockNumber + 1), receipt: read }
  }
  if (lags) return undefined
  const underpriced = BigInt(fees.maxFeePerGas) < (latest.nextBaseFeeRaw ?? 0n)
  if (tx.result !== null) {
    // Another's, or in a block whose receipts the node does not have yet: the next look tells.
    if (!isObject(tx.result) || !isHash(tx.result['hash'], id) || typeof tx.result['blockNumber'] === 'string') return undefined
    return { id, is: 'pending', underpriced, next: counts?.latest === slot }
  }
  // Where the node has lost the state of the final block the count of the latest stands in: it has to hold for as long as makes final.
  if (counts?.final === undefined && counts?.latest !== undefined && counts.latest > slot) return { id, is: 'dead' }
  return counts?.final !== undefined && counts.final > slot ? { is: 'ousted' } : { id, is: 'unseen', underpriced }
}

const isHash = (value: unknown, id: string) => typeof value === 'string' && value.toLowerCase() === id.toLowerCase()
