import type { At, Chain, Head, Token } from '../../core/contracts/index.ts'

/**
 * A call to be made, before fees and nonce. `value` is wei as a decimal string. `spareGas`, a decimal string, too, is gas that it may use
 * beyond its estimate, if transactions before it change what it does.
 */
export type EvmIntent = {
  readonly to: string
  readonly data: string
  readonly value: string
  readonly spareGas?: string
  readonly alike?: GasProfile
}

/** How to tell a call's gas from simulations of others like it. */
export type GasProfile = {
  /** Calls of the same kind use the same gas, except for `units`. */
  readonly kind: string
  /** The gas of this one by its quote. */
  readonly units: string
  /** Gas besides if it is the first to write some storage. */
  readonly firstWriteUnits?: string
  /** Each pool and token of its route. A call with a new one is simulated. */
  readonly through: readonly string[]
}

export type EvmLog = { readonly address: string; readonly topics: readonly string[]; readonly data: string }

/** A receipt of a node, with quantities as numbers or decimal strings. */
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

export type Evm = { address: string; intent: EvmIntent; receipt: EvmReceipt; change: FoundLog; reader: EvmReader }

export interface Call {
  to: string
  data: string
}

/**
 * Creation code that runs among the calls of one batch without being deployed. The data that it reverts with is its result, even if that is
 * the reason of a call that it made. It is `ok: false` only if it reverts without data or does not revert.
 */
export interface Probe {
  code: string
  /** Its constructor's arguments, which go behind the code. Probes with the same code share it, because a batch has room for 48 kB. */
  args?: string
}

export interface CallResult {
  ok: boolean
  /** The returned data, or the revert's data. */
  data: string
}

/** `topics` are in order. Null stands for any topic, which may be left out at the end. A list stands for any of its topics. */
export interface LogFilter {
  address: string
  topics: readonly (string | readonly string[] | null)[]
  fromBlock: number
}

export type FoundLog = EvmLog & { readonly transactionHash: string; readonly blockNumber: number }

export interface ReadingAtBlock {
  head: Head
  results: readonly CallResult[]
}

/** How connectors read an EVM network. */
export interface EvmReader {
  readonly chainId: number
  readonly nativeCurrency: Token
  /** The token that wraps the native coin. */
  readonly wrapped: Token
  /** Tokens that routes usually pass through on this network. */
  readonly intermediates: readonly Token[]
  /**
   * Makes all calls at one block, in one round trip: by Multicall3, or by creation code that does the same if there are probes among them.
   * It takes two round trips only if the calls do not fit into creation code and a block comes in between. With `after`, at that block.
   */
  read(calls: readonly (Call | Probe)[], at: At, after?: Head): Promise<{ head: Head; results: readonly CallResult[] }>
  /**
   * The same calls by each node alone: at this block, or at its own newest one. Of those that answer for it. Absent where nodes are not to be told apart,
   * as for code of strangers.
   */
  readEach?(calls: readonly Call[], block: bigint | undefined, at: At): Promise<readonly ReadingAtBlock[]>
  /** A plain `eth_call` at the latest block. Without `to`, the data runs as creation code. A revert gives `ok: false`. */
  call(call: { to?: string; from?: string; data: string }, at: At): Promise<CallResult>
  /** The logs of a contract from a block on, oldest first, but of the newest 100,000 blocks only. */
  logs(filter: LogFilter, at: At): Promise<readonly FoundLog[]>
  /** Base fee plus tip at a block, wei per gas, without asking the network. */
  gasPriceRaw(head: Head): bigint
  /**
   * The same reader for code of strangers, and the events of blocks for it: no `eth_call` may use more gas, and whatever fails changes nothing for
   * others. `take` is called with the number of calls before each request, and may throw. A server's own has it.
   */
  isolated?(limits: { gasUnits: bigint; take(calls: number): void }): {
    reader: EvmReader
    changes: NonNullable<Chain<Evm>['changes']>
    /** Closes its connections: it is not used any more. */
    close?(): Promise<void>
  }
}
