import type { At, Json, Token, Types } from './family.ts'
import type { Followed } from './followed.ts'
import type { BridgePlan, Plan, VenuePlan } from './rail.ts'

/** A decimal string: digits with at most one point, and a minus where it can be negative. Never with an exponent. */
export type Decimal = string

/** Valid prices of a market: multiples of a step; a maximum of significant figures and decimals (whole numbers are always valid); any. */
export type PriceGrid = { readonly step: Decimal } | { readonly significantFigures: number; readonly maxDecimals: number } | 'any'

export const orderTypes = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const
export type OrderType = (typeof orderTypes)[number]
export const timesInForce = ['GTC', 'IOC', 'FOK'] as const
export type TimeInForce = (typeof timesInForce)[number]

/**
 * PENDING_OPEN → OPEN → PARTIALLY_FILLED → FILLED, or another final state. REJECTED: the exchange refused the order. FAILED: the order
 * never reached the exchange and never will.
 */
export const orderStates = [
  'PENDING_OPEN',
  'OPEN',
  'PARTIALLY_FILLED',
  'FILLED',
  'PENDING_CANCEL',
  'CANCELED',
  'EXPIRED',
  'REJECTED',
  'FAILED',
] as const
export type OrderState = (typeof orderStates)[number]

/** A market of an order book. Prices are quote per one base, amounts are of base. */
export interface BookMarket {
  /** The exchange's id of it. */
  readonly id: string
  /** Symbols; joined by a hyphen they are the market's name. */
  readonly base: string
  readonly quote: string
  /**
   * Addresses of the chain's tokens that the symbols stand for, where the exchange tells: a side that is missing is no token of the chain. Absent: the symbols are
   * those of the chain's tokens. Symbols may be anybody's.
   */
  readonly tokens?: { readonly base?: string; readonly quote?: string }
  readonly prices: PriceGrid
  /** Amounts are whole multiples of it. */
  readonly lotSize: Decimal
  /** In base. */
  readonly minOrderSize?: Decimal
  /** Of price times amount, in quote. */
  readonly minNotional?: Decimal
  /** The order types and their times in force. The first time in force is the default. */
  readonly takes: Readonly<Partial<Record<OrderType, readonly [TimeInForce, ...TimeInForce[]]>>>
  /** Fractions of the traded amount: "0.001" is 0.1 %. Negative where the exchange pays. */
  readonly makerFee: Decimal
  /** As `makerFee`. */
  readonly takerFee: Decimal
  /** Only an `open` market takes orders; `closed` is final. */
  readonly status: 'open' | 'paused' | 'closed'
  /** The maximum leverage of an order, for leveraged markets. */
  readonly maxLeverage?: Decimal
}

export type BookSide = 'buys' | 'sells'

export interface Level {
  /** Quote per one base. */
  readonly price: Decimal
  /** In base. */
  readonly quantity: Decimal
}

/** Best level first; prices of a side are unique; no quantity is 0. */
export interface Book {
  readonly buys: readonly Level[]
  readonly sells: readonly Level[]
}

/** A level of one maker. */
export interface MakerLevel extends Level {
  readonly maker: string
}

/** The best offers of a market, each by itself. Best first. */
export interface MakerBook {
  /** The market's id. */
  readonly market: string
  readonly buys: readonly MakerLevel[]
  readonly sells: readonly MakerLevel[]
}

/** A price that no order in the exchange's book moves, such as of an oracle. */
export interface IndexPrice {
  /** The market's id. */
  readonly market: string
  /** Quote per one base. */
  readonly price: Decimal
}

/** The last price, and the volume of the last day in base, where the exchange gives them. */
export interface LastTrades {
  /** Quote per one base. */
  readonly lastPrice?: Decimal
  /** In base, of the last 24 hours. */
  readonly volume24h?: Decimal
}

/**
 * An update of a book. Sequences increase, and a change names the sequence that it follows. Where that is not the one in memory, an update was
 * missed, and a snapshot is requested. Updates older than the book are ignored. Times are milliseconds since the Unix epoch.
 */
