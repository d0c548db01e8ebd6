import type { Json, OpenAttempt, Sighting } from '../../../contracts/index.ts'
import { finalDepth } from '../network.ts'
import type { Status } from '../reading/status.ts'
import type { SolanaFees } from '../../../../kits/solana/fees.ts'
import { isDurable } from '../../../../kits/solana/sequence.ts'
import type { BlockhashSlot, SolanaSlot } from '../../../../kits/solana/sequence.ts'

export type Attempt = Omit<OpenAttempt<string, SolanaSlot, SolanaFees>, 'step'>

/** What one node said at once. */
export interface View {
  /** The newest slot and height that are finalized. */
  final: { slot: number; height: number }
  /** The slot up to which it looked for signatures. */
  searched: number
  /** By this machine's clock. */
  nowMs: number
  /** No slots pass faster than this for long. */
  leastSlotMs: number
  /** Of durable nonce accounts, what they hold at a finalized slot; undefined where they hold none. */
  nonces: ReadonlyMap<string, string | undefined>
  noncesAt: number
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
export function isOver(slot: SolanaSlot, view: View): boolean {
  const { final, searched, nonces, noncesAt } = view
  if (searched < final.slot || searched < noncesAt) return false
  if (!isDurable(slot)) return final.height > slot.lastValidBlockHeight && isPlausible(slot, view)
  // What was signed upon is newer than what is finalized, at first: that has another value since it has the one before.
  return noncesAt >= slot.since && nonces.has(slot.nonceAccount) && nonces.get(slot.nonceAccount) !== slot.nonce
}

/** agave `clock`, MAX_PROCESSING_AGE. */
const blockhashBlocks = 150
/** Whatever slots may be like one day, a blockhash is over by then. */
const surelyOverMs = 600_000

/**
 * Whether so many slots can have passed since the blockhash was told, and so many blocks in them: one a slot at most. A node that has run
 * ahead of everybody has only its word for it.
 */
function isPlausible({ number, since, lastValidBlockHeight }: BlockhashSlot, { final, nowMs, leastSlotMs }: View): boolean {
  const slots = final.slot - since
  const blocks = final.height - (lastValidBlockHeight - blockhashBlocks)
  const elapsedMs = nowMs - number
  return blocks <= slots && (slots * leastSlotMs <= elapsedMs || elapsedMs > surelyOverMs)
}

/** What is certain at once: what landed is told with its receipt, and what seems to be over with a proof. */
export function sightingOf(id: string, { is }: Sight): Sighting | undefined {
  if (is === 'near') return { id, is: 'pending', underpriced: false }
  return is === 'waits' ? { id, is: 'pending', underpriced: false, kept: false } : undefined
}
