// What a chain family says of its nodes: how they are asked, and what their answers mean.
import type { ChainVenue } from '../../core/contracts/index.ts'

/** The head of the chain, as a node reports it. */
export interface ReportedHead {
  number: number
  /** Distinguishes blocks of the same number. Without it, a reorganisation shows only by heads that stay lower for a while. */
  hash?: string
  /** Seconds. Only differences count: where nodes give no time, it may be the number times the usual time between blocks. */
  timestamp: number
}

/** How to talk to the nodes of a chain family, and what their answers tell about the nodes. */
export interface Dialect {
  /** How a node shows which network it serves. It is asked before its first use, and again after all connections to it were lost. */
  identity: {
    call: RpcCall
    /** Undefined where it is this network. After garbage, a node that was right before still gets signed bytes. */
    fault(result: unknown): { is: 'other' | 'garbage'; what: string } | undefined
  }
  /** Every node is asked this, to compare them. */
  headCall: RpcCall
  /** The head, where answers contain it: the answer to `headCall`, or to a call that was made for another reason. */
  headIn(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): ReportedHead | undefined
  /** Asks for the identity of a block far below the head, to find nodes on another fork. Absent: forks are not detected. */
  fork?: {
    call(number: number): RpcCall
    /** Undefined where the node does not tell. */
    read(result: unknown): string | undefined
  }
  /** Gives signed bytes to a node. A node that accepts them answers with their id. */
  sendCall(raw: string): RpcCall
  /** Whether a working node can give this result. If not, another node is asked. */
  isPlausible(call: RpcCall, result: unknown): boolean
  /** What an error is about. Without a method it answers a whole batch. */
  judge(error: NodeError, method: string | undefined): Fault
  /** The longest request body that nodes accept. A longer batch is split. Absent: no limit. */
  maxBodyBytes?: number
  /** How a call that asks for more than a node gives at once is asked in several. Absent, or undefined: not at all. */
  split?(call: RpcCall, maxSize: number): SplitCall | undefined
  /** Parses the body of an answer, possibly with bigints for integers. Throws where it is not JSON. Absent: `JSON.parse`. */
  parse?(body: string): unknown
}

export interface SplitCall {
  readonly calls: readonly RpcCall[]
  /** @param results of the calls, in their order */
  join(results: readonly unknown[]): unknown
}

export interface RpcCall {
  method: string
  /** Written as JSON, so without bigints. */
  params: readonly unknown[]
  /** How much it asks for, in what nodes limit of its method: blocks of a range of logs, characters of calldata. Not sent. */
  size?: number
  /** It cannot be made smaller: a node is asked whatever it refused before, and a refusal teaches nothing. */
  smallest?: boolean
}

/** The code is NaN where the node gave none. */
export interface NodeError {
  code: number
  message: string
  data?: unknown
}

/** What the error of a node is about. Only a verdict is the word of the chain: every working node gives the same. */
export type Fault =
  /** The call cannot succeed: it reverts, or its sender has too little. */
  | { readonly is: 'verdict' }
  /** The node has no such method or parameter, or the question is wrong: another node is asked, too. `lacks`: it has no such method. */
  | { readonly is: 'unsupported'; readonly lacks?: 'method' }
  /** A smaller question would be answered: a batch of fewer calls, or a call of a smaller `size`. */
  | { readonly is: 'too-large'; readonly of: 'batch' | 'call' }
  /** Everything else is trouble of the node, and says nothing of the call: another node is asked. `ofNode`: it fails other calls, too; `unfit`: it says of itself that it has stalled. */
  | { readonly is: 'trouble'; readonly kind: 'unreachable' | 'rate-limited'; readonly ofNode?: true; readonly unfit?: true }

export interface RpcAnswer {
  result?: unknown
  /** `fault` is there in what a node answered, and `max` where it is too large: the size that the node is thought to take. */
  error?: NodeError & { fault?: Fault; max?: number }
  /** How many blocks this is older than what was given out before; absent where it is not older. Such an answer proves no absence. */
  behind?: number
}

/** Signed bytes in the encoding of the nodes, and the id with which a node confirms them. */
export interface SignedBytes {
  id: string
  raw: string
  /** They go to relays, and to nobody else. */
  privateOnly?: true | undefined
}

/** The answer of a node to signed bytes. */
export type BroadcastAnswer = (RpcAnswer & { node?: string }) | { unreachable: string }

/** Counts calls to nodes. */
export type Meter = ChainVenue['meter']

/** A node's answer that a call is impossible (a revert, bad parameters). The node itself works. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown
  readonly fault: Fault | undefined
  /** The node that said it, without its secrets. */
  readonly node: string | undefined

  constructor({ code, message, data, fault }: NonNullable<RpcAnswer['error']>, node?: string) {
    super(message)
    this.code = code
    this.data = data
    this.fault = fault
    this.node = node
  }
}

type FailureKind = 'unreachable' | 'rate-limited' | 'wrong-chain'

/** A node does not work; another one may. The message holds no secret. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly kind: FailureKind
  readonly retryAfterSeconds: number | undefined
  /** The node says of itself that it has stalled, or serves another network: nothing that it knows is missed. */
  readonly isUnfit: boolean

  constructor(kind: FailureKind, message: string, retryAfterSeconds?: number, isUnfit = false) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
    this.isUnfit = isUnfit
  }
}
