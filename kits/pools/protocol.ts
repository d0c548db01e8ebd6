// What every kind of pool has, on whatever chain: a state, and the arithmetic of its contract or program. How pools are read, followed and traded
// through is a family's own (kits/amm of EVM, kits/solana/amm).
import type { Swap } from '../../core/contracts/index.ts'

/** The addresses of two tokens, in the family's canonical spelling. The wrapped coin stands for the native one. */
export type Pair = readonly [string, string]

/** One pass through a pool. */
export interface Passage {
  readonly tokenIn: string
  readonly tokenOut: string
}

/** A pool at one block. `state` is the protocol's own. */
export interface Pool<State = unknown> {
  /** Identifies the pool. */
  readonly address: string
  /** Two or more, in the family's canonical spelling: of EVM with checksums (EIP-55). */
  readonly tokens: readonly string[]
  readonly state: State
}

/** Exact to the unit, as the contracts compute it: for `exact: 'in'` the output, rounded down; for `'out'` the input, rounded up. */
export interface Passed {
  readonly amountRaw: bigint
  /** Of this pass alone. The gas of the transaction and the router is added once per swap. */
  readonly gasUnits: bigint
  /** Additional gas if it is the first to write some storage: for a limit, not for an estimate. */
  readonly firstWriteUnits?: bigint
}

/** What a pass gives, in floating point. */
export interface Estimate {
  readonly amount: number
  /** How far that may be from the exact amount, as a part of it. */
  readonly error: number
  /** As in the pass. */
  readonly gasUnits: number
}

/** The error of a dozen operations in floating point. */
export const floatError = 1e-12
/** An estimate that may be further off is none. */
export const maxEstimateError = 1e-6
/** A part more of an exact output takes at most so many times that part more of input: no pool makes more of the error of the one behind it. */
export const maxSteepness = 2

/**
 * What no amount through a pool does better than, in one direction. Of every pass, for an exact input and for an exact output:
 * output ≤ input × rateX128 / 2^128 + offsetRaw.
 */
export interface RateBound {
  /** Fee included. */
  readonly rateX128: bigint
  /** In smallest units of the output: what the contracts' rounding may give beyond the rate. */
  readonly offsetRaw: bigint
}

/** The result depends on state of the pool that was not read. */
export interface Missing {
  /**
   * What to read, as the protocol names it. `isDeepStrictEqual` must hold for two that ask for the same. An object with a field `block` is
   * wanted for that block alone: later quotes do not read it at once.
   */
  readonly missing: unknown
  /**
   * A bound: the result is no better, whatever the state is. The state is read only if no other pool does as well. Absent where nothing is
   * known.
   */
  readonly atBestRaw?: bigint
}

/** The arithmetic of one kind of pool. Pure. */
export interface PoolMath<State = unknown> {
  /** Its label in routes, configuration and requests: "v3". */
  readonly version: string
  /** Undefined if the pool would refuse the amount: it holds too little, or the amount is too large. */
  pass(pool: Pool<State>, passage: Passage, exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /**
   * The same in floating point, by which routes are compared before the best is passed exactly, in a tenth of the time. Undefined where it may
   * be further off than `maxEstimateError`, or steeper than `maxSteepness`: then `pass` is asked. Absent: always.
   */
  estimate?(pool: Pool<State>, passage: Passage, exact: 'in' | 'out', amount: number): Estimate | undefined
  /** The marginal price without fees, output per input, in smallest units. */
  spot(pool: Pool<State>, passage: Passage): { readonly numerator: bigint; readonly denominator: bigint }
  /** The part of the input that the pool keeps, as a decimal string: "0.003". It may differ by direction. */
  fee(pool: Pool<State>, passage: Passage): string
  /** No amount gets a better price than `spot` less `fee`. Routes that cannot win by that price are then not tried. */
  readonly spotIsBest?: true
  /**
   * The bound of one pool, where `spotIsBest` does not say it of all. It must be proven, with the roundings of the contracts; undefined where
   * nothing is.
   */
  rateBound?(pool: Pool<State>, passage: Passage): RateBound | undefined
  /** No pass uses less gas. Absent: nothing is known. */
  readonly leastGasUnits?: bigint
  /**
   * What a swap in this direction gives is asked of the chain for each amount: no amount is divided between such a pool and others. Without a passage:
   * in any direction.
   */
  asksChain?(pool: Pool<State>, passage?: Passage): boolean
  /**
   * What a swap would give if nothing acted on it, for pools that are asked of the chain: to show their depth without asking. No quote is made
   * of it. Absent where `pass` says it.
   */
  curve?(pool: Pool<State>, passage: Passage, exact: 'in' | 'out', amountRaw: bigint): Passed | Missing | undefined
  /** The largest input that the pool takes at once, for error messages. Absent or undefined where it is not known without trying. */
  mostIn?(pool: Pool<State>, passage: Passage): bigint | undefined
  /**
   * In which form a pool has the chain's coin, where both occur; undefined for one without it. A route to an exact output does not change the
   * form on its way.
   */
  coinForm?(pool: Pool<State>): 'native' | 'wrapped' | undefined
  /** What the pool has of the two tokens of a passage, or its liquidity in the range of the price, to be shown. */
  holds?(
    pool: Pool<State>,
    passage: Passage,
  ): { readonly reserveInRaw: bigint; readonly reserveOutRaw: bigint } | { readonly liquidityRaw: bigint }
}

/** A pool, and the arithmetic of its kind. */
export interface KnownPool<Kind extends PoolMath = PoolMath> {
  readonly protocol: Kind
  readonly pool: Pool
}

/** Which routes a router takes: a contract or a program that trades along them. */
export interface RouteTaker {
  readonly address: string
  /** Whether it takes a route through pools of these versions, in this order. */
  carries(versions: readonly string[], exact: 'in' | 'out'): boolean
  /** Whether it takes such a route as well, though another is preferred for it. */
  alsoCarries?(versions: readonly string[], exact: 'in' | 'out'): boolean
  /**
   * Whether it takes several routes of these versions at once, all or nothing: quotes then have `parts`. For a single route: whether the
   * route may be one of several. Never, if absent.
   */
  splits?(parts: readonly (readonly string[])[], swap: Pick<Swap, 'tokenIn' | 'tokenOut' | 'exact'>): boolean
}

/** Whether a router takes a route, be it preferred for it or not. */
export const takesRoute = (
  { carries, alsoCarries }: Pick<RouteTaker, 'carries' | 'alsoCarries'>,
  versions: readonly string[],
  exact: 'in' | 'out',
) => carries(versions, exact) || alsoCarries?.(versions, exact) === true
