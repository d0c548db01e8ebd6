import type { Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** The one place where the server keeps what must outlive it: an embedded database or PostgreSQL, by the same tables. */
export interface Store {
  /** `embedded` belongs to this process alone: whoever else stands in it is dead. */
  readonly kind: 'embedded' | 'postgres'
  /** For reading. @throws StoreUnavailable */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /**
   * All of it or none, durable before it resolves; run again where two got in each other's way, so it has no other effects.
   * @throws StoreUnavailable, where nobody can know whether it was kept (`uncertain`) or it certainly was not; or what `work` throws,
   * and then nothing was kept
   */
  write<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>
  /**
   * As `write`, of one statement only, which is a transaction by itself: one round trip, and no lock is held by a server that was
   * stopped in the middle.
   */
  writeOnce<T>(statement: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Why it cannot be written now, in a sentence; undefined where it can. */
  failing(): Promise<string | undefined>
  close(): Promise<void>
}