export type BookUpdate =
  | { readonly is: 'snapshot'; readonly book: Book; readonly sequence: number; readonly timestamp: number }
  | {
      readonly is: 'change'
      readonly follows: number
      readonly sequence: number
      readonly timestamp: number
      /** The new quantity at a price; a quantity of 0 removes the level. */
      readonly levels: readonly (Level & { readonly side: BookSide })[]
    }
  | ({ readonly is: 'traded' } & LastTrades)
  /** The exchange is unavailable: the book is not shown until the next snapshot. */
  | { readonly is: 'lost'; readonly reason: string }
  /** Heartbeat: nothing changed, and the exchange is available. */
  | { readonly is: 'alive'; readonly timestamp: number }

/** Books that the exchange streams. */
export interface BookStream {
  /** Updates of a market until the signal aborts: a snapshot first, and again after every `lost`. Reconnects by itself. */
  watch(market: BookMarket, sink: (update: BookUpdate) => void, signal: AbortSignal): Promise<void>
  /** Requests a snapshot now, after a missed update or to compare it with the book in memory. */
  snapshot(market: BookMarket, at: At): Promise<BookUpdate & { is: 'snapshot' }>
}

/** Books that are read from the chain and updated by its events. All methods but `load` are pure. */
export interface FollowedBooks<F extends Types = Types, S = unknown> extends Followed<F, S> {
  /** The key of the state that holds a market's book. */
  keyOfMarket(market: BookMarket): string
  show(state: S, market: BookMarket): Book & LastTrades
}

/** An order as it is sent. Its values already fit the market's rules. */
export interface NewOrder {
  readonly clientOrderId: string
  readonly side: 'BUY' | 'SELL'
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  /** The limit price; for a MARKET order the worst price of a fill. Enforced by the exchange. */
  readonly price: Decimal
  /** In base: a multiple of `lotSize`. */
  readonly amount: Decimal
  /** For leveraged markets; absent: as it is set at the exchange. */
  readonly leverage?: Decimal
  readonly reduceOnly?: boolean
}

/** The names of an order: at least one of them. */
export interface OrderName {
  readonly orderId?: string
  readonly clientOrderId?: string
}

export type BookAction =
  | { readonly do: 'create'; readonly market: BookMarket; readonly order: NewOrder }
  | { readonly do: 'cancel'; readonly market: BookMarket; readonly order: OrderName }

/** A plan, and the indexes of the actions that it carries out. */
export interface ActionPlan<F extends Types = Types> {
  readonly covers: readonly [number, ...number[]]
  readonly plan: BookPlan<F>
}

/** For the chain where orders are transactions, else for the exchange's own rail. */
export type BookPlan<F extends Types = Types> = Plan<F> | VenuePlan<F['address']>

/** The result of one action, as far as its receipt shows it. */
export interface ActionOutcome {
  /** Absent where the exchange gave none, such as for an order that was filled at once. */
  readonly orderId?: string
  readonly state: OrderState
  /** In base. */
  readonly filledAmount?: Decimal
  /** Of what is filled: quote per one base. */
  readonly averagePrice?: Decimal
  /** Why it was refused, as words that continue "the exchange refused it: ". */
  readonly reason?: string
}

