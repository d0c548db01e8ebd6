import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { integerOf, jsonOfNode, numberOf } from '../rpc/json.ts'
import { executedIn } from './instructions.ts'
import type { SolanaReceipt } from '../../../../kits/solana/types.ts'

/** How `getTransaction` is asked, so that what it gives can be read here. */
export const transactionOptions = { encoding: 'json', maxSupportedTransactionVersion: 0, commitment: 'confirmed' } as const

/** What `getTransaction` gave: the transaction as it was sent, and what came of it. Undefined where that is no transaction. */
export function readTransaction(signature: string, raw: unknown): { tx: Json; receipt: SolanaReceipt } | undefined {
  if (!isObject(raw) || !isObject(raw['meta']) || !isObject(raw['transaction'])) return undefined
  const { meta, transaction, version } = raw
  const slot = numberOf(raw['slot'])
  const fee = integerOf(meta['fee'])
  const logs: readonly unknown[] = Array.isArray(meta['logMessages']) ? meta['logMessages'] : []
  const signatures: unknown = transaction['signatures']
  if (slot === undefined || fee === undefined || !Array.isArray(signatures) || signatures[0] !== signature) return undefined
  const { err, logMessages: _, status: __, innerInstructions: ___, ...rest } = meta
  const receipt = {
    ...fieldsOfNode(rest),
    status: err === null ? (1 as const) : (0 as const),
    signature,
    slot,
    blockTime: numberOf(raw['blockTime']) ?? null,
    err: jsonOfNode(err),
    fee: fee.toString(),
    logs: logs.filter((line) => typeof line === 'string'),
    instructions: executedIn(transaction['message'], meta),
  }
  return { tx: { ...fieldsOfNode(transaction), version: jsonOfNode(version) }, receipt }
}

/** What is known of one that only its status tells of. */
export function receiptOfStatus(signature: string, slot: number, err: Json): SolanaReceipt {
  return { status: err === null ? 1 : 0, signature, slot, blockTime: null, err, fee: null, logs: [], instructions: [] }
}

function fieldsOfNode(value: Record<string, unknown>): Record<string, Json> {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, jsonOfNode(field, key)]))
}
