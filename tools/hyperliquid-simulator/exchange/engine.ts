import { createHash } from 'node:crypto'
import { createAccount, type Account, type Trade, type LedgerUpdate, type Fill, type FundingPayment } from './account.ts'
import { createBook, type Book, type Order, type OrderStatus } from './book.ts'
import { createReserves, type Reserve } from './margin/reserves.ts'
import { createListing, type Listing, type Market } from './listing.ts'
import type { Rules } from './rules.ts'

/** What is known of a market besides its book. */
interface MarketState {
  oraclePx: bigint
  markPx: bigint
  /** Per hour. */
  fundingRate: bigint
  halted: boolean
  prevDayPx: bigint
  dayUsd: bigint
  dayBase: bigint
  /** Oldest first. */
  readonly trades: Trade[]
  readonly rates: { time: number; rate: bigint; premium: bigint }[]
}

/** Money that left or waits to. */
interface Withdrawal {
  readonly user: string
  readonly destination: string
  readonly usd: bigint
  readonly nonce: number
  readonly leavesAt: number
  left: boolean
}

/** All that there is; what happens to it stands in functions of it. */
export interface Engine {
  readonly testnet: boolean
  readonly rules: Rules
  readonly clock: Clock
  readonly listing: Listing
  readonly accounts: Map<string, Account>
  readonly books: ReadonlyMap<string, Book>
  readonly states: ReadonlyMap<string, MarketState>
  /** By token. */
  readonly reserves: ReadonlyMap<number, Reserve>
  readonly withdrawals: Withdrawal[]
  /** By token, and what perpetuals brought in US dollars, with what was lost in rounding. */
  readonly fees: Map<number, bigint>
  feesUsd: bigint
  /** What came in from outside less what left, by token; USDC of perpetuals is of token 0. */
  readonly supply: Map<number, bigint>
  readonly outbox: Outbox
  /** What has a time is done up to here. */
  doneUpTo: number
  nextOid(): number
  nextTid(): number
  nextHash(): string
}

export function createEngine(testnet: boolean, rules: Rules, clock: Clock): Engine {
  const listing = createListing(testnet, rules)
  const markets: readonly Market[] = [...listing.spot, ...listing.perps]
  const counters = { oid: 77_000_000_000, tid: 118_000_000_000_000, hash: 0 }
  return {
    testnet,
    rules,
    clock,
    listing,
    accounts: new Map(),
    books: new Map(markets.map(({ coin }) => [coin, createBook()])),
    states: new Map(markets.map((market) => [market.coin, firstState(listing.firstPrice(market))])),
    reserves: createReserves(listing),
    withdrawals: [],
    fees: new Map(),
    feesUsd: 0n,
    supply: new Map(),
    outbox: createOutbox(),
    doneUpTo: clock.now(),
    nextOid: () => ++counters.oid,
    nextTid: () => ++counters.tid,
    nextHash: () =>
      `0x${createHash('sha256')
        .update(String(++counters.hash))
        .digest('hex')}`,
  }
}

const firstState = (price: bigint): MarketState => ({
  oraclePx: price,
  markPx: price,
  fundingRate: 0n,
  halted: false,
  prevDayPx: price,
  dayUsd: 0n,
  dayBase: 0n,
  trades: [],
  rates: [],
})

export const bookOf = (engine: Engine, market: Market): Book => engine.books.get(market.coin)!
export const stateOf = (engine: Engine, market: Market): MarketState => engine.states.get(market.coin)!

export function accountOf(engine: Engine, address: string): Account {
  const key = address.toLowerCase()
  const known = engine.accounts.get(key)
  if (known) return known
  const account = createAccount(key)
  engine.accounts.set(key, account)
  return account
}

/** An order is in another state from now on. */
export function setStatus(engine: Engine, order: Order, status: Order['status']) {
  order.status = status
  order.statusTimestamp = engine.clock.now()
  engine.outbox.orderChanged(order)
}

/** Who never was here has nothing. */
export const readAccount = ({ accounts }: Engine, user: string): Account => accounts.get(user) ?? createAccount(user)

/** Writes into an account's history what came to it or left it. */
export function noteUpdate(engine: Engine, account: Account, delta: LedgerUpdate['delta']) {
  const update: LedgerUpdate = { time: engine.clock.now(), hash: engine.nextHash(), delta }
  account.updates.push(update)
  engine.outbox.updates.push({ user: account.address, update })
  engine.outbox.users.add(account.address)
}

interface OrderChange {
  readonly order: Order
  /** As they were then. */
  readonly sz: bigint
  readonly status: OrderStatus
  readonly time: number
}

/** What happened since it was emptied, for who listens. */
interface Outbox {
  readonly coins: Set<string>
  readonly contexts: Set<string>
  readonly trades: Trade[]
  readonly changes: OrderChange[]
  readonly fills: { readonly user: string; readonly fill: Fill }[]
  readonly fundings: { readonly user: string; readonly payment: FundingPayment }[]
  readonly updates: { readonly user: string; readonly update: LedgerUpdate }[]
  /** Whose balances, positions or orders are others. */
  readonly users: Set<string>
  orderChanged(order: Order): void
  empty(): void
}

function createOutbox(): Outbox {
  const outbox: Outbox = {
    coins: new Set(),
    contexts: new Set(),
    trades: [],
    changes: [],
    fills: [],
    fundings: [],
    updates: [],
    users: new Set(),
    orderChanged: (order) => {
      const { sz, status, statusTimestamp: time, market, owner } = order
      outbox.changes.push({ order, sz, status, time })
      outbox.coins.add(market.coin)
      outbox.users.add(owner)
    },
    empty: () => {
      for (const set of [outbox.coins, outbox.contexts, outbox.users]) set.clear()
      for (const list of [outbox.trades, outbox.changes, outbox.fills, outbox.fundings, outbox.updates]) list.length = 0
    },
  }
  return outbox
}

export interface Clock {
  /** Milliseconds since the Unix epoch, by the exchange's own clock. */
  now(): number
  advance(milliseconds: number): void
}

/** The machine's clock, and what was added to it. */
export function createClock(): Clock {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    advance: (milliseconds) => {
      ahead += milliseconds
    },
  }
}
