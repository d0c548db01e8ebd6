import type { ColumnType, Generated } from 'kysely'
import type { EntryFilters } from './entry-filters.ts'

/** Milliseconds since the Unix epoch. */
type Milliseconds = number
/** JSON as text: every database stores it alike, and no SQL looks inside. */
type JsonText = string
/** Binary data, as databases take and give it. */
export type StoredBytes = Uint8Array | ArrayBuffer

/** A transaction of the journal: `body` has all of it but key, request and Idempotency-Key; the other columns are for queries. */
export interface EntryRow extends EntryFilters {
  key: string
  version: number
  /** The nonce queue: `Lease.queue`. Empty once it is final, and every permit that it signed is used or expired. */
  lane: string
  chain: string
  network: string
  /** By `addressKey`, for queries. */
  address: string
  /** The connector whose own rail it is on; null: the chain's rail. */
  via: string | null
  /** Whose key signs there, by `addressKey`; null on the chain's rail. */
  signer: string | null
  state: string
  /** 0 or 1. */
  final: number
  nonce: number
  request_id: string
  idempotency_key: string | null
  /** A digest of what callers see of it. There is no event where this stays the same. */
  shown: string
  /** Packed JSON (`compact.ts`). */
  body: StoredBytes
}

interface EntryTable extends EntryRow {
  /** The store's time at which it became final. Only of meaning where `final` is 1: it says when the entry may be archived. */
  ended_at: Generated<number | null>
}

/**
 * What stays of an entry in the archive: its key, by whom it is found, and its outcome. Its rows in `hashes`, `orders` and `requests` stay,
 * too.
 */
export interface ArchivedRow extends EntryFilters {
  key: string
  chain: string
  network: string
  /** By `addressKey`. */
  address: string
  request_id: string
  idempotency_key: string | null
  /** The entry without calls, memo, signed bytes and receipt: packed JSON. */
  body: StoredBytes
}

/** The newest event's id at moments of the store's time: says which events are old. */
interface EventMarkRow {
  id: number
  elapsed: number
}

/** Every hash that was ever signed, also of replaced attempts. */
export interface HashRow {
  chain: string
  network: string
  /** `hashBytes` */
  hash: StoredBytes
  entry_key: string
}

/** An order in a book, under the client order id, which its wallet uses once on an exchange. */
export interface OrderRow {
  chain: string
  network: string
  connector: string
  /** The owner's address, by `addressKey`. */
  wallet: string
  client_order_id: string
  /** Sorts by age. */
  key: string
  type: string
  market: string
  entry_key: string
  /** `ClientOrder.index` */
  place: number
  about: JsonText
  /** `free`: the entry that used the id was never signed. */
  standing: 'open' | 'ended' | 'free'
  /** Null until the exchange has reported one. */
  order_id: string | null
  said_at: Milliseconds | null
  /** The exchange's last report. */
  said: JsonText | null
  /** What is known of its fills (`order-fills.ts`); null: none. */
  fills: JsonText | null
}

/**
 * A request with an Idempotency-Key, by certificate and path. It stays when its transactions leave the journal: key, fingerprint and answer
 * are here.
 */
interface RequestRow {
  client: string
  path: string
  key: string
  /** Hash of the request's fields. */
  fingerprint: string
  /** Rises by one whenever another call takes the key over: the earlier call cannot write to the journal any more. */
  claim: number
  /** The server that works on it; empty if none does. */
  server: string
  request_id: string
  /** By the clock of the server's machine: for people. */
  created_at: Milliseconds
  /**
   * The store's time from which it ages, if certainly nothing was journaled under the key. Null: it is never deleted, because something was
   * made under it, or may have been.
   */
  ages_from: Generated<number | null>
  /** Name of the request, while it has no answer. */
  tag: string
  /** The first answer, packed; null until signed bytes are journaled. The journal's entries do not have it. */
  status: number | null
  body: StoredBytes | null
}

/** A running server: alive as long as it renews its row. */
interface ServerRow {
  id: string
  /** Host and process, for people. */
  name: string
  /** By the database's own clock. */
  alive_until: Milliseconds
  /** The newest migration that it knows. */
  migration: string
  /** Those of clients, by its conf/clients.yml; null until it has said them. */
  limits: string | null
}

/** The lease of a nonce queue (`Lease`). */
interface LaneRow {
  lane: string
  server: string
  /** The fencing token: rises by one with every change of owner. */
  fence: number
  /** The server that asked for it; null if none did. */
  wanted_by: string | null
}

