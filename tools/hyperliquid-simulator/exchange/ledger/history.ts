import type { Market, PerpMarket } from '../listing/listing.ts'
import type { Token } from '../listing/tokens.ts'

export interface Trade {
  readonly market: Market
  readonly px: bigint
  readonly sz: bigint
  /** Of who came to the book. */
  readonly isBuy: boolean
  readonly time: number
  readonly hash: string
  readonly tid: number
  readonly buyer: string
  readonly seller: string
}

export interface Fill {
  readonly market: Market
  readonly px: bigint
  readonly sz: bigint
  readonly isBuy: boolean
  readonly time: number
  /** Of the position, or of the base token as a size. */
  readonly startPosition: bigint
  readonly dir: string
  /** In 10^-8 of the quote. */
  readonly closedPnl: bigint
  readonly hash: string
  readonly oid: number
  readonly cloid?: string
  /** Whether it came to the book. */
  readonly crossed: boolean
  readonly fee: bigint
  readonly feeToken: string
  readonly feeDecimals: number
  readonly tid: number
  readonly liquidation?: { readonly user: string; readonly markPx: bigint; readonly method: 'market' | 'backstop' }
}

export interface FundingPayment {
  readonly market: PerpMarket
  readonly time: number
  readonly hash: string
  /** Above 0 where it was received. */
  readonly usd: bigint
  readonly szi: bigint
  readonly rate: bigint
}

/** As the exchange tells of it. */
export interface LedgerUpdate {
  readonly time: number
  readonly hash: string
  readonly delta: { readonly type: string } & Readonly<Record<string, unknown>>
}

export interface LendingInterest {
  readonly time: number
  readonly token: Token
  readonly borrow: bigint
  readonly supply: bigint
}
