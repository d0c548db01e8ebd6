import type { At, Head, Json, Token, Types } from './family.ts'
import type { Basis, Wanting } from './followed.ts'
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
  /** Fraction of the exact amount on this route, in twentieths, where the swap is split over several: "0.35". */
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
}

/** Which routes may be taken. */
export interface QuoteChoice {
  /** Only through pools of this version. */
  version?: string
  /** Only routes that these of the connector's spenders carry out. The server does not take a quote of another. Since 1.1. */
  spenders?: readonly string[]
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
  ): Quote | { readonly wanting: readonly Wanting[] }
  /**
   * What quotes depend on besides the states, such as the price of gas. Where it is equal at two blocks, equal states give equal quotes. Where
   * absent, each block may change quotes.
   */
  conditions?(head: Head): string
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
}

export interface Fill {
  /** What the wallet paid, in the token's smallest unit. */
  amountInRaw: bigint
  /** What the wallet received, in the token's smallest unit. */
  amountOutRaw: bigint
}

export interface AMM<F extends Types = Types> {
  /** Labels of the exchange's protocol versions that routes may take; empty for an exchange with one. */
  readonly versions: readonly string[]
  /**
   * The best route at the latest block, net of gas, read from the chain.
   * @throws SluiceError PAIR_NOT_FOUND without a pool, PRICE_FAILED where none gives that much
   */
  quote(swap: Swap, choice: QuoteChoice, at: At): Promise<Quote>
  /** The same from memory, where the exchange can be followed. It is used instead of `quote` where the chain can be followed too. */
  readonly followed?: FollowedPricing<F>
  swap(quote: Quote, terms: SwapTerms<F['address']>): Plan<F>
  /**
   * The amounts of a swap from its receipt. Needs only the memo, so that it works after a restart. Undefined where the receipt shows no
   * swap.
   */
  fill(receipt: F['receipt'], memo: Json): Fill | undefined
}
