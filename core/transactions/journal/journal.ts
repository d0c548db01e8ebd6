import type { RawBuilder, Transaction } from 'kysely'
import { SluiceError } from '../../contracts/index.ts'
import type { PairFilter } from '../../store/entry-filters.ts'
import type { Tables } from '../../store/tables.ts'
import type { ClientOrder, OrderJournal } from '../book-orders.ts'
import type { Admission, ReservationPart, PlannedSpending, Spending, SpendingClient } from '../budgets.ts'
import { isFinal, type Entry, type RailId, type TransactionState } from '../entry.ts'
import type { StopQuery } from '../stops.ts'

/**
 * The write-ahead journal. What a call writes is durable before its promise resolves: all of it or nothing.
 * @throws StoreUnavailable if the store fails; OwnershipLostError if the lease or claim is not ours any more, OrderIdUsedError if a client order id was
 * used before: then nothing was written
 */
export interface Journal {
  /** Before nonces are claimed for new entries. @returns undefined where no budget bounds the client. A rejection is the SluiceError by which one refuses it */
  admit(of: SpendingClient, spending: () => PlannedSpending): Admission | Promise<Admission> | undefined
  /**
   * New entries of one queue, before anything is signed, and the book orders that the last of them places.
   * @param spending of all entries. Where there are budgets it is required
   * @param lossCheck asked in the same write, where several servers write
   * @throws SluiceError STOPPED, or that by which the budgets or the check refuse it
   */
  open(
    entries: readonly Entry[],
    lease: Lease,
    claim?: KeyClaim,
    orders?: readonly ClientOrder[],
    spending?: Spending,
    lossCheck?: LossCheck,
  ): Promise<void>
  /** Before a stored entry is signed again at other fees. @throws SluiceError STOPPED, or that by which the budgets refuse it */
  reserve(spending: Spending, lease: Lease): Promise<void>
  /** Has the budgets value anew what waits. @returns by key, why those have to end that would pass a limit */
  revalue(waiting: readonly Entry[], lease: Lease): Promise<ReadonlyMap<string, string>>
  /**
   * Later versions of entries of one queue, and the answer to their request. Returns false, and writes nothing, unless each is exactly
   * one version later than the stored entry.
   * @param finalBefore the keys of those that were final in the version before: the budgets were told of their end then
   */
  write(entries: readonly Entry[], lease: Lease, answer?: RecordedAnswer, finalBefore?: ReadonlySet<string>): Promise<boolean>
  read(key: string): Promise<Entry | undefined>
  /** By the hash of any attempt, also of an archived entry. */
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  /** All entries of a rail that are not final, or those of one address on it, oldest first. */
  unfinished(of: RailId & { address?: string }): Promise<readonly Entry[]>
  /** Final ones with a permit that is neither used nor expired, of one address on the chain's rail, oldest first. */
  outstanding(of: { chain: string; network: string; address: string }): Promise<readonly Entry[]>
  /** The queues that have unfinished entries, or such final ones. */
  openQueues(): Promise<readonly (RailId & { address: string })[]>
  list(filter: EntryFilter): Promise<EntryPage>
  /** Changes after an event, oldest first, at most `limit`. `addresses` are by `addressKey`. */
  eventsAfter(
    id: number,
    of: { addresses?: ReadonlySet<string>; chain?: string; network?: string; limit: number },
  ): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastEventId(): Promise<number>
  readonly orders: OrderJournal
  readonly ended: EndedEntries
}

/** What is final long enough to leave the journal. All ages are by the store's time. */
export interface EndedEntries {
  /** Oldest end first, after a position. */
  select(of: { olderThanMs: number; after?: EndedPosition; limit: number }): Promise<readonly EndedEntry[]>
  /** Where entries that are not final stand. */
  openPlaces(): Promise<readonly EntryPlace[]>
  /** Whole entries; those that cannot be read are missing. */
  read(keys: readonly string[], onDamage: (key: string, error: unknown) => void): Promise<readonly Entry[]>
  /**
   * Removes entries, which are in a file by now, and leaves their outcome behind. Their hashes, their client order ids and what is recorded
   * under their Idempotency-Keys stay. Returns the keys of those that were still there.
   */
  moveOut(entries: readonly Entry[]): Promise<readonly string[]>
  /** Notes from time to time which event is the newest, so that it is known later which are old. */
  markEvents(): Promise<void>
  /** Deletes some old events, never the newest one. Returns whether there may be more. */
  deleteEvents(olderThanMs: number): Promise<boolean>
}

