import type { Address, EncodedAccount, Signature } from '@solana/kit'
import type { Answer } from '../rpc/answer.ts'
import type { Wire } from './read-wire.ts'

/** A slot in which a leader made a block. Slots without one are in no list: they were skipped. */
export interface Block {
  slot: bigint
  parentSlot: bigint
  /** How many blocks came before it: slots that were skipped do not count. */
  height: bigint
  blockhash: string
  previousBlockhash: string
  /** Seconds since the Unix epoch. */
  time: number
  landed: readonly LandedTransaction[]
  /** What the block's transactions could change, as it was before; undefined where there was no account. */
  before: ReadonlyMap<Address, EncodedAccount | undefined>
}

/** A transaction as it went in its block. */
export interface LandedTransaction {
  signature: Signature
  wire: Wire
  outcome: Outcome
  preBalances: readonly bigint[]
  postBalances: readonly bigint[]
  preTokenBalances: readonly Answer[]
  postTokenBalances: readonly Answer[]
}

/** What the runtime made of a transaction, done or only simulated. */
export interface Outcome {
  /** As a node says it in JSON; null where all went well. */
  error: Answer
  feeRaw: bigint
  logs: readonly string[]
  unitsConsumed: bigint
  innerInstructions: readonly InnerInstructions[]
  returnData: { programId: Address; data: Uint8Array } | null
}

export interface InnerInstructions {
  /** Of the instruction that called them. */
  index: number
  instructions: readonly { programIdIndex: number; accounts: readonly number[]; data: Uint8Array; stackHeight: number }[]
}
