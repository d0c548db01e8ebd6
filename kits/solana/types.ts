import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { isAddress, isSignature, AccountRole, address, type Instruction } from '@solana/kit'
import type { AccountImage, At, Head, IsolatedReading, Json, Token } from '../../core/contracts/index.ts'

export type SolanaAccountUse = { readonly address: string; readonly writable: boolean; readonly signer: boolean }

/** `data` in base64. */
export type SolanaInstruction = { readonly program: string; readonly accounts: readonly SolanaAccountUse[]; readonly data: string }

/**
 * What one transaction does, before its compute budget and lifetime. What belongs together is one step of several instructions:
 * transactions stand for themselves, in no order. In lamports, decimal strings: `value` is what it sends, `rent` what accounts that it
 * makes for the wallet keep.
 */
export type SolanaIntent = {
  /** The wallet, which signs and pays. */
  readonly payer: string
  readonly instructions: readonly SolanaInstruction[]
  readonly value: string
  readonly rent: string
  /** New accounts that sign beside the payer: the server's signer makes their keys, and no plugin has one. */
  readonly signers?: readonly string[]
  /** Lookup tables as they are on the chain, for a message that is too long without them. */
  readonly tables?: readonly SolanaLookupTable[]
  /** Accounts of the wallet, such as those of its tokens: they stand in the bytes, whatever a table is said to have. */
  readonly own?: readonly string[]
  /** Which of the wallet's accounts it was planned by: where one is otherwise before it is signed, it is refused. */
  readonly expects?: readonly SolanaExpectation[]
}

/** Whether the wallet has an account of a token at an address. */
export type SolanaExpectation = { readonly account: string; readonly mint: string; readonly isThere: boolean }

export type SolanaLookupTable = { readonly address: string; readonly addresses: readonly string[] }

/** Of a confirmed transaction. Integers that may be large are decimal strings. */
export type SolanaReceipt = {
  readonly status: 0 | 1
  readonly signature: string
  readonly slot: number
  /** Seconds since the Unix epoch. */
  readonly blockTime: number | null
  /** As the node writes it; null where it did what it was to do. */
  readonly err: Json
  /** Lamports; null where no node has its receipt. */
  readonly fee: string | null
  readonly logs: readonly string[]
  /** What was carried out, in the order in which it began; `data` in base58. */
  readonly instructions: readonly { readonly program: string; readonly data: string }[]
  /** The place of the payer's account of wrapped SOL among the accounts of the transaction, where that names it. */
  readonly wrappedAt?: number
  /** Lamports of its transfer to an account of the network's `privateTip`. Absent: none, or it failed and gave nothing. */
  readonly tip?: string
}

/** Lamports as a decimal string. */
export type SolanaImageData = { readonly owner: string; readonly lamports: string; readonly base64: string }

/** What an account holds after a slot. */
export type SolanaImage = AccountImage<SolanaImageData>

export type Solana = { address: string; intent: SolanaIntent; receipt: SolanaReceipt; change: SolanaImage; reader: SolanaReader }

export interface SolanaAccount {
  lamportsRaw: bigint
  /** The program that owns it. */
  owner: string
  data: Uint8Array
}

/** What tells the accounts of one kind of a program. */
export interface AccountKind {
  /** What they begin with. */
  readonly discriminator: Uint8Array
  /** In bytes. */
  readonly size: number
}

/** How connectors read a network of Solana. */
export interface SolanaReader {
  readonly nativeCurrency: Token
  /**
   * Some accounts, in one batch: not all at one slot, where they are over 100 or the node takes fewer at once. Undefined where there is none.
   * @param after the answer is of this slot or a newer one: for `Followed.load`
   * @throws SluiceError NETWORK where the node is behind it
   */
  accounts(
    addresses: readonly string[],
    at: At,
    after?: Pick<Head, 'number'>,
  ): Promise<{ head: Pick<Head, 'number'>; accounts: readonly (SolanaAccount | undefined)[] }>
  /**
   * Accounts that belong together, at most 100 in each set: all of a set as they are at one slot, in one round trip. It is two where a node takes
   * fewer at once and had answered by several slots. The head is of the oldest set.
   * @throws SluiceError NETWORK where it does so again, or is behind `after`
   */
  sets(
    sets: readonly (readonly string[])[],
    at: At,
    after?: Pick<Head, 'number'>,
  ): Promise<{ head: Pick<Head, 'number'>; sets: readonly (readonly (SolanaAccount | undefined)[])[] }>
  /** An account with so many bytes of its data, or fewer: for one that a caller names, which may have ten megabytes. Undefined where there is none. */
  start(address: string, length: number, at: At): Promise<SolanaAccount | undefined>
  /**
   * The addresses of a program's accounts of one kind. Undefined where no node tells: many refuse to look through all accounts of a program. Absent: not known.
   */
  ofProgram?(program: string, kind: AccountKind, at: At): Promise<readonly string[] | undefined>
  /** How many transactions of a wallet were refused by their simulation: what was read of its accounts before may have changed. Absent: not known. */
  refusals?(wallet: string): number
  /** What strangers' questions are read by: connections of its own, whose failures are kept with no node. Absent: this reader. */
  isolated?(take: (calls: number) => void): IsolatedReading<SolanaReader>
}

/**
 * Base58 of 32 bytes, which has one spelling; undefined for anything else. On the curve or not: accounts of programs and of tokens are
 * addresses too. There is no checksum.
 */
export function canonicalAddress(text: string): string | undefined {
  return isAddress(text) ? text : undefined
}

const base58 = /^[1-9A-HJ-NP-Za-km-z]+$/

/** Base58 of 64 bytes. @solana/kit throws for letters of another alphabet. */
export function isTransactionSignature(text: string): boolean {
  return base58.test(text) && isSignature(text)
}

/** What stands for the native coin in answers: 32 zero bytes, which is also the System program. */
export const nativeAddress: string = SYSTEM_PROGRAM_ADDRESS

/** An instruction as @solana/kit has it. */
export function toKit({ program, accounts, data }: SolanaInstruction): Instruction {
  return {
    programAddress: address(program),
    accounts: accounts.map(({ address: of, writable, signer }) => ({ address: address(of), role: roleOf(writable, signer) })),
    data: Uint8Array.from(Buffer.from(data, 'base64')),
  }
}

/** The reverse of `toKit`. The result may be journaled. */
export function fromKit({ programAddress, accounts = [], data = new Uint8Array() }: Instruction): SolanaInstruction {
  return {
    program: programAddress,
    accounts: accounts.map(({ address: of, role }) => ({
      address: of,
      writable: role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER,
      signer: role === AccountRole.READONLY_SIGNER || role === AccountRole.WRITABLE_SIGNER,
    })),
    data: Buffer.from(Uint8Array.from(data)).toString('base64'),
  }
}

function roleOf(writable: boolean, signer: boolean): AccountRole {
  if (signer) return writable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER
  return writable ? AccountRole.WRITABLE : AccountRole.READONLY
}
