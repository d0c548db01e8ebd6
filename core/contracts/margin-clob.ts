import type { At, Token, Types } from './family.ts'
import type { BookPlan, CLOB, Decimal } from './order-books.ts'

/** What a wallet has and owes of one token in a margin account. */
export interface MarginToken {
  readonly symbol: string
  readonly deposited: Decimal
  readonly borrowed: Decimal
  /** What may be taken out now. */
  readonly available: Decimal
  /** Per year: "0.05" is 5 %. */
  readonly borrowRate: Decimal
  /** The most of it that the wallet may owe, where there is such a bound. */
  readonly borrowCap?: Decimal
}

/** In the exchange's unit of account; below 0 is against the wallet. */
export interface MarginAccount {
  /** By the exchange's own name. */
  readonly mode: string
  /** What it shares its equity with, such as perpetual positions. */
  readonly sharedWith: readonly string[]
  readonly equity: Decimal
  readonly collateral: Decimal
  readonly borrowed: Decimal
  readonly freeCollateral: Decimal
  readonly initialMargin: Decimal
  readonly maintenanceMargin: Decimal
  /** Absent where nothing is at stake. */
  readonly marginRatio?: Decimal
  readonly tokens: readonly MarginToken[]
}

export type MarginMove = 'deposit' | 'withdraw' | 'borrow' | 'repay'

export interface MarginCLOB<F extends Types = Types> extends Omit<CLOB<F>, 'move'> {
  account(owner: F['address'], at: At): Promise<MarginAccount>
  move(token: Token, amountRaw: bigint, how: MarginMove, owner: F['address'], at: At): Promise<BookPlan<F>>
}
