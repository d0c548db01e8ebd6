import type { Entry, TransactionState } from '../entry.ts'

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
  /** chain/network/address */
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
 * @throws StoreUnavailable where the store fails; Superseded where a guard or a claim does not hold any more, and nothing was kept
 */
export interface Journal {
  /** New entries of one lane, before anything is signed. */
  open(entries: readonly Entry[], guard: Guard, claim?: KeyClaim): Promise<void>
  /**
   * Later versions, all of one lane, and with them what their request is answered; false, and nothing written, where one
   * of them is not the version after the kept one.
   */
  write(entries: readonly Entry[], guard: Guard, answer?: KeptAnswer): Promise<boolean>
  read(key: string): Promise<Entry | undefined>
  /** By the hash of any attempt. */
  find(chain: string, network: string, txHash: string): Promise<Entry | undefined>
  /** All that are not final, oldest first. */
  unfinished(of: { chain: string; network: string; address?: string }): Promise<readonly Entry[]>
  /** The lanes that have something unfinished. */
  openLanes(): Promise<readonly { chain: string; network: string; address: string }[]>
  list(filter: Filter): Promise<Page>
  /** Changes after an event, oldest first, at most `limit`; of these addresses only, in lower case, where they are given. */
  eventsAfter(
    id: number,
    of: { addresses?: ReadonlySet<string>; chain?: string; network?: string; limit: number },
  ): Promise<readonly JournalEvent[]>
  /** The newest event's id; 0 where there is none. */
  lastEventId(): Promise<number>
}
