import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { lamports, type Address, type EncodedAccount, type Signature } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import type { Answer } from '../rpc/protocol.ts'
import type { LoadedAccounts } from './lookup-tables.ts'
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
  /** What its lookup tables gave. */
  loaded: LoadedAccounts
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

/** Accounts as they were; undefined where there was none. */
type Accounts = ReadonlyMap<Address, EncodedAccount | undefined>

/** What the newest blocks changed, as it was before the first of them. */
export function accountsBefore(newest: readonly Block[]): Accounts {
  const before = new Map<Address, EncodedAccount | undefined>()
  for (const block of newest.toReversed()) for (const [address, account] of block.before) before.set(address, account)
  return before
}

export function accountOf(svm: LiteSVM, address: Address): EncodedAccount | undefined {
  const account = svm.getAccount(address)
  return account.exists ? account : undefined
}

export function setAccounts(svm: LiteSVM, accounts: Accounts): void {
  for (const [address, account] of accounts) svm.setAccount(account ?? none(address))
}

/** What is read while these accounts are as they were. Nothing that happens on the way stays. */
export function whileSet<T>(svm: LiteSVM, accounts: Accounts, read: (svm: LiteSVM) => T): T {
  const now = new Map([...accounts.keys()].map((address) => [address, accountOf(svm, address)]))
  try {
    setAccounts(svm, accounts)
    return read(svm)
  } finally {
    setAccounts(svm, now)
  }
}

/** What LiteSVM takes for no account. */
const none = (address: Address): EncodedAccount => ({
  address,
  lamports: lamports(0n),
  data: new Uint8Array(),
  executable: false,
  programAddress: SYSTEM_PROGRAM_ADDRESS,
  space: 0n,
})