/** Changes of transactions in the order in which they became durable, for `/events`. One whose entry is gone from journal and archive is never shown. */
export interface EventRow {
  id: Generated<number>
  entry_key: string
  /** `walletNumber` of the entry's address. */
  wallet: number
  /** What the event has of its own. */
  change: ColumnType<JsonText, JsonText, never>
}

/** A transaction that took more from the wallet, or brought less, than its plan was allowed. Its plugin is quarantined until all of its rows are lifted. */
export interface BreachRow {
  /** Of the journal. */
  entry_key: string
  plugin: string
  /** By the clock of the server's machine: for people. */
  at: Milliseconds
  /** What `Breach` has besides. */
  body: JsonText
  /** Null while it counts. */
  lifted_at: Milliseconds | null
}

/** Something that an operator has stopped (`Stop`). */
export interface StopRow {
  id: Generated<number>
  /** By the clock of the server's machine: for people. */
  set_at: Milliseconds
  /** Null while it is in force. */
  lifted_at: Milliseconds | null
  mode: string
  scope: string
  /** A wallet by `addressKey`, or a client's id; empty for all. */
  subject: string
  /** The id of a client. */
  set_by: string
  request_id: string
  reason: string | null
  lifted_by: string | null
}

/** What one owner of limits has spent, and what its open transactions hold (`core/limits/account.ts`), what its wallets held (`holdings.ts`), or since when
 * tokens of a network have a market (`core/market/market-ages.ts`). */
interface BudgetRow {
  owner: string
  body: JsonText
}

/** What one open transaction holds. Deleted when it is settled. */
export interface ReservationRow {
  entry_key: string
  owner: string
  /** Entries of one nonce: at most one of them is mined. */
  nonce: string
  body: JsonText
}

/** What was counted for an owner and may come back (`core/limits/refundable.ts`). */
interface RefundableRow {
  name: string
  owner: string
  /** By the store's time. */
  counted_at: Milliseconds
  body: JsonText
}

/** What a wallet held of a token at a block (`core/books/checkpoints.ts`). */
interface CheckpointRow {
  chain: string
  network: string
  /** By `addressKey`, as the token. */
  wallet: string
  token: string
  block: number
  /** Smallest units. */
  balance: string
  /** The block's own time. */
  block_time: Milliseconds
  /** How many transactions the wallet had sent; null where that was not kept. */
  nonce: number | null
}

/** A request that waits, or waited, for a second person (`core/limits/approvals.ts`). Its outcome is the answer under its key in `requests`. */
export interface ApprovalRow {
  id: Generated<number>
  /** By the clock of the server's machine, as the others but `expires_elapsed`. */
  made_at: Milliseconds
  /** It expires by this clock or by the store's time, whichever says so first. */
  expires_at: Milliseconds
  expires_elapsed: number
  decided_at: Milliseconds | null
  client: string
  path: string
  /** The Idempotency-Key; of a request without one a key of the server's own. */
  key: string
  /** SHA-256 of the certificate that asked. */
  certificate: string
  endpoint: string
  /** The wallet, by `addressKey`. */
  address: string
  /** Of the request, as in `requests`. */
  fingerprint: string
  request_id: string
  state: string
  decided_by: string | null
  /** Packed JSON: the request's fields, and what it did when it began to wait. */
  body: StoredBytes
}

/** Whether the answer of a request without an Idempotency-Key reached its caller (`core/transactions/deliveries.ts`). */
export interface DeliveryRow {
  /** The Idempotency-Key of what is done for it. */
  id: string
  /** The name of a plugin. */
  interface: string
  client: string
  fingerprint: string
  /** Whose connection it is. */
  server: string
  /** `open`: its connection stands, as far as is known. `failed`: its transaction can never succeed, and an equal request is another. */
  state: 'open' | 'lost' | 'delivered' | 'uncollected' | 'failed'
  /** When the request that has it came, by the clock of the server's machine. */
  asked_at: Milliseconds
  /** Since when its client may know that the answer was lost; 0 where it was not, or its server has ended without a word. */
  lost_at: Milliseconds
  stale_ms: number
  collect_ms: number
  /** Rises with each request that takes the place of another: only the newest one changes the row. */
  joins: number
  /** Answers that did not reach their caller. */
  losses: number
  /** What is done for it. */
  prepared: JsonText
  /** Names the answer to the request that has it in reports of `sluice proxy` (`storedAnswerId`). Empty where nobody reports. */
  answer_id: string
}

