import type { Order, OrderStatus } from './book/order.ts'
import type { Fill, FundingPayment, LedgerUpdate, Trade } from './ledger/history.ts'

export interface OrderChange {
  readonly order: Order
  /** As they were then. */
  readonly sz: bigint
  readonly status: OrderStatus
  readonly time: number
}

/** What happened since it was emptied, for who listens. */
export interface Outbox {
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

export function createOutbox(): Outbox {
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
