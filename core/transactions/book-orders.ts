import type { Decimal, Json, OrderState } from '../contracts/index.ts'
import type { Entry } from './entry.ts'

/**
 * An order of a book that a plan places: journaled with the entry of the plan's last step, in the same write, under the id that its caller
 * gave it. A wallet uses an id once on a venue, whichever type of book it is for.
 */
export interface ClientOrder {
  readonly clientOrderId: string
  /** CLOB, MARGIN_CLOB or PERP_CLOB. */
  readonly type: string
  /** BASE-QUOTE */
  readonly market: string
  /** Its place among what the plan's outcome tells of. */
  readonly index: number
  /** The verb's: what shows the order in the caller's terms. */
  readonly about: Json
}

/** What an exchange said of an order. */
export interface SaidOfOrder {
  readonly orderId?: string
  readonly state: OrderState
  readonly filledAmount?: Decimal
  readonly averagePrice?: Decimal
  readonly reason?: string
  /** Milliseconds since the Unix epoch. */
  readonly updatedAt: number
}

/** An order in the journal. */
export interface JournaledOrder extends ClientOrder {
  /** Sorts by age; the cursor of a page. */
  readonly key: string
  /** The transaction, or signed action, that placed it. */
  readonly entry: Entry
  readonly said?: SaidOfOrder
}

export interface OrderFilter {
  chain: string
  network: string
  connector: string
  type?: string
  /** The owner's. */
  address: string
  market?: string
  clientOrderId?: string
  /** Once one was noted. */
  orderId?: string
  /** Without those that are known to have ended. */
  openOnly?: boolean
  limit: number
  /** Key of the last of the page before. */
  before?: string
}

/** The orders of books in the journal. @throws StoreUnavailable */
export interface ClientOrders {
  /** Newest first. */
  list(filter: OrderFilter): Promise<readonly JournaledOrder[]>
  /** Keeps what the exchange said last, so that what ended needs not be asked for again. What ended stays as it ended; old news change nothing. */
  note(order: JournaledOrder, said: SaidOfOrder): Promise<void>
}

/** Orders of a venue are told apart by it and by the wallet that they are for. */
export interface OrderVenue {
  chain: string
  network: string
  connector: string
  address: string
}

/** What the way of an order asks, besides. */
export interface OrderJournal extends ClientOrders {
  /** The first of these ids that cannot be used, if any. An id is free again once what used it was given up before it was signed. */
  taken(venue: OrderVenue, clientOrderIds: readonly string[]): Promise<string | undefined>
}

const ends: ReadonlySet<OrderState> = new Set(['FILLED', 'CANCELED', 'EXPIRED', 'REJECTED', 'FAILED'])

export const isEnd = ({ state }: Pick<SaidOfOrder, 'state'>): boolean => ends.has(state)
