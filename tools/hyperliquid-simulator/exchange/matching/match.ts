import { balanceOf, type Fill, type Trade, type Account } from '../account.ts'
import { abs, least, usdValue, one } from '../amounts.ts'
import type { Order, OrderStatus } from '../book.ts'
import { accountOf, bookOf, setStatus, stateOf, type Engine } from '../engine.ts'
import type { Market } from '../listing.ts'
import { freeUsd } from '../margin/perp-account.ts'
import { settlePerp, settleSpot, payToken, type SideOfFill } from './settle.ts'

/** What was filled: `weighted` is the sum of size times price. */
export interface FilledAmount {
  sz: bigint
  weighted: bigint
}

/** Fills an order that comes to the book with what is there, best price first and of one price the oldest first. */
export function match(engine: Engine, taker: Order, liquidation?: Fill['liquidation']): FilledAmount {
  const { market } = taker
  const book = bookOf(engine, market)
  const filled: FilledAmount = { sz: 0n, weighted: 0n }
  const hash = engine.nextHash()
  while (taker.sz > 0n) {
    const [maker] = book.against(taker.isBuy, taker.limitPx)
    if (!maker) break
    const sz = least(least(taker.sz, reducible(engine, taker)), makerCanGive(engine, taker, maker))
    if (sz === 0n && reducible(engine, taker) === 0n) break
    if (sz === 0n) continue
    fill(engine, taker, maker, sz, hash, liquidation)
    filled.sz += sz
    filled.weighted += sz * maker.limitPx
  }
  return filled
}

/** How much of what the maker offers can be had; a maker that can give nothing is gone from the book. */
function makerCanGive(engine: Engine, taker: Order, maker: Order): bigint {
  const account = accountOf(engine, maker.owner)
  // https://hyperliquid.gitbook.io/hyperliquid-docs/trading/self-trade-prevention
  if (maker.owner === taker.owner) endOrder(engine, maker, 'selfTradeCanceled')
  else if (maker.reduceOnly && reducible(engine, maker) === 0n) endOrder(engine, maker, 'reduceOnlyCanceled')
  else if (maker.market.kind === 'perp' && !maker.reduceOnly && freeUsd(engine, account) < 0n && grows(engine, maker))
    endOrder(engine, maker, 'marginCanceled')
  else return least(maker.sz, reducible(engine, maker))
  return 0n
}

/** How much of it can be filled: all, but for one that may only reduce a position. */
export function reducible(engine: Engine, { owner, market, isBuy, sz, reduceOnly }: Order): bigint {
  if (!reduceOnly) return sz
  const szi = accountOf(engine, owner).positions.get(market.coin)?.szi ?? 0n
  return szi === 0n || isBuy === szi > 0n ? 0n : abs(szi)
}

function grows(engine: Engine, { owner, market, isBuy, sz }: Order): boolean {
  const szi = accountOf(engine, owner).positions.get(market.coin)?.szi ?? 0n
  return isBuy === szi >= 0n || sz > abs(szi)
}

function fill(engine: Engine, taker: Order, maker: Order, sz: bigint, hash: string, liquidation?: Fill['liquidation']) {
  const { market } = taker
  const [px, time, tid] = [maker.limitPx, engine.clock.now(), engine.nextTid()]
  const settle = (order: Order, isTaker: boolean): SideOfFill =>
    market.kind === 'spot' ? settleSpot(engine, market, order, px, sz, isTaker) : settlePerp(engine, market, order, px, sz, isTaker)
  // Who sells first, so that what is borrowed for a purchase is never more than it must be.
  const settled = new Map(
    [taker, maker].toSorted((a, b) => Number(a.isBuy) - Number(b.isBuy)).map((order) => [order, settle(order, order === taker)]),
  )

  for (const order of [taker, maker]) {
    order.sz -= sz
    const record: Fill = {
      market,
      px,
      sz,
      isBuy: order.isBuy,
      time,
      hash,
      oid: order.oid,
      ...(order.cloid ? { cloid: order.cloid } : {}),
      crossed: order === taker,
      tid,
      ...(liquidation ? { liquidation } : {}),
      ...settled.get(order)!,
    }
    const account = accountOf(engine, order.owner)
    account.fills.push(record)
    account.volumeUsd += usdValue(px, sz)
    engine.outbox.fills.push({ user: order.owner, fill: record })
    engine.outbox.users.add(order.owner)
  }
  if (maker.sz === 0n) endOrder(engine, maker, 'filled')
  else setStatus(engine, maker, 'open')
  const [buyer, seller] = taker.isBuy ? [taker.owner, maker.owner] : [maker.owner, taker.owner]
  note(engine, { market, px, sz, isBuy: taker.isBuy, time, hash, tid, buyer, seller })
  for (const { owner } of [taker, maker]) sweepReduceOnly(engine, owner, market.coin)
}

function note(engine: Engine, trade: Trade) {
  const { market, px, sz } = trade
  const state = stateOf(engine, market)
  state.trades.push(trade)
  state.dayUsd += usdValue(px, sz)
  state.dayBase += sz
  // Nothing but its book makes the price of a spot market.
  if (market.kind === 'spot') state.markPx = px
  engine.outbox.trades.push(trade)
  engine.outbox.coins.add(market.coin)
  engine.outbox.contexts.add(market.coin)
}

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

/** An order ends as it is: it leaves the book, and what it held back is free. */
export function endOrder(engine: Engine, order: Order, status: OrderStatus) {
  const account = accountOf(engine, order.owner)
  bookOf(engine, order.market).remove(order)
  account.open.delete(order.oid)
  if (order.market.kind === 'spot') balanceOf(account, payToken(order.market, order.isBuy).index).hold -= order.held
  order.held = 0n
  setStatus(engine, order, status)
}

/** Reduce-only orders that have nothing to reduce any more. */
function sweepReduceOnly(engine: Engine, owner: string, coin: string) {
  const account = accountOf(engine, owner)
  const szi = account.positions.get(coin)?.szi ?? 0n
  for (const order of account.open.values()) {
    if (order.reduceOnly && order.market.coin === coin && (szi === 0n || order.isBuy === szi > 0n))
      endOrder(engine, order, 'reduceOnlyCanceled')
  }
}
