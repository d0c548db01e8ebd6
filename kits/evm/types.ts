import type { At, Family, Head, Token } from '../../core/contracts/index.ts'

/**
 * A call to be made: before fees and nonce. `value` in wei, a decimal string, and so is `spareGas`: what it may use beyond its estimate,
 * where others who come first have it do something else than it would do now.
 */
export type EvmIntent = {
  readonly to: string
  readonly data: string
  readonly value: string
  readonly spareGas?: string
  readonly alike?: GasProfile
}

/** By what the gas of a call is known once others like it were simulated. */
export type GasProfile = {
  /** What such calls have in common: they use as much gas, but for `units`. */
  readonly kind: string
  /** What this one uses by its quote. */
  readonly units: string
  /** What it uses besides where nobody has written what it writes before. */
  readonly firstWriteUnits?: string
  /** Each pool and token on its way: one that was not on any before is simulated. */
  readonly through: readonly string[]
}

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

export type Evm = { address: string; intent: EvmIntent; receipt: EvmReceipt; change: FoundLog; reader: EvmReader }

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

/** `topics` in order; one that may be anything is null, or left out at the end; of a list it may be any. */
export interface LogFilter {
  address: string
  topics: readonly (string | readonly string[] | null)[]
  fromBlock: number
}

export type FoundLog = EvmLog & { readonly transactionHash: string; readonly blockNumber: number }

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
   * Only where those are more than creation code may hold, and a block comes in between, is it two. With `after`, at that very block.
   */
  read(calls: readonly (Call | Probe)[], at: At, after?: Head): Promise<{ head: Head; results: readonly CallResult[] }>
  /** A plain `eth_call` at the latest block; without `to`, the data runs as creation code. A revert comes back as `ok: false`. */
  call(call: { to?: string; from?: string; data: string }, at: At): Promise<CallResult>
  /** What a contract logged from a block on, oldest first, as far as the newest 100,000 blocks. */
  logs(filter: LogFilter, at: At): Promise<readonly FoundLog[]>
  /** Base fee plus tip at a block, wei per gas, from what is already known. */
  gasPriceRaw(head: Head): bigint
}
