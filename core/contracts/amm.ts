import type { BoundForAll } from '../base/amount-bound.ts'
import type { At, Head, Json, Token, Types } from './family.ts'
import type { Basis, MissingState } from './followed.ts'
import type { Plan } from './rail.ts'

/** Two tokens and the exact amount of one of them. Core has resolved symbols, side and slippage before. */
export interface Swap {
  tokenIn: Token
  tokenOut: Token
  exact: 'in' | 'out'
  /** Of tokenIn where exact is `in`, else of tokenOut. */
  amountRaw: bigint
}

export interface Hop {
  pool: string
  version: string
  /** Addresses. */
  tokenIn: string
  tokenOut: string
  /** Fraction of the input, as a decimal string: "0.003". */
  fee?: string
  /** Fraction of the exact amount on this route, in hundredths, where the swap is split over several: "0.35". */
  share?: string
}

/** One of several routes over which a swap is split. */
export interface QuotePart {
  /** How many hops of the quote's route it has, after those of the parts before. */
  hops: number
  /** Its share of the exact amount; the sum of all parts is the whole. */
  exactRaw: bigint
  /** Its share of the other side. */
  otherRaw: bigint
}

export interface Quote {
  swap: Swap
  /** The other side of the swap: what comes out, or what must go in. Equal to the exchange's own quoter to the unit. */
  amountRaw: bigint
  /** The other side at the pools' marginal prices, without fees: what `amountRaw` is compared with for the price impact. */
  spotAmountRaw: bigint
  /** Gas of the swap's transaction, as the estimate shows it. */
  gasUnits: bigint
  /** Further gas for storage slots that may be written for the first time. Counts for the gas limit, not for the estimate. */
  firstWriteUnits?: bigint
  /** Where the swap is split, the hops of one part after those of the other. */
  route: readonly Hop[]
  /** Present where the swap is split. */
  parts?: readonly QuotePart[]
  head: Head
  /** The contract that moves the tokens. */
  spender: string
  /** Others of the connector's spenders that carry out the very same route: a wallet may have approved one of them instead. */
  otherSpenders?: readonly string[]
  /** Set where a plugin runs in a process of its own: a node was asked for it. */
  asked?: boolean
}

/** What no quote of a swap does better than. */
export interface QuoteBound {
  /** At most this output, or at least this input. An output of 0: there is no quote. */
  readonly amountRaw: bigint
  /** At least this much gas. */
  readonly gasUnits: bigint
  /** The same for every amount: where it is given, the connector is asked once for the states of a block, for exact inputs and for exact outputs. */
  readonly forAll?: BoundForAll
}

/** A pool of two tokens, at one block. Amounts are in smallest units. */
export interface PoolView {
  /** Its address, or what identifies it. */
  readonly pool: string
  readonly version: string
  /** Addresses; two or more. */
  readonly tokens: readonly string[]
  /** The two of them that were asked about. The wrapped coin stands for the native one. */
  readonly tokenIn: string
  readonly tokenOut: string
  /** Fraction of the input that the pool keeps, as a decimal string. */
  readonly fee: string
  /** The marginal price without fees: of tokenOut per tokenIn. */
  readonly spot: { readonly numerator: bigint; readonly denominator: bigint }
  readonly reserveInRaw?: bigint
  readonly reserveOutRaw?: bigint
  /** In the range of the price, where liquidity is not counted in tokens. */
  readonly liquidityRaw?: bigint
  /** Where nothing can be sold to the pool, or bought from it, whatever the price: of tokenIn. `spot` then says where the pool stands. */
  readonly noLiquidityFor?: readonly ('BUY' | 'SELL')[]
  readonly depth: readonly PoolDepth[]
}

/** Which pools are shown, and how. */
export interface PoolsChoice {
  /** Basis points at which the depth of each is shown, the smallest first. */
  readonly depths: readonly number[]
  /** So many are enough: the deepest, which take the most of tokenIn at the last of the depths. */
  readonly most: number
  /** Only pools of this version. */
  readonly version?: string
  /** Only this one: its address, or what identifies it. Hexadecimal digits may be in upper or lower case. */
  readonly pool?: string
}

/** How much of tokenIn a pool takes, or gives for tokenOut, before the price is worse than that of the smallest amounts by so much. */
export interface PoolDepth {
  /** Hundredths of a percent. */
  readonly basisPoints: number
  readonly sellRaw: bigint
  readonly buyRaw: bigint
  /** More may be possible: the state beyond was not read. */
  readonly atLeast?: boolean
}

/** Which routes may be taken. */
export interface QuoteChoice {
  /** Only through pools of this version. */
  version?: string
  /** Only routes that these of the connector's spenders carry out. The server does not take a quote of another. */
  spenders?: readonly string[]
  /** Through this pool alone. The server does not take a quote through another. */
  pool?: string
}