/** Where a page of ended entries begins: after this one. */
export interface EndedPosition {
  /** Milliseconds of the store's time. */
  readonly endedAt: number
  readonly key: string
}

/** A nonce of a wallet, or of who signs on an exchange's own rail. */
export interface EntryPlace extends RailId {
  /** By `addressKey`. */
  readonly signer: string
  readonly nonce: number
}

export interface EndedEntry extends EndedPosition {
  /** It placed an order of which nobody knows yet that it ended. */
  readonly hasOpenOrder: boolean
}

/** This server's lease of a queue. Every write carries it and is refused once the queue has another owner. */
export interface Lease {
  /** chain/network/address, or chain/network/connector/address on a connector's own rail. */
  readonly queue: string
  /** Rises with every change of owner. */
  readonly fencingToken: number
}

/** Keeps new entries from being written where another server has stored by then that the answer to an equal request was lost. The embedded store has no other. */
export interface LossCheck {
  readonly query: LossQuery
  refuse(): SluiceError
}

/** SQL in two parts, so that the first one's rows can be locked: what they say when they are. */
export interface LossQuery {
  /** The requests that it is about. */
  readonly equal: RawBuilder<unknown>
  /** Of one of them: whether its answer was lost. */
  readonly isLost: RawBuilder<boolean>
}

/** One call's claim of an Idempotency-Key. Writes that carry it are refused once another call has taken the key over. */
export interface KeyClaim {
  readonly client: string
  readonly path: string
  readonly key: string
  readonly claim: number
}

/** The answer to a request with an Idempotency-Key, now and whenever it is repeated. */
export interface RecordedAnswer {
  claim: KeyClaim
  status: number
  body: string
}

/** A rail: the chain's where no connector is named. With an address, one queue on it. */
export interface OnRail {
  readonly connector?: string
  readonly address?: string
}

export interface EntryFilter extends PairFilter {
  chain?: string
  network?: string
  address?: string
  /** Only entries of these addresses, by `addressKey`: those that the caller may see. */
  addresses?: ReadonlySet<string>
  state?: TransactionState
  txHash?: string
  idempotencyKey?: string
  requestId?: string
  nonce?: number
  on?: OnRail
  /** A caller's id. */
  client?: string
  kind?: string
  connector?: string
  /** Only entries of these. */
  connectors?: ReadonlySet<string>
  /** Requested at this time or later, and before that one, by the server's clock: milliseconds since the Unix epoch. */
  from?: number
  to?: number
  /** Archived ones, too. By hash, request or Idempotency-Key they are always listed. Not with `on`. */
  archived?: boolean
  /** As callers are shown them: final ones without calls, memo, about and receipt, which take half of the time to read. */
  shownOnly?: boolean
  /** At most 500. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
}

export interface EntryPage {
  /** Newest first. */
  entries: readonly Entry[]
  /** Keys of entries of the page that cannot be read. */
  damaged?: readonly string[]
  nextCursor?: string
}

/** A change of a transaction, for `/events`. */
export interface JournalEvent {
  /** Rises in the order in which changes became durable. No event is ever inserted before one that was read. */
  id: number
  entry: Entry
}

/** The queue has another owner, or another call has taken the Idempotency-Key over. Nothing was written. */
export class OwnershipLostError extends SluiceError {
  readonly lost: 'queue' | 'key'

  constructor(what: string, { lost = 'queue' }: { lost?: 'queue' | 'key' } = {}) {
    super('OVERLOADED', `${what} Nothing was sent for this request. Try again.`, { retryAfterSeconds: 1 })
    this.lost = lost
  }
}