/** An order as the exchange reports it. */
export interface BookOrder {
  readonly orderId: string
  /** Absent where the exchange does not store it. */
  readonly clientOrderId?: string
  /** The transaction that placed it, where orders are transactions and the exchange still tells. */
  readonly txHash?: string
  readonly market: BookMarket
  readonly side: 'BUY' | 'SELL'
  readonly orderType: OrderType
  /** Quote per one base. */
  readonly price: Decimal
  /** In base, as ordered. */
  readonly amount: Decimal
  /** In base. */
  readonly filledAmount: Decimal
  /** In base, where it is known what is left of the order but not what was filled: then `amount` is the same. */
  readonly leftAmount?: Decimal
  /** Of what is filled: quote per one base. Absent before the first fill. */
  readonly averagePrice?: Decimal
  readonly state: OrderState
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

export interface BookTrade {
  readonly tradeId: string
  readonly orderId?: string
  readonly market: BookMarket
  /** The owner's side where an owner was requested, else the taker's. */
  readonly side: 'BUY' | 'SELL'
  /** Quote per one base. */
  readonly price: Decimal
  /** In base. */
  readonly amount: Decimal
  /** In `feeToken`; negative where the exchange paid. */
  readonly fee: Decimal
  readonly feeToken: string
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  readonly txHash?: string
  /** The block that has it: the journal takes its fill when that is final. Absent where the exchange takes nothing back. */
  readonly blockNumber?: number
}

/** A wallet's balance of one token in the exchange. */
export interface BookBalance {
  readonly symbol: string
  /** In whole tokens, as the others: `available` and `locked` together. */
  readonly total: Decimal
  /** Free for orders, and locked by orders. */
  readonly available: Decimal
  /** By open orders. */
  readonly locked: Decimal
}

/** A market that cannot be used here. */
export interface UnlistedMarket {
  readonly market: string
  readonly reason: string
}

/** Reads ask the exchange, except books, which are in memory, and `markets`, whose list is cached. */
export interface CLOB<F extends Types = Types> {
  /** The gas that an order usually uses; absent where orders cost no gas. */
  readonly typicalGasUnits?: bigint
  markets(at: At): Promise<readonly BookMarket[]>
  /** Markets that the exchange has and `markets` leaves out, with the reason; absent: there are none. Of names that differ in letter case only, core leaves out the later. */
  unlisted?(at: At): Promise<readonly UnlistedMarket[]>
  readonly books: BookStream | FollowedBooks<F>
  /** For the market check. Absent where the exchange does not tell makers: then `books` are looked at. `timestamp`: milliseconds since the Unix epoch. */
  offers?(markets: readonly BookMarket[], at: At): Promise<{ readonly timestamp: number; readonly books: readonly MakerBook[] }>
  /** For the market check. Absent: the exchange has none for its spot markets. */
  indexPrices?(at: At): Promise<readonly IndexPrice[]>
  /** For limits of leverage: whether what the owner withdraws here is margin of the owner's perpetuals on the exchange. Absent: it never is. */
  sharesMargin?(owner: F['address'], at: At): Promise<boolean>
  /** Newest first: all open orders, and the ended ones that the exchange still has. `names`: only these. */
  orders(owner: F['address'], query: { market?: BookMarket; names?: readonly OrderName[] }, at: At): Promise<readonly BookOrder[]>
  /** Newest first, at most `limit` before a time in milliseconds; those of everybody where no owner is given. */
  trades(
    query: { market: BookMarket; owner?: F['address']; orderId?: string; limit: number; before?: number },
    at: At,
  ): Promise<readonly BookTrade[]>
  /** Balances in the exchange; empty where it holds only what orders locked. */
  balances(owner: F['address'], at: At): Promise<readonly BookBalance[]>
  /** Plans for a list of actions, each covered by exactly one of them. Reads what it needs in one round trip. */
  act(owner: F['address'], actions: readonly BookAction[], at: At): Promise<readonly ActionPlan<F>[]>
  /** The results of the actions that a plan covered, in their order. Needs only the memo, so that it works after a restart. */
  outcome(receipt: Json, memo: Json): readonly ActionOutcome[]
  /** Moves funds into the exchange, or back to the same wallet; absent where the exchange holds no funds. */
  transferCollateral?(token: Token, amountRaw: bigint, how: 'deposit' | 'withdraw', owner: F['address'], at: At): Promise<BookPlan<F>>
  /**
   * Moves funds into the exchange from the requested chain: from the venue's own by a plan, from another over a bridge of its configuration
   * (`bridges`). The token is that chain's. Refuses what the exchange would not credit. Absent where only `transferCollateral` deposits.
   */
  depositFrom?(chain: string, token: Token, amountRaw: bigint, owner: F['address'], at: At): Promise<Plan<F> | BridgePlan>
}

/** A wallet's deposit and debt of one token in a margin account. */
export interface MarginToken {
  readonly symbol: string
  /** In whole tokens, as the others. */
  readonly deposited: Decimal
  /** With the interest that is due. */
  readonly borrowed: Decimal
  /** What may be withdrawn now. */
  readonly available: Decimal
  /** Per year: "0.05" is 5 %. */
  readonly borrowRate: Decimal
  /** The maximum debt, where there is one. */
  readonly borrowCap?: Decimal
}

/** In the exchange's unit of account; negative values are against the wallet. */
export interface MarginAccount {
  /** The exchange's name of it. */
  readonly mode: string
  /** What shares its equity, such as perpetual positions. */
  readonly sharedWith: readonly string[]
  /** In the exchange's unit of account, as all amounts here: what is deposited less what is owed. */
  readonly equity: Decimal
  /** What counts as collateral, in the exchange's unit of account. */
  readonly collateral: Decimal
  /** All debts, in the exchange's unit of account. */
  readonly borrowed: Decimal
  /** In the exchange's unit of account; below 0 where the wallet may not open more. */
  readonly freeCollateral: Decimal
  /** Needed to open more, in the exchange's unit of account. */
  readonly initialMargin: Decimal
  /** Needed to keep what is open, in the exchange's unit of account. */
  readonly maintenanceMargin: Decimal
  /** Absent without debt or positions. */
  readonly marginRatio?: Decimal
  readonly tokens: readonly MarginToken[]
}

export type MarginMove = 'deposit' | 'withdraw' | 'borrow' | 'repay'

export interface MarginCLOB<F extends Types = Types> extends Omit<CLOB<F>, 'transferCollateral'> {
  account(owner: F['address'], at: At): Promise<MarginAccount>
  transferCollateral(token: Token, amountRaw: bigint, how: MarginMove, owner: F['address'], at: At): Promise<BookPlan<F>>
}

export interface PerpMarketPrices {
  /** Of the underlying: quote per one base. */
  readonly indexPrice: Decimal
  /** What positions are valued at: quote per one base. */
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
  /** Of that interval; above 0 where longs paid shorts. */
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
  /**
   * Newest first, at most `limit` before a time in milliseconds. Fewer than that: there are no more from `from` on, if given; older ones may be left out.
   * @throws SluiceError UNSUPPORTED where the exchange cannot be read so far back: never a list with gaps
   */
  fundingPayments(
    owner: F['address'],
    query: { market?: BookMarket; limit: number; from?: number; before?: number },
    at: At,
  ): Promise<readonly FundingPayment[]>
  /**
   * What the exchange itself filled of the owner's positions when it liquidated them, newest first, from a time on and before one, in milliseconds. Absent: it
   * does not tell.
   * @throws SluiceError UNSUPPORTED where the exchange cannot be read so far back: never a list with gaps
   */
  liquidations?(owner: F['address'], from: number, before: number | undefined, at: At): Promise<readonly BookTrade[]>
}

/** A position as the exchange shows it. Prices are quote per one base, other amounts are in quote; below 0 is against the wallet. */
export interface PerpBookPosition {
  readonly market: BookMarket
  readonly side: 'LONG' | 'SHORT'
  /** Of base, above 0. */
  readonly amount: Decimal
  /** Quote per one base. */
  readonly entryPrice: Decimal
  /** Quote per one base. */
  readonly markPrice: Decimal
  /** In quote, at the mark price; below 0 for a loss. */
  readonly unrealizedProfit: Decimal
  /** Positive where the wallet will receive it; "0" where funding is paid continuously. */
  readonly pendingFunding: Decimal
  /** As it is set at the exchange. */
  readonly leverage: Decimal
  readonly marginMode: 'cross' | 'isolated'
  /** Absent where no price liquidates the position. */
  readonly liquidationPrice?: Decimal
}

/** In the exchange's unit of account; negative values are against the wallet. */
export interface PerpBookAccount {
  /** In the exchange's unit of account, as all here: with unrealized profits. */
  readonly accountValue: Decimal
  /** In the exchange's unit of account; below 0 where the wallet may not open more. */
  readonly freeCollateral: Decimal
  /** In the exchange's unit of account, without unrealized profits. */
  readonly collateral: Decimal
  /** Needed to open more, in the exchange's unit of account. */
  readonly initialMargin: Decimal
  /** Needed to keep what is open, in the exchange's unit of account. */
  readonly maintenanceMargin: Decimal
  /** The sum of the absolute values of its positions. */
  readonly notional: Decimal
}
