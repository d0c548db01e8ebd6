import type { At, Transaction } from '../../core/contracts/index.ts'
import { isObject } from '../../core/kits/nodes/is-object.ts'
import { nodeLied, resultOf } from '../../core/kits/nodes/ask.ts'
import type { Rpc, RpcAnswer } from '../../core/kits/nodes/types.ts'
import { noHistory, unknownVersion } from '../../core/kits/solana/rpc/commitment.ts'
import { valueOf } from '../../core/kits/solana/rpc/json.ts'
import { readTransaction, transactionOptions } from '../../core/kits/solana/reading/receipt.ts'
import { readStatus } from '../../core/kits/solana/reading/status.ts'
import type { Solana } from './types.ts'

/** A transaction with its receipt; one that is in a block that few voted for yet is pending: one round trip. */
export async function findTransaction(rpc: Rpc, signature: string, at: At): Promise<Transaction<Solana> | undefined> {
  const calls = [
    { method: 'getTransaction', params: [signature, transactionOptions] },
    { method: 'getSignatureStatuses', params: [[signature], { searchTransactionHistory: true }] },
  ]
  const [transaction, status] = await rpc.batch(calls, at)
  const raw = isUntold(transaction) ? null : resultOf(rpc, 'getTransaction', transaction)
  if (isObject(raw)) {
    const found = readTransaction(signature, raw)
    if (!found) throw nodeLied(rpc, 'answered getTransaction with something that is no transaction')
    return { ...found, blockNumber: found.receipt.slot }
  }
  const values = isUntold(status) ? [] : valueOf(resultOf(rpc, 'getSignatureStatuses', status))
  const known = readStatus(Array.isArray(values) ? values[0] : undefined)
  if (!known) return undefined
  // What came of it is written down a moment later.
  return known.is === 'processed' ? { tx: null, receipt: null, pays: true } : { tx: null, receipt: null, blockNumber: known.slot }
}

/** The node keeps no history, or it is of a version that nothing here reads: that it is there may be told all the same. */
const isUntold = (answer: RpcAnswer | undefined) => answer?.error?.code === noHistory || answer?.error?.code === unknownVersion
