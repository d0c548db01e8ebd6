import type { Order } from './book.ts'
import type { PerpMarket, Market, Token } from './listing.ts'

/** In the token's smallest unit. */
interface SpotBalance {
  total: bigint
  /** What open orders took of it. */
  hold: bigint
  /** What it was got for, in 10^-8 US dollars. */
  entryNtl: bigint
}

export interface Position {
  readonly market: PerpMarket
  /** Below 0 where it is short. */
  szi: bigint
  /** What its size was worth when it was entered; US dollars, as all here. */
  entryNtl: bigint
  /** Of an isolated one: what was put behind it, less what it cost. */
  isolatedUsd?: bigint
  /** What was paid; below 0 where it was received. */
  funding: { allTime: bigint; sinceOpen: bigint; sinceChange: bigint }
}

interface Leverage {
  isCross: boolean
  value: number
}

/** What a wallet lends, and what it owes, in the token's smallest unit; basis is without interest. */
interface Loans {
  supplied: bigint
  suppliedBasis: bigint
  borrowed: bigint
  borrowedBasis: bigint
}

interface Agent {
  address: string
  name?: string
  validUntil: number
}

export type Mode = 'disabled' | 'portfolioMargin'

export interface Account {
  readonly address: string
  readonly spot: Map<number, SpotBalance>
  /** US dollars for perpetuals with cross margin: what is there less what the positions cost. */
  crossUsd: bigint
  /** By coin. */
  readonly positions: Map<string, Position>
  readonly leverages: Map<string, Leverage>
  mode: Mode
  /** By token. */
  readonly loans: Map<number, Loans>
  agents: Agent[]
  /** By oid: those that are open. */
  readonly open: Map<number, Order>
  readonly byCloid: Map<string, Order>
  /** Oldest first, as all histories. */
  readonly orders: Order[]
  readonly fills: Fill[]
  readonly fundings: FundingPayment[]
  readonly updates: LedgerUpdate[]
  readonly interest: LendingInterest[]
  /** What it traded, in US dollars, and the requests that it made. */
  volumeUsd: bigint
  requests: number
  lastSlowRequest: number
  /** When all open orders are canceled. */
  cancelAllAt: number | undefined
  /** Whether anything ever came to it: others cannot act. */
  exists: boolean
  hasSentTx: boolean
}

export const createAccount = (address: string): Account => ({
  address,
  spot: new Map(),
  crossUsd: 0n,
  positions: new Map(),
  leverages: new Map(),
  mode: 'disabled',
  loans: new Map(),
  agents: [],
  open: new Map(),
  byCloid: new Map(),
  orders: [],
  fills: [],
  fundings: [],
  updates: [],
  interest: [],
  volumeUsd: 0n,
  requests: 0,
  lastSlowRequest: 0,
  cancelAllAt: undefined,
  exists: false,
  hasSentTx: false,
})

export function balanceOf(account: Account, token: number): SpotBalance {
  const known = account.spot.get(token)
  if (known) return known
  const balance: SpotBalance = { total: 0n, hold: 0n, entryNtl: 0n }
  account.spot.set(token, balance)
  return balance
}

export function loansOf(account: Account, token: number): Loans {
  const known = account.loans.get(token)
  if (known) return known
  const loans: Loans = { supplied: 0n, suppliedBasis: 0n, borrowed: 0n, borrowedBasis: 0n }
  account.loans.set(token, loans)
  return loans
}

/** Twenty times across, where the market allows it, unless it was set otherwise. */
export const leverageOf = (account: Account, market: PerpMarket): Leverage =>
  account.leverages.get(market.coin) ?? { isCross: !market.onlyIsolated, value: Math.min(20, market.maxLeverage) }

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

interface LendingInterest {
  readonly time: number
  readonly token: Token
  readonly borrow: bigint
  readonly supply: bigint
}
