import type { Book } from '../contracts/index.ts'

/** An order of a trader who is none of the bench's wallets. Decimal strings that fit the market. */
export interface OthersOrder {
  side: 'BUY' | 'SELL'
  price: string
  amount: string
}

/** An order as the exchange itself has it. */
export interface ExchangeOrder extends OthersOrder {
  orderId: string
  filledAmount: string
}

/** Of one token, decimal strings: `free` is all that the owner can use at once, in the wallet and in the exchange; `locked` is by orders. */
export interface Funds {
  free: string
  locked: string
}

/**
 * What only others than the wallets of the server can do or know of an order book: contract tests trade against other traders by it, and
 * hold answers against what the exchange itself says. Markets are named as `/clob/markets` does. What acts is done when it settles: mined,
 * or carried out by the exchange.
 *
 * The exchange comes up with orders of others on both sides of at least one market, at least one percent apart.
 */
export interface BookOperator {
  /** The exchange's own book, all levels, best first: at that block where the exchange has blocks, else now. */
  book(market: string, blockNumber?: number): Promise<Book>
  /** Takes away all orders of others than these wallets, so that the book is what the cards make it. */
  clear(market: string, wallets: readonly string[]): Promise<void>
  /** Another trader's limit order, who has what it takes. Absent `orderId`: it was filled at once. */
  place(market: string, order: OthersOrder): Promise<{ orderId?: string }>
  /** Takes away what is left of such an order. */
  cancel(market: string, orderId: string): Promise<void>
  /** What a wallet has open, oldest first. */
  open(market: string, owner: string): Promise<readonly ExchangeOrder[]>
  /** What a wallet has of a token. Of perpetuals: of what they are settled in, without what positions won or lost. */
  funds(owner: string, symbol: string): Promise<Funds>
  /** Absent where nobody can; `closed` is for good. */
  setStatus?(market: string, status: 'open' | 'paused' | 'closed'): Promise<void>
}

/** A margin account as the exchange itself says. Decimal strings, with signs, in the exchange's unit of account. */
export interface MarginViews {
  equity: string
  collateral: string
  borrowed: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
  /** Absent where nothing is at stake. */
  marginRatio?: string
}

/** The wallets' accounts are in the mode that borrows. */
export interface MarginBookOperator extends BookOperator {
  views(owner: string): Promise<MarginViews>
  /** What a wallet owes of a token, with all interest until now. */
  owed(owner: string, symbol: string): Promise<string>
  /** Lets so much time pass by the exchange's clock. */
  pass(seconds: number): Promise<void>
}

/** A wallet's position and account as the exchange itself says. Decimal strings, with signs. */
export interface PerpBookViews {
  /** Of base; above 0 is LONG. */
  size: string
  entryPrice: string
  markPrice: string
  unrealizedProfit: string
  /** Absent where no price liquidates it. */
  liquidationPrice?: string
  accountValue: string
  freeCollateral: string
  initialMargin: string
  maintenanceMargin: string
}

export interface PerpBookOperator extends BookOperator {
  views(market: string, owner: string): Promise<PerpBookViews>
  /** What the world outside pays; the mark price is the same when it settles. */
  moveIndex(market: string, price: string): Promise<void>
  /** Lets the next funding come about, at that rate: the price that it was paid on, quote per one base. */
  fund(market: string, rate: string): Promise<{ price: string }>
}

/** Who else trades, by trading type. */
export interface BookOperators {
  CLOB?: BookOperator
  MARGIN_CLOB?: MarginBookOperator
  PERP_CLOB?: PerpBookOperator
}
