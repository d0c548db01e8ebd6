import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { jsonOfNode, numberOf } from '../rpc/json.ts'

/** How far the cluster is with a transaction. */
export interface Status {
  is: 'processed' | 'confirmed' | 'finalized'
  slot: number
  /** As the node writes it; null where it did what it was to do. */
  err: Json
  /** How many blocks came upon its own; absent once it is finalized. */
  confirmations?: number
}

/** One entry of what `getSignatureStatuses` gave; undefined where the node has none, or it is no status. */
export function readStatus(raw: unknown): Status | undefined {
  if (!isObject(raw)) return undefined
  const slot = numberOf(raw['slot'])
  const { confirmationStatus: is, err = null } = raw
  if (slot === undefined || (is !== 'processed' && is !== 'confirmed' && is !== 'finalized')) return undefined
  const confirmations = numberOf(raw['confirmations'])
  return { is, slot, err: jsonOfNode(err), ...(confirmations !== undefined && { confirmations }) }
}
