// The door for limits of what is spent. Who sets limits implements `Budgets`, and passes it to the journal where that is opened. What is stopped is asked beside it (`stops.ts`).
import type { RawBuilder, Transaction } from 'kysely'
import type { Fraction } from '../base/decimal.ts'
import type { Action } from '../config/clients.ts'
import type { Store } from '../store/store.ts'
import type { Tables } from '../store/tables.ts'
import type { Entry, RailId } from './entry.ts'

/**
 * Called in database transactions of the journal. What it writes with `tx` is durable together with the entries.
 *
 * Several servers call it at once. So it decides by rows that it locks or changes in one statement (`update … where spent + … <= …`), in the
 * same order everywhere. It runs again after a collision, so it has no other effects, and it asks nobody but the database: the wallet's other
 * requests wait for it.
 */
export interface Budgets {
  /** Whether it has to be asked: else the write needs no transaction for it. Absent: always. */
  concerns?(spending: Spending): boolean
  /**
   * Before nonces are claimed for new entries: refuses what `reserve` would refuse now, so that it leaves no gap of nonces. `reserve` decides all the same.
   * One of the budgets has it at most.
   * @param spending as it will be, with what is known of its entries. A function: only clients with limits are asked
   * @returns undefined where nothing bounds the client. A rejection is a SluiceError that refuses it
   */
  admit?(of: SpendingClient, spending: () => PlannedSpending, read: Store['read']): Admission | Promise<Admission> | undefined
  /**
   * Before new entries, of every kind, are written, and so before anything is signed for them; and before the fees of an entry are raised, in a
   * transaction that checks the lease.
   * @throws SluiceError to refuse: then nothing is written, by it and by the journal, and nothing is signed
   */
  reserve(spending: Spending, tx: Transaction<Tables>): Promise<void>
  /** In PostgreSQL, for new entries: what `reserve` would write, as a part of the statement that writes them. Undefined where it takes a transaction. */
  part?(spending: Spending): ReservationPart | undefined
  /** Whether nothing is reserved, so that nothing has to be settled. Absent: never. */
  isIdle?(): boolean
  /** In the write that makes entries final; of those that gave permits in each later one as well. It throws nothing but errors of the database. */
  settle?(ended: readonly Entry[], tx: Transaction<Tables>): Promise<void>
  /**
   * Of entries that are signed and were in none of the last blocks: holds what they would lose by the market of now, where that is more. It throws nothing but errors
   * of the database.
   * @returns by key, why those have to end that would pass a limit
   */
  revalue?(waiting: readonly Entry[], tx: Transaction<Tables>): Promise<ReadonlyMap<string, string>>
  /** In the write that stores the end of an order of signed actions, before the order is locked. It is undone where the order had ended before. It throws nothing but errors of the database. */
  endOrder?(order: OrderEnd, tx: Transaction<Tables>): Promise<void>
  /** In the write that stores fills of an order, before the order is locked. It is undone where another server has stored them. It throws nothing but errors of the database. */
  countFills?(fills: LaterFills, tx: Transaction<Tables>): Promise<void>
  /** Whether `countFills` counts those of what the entry has placed. Absent: of all. */
  countsFillsOf?(entry: Entry): boolean
}

/** What was filled of an order after it was placed. */
export interface LaterFills {
  /** What placed it. */
  readonly entry: Entry
  /** Its index in the outcome of that. */
  readonly index: number
  /** The exchange's id of it; absent where it gave none. */
  readonly orderId?: string
  /** The part of its amount. */
  readonly part: Fraction
  /** Against the market of when it was filled, in millionths of the reference token. */
  readonly lostMicros: bigint
}

/** By the exchange's last word, which never changes. */
export interface OrderEnd {
  /** What placed it. */
  readonly entry: Entry
  /** Its index in the outcome of that. */
  readonly index: number
  /** The part of its amount that was not filled, and never will be. */
  readonly unfilled: Fraction
  /** What was filled at once was filled at a better price than its own: all that was filled later is at its own at most. */
  readonly saved?: SavedByFill
}

/** What a fill cost less, or brought more, than at the price of its order. Never below 0. */
export interface SavedByFill {
  /** In the quote of the market. */
  readonly amount: string
  /** The symbol of the quote. */
  readonly quote: string
  /** Of a purchase: the part of all that it offered. A sale gives the same at every price. */
  readonly ofOffer?: Fraction
}

/** A client on a network. */
export interface SpendingClient extends Pick<RailId, 'chain' | 'network'> {
  readonly client: string
}

/** What was let through counts as held until this is called: once, when its write was made or refused. */
export type Admission = () => void

