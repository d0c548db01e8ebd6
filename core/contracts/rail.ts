import type { At, Json } from './family.ts'
import type { Need } from './plan.ts'

/** Unsigned bytes, in a form that the signer can read and check by itself. */
export interface Signable {
  scheme: 'evm-transaction'
  bytes: Uint8Array
}

export interface Sealed {
  /** The transaction's hash, known before anything leaves. */
  id: string
  raw: Uint8Array
}

/** What the network said to signed bytes. `unclear`: nobody can know whether they were taken. */
export type Reception = { is: 'accepted' } | { is: 'refused' | 'unclear'; reason: string }

/** What was seen of an open attempt. */
export type Sighting = { id: string } & (
  | { is: 'unseen' }
  | { is: 'pending'; underpriced: boolean }
  | { is: 'landed'; ok: boolean; blockNumber: number; depth: number; receipt: Json }
  | { is: 'dead' }
)

/** Fees a caller asked for, in the smallest unit of the native coin per gas. */
export interface FeeWish {
  maxFeePerGasRaw?: bigint
  maxPriorityFeePerGasRaw?: bigint
}

/** A step that was checked and priced: all that a draft needs but the slot. */
export interface Prepared {
  step: Json
  fees: Json
  gas: GasTerms
}

/** What a transaction costs at most, and at the checked block's price. */
export interface GasTerms {
  gasLimit: bigint
  /** Base fee plus tip at the checked block, smallest units per gas. */
  gasPriceRaw: bigint
  /** gasLimit × gasPrice plus what a rollup charges on top. */
  gasCostRaw: bigint
}

/** What the chain says of a signer's slots, as the rail understands it. */
export type Synced = Json
export type Slot = Json

/**
 * All that differs between families in the life of a transaction.
 * `claim`, `draft`, `seal` and `replace` are pure; the others ask the network, each in one round trip where it can be one.
 */
export interface Rail<I extends Json = Json, A = string> {
  /** Checks needs, simulates and prices the steps: one batch at one block. Throws the caller's error. `gasUnits` are the plan's own estimates, used where simulation cannot be. */
  check(steps: readonly I[], needs: readonly Need<A>[], from: A, wish: FeeWish, at: At): Promise<{ prepared: readonly Prepared[]; synced: Synced }>
  sync(from: A, at: At): Promise<Synced>
  /** The next slots, given what the chain said and what is held by open attempts. A wanted slot is given exactly, or refused. */
  claim(synced: Synced, held: readonly Slot[], count: number): readonly Slot[]
  /** The slot that a caller's nonce names. */
  slotOf(nonce: number): Slot
  /** What `nonce` shows of a slot. */
  nonceOf(slot: Slot): number
  /** Whether the chain has already passed this slot. */
  isPast(synced: Synced, slot: Slot): boolean
  draft(prepared: Prepared, slot: Slot): Signable
  seal(draft: Signable, signature: Uint8Array): Sealed
  /** The same bytes, any number of times. */
  send(sealed: Sealed, at: At): Promise<Reception>
  /** One batch for all open attempts. */
  look(open: readonly { id: string; from: A; slot: Slot; fees: Json }[], at: At): Promise<readonly Sighting[]>
  /** Only where attempts on one slot exclude each other. */
  replace?: {
    /** Fees that the network takes as a replacement of these; refuses a wish below that. */
    bump(fees: Json, wish: FeeWish): Json
    /** The cheapest step that does nothing. */
    cancel(from: A): I
  }
}
