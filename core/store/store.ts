import type { Kysely, Transaction } from 'kysely'
import { SluiceError } from '../errors.ts'
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

/** A lane that the store says is ours. */
export interface OwnedQueue {
  queue: string
  fencingToken: number
  /** A living server asks for it. */
  requested: boolean
}

/** What a server hears of lanes. */
export interface LeaseEvents {
  /** Somebody asks for a lane of ours. */
  requested(lane: string): void
  /** A lane was given to us. */
  granted(lane: string): void
  /** Another server ended: any lane may be free. */
  freed(): void
  /** All lanes that the store says are ours, as it was at some moment after `askedAt` (`performance.now()`). */
  owned(lanes: readonly OwnedQueue[], askedAt: number): void
}

/** This server's life as the others see it: what it owns is its own while it lives. */
export interface LeaseSession {
  /** Whether it certainly lives, at this moment. */
  isAlive(): boolean
  /** Raised whenever it may have been dead in between: what was held before must be asked for again. */
  term(): number
  /** Waits until it lives. @throws StoreUnavailable */
  revive(): Promise<void>
  /** Dies, so that others need not wait. */
  stop(): Promise<void>
}

/** A store of this process alone: nobody else can think that it is dead. */
export const embeddedSession: LeaseSession = { isAlive: () => true, term: () => 1, revive: async () => {}, stop: async () => {} }

/** The store did not do it: its disk is full, it cannot be written, its database is away. */
export class StoreUnavailable extends SluiceError {
  /** Whether what was to be kept may have been kept all the same: the connection was lost while it was committed. */
  readonly uncertain: boolean
  readonly reason: string

  /** @param reason a clause without secrets: "the disk is full" */
  constructor(reason: string, { uncertain = false, cause }: { uncertain?: boolean; cause?: unknown } = {}) {
    super('OVERLOADED', `The server's store cannot be used: ${reason}. Nothing was sent for this request. Try again.`, {
      retryAfterSeconds: 2,
      cause,
    })
    this.uncertain = uncertain
    this.reason = reason
  }
}

/** Why the store cannot be opened, for the operator: what is wrong and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** What a database's error means for whoever wrote or read. */
export interface Fault {
  /** A clause without secrets. */
  reason: string
  /** Where it came as a commit was under way: whether that may have been kept all the same. */
  leavesCommitOpen: boolean
}

/** What the two kinds of database say of their errors. */
export interface Faults {
  /** Undefined for what is no trouble of the database, but of who asked. */
  of(error: unknown): Fault | undefined
  /** Two got in each other's way, and one of them was undone: to be run again. */
  isCollision(error: unknown): boolean
}
