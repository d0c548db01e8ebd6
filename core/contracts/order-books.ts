import type { At, Json, Token, Types } from './family.ts'
import type { Followed } from './followed.ts'
import type { BridgePlan, Plan, VenuePlan } from './rail.ts'

/** A number as people write it: digits with at most one point, and a minus where it can be below 0. Never an exponent. */
export type Decimal = string

/** Which prices a market takes: multiples of a step; so many significant figures and decimals at most (a whole number always is); any. */
export type PriceGrid = { readonly step: Decimal } | { readonly significantFigures: number; readonly maxDecimals: number } | 'any'

export const orderTypes = ['LIMIT', 'LIMIT_MAKER', 'MARKET'] as const
export type OrderType = (typeof orderTypes)[number]
export const timesInForce = ['GTC', 'IOC', 'FOK'] as const
export type TimeInForce = (typeof timesInForce)[number]

/**
 * PENDING_OPEN → OPEN → PARTIALLY_FILLED → FILLED, and the other ends. REJECTED: the exchange refused it. FAILED: it never came to the
 * exchange, and never will.
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
  /** What the exchange knows it by. */
  readonly id: string
  /** As people write them; with a hyphen between them they are the market's name. */
  readonly base: string
  readonly quote: string
  readonly prices: PriceGrid
  /** Amounts are whole multiples of it. */
  readonly lotSize: Decimal
  readonly minOrderSize?: Decimal
  /** Of price times amount, in quote. */
  readonly minNotional?: Decimal
  /** What orders it takes, and for how long each can be meant: the first is what is meant where nothing is said. */
  readonly takes: Readonly<Partial<Record<OrderType, readonly [TimeInForce, ...TimeInForce[]]>>>
  /** Parts of what is traded: "0.001" is 0.1 %. Below 0 where the exchange pays. */
  readonly makerFee: Decimal
  readonly takerFee: Decimal
  /** Only an `open` one takes orders; `closed` is for good. */
  readonly status: 'open' | 'paused' | 'closed'
  /** Of leveraged markets: the most that an order may ask for. */
  readonly maxLeverage?: Decimal
}

export type BookSide = 'buys' | 'sells'

export interface Level {
  readonly price: Decimal
  readonly quantity: Decimal
}

/** Best first; no two of a side have the same price; nothing is 0. */
export interface Book {
  readonly buys: readonly Level[]
  readonly sells: readonly Level[]
}

/** What was traded last, and in the last day in base, where the exchange tells. */
export interface LastTrades {
  readonly lastPrice?: Decimal
  readonly volume24h?: Decimal
}

/**
 * News of a book. Sequences increase, and a change says which it follows: where that is not the one in memory something was missed, and a
 * snapshot is asked for. What is older than the book in memory is passed over. Times are milliseconds since the Unix epoch.
 */
export type BookUpdate =
  | { readonly is: 'snapshot'; readonly book: Book; readonly sequence: number; readonly timestamp: number }
  | {
      readonly is: 'change'
      readonly follows: number
      readonly sequence: number
      readonly timestamp: number
      /** What there is at a price from now on; a quantity of 0 takes the level away. */
      readonly levels: readonly (Level & { readonly side: BookSide })[]
    }
  | ({ readonly is: 'traded' } & LastTrades)
  /** The exchange is away: what is in memory is not to be shown until the next snapshot. */
  | { readonly is: 'lost'; readonly reason: string }
  /** Nothing changed, and the exchange is there. */
  | { readonly is: 'alive'; readonly timestamp: number }

/** Books that the exchange tells of itself. */
export interface BookStream {
  /** News of a market until the signal is aborted: a snapshot first, and again after every `lost`. Comes back by itself from whatever goes away. */
  watch(market: BookMarket, sink: (update: BookUpdate) => void, signal: AbortSignal): Promise<void>
  /** Asked now: for what was missed, and to compare what is in memory with. */
  snapshot(market: BookMarket, at: At): Promise<BookUpdate & { is: 'snapshot' }>
}

/** Books that are read from the chain, and moved by what happens there: pure but for `load`. */
export interface FollowedBooks<F extends Types = Types, S = unknown> extends Followed<F, S> {
  /** The state of which market is which book. */
  keyOfMarket(market: BookMarket): string
  show(state: S, market: BookMarket): Book & LastTrades
}

