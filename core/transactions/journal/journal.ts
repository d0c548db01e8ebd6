import type { Entry, TransactionState } from '../entry.ts'
import type { RailPlace } from '../lanes/lane-name.ts'
import type { ClientOrder, OrderJournal } from '../book-orders.ts'
import type { OnLane } from './on-lane.ts'

export interface Filter {
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
  on?: OnLane
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

/** This server's hold on a lane. Whoever writes shows it, and is refused when the lane has another owner by now. */
export interface Guard {
  /** chain/network/address, or chain/network/connector/address on a connector's own rail. */
  readonly lane: string
  readonly fence: number
}

/** One call's hold on an Idempotency-Key: journaling under it is refused once another call took the key over. */
export interface KeyClaim {
  readonly client: string
  readonly path: string
  readonly key: string
  readonly claim: number
}

/** What a request with an Idempotency-Key is answered, now and whenever it is repeated. */
export interface KeptAnswer {
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
  open(entries: readonly Entry[], guard: Guard, claim?: KeyClaim, orders?: readonly ClientOrder[]): Promise<void>
  /**
   * Later versions, all of one lane, and with them what their request is answered; false, and nothing written, where one
   * of them is not the version after the kept one.
   */
  write(entries: readonly Entry[], guard: Guard, answer?: KeptAnswer): Promise<boolean>
  read(key: string): Promise<Entry | undefined>
  /** By the hash of any attempt. */
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  /** All of a rail that are not final, or of one lane on it, oldest first. */
  unfinished(of: RailPlace & { address?: string }): Promise<readonly Entry[]>
  /** The lanes that have something unfinished. */
  openLanes(): Promise<readonly (RailPlace & { address: string })[]>
  list(filter: Filter): Promise<Page>
  /** Changes after an event, oldest first, at most `limit`; of these addresses only, in lower case, where they are given. */
  eventsAfter(
    id: number,
    of: { addresses?: ReadonlySet<string>; chain?: string; network?: string; limit: number },
  ): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastEventId(): Promise<number>
  readonly orders: OrderJournal
}