/** A client was refused what it asked of a position, and was not answered since (`core/transactions/refused-positions.ts`). */
export interface RefusedPositionRow {
  client: string
  chain: string
  network: string
  connector: string
  version: string
  /** Its id, or the hash of the transaction that opens it. */
  token_id: string
  asked: 'position' | 'close'
  /** By the clock of the server's machine. */
  refused_at: Milliseconds
  /** The name of the error; null: its answer did not reach it. */
  error: string | null
}

/** What a client has set for itself by an interface (`preferences.ts`). */
interface PreferenceRow {
  /** The name of a plugin. */
  interface: string
  client: string
  name: string
  value: string
}

/** One reading of a network's market (`core/market/kept-samples.ts`). */
interface MarketSampleRow {
  chain: string
  network: string
  /** Of one run of a server. */
  series: string
  /** By the steady clock of that run. */
  at: Milliseconds
  /** Hash of what the values depend on besides: another one makes them incomparable. */
  terms: string
  /** By the time of day of the database. */
  clock: Milliseconds
  /** The store's time. */
  elapsed: Milliseconds
  /** The newest block when it was made. */
  block_number: number
  block_hash: string
  /** Seconds since the Unix epoch. */
  block_time: number
  /** JSON of what each token was worth. */
  body: string
}

/** Where keys of entries are ahead of the time of their request (`core/transactions/journal/key-leads.ts`). */
interface KeyLeadRow {
  /** The time of the first of these keys. */
  key_ms: Milliseconds
  /** Since when entries have them. */
  created_ms: Milliseconds
}

/** A client that could trade before there was the permission thin, and keeps it. */
interface KeptThinRow {
  client: string
}

/** Something that somebody is told of (`core/alerts/alert-table.ts`), while it lasts. */
export interface AlertRow {
  rule: string
  /** What it is about, within its rule. */
  subject: string
  severity: string
  /** The server that sees it, by its id: that one says when it is over. */
  server: string
  /** By the clock of the server's machine, as the others. */
  raised_at: Milliseconds
  /** The last time, to a minute or so. */
  found_at: Milliseconds
  /** Null: nobody was told of it yet. */
  told_at: Milliseconds | null
  /** Null while it lasts. */
  resolved_at: Milliseconds | null
  /** A sentence about it. */
  words: string
}

/** What is to be told by one channel (`core/alerts/outbox.ts`). Deleted a week after it was delivered or given up. */
export interface AlertMessageRow {
  id: Generated<number>
  channel: string
  rule: string
  made_at: Milliseconds
  state: 'waiting' | 'delivered' | 'failed'
  tries: number
  next_at: Milliseconds
  /** The server that delivers it now, and until when nobody else does. */
  server: string | null
  claimed_until: Milliseconds
  /** When it was delivered or given up. */
  ended_at: Milliseconds | null
  reason: string | null
  body: JsonText
}

/** What nobody is told of for a while. */
export interface AlertSilenceRow {
  /** Empty: all rules. */
  rule: string
  /** Empty: all of the rule. */
  subject: string
  until: Milliseconds
  set_by: string
  reason: string | null
}

/** Its one row has the store's time (`store-time.ts`). */
interface StoreTimeRow {
  id: number
  /** Milliseconds. */
  elapsed: number
}

/** Its one row is written to find out whether the store can be written. */
interface ProbeRow {
  id: number
  tries: number
  ballast: string
}

export interface Tables {
  entries: EntryTable
  archived: ArchivedRow
  hashes: HashRow
  orders: OrderRow
  requests: RequestRow
  servers: ServerRow
  lanes: LaneRow
  events: EventRow
  event_marks: EventMarkRow
  breaches: BreachRow
  stops: StopRow
  kept_thin: KeptThinRow
  key_leads: KeyLeadRow
  market_samples: MarketSampleRow
  budgets: BudgetRow
  reservations: ReservationRow
  refundable: RefundableRow
  approvals: ApprovalRow
  checkpoints: CheckpointRow
  deliveries: DeliveryRow
  refused_positions: RefusedPositionRow
  preferences: PreferenceRow
  alerts: AlertRow
  alert_messages: AlertMessageRow
  alert_silences: AlertSilenceRow
  probes: ProbeRow
  store_time: StoreTimeRow
}
