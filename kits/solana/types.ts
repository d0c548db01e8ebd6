import type { At, Family, Head, Json, Token } from '../../core/contracts/index.ts'

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
}

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
}

export type Solana = { address: string; intent: SolanaIntent; receipt: SolanaReceipt; change: null; reader: SolanaReader }

export const solana: Family<Solana> = { name: 'solana', keys: 'ed25519' }

export interface SolanaAccount {
  lamportsRaw: bigint
  /** The program that it belongs to. */
  owner: string
  data: Uint8Array
}

/** What connectors read a Solana network by. */
export interface SolanaReader {
  readonly nativeCurrency: Token
  /** Up to 100 of them at one slot, in one round trip; more in several calls of one batch. Undefined where there is none. */
  accounts(addresses: readonly string[], at: At): Promise<{ head: Pick<Head, 'number'>; accounts: readonly (SolanaAccount | undefined)[] }>
}
