import type { At, Types } from './family.ts'
import type { BookMarket, BookPlan, CLOB, Decimal } from './order-books.ts'

export interface PerpMarketPrices {
  readonly indexPrice: Decimal
  readonly markPrice: Decimal
  /** Per funding interval; above 0 where longs pay shorts. */
  readonly fundingRate: Decimal
  /** Milliseconds since the Unix epoch. */
  readonly nextFundingTimestamp: number
}

export interface FundingPayment {
  readonly market: BookMarket
  /** In quote; above 0 where the wallet received it. */
  readonly amount: Decimal
  readonly rate: Decimal
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
}

export interface PerpCLOB<F extends Types = Types> extends CLOB<F> {
  positions(owner: F['address'], at: At): Promise<readonly PerpBookPosition[]>
  account(owner: F['address'], at: At): Promise<PerpBookAccount>
  leverage(
    market: BookMarket,
    leverage: Decimal,
    marginMode: 'cross' | 'isolated' | undefined,
    owner: F['address'],
    at: At,
  ): Promise<BookPlan<F>>
  prices(market: BookMarket, at: At): Promise<PerpMarketPrices>
  /** Newest first, at most `limit` before a time in milliseconds. */
  fundingPayments(
    owner: F['address'],
    query: { market?: BookMarket; limit: number; before?: number },
    at: At,
  ): Promise<readonly FundingPayment[]>
}

/** A position as the exchange shows it. Prices are quote per one base, other amounts are in quote; below 0 is against the wallet. */
export interface PerpBookPosition {
  readonly market: BookMarket
  readonly side: 'LONG' | 'SHORT'
  /** Of base, above 0. */
  readonly amount: Decimal
  readonly entryPrice: Decimal
  readonly markPrice: Decimal
  readonly unrealizedProfit: Decimal
  /** Above 0 where the wallet will receive it; "0" where funding is paid as it comes about. */
  readonly pendingFunding: Decimal
  readonly leverage: Decimal
  readonly marginMode: 'cross' | 'isolated'
  /** Absent where no price liquidates it. */
  readonly liquidationPrice?: Decimal
}

/** In the exchange's unit of account; below 0 is against the wallet. */
export interface PerpBookAccount {
  readonly accountValue: Decimal
  readonly freeCollateral: Decimal
  readonly collateral: Decimal
  readonly initialMargin: Decimal
  readonly maintenanceMargin: Decimal
  /** What its positions are worth together, without signs. */
  readonly notional: Decimal
}
