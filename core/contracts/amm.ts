import type { At, Head, Json, Token, Types } from './family.ts'
import type { Plan } from './plan.ts'

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
}

export interface Quote {
  swap: Swap
  /** The other side of the swap: what comes out, or what must go in. Equal to the exchange's own quoter to the unit. */
  amountRaw: bigint
  /** The other side at the pools' marginal prices, without fees: what `amountRaw` is compared with for the price impact. */
  spotAmountRaw: bigint
  gasUnits: bigint
  route: readonly Hop[]
  head: Head
  /** The contract that moves the tokens. */
  spender: string
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
  /** The best route at the latest block, net of gas. `version` restricts it to one. */
  quote(swap: Swap, choice: { version?: string }, at: At): Promise<Quote>
  swap(quote: Quote, terms: SwapTerms<F['address']>): Plan<F>
  /** Reads what a swap gave. From the memo alone, so that it works after a restart; undefined where the receipt shows no swap. */
  fill(receipt: F['receipt'], memo: Json): Fill | undefined
}
