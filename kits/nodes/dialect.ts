import type { NodeFailure } from '../../core/kits/nodes/node/node-failure.ts'
import type { RpcAnswer, RpcCall } from '../../core/kits/nodes/types.ts'

/** A node's word on the chain's head. */
export interface SeenHead {
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
  headIn(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): SeenHead | undefined
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
  mostBodyBytes?: number
  /** The body of an answer, which may have bigints for integers; throws where it is no JSON. `JSON.parse` where absent. */
  parse?(body: string): unknown
}
