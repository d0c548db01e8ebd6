import type { Call, CallResult, Probe } from '../evm/types.ts'

/** Two tokens' addresses, the wrapped coin in place of the native one. */
export type Pair = readonly [string, string]

/** One pass through a pool. */
export interface Passage {
  readonly tokenIn: string
  readonly tokenOut: string
}

/** A pool at one block. `state` is the protocol's own. */
export interface Pool<State = unknown> {
  readonly address: string
  /** Two or more. */
  readonly tokens: readonly string[]
  readonly state: State
}

/** `exact: 'in'`: what comes out, rounded down; `'out'`: what must go in, rounded up: as the contracts do it, to the unit. */
export interface Passed {
  readonly amountRaw: bigint
  readonly gasUnits: bigint
}

/** The pool has more than was read of it: read it again with this. */
export interface Missing {
  readonly missing: unknown
}

/** What must be asked to know pools, and how the answers are read. Pure. */
export interface PoolReading<State> {
  readonly calls: readonly (Call | Probe)[]
  /** Those that there are and that hold something; in the order of the calls' results. */
  pools(results: readonly CallResult[]): readonly Pool<State>[]
}

/** One kind of pool: what to read, and the mathematics of its contracts on what was read. */
export interface PoolProtocol<State = unknown> {
  /** Its label in routes, configuration and requests: "v3". */
  readonly version: string
  /** Whatever lies between these pairs; more of pools that earlier swaps found wanting. */
  read(pairs: readonly Pair[], missing: readonly unknown[]): PoolReading<State>
  /** Undefined where the pool would refuse it: too little in it, too much for it. */
  pass(pool: Pool<State>, passage: Passage, exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** The marginal price without fees, in smallest units: out per in. */
  spot(pool: Pool<State>, passage: Passage): { readonly numerator: bigint; readonly denominator: bigint }
  /** What it keeps of the input, as a decimal string: "0.003". */
  fee(pool: Pool<State>): string
  /** A little of a token that a pool could lend for a moment, to see whether it moves exactly; absent where pools lend nothing. */
  loan?(pool: Pool<State>, token: string): { readonly reserveRaw: bigint }
}