/** An order as it is sent. All of it fits the market already. */
export interface NewOrder {
  readonly clientOrderId: string
  readonly side: 'BUY' | 'SELL'
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  /** The limit; of a MARKET order the worst price that it may be filled at: enforced by the exchange. */
  readonly price: Decimal
  readonly amount: Decimal
  readonly leverage?: Decimal
  readonly reduceOnly?: boolean
}

/** How an order is named: by one of both at least. */
export interface OrderName {
  readonly orderId?: string
  readonly clientOrderId?: string
}

export type BookAction =
  | { readonly do: 'create'; readonly market: BookMarket; readonly order: NewOrder }
  | { readonly do: 'cancel'; readonly market: BookMarket; readonly order: OrderName }

/** A plan, and which of the actions it carries out, by their place in the list. */
export interface ActionPlan<F extends Types = Types> {
  readonly covers: readonly [number, ...number[]]
  readonly plan: BookPlan<F>
}

/** By the chain where orders are transactions, else by the exchange's own rail. */
export type BookPlan<F extends Types = Types> = Plan<F> | VenuePlan<F['address']>

/** What became of one action, as far as its receipt tells. */
export interface ActionOutcome {
  /** Absent where the exchange gave none: one that was filled at once needs none everywhere. */
  readonly orderId?: string
  readonly state: OrderState
  readonly filledAmount?: Decimal
  readonly averagePrice?: Decimal
  /** Why, where it was refused: words that go on from "the exchange refused it: ". */
  readonly reason?: string
}

/** An order as the exchange has it. */
export interface BookOrder {
  readonly orderId: string
  /** Where the exchange keeps it. */
  readonly clientOrderId?: string
  /** The transaction that placed it, where orders are transactions and the exchange still tells. */
  readonly txHash?: string
  readonly market: BookMarket
  readonly side: 'BUY' | 'SELL'
  readonly orderType: OrderType
  readonly price: Decimal
  readonly amount: Decimal
  readonly filledAmount: Decimal
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
  /** The owner's where one was asked about; else who came to the book. */
  readonly side: 'BUY' | 'SELL'
  readonly price: Decimal
  readonly amount: Decimal
  readonly fee: Decimal
  readonly feeToken: string
  /** Milliseconds since the Unix epoch. */
  readonly timestamp: number
  readonly txHash?: string
}

/** What a wallet has in the exchange of one token. */
export interface BookBalance {
  readonly symbol: string
  readonly total: Decimal
  /** What orders may take, and what orders took already. */
  readonly available: Decimal
  readonly locked: Decimal
}

/** Reads ask the exchange; but for books, that are in memory, and `markets`, whose list is kept for a time. */
export interface CLOB<F extends Types = Types> {
  /** What an order usually uses; absent where orders cost no gas. */
  readonly typicalGasUnits?: bigint
  markets(at: At): Promise<readonly BookMarket[]>
  readonly books: BookStream | FollowedBooks<F>
  /** Newest first: all that are open, and of those that ended what the exchange still knows. `names`: these only. */
  orders(owner: F['address'], query: { market?: BookMarket; names?: readonly OrderName[] }, at: At): Promise<readonly BookOrder[]>
  /** Newest first, at most `limit` before a time in milliseconds; everybody's where no owner is named. */
  trades(
    query: { market: BookMarket; owner?: F['address']; orderId?: string; limit: number; before?: number },
    at: At,
  ): Promise<readonly BookTrade[]>
  /** What is held in the exchange; empty where it holds nothing but what orders locked. */
  balances(owner: F['address'], at: At): Promise<readonly BookBalance[]>
  /** Plans for a list of actions, each covered by one of them; asks for what it needs to know in one round trip. */
  act(owner: F['address'], actions: readonly BookAction[], at: At): Promise<readonly ActionPlan<F>[]>
  /** What became of each action that a plan covered, in their order: from the memo alone, so that it works after a restart. */
  outcome(receipt: Json, memo: Json): readonly ActionOutcome[]
  /** Into the exchange, or back to the same wallet; absent where it holds no funds. */
  move?(token: Token, amountRaw: bigint, how: 'deposit' | 'withdraw', owner: F['address'], at: At): Promise<BookPlan<F>>
  /**
   * Into the exchange from a chain that the request names: the venue's own by a plan, one that its settings have a bridge from by that bridge
   * (`bridges` of its configuration). The token is that chain's. Refuses what the exchange would not credit. Absent where deposits are moves only.
   */
  depositFrom?(chain: string, token: Token, amountRaw: bigint, owner: F['address'], at: At): Promise<Plan<F> | BridgePlan>
}

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
