import type { At, Head, Json, Token, Types } from './family.ts'
import type { Basis, Wanting } from './followed.ts'
import type { Plan } from './rail.ts'

/** Side, symbols and slippage are settled before: a swap is tokens and an exact amount of one of them. */
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
  /** Fraction of the exact amount that goes this way, in twentieths, where it goes several: "0.35". */
  share?: string
}

/** One of several ways that a swap goes at once. */
export interface QuotePart {
  /** So many hops of the route, after those of the parts before. */
  hops: number
  /** Of the exact amount: all parts together have all of it. */
  exactRaw: bigint
  /** Of the other side. */
  otherRaw: bigint
}

export interface Quote {
  swap: Swap
  /** The other side of the swap: what comes out, or what must go in. Equal to the exchange's own quoter to the unit. */
  amountRaw: bigint
  /** The other side at the pools' marginal prices, without fees: what `amountRaw` is compared with for the price impact. */
  spotAmountRaw: bigint
  gasUnits: bigint
  /** What it uses besides where nobody has written what it writes before: for a limit, not for an estimate. */
  firstWriteUnits?: bigint
  /** Where it goes several ways, those of one after those of the other. */
  route: readonly Hop[]
  /** Where it goes several ways. */
  parts?: readonly QuotePart[]
  head: Head
  /** The contract that moves the tokens. */
  spender: string
}

/** Which routes may be taken. */
export interface QuoteChoice {
  /** Only through pools of this version. */
  version?: string
}

/** Quotes from states that the server keeps in memory and moves from block to block. All but `vet` is pure. */
export interface FollowedPricing<F extends Types = Types> {
  /** All states that a swap of these two tokens may go by, each once. */
  basis(tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, choice: QuoteChoice): readonly Basis<F>[]
  /**
   * The best route, net of gas, by the states of the basis in its order, after a block. As long as nothing of them has changed the array
   * is the same, so that what is made of it may be remembered by it. What is wanting is read, and it is asked again,
   * `left` times yet: where that is 0, what is unknown counts as unable.
   */
  quote(
    swap: Swap,
    choice: QuoteChoice,
    states: readonly unknown[],
    head: Head,
    left: number,
  ): Quote | { readonly wanting: readonly Wanting[] }
  /**
   * What quotes go by besides the states, such as the price of gas: where it is the same at two blocks, the same states give the same
   * quotes. Where absent, each block may give others.
   */
  conditions?(head: Head): string
  /** What no state tells and must be asked before such a quote is given; undefined where it is known. @throws SluiceError where it must not be given */
  vet(quote: Quote, states: readonly unknown[], at: At): Promise<void> | undefined
}

/** How far a swap may go, and for whom. */
export interface SwapTerms<A = string> {
  recipient: A
  /** The least out (exact in) or the most in (exact out): enforced on chain. */
  boundRaw: bigint
  /** Seconds since the Unix epoch: enforced on chain. */
  deadline: number
}

export interface Fill {
  amountInRaw: bigint
  amountOutRaw: bigint
}

export interface AMM<F extends Types = Types> {
  /** Labels of the exchange's protocol versions that routes may take; empty for an exchange with one. */
  readonly versions: readonly string[]
  /** The best route at the latest block, net of gas: asked of the chain. */
  quote(swap: Swap, choice: QuoteChoice, at: At): Promise<Quote>
  /** The same from memory, where the exchange can be followed: then `quote` is not used where the chain can be followed, too. */
  readonly followed?: FollowedPricing<F>
  swap(quote: Quote, terms: SwapTerms<F['address']>): Plan<F>
  /** Reads what a swap gave. From the memo alone, so that it works after a restart; undefined where the receipt shows no swap. */
  fill(receipt: F['receipt'], memo: Json): Fill | undefined
}
