import type { At, Family, Head, NodeState, Token } from '../../contracts/index.ts'

/** A call to be made: before fees and nonce. `value` in wei, a decimal string. */
export type EvmIntent = { readonly to: string; readonly data: string; readonly value: string }

export type EvmLog = { readonly address: string; readonly topics: readonly string[]; readonly data: string }

/** A receipt as the node gave it, with quantities as numbers or decimal strings. */
export type EvmReceipt = {
  readonly status: 0 | 1
  readonly transactionHash: string
  readonly blockNumber: number
  readonly blockHash: string
  readonly from: string
  readonly to: string | null
  readonly gasUsed: string
  readonly effectiveGasPrice: string
  readonly logs: readonly EvmLog[]
}

export type Evm = { address: string; intent: EvmIntent; receipt: EvmReceipt; reader: EvmReader }

export const evm: Family<Evm> = { name: 'evm', keys: 'secp256k1' }

export interface Call {
  to: string
  data: string
}

/**
 * Creation code that runs without being deployed, among the calls of one batch. What it reverts with is its result, the reasons of
 * what it calls included: it is `ok: false` only where it reverts with nothing or not at all.
 */
export interface Probe {
  code: string
  /** Its constructor's arguments, put behind the code: probes of one code share it, for a batch has room for 48 kB. */
  args?: string
}

export interface CallResult {
  ok: boolean
  /** What was returned, or the revert's data. */
  data: string
}

/** What connectors read an EVM network by. */
export interface EvmReader {
  readonly chainId: number
  readonly nativeCurrency: Token
  /** The token that wraps the native coin. */
  readonly wrapped: Token
  /** Tokens that routes usually pass through on this network. */
  readonly intermediates: readonly Token[]
  /**
   * All calls at one block, in one round trip (Multicall3; where there are probes among them, creation code that does the same).
   * Only where those are more than creation code may hold, and a block comes in between, is it two.
   */
  read(calls: readonly (Call | Probe)[], at: At): Promise<{ head: Head; results: readonly CallResult[] }>
  /** A plain `eth_call` at the latest block; without `to`, the data runs as creation code. A revert comes back as `ok: false`. */
  call(call: { to?: string; from?: string; data: string }, at: At): Promise<CallResult>
  /** Base fee plus tip at a block, wei per gas, from what is already known. */
  gasPriceRaw(head: Head): bigint
}

export interface RpcAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  /** How many blocks older this is than what the network has shown before; absent where it is not. No evidence of what is missing. */
  behind?: number
}

/** Signed bytes in hexadecimal, and the hash by which a node says that it has them. */
export interface Signed {
  id: string
  raw: string
}

/** JSON-RPC over several nodes: the first healthy one answers, the others take over. */
export interface Rpc {
  /** The result; a node's error is thrown as RpcError, unreachable nodes as SluiceError NETWORK or RATE_LIMIT. */
  request(method: string, params: readonly unknown[], at: At): Promise<unknown>
  /** One HTTP request; an answer per call, in order. */
  batch(calls: readonly { method: string; params: readonly unknown[] }[], at: At): Promise<readonly RpcAnswer[]>
  /** The same signed bytes to every node that takes transactions; an answer per node, or once one took them of those that were as fast. */
  broadcast(signed: Signed, at: At): Promise<readonly (RpcAnswer | { unreachable: string })[]>
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
