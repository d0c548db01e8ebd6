import type { At, Transaction } from '../../../contracts/index.ts'
import { isObject, nodeLied, resultOf } from '../../nodes/index.ts'
import type { Rpc } from '../../nodes/index.ts'
import { valueOf } from '../rpc/json.ts'
import { readTransaction, transactionOptions } from './receipt.ts'
import { readStatus } from './status.ts'
import type { Solana } from '../types.ts'

/** A transaction with its receipt; one that is in a block that few voted for yet is pending: one round trip. */
export async function findTransaction(rpc: Rpc, signature: string, at: At): Promise<Transaction<Solana> | undefined> {
  const calls = [
    { method: 'getTransaction', params: [signature, transactionOptions] },
    { method: 'getSignatureStatuses', params: [[signature], { searchTransactionHistory: true }] },
  ]
  const answers = await rpc.batch(calls, at)
  const [raw, statuses] = calls.map(({ method }, index) => resultOf(rpc, method, answers[index]))
  if (isObject(raw)) {
    const found = readTransaction(signature, raw)
    if (!found) throw nodeLied(rpc, 'answered getTransaction with something that is no transaction')
    return { ...found, blockNumber: found.receipt.slot }
  }
  const values = valueOf(statuses)
  const status = readStatus(Array.isArray(values) ? values[0] : undefined)
  if (!status) return undefined
  // What came of it is written down a moment later.
  return status.is === 'processed' ? { tx: null, receipt: null, pays: true } : { tx: null, receipt: null, blockNumber: status.slot }
}
