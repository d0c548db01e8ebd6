import { one } from '../amounts/units.ts'
import { stateOf, type Engine } from '../engine.ts'
import type { Account } from '../ledger/account.ts'
import type { Market } from '../listing/listing.ts'
import type { Order } from '../book/order.ts'
import { match } from './match.ts'

/** Sells or buys for an account that is liquidated, at whatever price the book has. */
export function closeOut(engine: Engine, account: Account, market: Market, isBuy: boolean, sz: bigint) {
  const time = engine.clock.now()
  const order: Order = {
    oid: engine.nextOid(),
    owner: account.address,
    market,
    isBuy,
    limitPx: isBuy ? 10n ** 9n * one : 1n,
    origSz: sz,
    sz,
    tif: 'LiquidationMarket',
    reduceOnly: market.kind === 'perp',
    timestamp: time,
    status: 'open',
    statusTimestamp: time,
    held: 0n,
  }
  account.orders.push(order)
  match(engine, order, { user: account.address, markPx: stateOf(engine, market).markPx, method: 'market' })
  order.status = 'filled'
}