/** What a budget adds to one statement of PostgreSQL. Where `holds` has no row, nothing is written, and `reserve` is asked in a transaction. */
export interface ReservationPart {
  /** SQL: a row where the budget stands as it was decided by. It locks that row, and waits for nobody: the statement has locks of its own. */
  readonly holds: RawBuilder<unknown>
  /** SQL: queries that write where `written` of the query `outcome`. One of them is `budget_changed`, of one row. */
  readonly writes: RawBuilder<unknown>
  /** Called once it is written. @param changed the row of `budget_changed` */
  written(changed: unknown): void
}

/**
 * `preview`: it is only looked at, and nothing may be signed. `below`: it gives away less than what has to wait. `approved`: it waited, and was
 * approved; the journal takes it only while that holds.
 */
export type ApprovalMark = { readonly is: 'preview' } | { readonly is: 'below' } | { readonly is: 'approved'; readonly id: number }

/** What one request is about to spend. */
export interface Spending<E extends SpendingEntry = Entry> {
  /** Who asks: the client's id in conf/clients.yml, or `sluice` for what the server does by itself. */
  readonly client: string
  readonly is: 'new' | 'raise'
  /** Of a new request of which this is known. */
  readonly commitment?: Commitment
  /** Of a new request of a client. A function: only clients with limits are asked. */
  readonly touches?: () => Footprint
  /** Whether the client had the permission thin when it asked, so that nothing was held against the market. */
  readonly hadThin?: boolean
  readonly approval?: ApprovalMark
  /** What `admit` gave for the same request. */
  readonly admission?: Admission
  /** Of the network, in which fees are. */
  readonly coin: { readonly symbol: string; readonly decimals: number }
  /** One for each step of the plan, in order. Of a raise the only one. */
  readonly steps: readonly SpendingStep<E>[]
}

/** What a request does by its plan, whatever words it was asked in: what the lists of a client are held against. */
export interface Footprint {
  readonly action: Action
  /** The exchange; of an approval each that has the spender: one that is allowed is enough. Absent: no exchange has a part in it. */
  readonly connectors?: readonly { readonly name: string; readonly builtIn: boolean }[]
  /** Each that the wallet gives or gets. Of a perpetual the symbols of its market. */
  readonly tokens: readonly TouchedToken[]
  /** Each that is on the route, or takes the deposit; `unknown` where nobody but a plugin says which. Absent: it has none. */
  readonly pools?: readonly string[] | 'unknown'
  /** Who gets what leaves. Absent: the wallet itself, or an exchange for it. */
  readonly recipient?: string
  /** How far the worst price that is signed is from the quote. */
  readonly slippage?: Fraction
  /** The highest that comes of it; `unknown` where the exchange decides. Absent: nothing is lent. */
  readonly leverage?: Fraction | 'unknown'
}

export interface TouchedToken {
  /** Its address, or its symbol at the exchange where it has none. */
  readonly name: string
  /** As the network lists it, or the market of a perpetual names it. Absent: nobody lists it, and any contract can call itself so. */
  readonly symbol?: string
}

/** What a request commits its wallet to: the worst that its signed bytes permit, without fees. By token address, in smallest units. */
export interface Commitment {
  /** Leaves the wallet at most. */
  readonly gives: Readonly<Record<string, bigint>>
  /** Of several orders that one signed action places: each by its index in the outcome of that, so that it comes back by itself. */
  readonly parts?: ReadonlyMap<number, Commitment>
  /** Comes at least. Absent where nothing is exchanged: a transfer, an approval, a deposit that stays the wallet's. */
  readonly gets?: Readonly<Record<string, bigint>>
  /** How the market valued that; absent where it was not compared with a market. */
  readonly market?: MarketValue
  /** Of orders of perpetuals that may open something, of a client with limits of that. */
  readonly perpetual?: PerpetualExposure
  /** It only closes perpetuals, at no price that is further from the exchange's index than `maxPriceImpact` allows: it is not refused for what it loses. */
  readonly closesNearIndex?: true
  /** By its simulation listed tokens or the coin leave, or none tells: it does not only reduce, whatever its connector calls it. */
  readonly takes?: true
  /** A deposit into a pool, whose price it takes: with it the deposit is valued again while it waits to be mined. */
  readonly pool?: PoolTerms
  /** A change of a position on the chain: with its sides it is valued again by the index, while it waits to be mined. */
  readonly position?: PositionTerms
  /** It stays where others may take it once the market has moved: an order in a book, or a deposit into a pool. */
  readonly mayLoseLater?: true
}

