import { setMaxListeners } from 'node:events'
import { type At, type ChainVenue, type NodeState, SluiceError } from '../../core/contracts/index.ts'

/** A node's word on the chain's head. */
export interface ReportedHead {
  number: number
  /** Tells a block from another of the same number. Without it a reorganisation shows only by heads that stay lower for a while. */
  hash?: string
  /** Seconds. Only differences count: where nodes do not say, the number times the usual time between blocks will do. */
  timestamp: number
}

/** How nodes of a chain family are spoken to, and what their answers say of the nodes themselves. */
export interface Dialect {
  /** How a node shows that it serves this very network: asked before its first use, and after all connections to it were lost. */
  identity: {
    call: RpcCall
    /** Undefined where it is this network. Garbage is no other one: a node that was right before goes on getting signed bytes. */
    fault(result: unknown): { is: 'other' | 'garbage'; what: string } | undefined
  }
  /** Asked of every node, to compare them. */
  headCall: RpcCall
  /** The head where answers tell it: that to `headCall`, and what is asked for another reason and tells it by the way. */
  headIn(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): ReportedHead | undefined
  /** Asks for what tells one fork from another at a block far below the head. Absent: forks are not looked for. */
  fork?: {
    call(number: number): RpcCall
    /** Undefined where the node does not say. */
    read(result: unknown): string | undefined
  }
  /** Gives a node signed bytes; one that takes them answers with their id. */
  sendCall(raw: string): RpcCall
  /** Whether a working node may have meant this result; one that did not is broken, and another is asked in its place. */
  isPlausible(call: RpcCall, result: unknown): boolean
  /** What a JSON-RPC error says of the node, where it is not about the call. Without a method it is for a batch as a whole. */
  refusal(code: number, method: string | undefined): NodeFailure | undefined
  /** The longest body of a request that nodes take: a longer batch goes in several. Absent: as long as it likes. */
  maxBodyBytes?: number
  /** The body of an answer, which may have bigints for integers; throws where it is no JSON. `JSON.parse` where absent. */
  parse?(body: string): unknown
}

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
export interface SignedBytes {
  id: string
  raw: string
}

/** What each node said to signed bytes. */
export type BroadcastAnswer = RpcAnswer | { unreachable: string }

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
  onEveryNode<T>(talk: (ask: Ask) => Promise<T>, at: At): Promise<readonly T[]>
  /** The same signed bytes to every node that takes transactions; an answer per node, or once one took them of those that were as fast. */
  broadcast(signed: SignedBytes, at: At): Promise<readonly BroadcastAnswer[]>
  /** How many blocks a head is older than the newest that was given to anybody; 0 for one of a reorganisation. */
  behind(number: bigint): number
  /** The node in use, without its secrets. */
  url(): string
  /** Its answer was of the right form and still cannot be: it is put aside where there is another one. */
  markUnhealthy(what: string): void
  /** What is known of every node; asks none. */
  nodes(): readonly NodeState[]
  stop(): Promise<void>
}

/** A node's own answer that a call cannot be done (a revert, bad parameters): no failure of the node. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

type FailureKind = 'unreachable' | 'rate-limited' | 'wrong-chain'

/** One node could not do its work; another may. The message holds no secret. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly kind: FailureKind
  readonly retryAfterSeconds: number | undefined

  constructor(kind: FailureKind, message: string, retryAfterSeconds?: number) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What the caller is told when no node of a network is left. */
export function noNodeLeft(network: string, failures: readonly NodeFailure[], retryAfterSeconds: number): SluiceError {
  if (failures.length === 0) {
    return new SluiceError('NETWORK', `${network} has no RPC node: set rpcUrls for it in conf/chains.`, { retryAfterSeconds })
  }
  const reasons = failures.map((failure) => failure.message).join('; ')
  return failures.every((failure) => failure.kind === 'rate-limited')
    ? new SluiceError(
        'RATE_LIMIT',
        `Every RPC node of ${network} is over its limit: ${reasons}. Try again later, or add nodes to its rpcUrls.`,
        { retryAfterSeconds },
      )
    : new SluiceError('NETWORK', `No RPC node of ${network} can be used: ${reasons}. Try again, or check its rpcUrls.`, {
        retryAfterSeconds,
      })
}

/** Waits for shared work only as long as this caller wants to; the work itself goes on. */
export function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const forget = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(forget)
  })
}

/** Calls back when the signal aborts, until the returned function is called. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  // One signal bounds any number of calls under way: that is no leak, which Node would warn of from the eleventh on.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}
