import type { At, ChainVenue, NodeState } from '../../contracts/index.ts'

export interface RpcCall {
  method: string
  /** Numbers and not bigints: they are written as JSON. */
  params: readonly unknown[]
}

export interface RpcAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  /** How many blocks older this is than what the network has shown before; absent where it is not. No evidence of what is missing. */
  behind?: number
}

/** Signed bytes as the nodes want them written, and the id by which a node says that it has them. */
export interface Signed {
  id: string
  raw: string
}

/** What each node said to signed bytes. */
export type Sent = RpcAnswer | { unreachable: string }

/** Counts calls to nodes. */
export type Meter = ChainVenue['meter']

/** A batch to one node. */
export type Ask = (calls: readonly RpcCall[]) => Promise<readonly RpcAnswer[]>

/** JSON-RPC over several nodes: the first healthy one answers, the others take over. */
export interface Rpc {
  /** The result; a node's error is thrown as RpcError, unreachable nodes as SluiceError NETWORK or RATE_LIMIT. */
  request(method: string, params: readonly unknown[], at: At): Promise<unknown>
  /** One round trip to one node: one HTTP request, or several at once where nodes take no body as long. An answer per call, in order. */
  batch(calls: readonly RpcCall[], at: At): Promise<readonly RpcAnswer[]>
  /**
   * A conversation with every node that is read from, at the same time: `ask` is a batch to one of them. What came of those in which every
   * question was answered. For what no single node is believed.
   */
  everyone<T>(talk: (ask: Ask) => Promise<T>, at: At): Promise<readonly T[]>
  /** The same signed bytes to every node that takes transactions; an answer per node, or once one took them of those that were as fast. */
  broadcast(signed: Signed, at: At): Promise<readonly Sent[]>
  /** How many blocks a head is older than the newest that was given to anybody; 0 for one of a reorganisation. */
  behind(number: bigint): number
  /** The node in use, without its secrets. */
  url(): string
  /** Its answer was of the right form and still cannot be: it is put aside where there is another one. */
  distrust(what: string): void
  /** What is known of every node; asks none. */
  nodes(): readonly NodeState[]
  stop(): Promise<void>
}