export interface PoolTerms {
  /** By token, what one unit is worth in the pool, in units that all of them share. */
  readonly prices: Readonly<Record<string, Fraction>>
  /**
   * By token, what it gets at least, rounded down. Where it takes any ratio, what the least shares are of what it held before: what is given beyond its ratio is
   * a swap with it, and no swap makes a share worth less, so the shares are worth at least this, but for what others gain where its price is off the market. Where
   * it takes the price of its block, what is left of what was offered, and what is then in the pool, by the worst price that the bytes permit.
   */
  readonly leastGot?: Readonly<Record<string, bigint>>
  /** Of a deposit that takes the price of its block: once it is final, what the price of that block lost counts in place of the worst. */
  readonly made?: MadeAtPrice
}

/** What a deposit makes at the price of its request, in the pool's order, and what of its loss is by the price of its block being another one. */
export interface MadeAtPrice {
  readonly tokens: readonly [string, string]
  readonly amounts: readonly [bigint, bigint]
  readonly liquidity: bigint
  readonly lossMicros: bigint
}

export interface PositionTerms {
  /** The exchange and its id of the market. */
  readonly at: { readonly connector: string; readonly market: string }
  /** By the sides of the perpetual, smallest units: the worst that its bytes permit. */
  readonly gives: Readonly<Record<string, bigint>>
  readonly gets: Readonly<Record<string, bigint>>
}

/** What a wallet has open at an exchange of perpetuals, and what is to be added. In millionths of the exchange's unit of account, rounded up. */
export interface PerpetualExposure {
  /** The exchange and the wallet. */
  readonly account: string
  /** What the account is worth; rounded down, and 0 where it is less. */
  readonly valueMicros: bigint
  /** Notional of all positions and open orders, without signs, before the orders. */
  readonly openMicros: bigint
  /** By how much the orders raise it at most. */
  readonly addedMicros: bigint
  /** Some of the orders opens a position: a new one, more of one, or one of the other side, also where less is open after it than before. */
  readonly opens?: true
  /** Notional of the orders: what they hold until the exchange shows them. Of a withdrawal what it lets be open no longer. */
  readonly notionalMicros: bigint
  /** It withdraws collateral, and `valueMicros` is what is left. */
  readonly withdraws?: true
  /** Of the request whose orders they are: random, so that no caller can choose it. */
  readonly turn: string
  /** What named the last orders of the account before all that was read. */
  readonly lastOrders: string
  /** What orders held that were under way then: what was read may be without them, also where they have ended since. */
  readonly heldMicros: bigint
}

/** Of what takes nothing from the wallet but fees. */
export const givesNothing: Commitment = { gives: {} }

export interface MarketValue {
  /** Value given less the worst value got, in millionths of the reference token; rounded up, and 0 where it is a gain. */
  readonly lossMicros: bigint
  /** By token address, with the native coin where it has a price, or by the two sides of a perpetual (`perpetualSides`): what the smallest unit is worth, in 2^-128 of a millionth of the reference token. */
  readonly prices: Readonly<Record<string, bigint>>
  /** The same by the median of the last minutes, where the market has one: a price that is pushed for a moment moves the first and not the second. */
  readonly medianPrices?: Readonly<Record<string, bigint>>
}

/** What stands for the tokens of a perpetual, of which nothing enters a wallet. */
export const perpetualSides = { base: 'perpetual:base', quote: 'perpetual:quote' } as const

/** Of values of a token's smallest unit, in millionths of the reference token: exact enough for 36 decimals. */
export const fractionBits = 128n

/** An amount in smallest units, in millionths of the reference token. @param valueX of one unit */
export const microsOf = (amountRaw: bigint, valueX: bigint, rounding: 'up' | 'down'): bigint => {
  const product = amountRaw * valueX
  return (rounding === 'up' ? product + (1n << fractionBits) - 1n : product) >> fractionBits
}

/** What is asked of an entry that spends. */
export type SpendingEntry = Pick<Entry, 'key' | 'chain' | 'network' | 'kind' | 'client' | 'paidBy' | 'reduces' | 'signer'>

/** Of a request that has no nonces yet. */
export type PlannedSpending = Spending<SpendingEntry>

export interface SpendingStep<E extends SpendingEntry = Entry> {
  /** New: unsigned, with the plan's step and memo, and the wallet as `address`. Of a raise: as it stands in the journal. */
  readonly entry: E
  /** The most native coin that it can cost, with its value and the highest fees. */
  readonly maxCostRaw: bigint
  /** The native coin that it sends. */
  readonly valueRaw: bigint
  /** Of a raise: what its last attempt can cost. At most one attempt of an entry is mined. */
  readonly lastCostRaw?: bigint
  /** Key of the entry whose nonce it takes: at most one of the two is mined. */
  readonly replaces?: string
}
