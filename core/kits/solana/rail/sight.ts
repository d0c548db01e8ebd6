import type { Json, OpenAttempt, Sighting } from '../../../contracts/index.ts'
import { finalDepth } from '../network.ts'
import type { Status } from '../reading/status.ts'
import type { SolanaFees } from './fees.ts'
import { isDurable } from './slots.ts'
import type { SolanaSlot } from './slots.ts'

export type Attempt = OpenAttempt<string, SolanaSlot, SolanaFees>

/** What one node said at once. */
export interface View {
  /** The newest slot and height that are finalized. */
  final: { slot: number; height: number }
  /** The slot up to which it looked for signatures. */
  searched: number
  /** Of durable nonce accounts, what they hold at a finalized slot; undefined where they hold none any more. */
  nonces: ReadonlyMap<string, string | undefined>
}

/** Where an attempt is by one node's word: `over` is no more than a suspicion. */
export type Sight = { is: 'landed'; slot: number; depth: number; err: Json } | { is: 'near' } | { is: 'waits' } | { is: 'over' }

export function sight({ slot }: Pick<Attempt, 'slot'>, status: Status | undefined, view: View): Sight {
  if (!status) return isOver(slot, view) ? { is: 'over' } : { is: 'waits' }
  // In a block that may still be passed over: nobody has its receipt yet.
  if (status.is === 'processed') return { is: 'near' }
  const isFinal = status.is === 'finalized' && status.slot <= view.final.slot
  const depth = isFinal ? finalDepth : Math.min(finalDepth - 1, 1 + (status.confirmations ?? 0))
  return { is: 'landed', slot: status.slot, depth, err: status.err }
}

/**
 * Whether its time is over by what is finalized, with the search not older than that. The age of a blockhash is counted from a block's
 * parent, so the last block that takes it is one above the height that is told (agave `runtime/src/bank/check_transactions.rs`): with any
 * height above the told one, that block is finalized too.
 */
export function isOver(slot: SolanaSlot, { final, searched, nonces }: View): boolean {
  if (searched < final.slot) return false
  if (!isDurable(slot)) return isPlausible(slot, final) && final.height > slot.lastValidBlockHeight
  return nonces.has(slot.nonceAccount) && nonces.get(slot.nonceAccount) !== slot.nonce
}

/** Heights grow by one a slot at most: of a blockhash that was told at a slot no more blocks can have come than slots since then. */
function isPlausible({ since, lastValidBlockHeight }: { since: number; lastValidBlockHeight: number }, final: View['final']): boolean {
  return final.slot >= since && final.height - (lastValidBlockHeight - blockhashBlocks) <= final.slot - since
}

/** agave `clock`, MAX_PROCESSING_AGE. */
const blockhashBlocks = 150

/** What is certain at once: what landed is told with its receipt, and what seems to be over with a proof. */
export function sightingOf(id: string, { is }: Sight): Sighting | undefined {
  if (is === 'near') return { id, is: 'pending', underpriced: false }
  return is === 'waits' ? { id, is: 'pending', underpriced: false, kept: false } : undefined
}