/** Quotes from states that the server keeps in memory and updates with each block. All methods but `vet` are pure. */
export interface FollowedPricing<F extends Types = Types> {
  /** All states that a swap of these two tokens may depend on, each once. */
  basis(tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, choice: QuoteChoice): readonly Basis<F>[]
  /**
   * The best route, net of gas, by the states of the basis in its order, after a block. While no state changes, the array is the same object,
   * so that results may be cached by it. If something is missing, it is read and `quote` is called again, at most `left` times more. At 0,
   * routes over unknown states are left out.
   */
  quote(
    swap: Swap,
    choice: QuoteChoice,
    states: readonly unknown[],
    head: Head,
    left: number,
  ): Quote | { readonly missing: readonly MissingState[] }
  /**
   * What no quote of this swap by these states does better than, rounded in favour of the quote; undefined where nothing is proven. It must cost
   * much less than `quote`, and hold whatever `left` is. With `connector=any`, a built-in connector whose bound is worse than another's quote is
   * not asked. The bound of a plugin that is not built in is not used: its connector is asked always.
   */
  bound?(swap: Swap, choice: QuoteChoice, states: readonly unknown[], head: Head): QuoteBound | undefined
  /**
   * What quotes depend on besides the states, such as the price of gas. Where it is equal at two blocks, equal states give equal quotes. Where
   * absent, each block may change quotes.
   */
  conditions?(head: Head): string
  /** The chosen pools among the states that have both tokens. */
  pools?(
    tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>,
    choice: PoolsChoice,
    states: readonly unknown[],
    head: Head,
    at: At,
  ): Promise<readonly PoolView[]>
  /**
   * Checks what no state contains before the quote is returned; undefined where it is known. @throws SluiceError where the quote must not
   * be returned
   */
  vet(quote: Quote, states: readonly unknown[], at: At): Promise<void> | undefined
}

/** The bounds of a swap, and its recipient. */
export interface SwapTerms<A = string> {
  recipient: A
  /** The minimum output (exact in) or the maximum input (exact out), enforced on chain. */
  boundRaw: bigint
  /** Seconds since the Unix epoch: enforced on chain. */
  deadline: number
  /** What `readForSwap` gave, where the connector has it. */
  read?: Json
}

export interface Fill {
  /** What the wallet paid, in the token's smallest unit. */
  amountInRaw: bigint
  /** What the wallet received, in the token's smallest unit. */
  amountOutRaw: bigint
}

/** How the exchange's contracts say that the price has moved past the bound of a trade. */
export interface SlippageReasons {
  /**
   * What a reason of the chain ends with, then: "Too little received", "custom error 0x39d35496". `details.cause` of the refusal, and `cause` of a
   * transaction that reverted, are `slippage`.
   */
  readonly slippageReasons?: readonly string[]
  /** Those that mean it only where the native coin is paid: no token of the wallet moves then, so it is none that refuses. */
  readonly coinSlippageReasons?: readonly string[]
}

/** What a pool did with a token that it was to lend and got back at once. */
export interface LoanTrial {
  readonly pool: string
  readonly version: string
  readonly token: string
  /** `failed`: the pool or the token refused, so that the trial shows nothing of the token. */
  readonly outcome: 'exact' | 'inexact' | 'failed'
}

export interface AMM<F extends Types = Types> extends SlippageReasons {
  /** Labels of the exchange's protocol versions that routes may take; empty for an exchange with one. */
  readonly versions: readonly string[]
  /**
   * The best route at the latest block, net of gas, read from the chain.
   * @throws SluiceError PAIR_NOT_FOUND without a pool, PRICE_FAILED where none gives that much
   */
  quote(swap: Swap, choice: QuoteChoice, at: At): Promise<Quote>
  /** The same from memory, where the exchange can be followed. It is used instead of `quote` where the chain can be followed too. */
  readonly followed?: FollowedPricing<F>
  /** The chosen pools between these tokens, read from the chain in one round trip. */
  pools?(
    pairs: readonly Pick<Swap, 'tokenIn' | 'tokenOut'>[],
    choice: PoolsChoice,
    at: At,
  ): Promise<{ readonly head: Head; readonly pools: readonly PoolView[] }>
  /**
   * The pools between these tokens that a configuration lists. One that `pools` does not show is told as missing: it is gone, empty or paused, or does
   * not answer as a pool. Pure.
   */
  listedPools?(
    pairs: readonly Pick<Swap, 'tokenIn' | 'tokenOut'>[],
    choice: Pick<PoolsChoice, 'version'>,
  ): readonly { readonly pool: string; readonly version: string }[]
  /** The addresses of the tokens of a contract that may be a pool; undefined where it does not say. */
  poolTokens?(pool: string, at: At): Promise<readonly string[] | undefined>
  /**
   * Tries how pools between these tokens lend, by which transfers of unlisted tokens are tried. For the contract tests: quotes of listed tokens need it
   * never.
   */
  tryLoans?(pairs: readonly Pick<Swap, 'tokenIn' | 'tokenOut'>[], at: At): Promise<readonly LoanTrial[]>
  /**
   * What the plan of a swap depends on beside the quote, such as which accounts the wallet has: `swap` gets it as `terms.read`. Absent where it depends
   * on nothing else.
   */
  readForSwap?(quote: Quote, terms: Omit<SwapTerms<F['address']>, 'read'>, at: At): Promise<Json>
  swap(quote: Quote, terms: SwapTerms<F['address']>): Plan<F>
  /**
   * Those of the connector's spenders that a wallet approves to swap by every version, in as few transactions as possible: the connector's name alone
   * stands for them. Where absent, it stands for all of its spenders.
   */
  swapSpenders?(at: At): Promise<readonly string[]>
  /**
   * The amounts of a swap from its receipt. Needs only the memo, so that it works after a restart. Undefined where the receipt shows no
   * swap.
   */
  fill(receipt: F['receipt'], memo: Json): Fill | undefined
}
