import type { Kysely, RawBuilder, Transaction } from 'kysely'
import { SluiceError } from '../base/errors.ts'
import type { Tables } from './tables.ts'

/** The one place where the server keeps what must survive it: an embedded database or PostgreSQL, with the same tables. */
export interface Store {
  /** Selects the journal's writer. Whatever else differs between databases is behind this interface. */
  readonly kind: 'embedded' | 'postgres'
  /** For reading. @throws StoreUnavailable */
  read<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /**
   * One transaction, durable before the promise resolves. It runs again after a collision with another one, so it has no other effects.
   * @throws StoreUnavailable, with `uncertain` if it is unknown whether it was committed; or what `work` throws, and then nothing is written
   */
  write<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>
  /**
   * As `write`, for a single statement, which is a transaction by itself: one round trip, and a server that is stopped in the middle holds
   * no lock.
   */
  writeOnce<T>(statement: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** SQL: whether another server, named by its id, is alive. */
  isServerAlive(serverId: RawBuilder<unknown>): RawBuilder<boolean>
  /** Registers this server, which other servers see as alive from then on. Its leases last as long. */
  openLeases(server: ServerIdentity, events: LeaseEvents): ServerLeases
  /** Why it cannot be written now, in a sentence; undefined where it can. */
  failing(): Promise<string | undefined>
  close(): Promise<void>
}

export interface StoreLog {
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
}

export interface ServerIdentity {
  /** Of this process alone, and never used again. */
  serverId: string
  /** For people. */
  serverName: string
  log: StoreLog
}

/** The leases of one server in the store: one for each queue of nonces that it owns. */
export interface ServerLeases {
  /** Takes the lease if it is free, expired or ours. Returns its fencing token. @throws StoreUnavailable */
  take(queue: string): Promise<number | undefined>
  /** Asks the owner of the lease to hand it over. @throws StoreUnavailable */
  request(queue: string): Promise<void>
  /** Hands the lease to the server that requested it. False if it is not ours or no server requested it. @throws StoreUnavailable */
  handOver(queue: string): Promise<boolean>
  /** Whether this server is certainly alive at this moment. */
  isAlive(): boolean
  /** Rises whenever this server may have been counted as dead in between: every lease from before must be taken again. */
  term(): number
  /** Waits until this server is alive. @throws StoreUnavailable */
  revive(): Promise<void>
  /** Releases all leases, so that others need not wait until they expire. */
  stop(): Promise<void>
}

/** Notices to a server about leases. */
export interface LeaseEvents {
  /** Awaited before this server says again that it lives: what others take for granted then. It is soon done. */
  beforeRenewal?(): Promise<void>
  /** Another server asks for a lease of ours. */
  requested(queue: string): void
  /** We received a lease. */
  granted(queue: string): void
  /** Another server ended: any lease may be free. */
  freed(): void
  /** All leases that are ours in the store, as of some moment after `askedAt` (`performance.now()`). */
  owned(leases: readonly OwnedLease[], askedAt: number): void
}

export interface OwnedLease {
  queue: string
  fencingToken: number
  /** A living server asks for it. */
  requested: boolean
}

/** What a database's error means for the caller. */
export interface Fault {
  /** A clause without secrets. */
  reason: string
  /** The database's own words, in quotes, with their code. For the operator: callers do not see them. */
  says?: string | undefined
  /** If it came during a commit: whether the commit may have happened all the same. */
  leavesCommitOpen: boolean
  /** There was no room: smaller writes may still find some. */
  isFull?: boolean
}

/** How a kind of database reports trouble. */
export interface Faults {
  /** Undefined where the statement is at fault, not the database. */
  of(error: unknown): Fault | undefined
  /** Two transactions collided and the database undid this one: run it again. */
  isCollision(error: unknown): boolean
}

/** The store did not do it: its disk is full, it is read-only, or its database is down. */
export class StoreUnavailable extends SluiceError {
  /** Whether the data may have been written all the same: the connection broke during the commit. */
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
