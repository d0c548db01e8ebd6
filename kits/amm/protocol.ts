import type { Head, Fill, Json, Plan, Quote, Swap, SwapTerms } from '../../core/contracts/index.ts'
import type { Call, CallResult, FoundLog, Probe, Evm, EvmReceipt } from '../evm/types.ts'

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
  /** What it uses besides where nobody has written what it writes before: for a limit, not for an estimate. */
  readonly firstWriteUnits?: bigint
}

/** The pool has more than was read of it: read it again with this, which is the same to `isDeepStrictEqual` where it asks for the same. */
export interface Missing {
  readonly missing: unknown
  /** No better than this, whatever else is found: spares reading on where another pool does as well. Absent where nothing is known. */
  readonly atBestRaw?: bigint
}

/** What must be asked to know pools, and how the answers are read. Pure. */
export interface PoolReading<State, Found = Pool<State>> {
  readonly calls: readonly (Call | Probe)[]
  /** Those that there are and that hold something; in the order of the calls' results. */
  pools(results: readonly CallResult[]): readonly Found[]
}

/** Where a pool is, or would be. */
export interface Place {
  /** Of the pool, in the canonical spelling. */
  readonly address: string
}

/** How pools of a kind are kept in memory, and moved by what their contracts log. Pure. */
export interface PoolMemory<State = unknown, At extends Place = Place> {
  /** Of the pools that may lie between these pairs, whether they exist or not; each once. */
  places(pairs: readonly Pair[]): readonly At[]
  /** Those pools, in their order, null where there is none or an empty one. `missing`: what swaps found wanting in some of them. */
  read(places: readonly At[], missing: readonly unknown[]): PoolReading<State, Pool<State> | null>
  /** The first topics of all logs that say that a pool has changed, or that there is a new one. */
  readonly follow: readonly string[]
  /** Contracts besides the pools themselves that log what becomes of them, in lower case. */
  readonly emitters?: readonly string[]
  /**
   * The addresses of the pools that a log is about, in lower case; asked for every such log of every block, those of other contracts, too.
   * It must not depend on what was asked for before.
   */
  poolsOf(log: FoundLog): readonly string[]
  /**
   * After a log in the block of this head. Shares what did not change; the same pool where nothing did. `reload` where the log does not
   * tell all.
   */
  apply(pool: Pool<State> | null, log: FoundLog, head: Head): Pool<State> | null | 'reload'
  /** Whether both say the same, of a pool that is known more or less of; equality where absent. */
  same?(inMemory: Pool<State>, loaded: Pool<State>): boolean
  /**
   * What a pool is after a block though nothing was logged, where that depends on the time: null where it can do nothing. The same object
   * where it does not, so that what is made of it is remembered.
   */
  asOf?(pool: Pool<State>, head: Head): Pool<State> | null
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
  /** No amount gets a better price than that of `spot` less the `fee`: routes that could not do better by it are not tried. */
  readonly spotIsBest?: true
  /** The most that the pool takes in at once; absent where that is not known without trying. Only errors say it. */
  mostIn?(pool: Pool<State>, passage: Passage): bigint
  /** Absent where only asking tells what becomes of pools: then nothing of the exchange is quoted from memory. */
  readonly memory?: PoolMemory<State>
  /** A little of a token that the pool lends for a moment, to see whether it moves exactly; absent or undefined where it lends none. */
  loan?(pool: Pool<State>, token: string): Loan | undefined
}

/** A contract that takes swaps along routes. */
export interface Router {
  readonly address: string
  /** Its label among the connector's spenders: "v3". */
  readonly name: string
  /** Whether it can carry out a route through pools of these versions, in this order. */
  carries(versions: readonly string[], exact: 'in' | 'out'): boolean
  /**
   * Whether it can carry out several routes of these versions at once, all or nothing: quotes then have `parts`. Of a single one: whether it
   * may be one of several. Absent: never.
   */
  splits?(parts: readonly (readonly string[])[], swap: Pick<Swap, 'tokenIn' | 'tokenOut' | 'exact'>): boolean
  plan(quote: Quote, terms: SwapTerms): Plan<Evm>
  /** What its own swap gave; undefined where the receipt shows none, or the memo is another router's. */
  fill(receipt: EvmReceipt, memo: Json): Fill | undefined
  /** Asked once, with the first quote: whether the configured contract trades with the pools that are read. */
  readonly check?: {
    readonly calls: readonly Call[]
    /** @throws SluiceError SERVICE_UNINITIALIZED where it does not */ verify(answers: readonly CallResult[]): void
  }
}

/** What a kit makes of one exchange on one network: pools to quote from, and routers to trade through. */
export interface PoolExchange {
  readonly protocols: readonly PoolProtocol[]
  /** In order of preference where several carry a route. */
  readonly routers: readonly Router[]
}

/** Pools that can be kept in memory are read for a single quote as they are loaded into it. */
export const readBy =
  <State, At extends Place>(memory: PoolMemory<State, At>): PoolProtocol<State>['read'] =>
  (pairs, missing) => {
    const { calls, pools } = memory.read(memory.places(pairs), missing)
    return { calls, pools: (results) => pools(results).filter((pool) => pool !== null) }
  }

/** A pool as it is after a block, with what the time alone makes of it; null where there is none, or it can do nothing. */
export function poolAsOf({ protocol, pool }: { readonly protocol: PoolProtocol; readonly pool: Pool | null }, head: Head): Pool | null {
  return pool && protocol.memory?.asOf ? protocol.memory.asOf(pool, head) : pool
}