/** What else belongs into a database transaction of the journal. A throw undoes all of it. */
export type WithinWrite = (tx: Transaction<Tables>) => Promise<void>

/** What budgets do where new entries are written. */
export interface ReservingWrite {
  readonly within: WithinWrite
  /** The same as a part of one statement, where it can be. */
  part(): ReservationPart | undefined
}

/** How one kind of database writes the journal: checks and rows in one transaction. */
export interface JournalWriter {
  /** @param within nothing of it stays if this writes nothing */
  write(entries: readonly Entry[], lease: Lease, answer: RecordedAnswer | undefined, within: WithinWrite | undefined): Promise<boolean>
  /** @throws OrderIdUsedError */
  open(
    entries: readonly Entry[],
    lease: Lease,
    claim: KeyClaim | undefined,
    orders: readonly ClientOrder[],
    stops: StopQuery | undefined,
    reserving: ReservingWrite | undefined,
    lossCheck: LossCheck | undefined,
  ): Promise<void>
  /** Writes nothing else, and only while the lease is ours. */
  withLease(lease: Lease, stops: StopQuery | undefined, within: WithinWrite | undefined): Promise<void>
  /**
   * The highest event id below which no further event can appear. Waits for writes that are under way. Absent where events become visible
   * in the order of their ids.
   */
  settledEventId?(): Promise<number>
}

/** @throws OwnershipLostError if this server no longer owns the queue, or this call the key */
export function checkOwnership({ ownsQueue, ownsKey }: { ownsQueue: boolean; ownsKey: boolean }): void {
  if (!ownsQueue) throw new OwnershipLostError('Another server has taken the wallet over.')
  if (!ownsKey) throw new OwnershipLostError('Another call with the same Idempotency-Key has taken over.', { lost: 'key' })
}

/** A later version of an entry, and the version it was made from. */
export interface Change {
  before: Entry
  after: Entry
}

/** The journal with versions and change notifications: every write is reported once it is durable. */
export interface Recorder extends Omit<Journal, 'write'> {
  /** Writes all changes or none. Returns the stored versions; undefined if another writer changed an entry in between. */
  write(changes: readonly Change[], lease: Lease, answer?: RecordedAnswer): Promise<readonly Entry[] | undefined>
  /**
   * Applies a change to the newest version, again if another writer was faster. A change that returns its argument writes nothing.
   * Returns the stored entry.
   * @param entry as it was last read
   */
  amend(entry: Entry, change: (entry: Entry) => Entry, lease: Lease): Promise<Entry>
}

/** One of the writers of an entry always succeeds, so this many conflicts in a row are a defect. */
export const maxWriteTries = 100

/** @param onChange receives every entry that was written, and its version before (absent: new) */
export function createRecorder(journal: Journal, onChange: (entry: Entry, before?: Entry) => void, nowMs: () => number): Recorder {
  const write: Recorder['write'] = async (changes, lease, answer) => {
    const updatedAt = nowMs()
    const entries = changes.map(({ before, after }) => ({ ...after, version: before.version + 1, updatedAt }))
    const finalBefore = new Set(changes.flatMap(({ before }) => (isFinal(before) ? [before.key] : [])))
    if (!(await journal.write(entries, lease, answer, finalBefore))) return undefined
    for (const [index, entry] of entries.entries()) onChange(entry, changes[index]?.before)
    return entries
  }

  return {
    ...journal,
    async open(entries, ...rest) {
      await journal.open(entries, ...rest)
      for (const entry of entries) onChange(entry)
    },
    write,
    async amend(entry, change, lease) {
      let before = entry
      for (let tries = 0; tries < maxWriteTries; tries += 1) {
        const after = change(before)
        if (after === before) return before
        const [written] = (await write([{ before, after }], lease)) ?? []
        if (written) return written
        const stored = await journal.read(before.key)
        if (!stored) throw new Error(`The journal has lost ${before.key}.`)
        before = stored
      }
      throw new Error(`The journal did not take a change of ${entry.key} in ${maxWriteTries} tries.`)
    },
  }
}
