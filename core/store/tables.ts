import type { ColumnType, Generated } from 'kysely'

/** Milliseconds since the Unix epoch. */
type Milliseconds = number
/** JSON as text: both databases keep it alike, and nothing inside is asked for in SQL. */
type JsonText = string

/** A transaction of the journal: `body` is all of it, the other columns are what is looked for. */
export interface EntryRow {
  key: string
  version: number
  /** chain/network/address: whose lane it is on. */
  lane: string
  chain: string
  network: string
  /** In lower case, as it is looked for. */
  address: string
  /** The connector whose own rail it goes by; null: the chain's. */
  via: string | null
  /** Whose key signs there, in lower case; null where it is the chain's rail. */
  signer: string | null
  state: string
  /** 0 or 1. */
  final: number
  nonce: number
  client: string
  request_id: string
  idempotency_key: string | null
  created_at: Milliseconds
  /** What events tell of it, as JSON: where this stays the same, there is nothing to tell. */
  shown: JsonText
  body: JsonText
}

/** Every hash that was ever signed, also those of attempts that another took the place of. */
export interface HashRow {
  chain: string
  network: string
  hash: string
  entry_key: string
}

/** An order of a book, under the id that its wallet uses once on a venue. */
export interface OrderRow {
  chain: string
  network: string
  connector: string
  /** The owner's address in lower case. */
  wallet: string
  client_order_id: string
  /** Sorts by age. */
  key: string
  type: string
  market: string
  entry_key: string
  /** Among what the outcome of its plan tells of. */
  place: number
  about: JsonText
  /** `free`: what used the id was never signed. */
  standing: 'open' | 'ended' | 'free'
  /** Once the exchange gave one, and it was noted. */
  order_id: string | null
  said_at: Milliseconds | null
  /** What the exchange said last. */
  said: JsonText | null
}

/** What came with an Idempotency-Key, by certificate and path. */
interface RequestRow {
  client: string
  path: string
  key: string
  /** Hash of the request's fields. */
  fingerprint: string
  /** Raised by one whenever another call takes the key over: a call that was given up can no longer journal. */
  claim: number
  /** The server that works on it. */
  server: string
  request_id: string
  created_at: Milliseconds
  /** What the request is called; empty where it came before requests were called anything. */
  tag: string
  /** The first answer; null until signed bytes are journaled. */
  status: number | null
  body: string | null
}

/** A server that runs: alive for as long as it renews its row. */
interface ServerRow {
  id: string
  /** Host and process, for people. */
  name: string
  /** By the store's own clock. */
  alive_until: Milliseconds
}

/** Who owns a lane. */
interface LaneRow {
  lane: string
  server: string
  /** Raised by one with every change of owner. */
  fence: number
  /** The server that asked for it; null where none did. */
  wanted_by: string | null
}

/** What became of transactions, in the order in which it became durable: what `/events` replays. */
export interface EventRow {
  id: Generated<number>
  entry_key: string
  chain: string
  network: string
  address: string
  at: Milliseconds
  /** The transaction as it was then. */
  body: ColumnType<JsonText, JsonText, never>
}

/** Its one row is written to see whether the store can be. */
interface ProbeRow {
  id: number
  tries: number
  ballast: string
}

export interface Tables {
  entries: EntryRow
  hashes: HashRow
  orders: OrderRow
  requests: RequestRow
  servers: ServerRow
  lanes: LaneRow
  events: EventRow
  probes: ProbeRow
}
