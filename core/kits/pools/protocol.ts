import type { Call, CallResult, Probe } from '../evm/types.ts'

/** Two tokens' addresses, the wrapped coin in place of the native one, in the canonical spelling (EIP-55). */
export type Pair = readonly [string, string]

/** One pass through a pool. */
export interface Passage {
  readonly tokenIn: string
  readonly tokenOut: string
}

/** A pool at one block. `state` is the protocol's own. */
export interface Pool<State = unknown> {
  /** No two pools have the same. */
  readonly address: string
  /** Two or more, in the canonical spelling. */
  readonly tokens: readonly string[]
  readonly state: State
}

/** `exact: 'in'`: what comes out, rounded down; `'out'`: what must go in, rounded up: as the contracts do it, to the unit. */
export interface Passed {
  readonly amountRaw: bigint
  /** Of this pass alone: what the transaction and the router use besides is added once. */
  readonly gasUnits: bigint
}

/** The pool has more than was read of it: read it again with this. */
export interface Missing {
  readonly missing: unknown
  /** No better than this, whatever else is found: spares reading on where another pool does as well. Absent where nothing is known. */
  readonly atBestRaw?: bigint
}

/** What must be asked to know pools, and how the answers are read. Pure. */
export interface PoolReading<State> {
  readonly calls: readonly (Call | Probe)[]
  /** Those that there are and that hold something; in the order of the calls' results. */
  pools(results: readonly CallResult[]): readonly Pool<State>[]
}

/**
 * Creation code for `eth_call` that borrows `sentRaw` of a token from a pool and gives back what arrived. It returns
 * (bool measured, uint256 arrived, bool accepted, uint256 returned): whether anything is known, what the borrower got,
 * whether the token let it be given back, and what the pool had of that.
 */
export interface Loan {
  readonly code: string
  readonly sentRaw: bigint
}

/** One kind of pool: what to read, and the mathematics of its contracts on what was read. */
export interface PoolProtocol<State = unknown> {
  /** Its label in routes, configuration and requests: "v3". */
  readonly version: string
  /** Whatever lies between these pairs, each of them once; more of pools that earlier swaps found wanting. */
  read(pairs: readonly Pair[], missing: readonly unknown[]): PoolReading<State>
  /** Undefined where the pool would refuse it: too little in it, too much for it. */
  pass(pool: Pool<State>, passage: Passage, exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** The marginal price without fees, in smallest units: out per in. */
  spot(pool: Pool<State>, passage: Passage): { readonly numerator: bigint; readonly denominator: bigint }
  /** What it keeps of the input, as a decimal string: "0.003". */
  fee(pool: Pool<State>): string
  /** The most that the pool takes in at once; absent where that is not known without trying. Only errors say it. */
  mostIn?(pool: Pool<State>, passage: Passage): bigint
  /** A little of a token that the pool lends for a moment, to see whether it moves exactly; absent or undefined where it lends none. */
  loan?(pool: Pool<State>, token: string): Loan | undefined
}
