/** Data that can be journaled, logged and sent between processes. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The types in which chain families differ. A kit fixes them: `const evm: Family<Evm> = { name: 'evm' }`. */
export interface Types {
  address: string
  /** One transaction to be made, before fees and nonce. */
  intent: Json
  receipt: Json
  /** One event in a block, for EVM a log; or `AccountImage`, where states are those of accounts. */
  change: Json
  /** The family's client for reading the chain. */
  reader: object
}

/** A connector serves only chains of its own family. Core names no family. */
export interface Family<F extends Types = Types> {
  readonly name: string
  /** The elliptic curve of its wallets' keys. */
  readonly keys: 'secp256k1' | 'ed25519'
  /** How connectors read the chain that run in a process of their own. Absent: connectors of the family run in the server. */
  readonly remote?: RemoteReading<F['reader']>
  /** Carries the types; never set. */
  readonly types?: F
}

/**
 * A family's client for reading the chain, in two halves: connectors elsewhere get one that asks the server's. Everything between them is data;
 * a bigint may be in it.
 */
export interface RemoteReading<R extends object> {
  /** In the server: what the reader knows without asking the network, after this block where one is known. */
  facts(reader: R, head: Head | undefined): unknown
  /** In the server: carries out what a connector asked for. Its code is a stranger's: whatever is no reading question is refused. */
  answer(reader: R, request: unknown, at: At): Promise<unknown>
  /**
   * In the server: what one connector's questions are read by. Whatever fails there changes nothing for others. Absent: the chain's own.
   * @param take is called with the number of calls before each request to a node, and may throw
   */
  isolated?(reader: R, take: (calls: number) => void): IsolatedReading<R>
  /** For the connector. @param facts the newest ones */
  connect(facts: () => unknown, ask: (request: unknown, at: At) => Promise<unknown>): R
}

/** A reader, and the events of blocks as `Chain.changes` has them. */
export interface IsolatedReading<R extends object> {
  readonly reader: R
  changes?(
    after: Head,
    to: Head,
    interest: { readonly follow: readonly string[]; from?(): readonly string[] | undefined },
    at: At,
  ): Promise<readonly { readonly head: Head; readonly changes: readonly Json[]; readonly from?: readonly string[] }[] | 'forked'>
  /** Nobody asks it any more: its connections are closed. */
  close?(): Promise<void>
}

/**
 * What an account holds: a change of a family whose states are accounts, and not the events of blocks. It replaces what was known of the account. A
 * state is never changed by an image of it that is older than another one that it includes.
 */
export type AccountImage<D extends Json = Json> = {
  readonly address: string
  /** After which the account holds this. */
  readonly slot: number
  /** Null where there is no such account. */
  readonly data: D | null
}

export interface Token {
  /** As the network's token list spells it. */
  symbol: string
  /** In the family's canonical spelling; the zero address for the native coin. */
  address: string
  decimals: number
  /** The coin that pays for gas. */
  native?: true
}

/** A block (or slot) for which an answer is valid. */
export interface Head {
  number: bigint
  /** Seconds since the Unix epoch. */
  timestamp: number
  hash?: string
  parentHash?: string
  /** Smallest units of the native coin per gas; absent where the chain has no base fee. */
  baseFeeRaw?: bigint
}

/** The deadline of a call. A plugin passes the signal on to everything that it awaits. */
export interface At {
  signal: AbortSignal
}

/** `start` does I/O, and is retried with backoff until it succeeds. `stop` may take five seconds. */
export interface Life {
  start?(signal: AbortSignal): Promise<void>
  stop?(): Promise<void>
}

export interface Log {
  info(fields: object, message?: string): void
  warn(fields: object, message?: string): void
}
