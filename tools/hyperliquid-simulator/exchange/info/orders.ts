import {
  FrontendOpenOrdersRequest,
  FrontendOpenOrdersResponse,
  HistoricalOrdersRequest,
  HistoricalOrdersResponse,
  OpenOrdersRequest,
  OpenOrdersResponse,
  OrderStatusRequest,
  OrderStatusResponse,
} from '@nktkas/hyperliquid/api/info'
import { fromPrice, fromSize } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import type { Order } from '../book/order.ts'
import { defineQuery } from './query.ts'

const most = 2000

const briefOf = ({ market, isBuy, limitPx, oid, timestamp, origSz }: Order, sz: bigint) => ({
  coin: market.coin,
  side: isBuy ? 'B' : 'A',
  limitPx: fromPrice(limitPx),
  sz: fromSize(sz),
  oid,
  timestamp,
  origSz: fromSize(origSz),
})

export const openOrderOf = (order: Order, sz = order.sz) => ({
  ...briefOf(order, sz),
  ...(order.cloid ? { cloid: order.cloid } : {}),
  ...(order.reduceOnly ? { reduceOnly: true } : {}),
})

export const wholeOrderOf = (order: Order) => ({
  ...briefOf(order, order.sz),
  triggerCondition: 'N/A',
  isTrigger: false,
  triggerPx: '0.0',
  children: [],
  isPositionTpsl: false,
  reduceOnly: order.reduceOnly,
  orderType: order.tif === 'LiquidationMarket' ? 'Market' : 'Limit',
  tif: order.tif,
  cloid: order.cloid ?? null,
})

const withStatus = (order: Order) => ({ order: wholeOrderOf(order), status: order.status, statusTimestamp: order.statusTimestamp })

const openOf = (engine: Engine, user: string) => [...(engine.accounts.get(user)?.open.values() ?? [])].toReversed()

export const openOrders = defineQuery({
  request: OpenOrdersRequest,
  response: OpenOrdersResponse,
  answer: (engine, { user }) => openOf(engine, user).map((order) => openOrderOf(order)),
})

export const frontendOpenOrdersOf = (engine: Engine, user: string) => openOf(engine, user).map(wholeOrderOf)

export const frontendOpenOrders = defineQuery({
  request: FrontendOpenOrdersRequest,
  response: FrontendOpenOrdersResponse,
  answer: (engine, { user }) => frontendOpenOrdersOf(engine, user),
})

export const historicalOrdersOf = (engine: Engine, user: string) => {
  const orders = engine.accounts.get(user)?.orders ?? []
  return orders.slice(-most).toReversed().map(withStatus)
}

export const historicalOrders = defineQuery({
  request: HistoricalOrdersRequest,
  response: HistoricalOrdersResponse,
  answer: (engine, { user }) => historicalOrdersOf(engine, user),
})

/** By a name, the latest order that had it. */
export const orderStatus = defineQuery({
  request: OrderStatusRequest,
  response: OrderStatusResponse,
  weight: 2,
  answer: (engine, { user, oid }) => {
    const account = engine.accounts.get(user)
    const order = typeof oid === 'number' ? account?.orders.findLast((each) => each.oid === oid) : account?.byCloid.get(oid)
    const isSeen = order && engine.clock.now() >= order.timestamp + engine.rules.orderStatusLagMs
    return isSeen ? { status: 'order', order: withStatus(order) } : { status: 'unknownOid' }
  },
})
