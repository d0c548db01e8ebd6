import { SluiceError } from '../../contracts/index.ts'
import type { ClientOrder, OrderJournal } from '../book-orders.ts'
import type { Entry, TransactionState, RailId } from '../entry.ts'
import type { OnRail } from './entry-rows.ts'

export interface EntryFilter {
  chain?: string
  network?: string
  address?: string
  /** Only entries of these addresses, in lower case: what a caller may see. */
  addresses?: ReadonlySet<string>
  state?: TransactionState
  txHash?: string
  idempotencyKey?: string
  requestId?: string
  /** Common name of the certificate that asked for it. */
  client?: string
  nonce?: number
  /** Only what takes slots there. */
  on?: OnRail
  /** At most 500. */
  limit?: number
  /** `nextCursor` of the page before. */
  cursor?: string
}

export interface EntryPage {
  /** Newest first. */
  entries: readonly Entry[]
  nextCursor?: string
}

/** This server's hold on a lane. Whoever writes shows it, and is refused when the lane has another owner by now. */
export interface Lease {
  /** chain/network/address, or chain/network/connector/address on a connector's own rail. */
  readonly queue: string
  readonly fencingToken: number
}

/** One call's hold on an Idempotency-Key: journaling under it is refused once another call took the key over. */
export interface KeyClaim {
  readonly client: string
  readonly path: string
  readonly key: string
  readonly claim: number
}

/** What a request with an Idempotency-Key is answered, now and whenever it is repeated. */
export interface RecordedAnswer {
  claim: KeyClaim
  status: number
  body: string
}

/** A change of a transaction, as `/events` tells it. */
export interface JournalEvent {
  /** Increases in the order in which the changes became durable; nothing is ever inserted before one that was read. */
  id: number
  entry: Entry
}

/**
 * The write-ahead journal: what it took is durable before a promise resolves, all of a call or none of it.
 * @throws StoreUnavailable where the store fails; Superseded where a guard or a claim does not hold any more, and nothing was kept;
 * OrderTaken where a client order id was used before, and nothing was kept
 */
export interface Journal {
  /** New entries of one lane, before anything is signed, and the orders that the last of them places. */
  open(entries: readonly Entry[], guard: Lease, claim?: KeyClaim, orders?: readonly ClientOrder[]): Promise<void>
  /**
   * Later versions, all of one lane, and with them what their request is answered; false, and nothing written, where one
   * of them is not the version after the kept one.
   */
  write(entries: readonly Entry[], guard: Lease, answer?: RecordedAnswer): Promise<boolean>
  read(key: string): Promise<Entry | undefined>
  /** By the hash of any attempt. */
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  /** All of a rail that are not final, or of one lane on it, oldest first. */
  unfinished(of: RailId & { address?: string }): Promise<readonly Entry[]>
  /** The lanes that have something unfinished. */
  openQueues(): Promise<readonly (RailId & { address: string })[]>
  list(filter: EntryFilter): Promise<EntryPage>
  /** Changes after an event, oldest first, at most `limit`; of these addresses only, in lower case, where they are given. */
  eventsAfter(
    id: number,
    of: { addresses?: ReadonlySet<string>; chain?: string; network?: string; limit: number },
  ): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastEventId(): Promise<number>
  readonly orders: OrderJournal
}

/** Another server owns the lane, or another call the Idempotency-Key, by now. What was to be written was not. */
export class OwnershipLost extends SluiceError {
  readonly lost: 'lane' | 'key'

  constructor(what: string, { lost = 'lane' }: { lost?: 'lane' | 'key' } = {}) {
    super('OVERLOADED', `${what} Nothing was sent for this request. Try again.`, { retryAfterSeconds: 1 })
    this.lost = lost
  }
}

/** How a kind of database keeps entries: with what it checks, all or nothing. */
export interface JournalWriter {
  /** @throws OrderTaken */
  open(entries: readonly Entry[], guard: Lease, claim: KeyClaim | undefined, orders: readonly ClientOrder[]): Promise<void>
  write(entries: readonly Entry[], guard: Lease, answer: RecordedAnswer | undefined): Promise<boolean>
}

/** @throws Superseded where the lane or the key is not this server's, or this call's, any more */
export function checkOwnership({ ownsLane, ownsKey }: { ownsLane: boolean; ownsKey: boolean }): void {
  if (!ownsLane) throw new OwnershipLost('Another server has taken the wallet over.')
  if (!ownsKey) throw new OwnershipLost('Another call with the same Idempotency-Key has taken over.', { lost: 'key' })
}

/** A later version of an entry, and the one that it was made of. */
export interface Change {
  before: Entry
  after: Entry
}

/** The journal, as the parts of a transaction's way write to it: every write is told of once it is durable. */
export interface Recorder extends Omit<Journal, 'write'> {
  /** All of them or none: as they are kept; undefined where one was written by somebody else meanwhile. */
  write(changes: readonly Change[], guard: Lease, answer?: RecordedAnswer): Promise<readonly Entry[] | undefined>
  /**
   * Applies a change to the newest version, again where somebody else wrote in between; a change that returns what it got
   * writes nothing. Gives the entry as it is then kept.
   * @param entry as it was last seen
   */
  amend(entry: Entry, change: (entry: Entry) => Entry, guard: Lease): Promise<Entry>
}

/** Every write of one entry in a row is won by somebody, so this many losses are a defect. */
const maxTries = 100

/** @param onChange told of every entry that was written, and what it was before (absent: new) */
export function createRecorder(journal: Journal, onChange: (entry: Entry, before?: Entry) => void, nowMs: () => number): Recorder {
  async function write(changes: readonly Change[], guard: Lease, answer?: RecordedAnswer): Promise<readonly Entry[] | undefined> {
    const updatedAt = nowMs()
    const later = changes.map(({ before, after }) => ({ ...after, version: before.version + 1, updatedAt }))
    if (!(await journal.write(later, guard, answer))) return undefined
    for (const [index, entry] of later.entries()) onChange(entry, changes[index]?.before)
    return later
  }

  return {
    read: (key) => journal.read(key),
    find: (chain, network, txHash) => journal.find(chain, network, txHash),
    unfinished: (of) => journal.unfinished(of),
    openQueues: () => journal.openQueues(),
    eventsAfter: (id, of) => journal.eventsAfter(id, of),
    lastEventId: () => journal.lastEventId(),
    list: (filter) => journal.list(filter),
    orders: journal.orders,
    async open(entries, guard, claim?: KeyClaim, orders?: readonly ClientOrder[]) {
      await journal.open(entries, guard, claim, orders)
      for (const entry of entries) onChange(entry)
    },
    write,
    async amend(entry, change, guard) {
      let before = entry
      for (let tries = 0; tries < maxTries; tries += 1) {
        const after = change(before)
        if (after === before) return before
        const [written] = (await write([{ before, after }], guard)) ?? []
        if (written) return written
        const kept = await journal.read(before.key)
        if (!kept) throw new Error(`The journal has lost ${before.key}.`)
        before = kept
      }
      throw new Error(`The journal did not take a change of ${entry.key} in ${maxTries} tries.`)
    },
  }
}
