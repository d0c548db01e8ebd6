import type { Entry, TransactionState } from './entry.ts'

export interface Filter {
  chain?: string
  network?: string
  address?: string
  /** Only entries of these addresses, in lower case: what a caller may see. */
  addresses?: ReadonlySet<string>
  state?: TransactionState
  txHash?: string
  idempotencyKey?: string
  nonce?: number
  /** At most 500. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
}

export interface Page {
  /** Newest first. */
  entries: readonly Entry[]
  nextCursor?: string
}

/**
 * The write-ahead journal: what it took is durable before a promise resolves, all of a call or none of it. A rejection
 * means that nothing was kept.
 */
export interface Journal {
  /** New entries, before anything is signed. */
  open(entries: readonly Entry[]): Promise<void>
  /** Later versions; false, and nothing written, where one of them is not the version after the kept one. */
  write(entries: readonly Entry[]): Promise<boolean>
  read(key: string): Promise<Entry | undefined>
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  /** All that are not final, oldest first. */
  unfinished(chain: string, network: string): Promise<readonly Entry[]>
  list(filter: Filter): Promise<Page>
}
