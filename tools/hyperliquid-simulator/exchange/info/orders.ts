import {
  FrontendOpenOrdersRequest,
  FrontendOpenOrdersResponse,
  HistoricalOrdersRequest,
  HistoricalOrdersResponse,
  OpenOrdersRequest,
  OpenOrdersResponse,
  OrderStatusRequest,
  OrderStatusResponse,
  UserFillsByTimeRequest,
  UserFillsByTimeResponse,
  UserFillsRequest,
  UserFillsResponse,
  UserFundingRequest,
  UserFundingResponse,
  UserNonFundingLedgerUpdatesRequest,
  UserNonFundingLedgerUpdatesResponse,
} from '@nktkas/hyperliquid/api/info'
import type { Fill, FundingPayment } from '../account.ts'
import { fromPrice, fromSize, fromUnits, fromRate, fromUsd } from '../amounts.ts'
import type { Order } from '../book.ts'
import type { Engine } from '../engine.ts'
import { defineQuery } from './query.ts'

const mostOrders = 2000

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

const wholeOrderOf = (order: Order) => ({
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

const historicalOrdersOf = (engine: Engine, user: string) => {
  const orders = engine.accounts.get(user)?.orders ?? []
  return orders.slice(-mostOrders).toReversed().map(withStatus)
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

const mostTold = { fills: 2000, funding: 500, updates: 2000 }

export const fillOf = (fill: Fill) => ({
  coin: fill.market.coin,
  px: fromPrice(fill.px),
  sz: fromSize(fill.sz),
  side: fill.isBuy ? 'B' : 'A',
  time: fill.time,
  startPosition: fromSize(fill.startPosition),
  dir: fill.dir,
  closedPnl: fromUnits(fill.closedPnl, 8),
  hash: fill.hash,
  oid: fill.oid,
  crossed: fill.crossed,
  fee: fromUnits(fill.fee, fill.feeDecimals),
  tid: fill.tid,
  feeToken: fill.feeToken,
  twapId: null,
  ...(fill.cloid ? { cloid: fill.cloid } : {}),
  ...(fill.liquidation
    ? {
        liquidation: { liquidatedUser: fill.liquidation.user, markPx: fromPrice(fill.liquidation.markPx), method: fill.liquidation.method },
      }
    : {}),
})

export const fundingOf = ({ market, usd, szi, rate }: FundingPayment) => ({
  coin: market.coin,
  usdc: fromUsd(usd),
  szi: fromSize(szi),
  fundingRate: fromRate(rate),
  nSamples: null,
})

/** The newest first. */
export const userFills = defineQuery({
  request: UserFillsRequest,
  response: UserFillsResponse,
  answer: ({ accounts }, { user }) => (accounts.get(user)?.fills ?? []).slice(-mostTold.fills).toReversed().map(fillOf),
})

const within = <T extends { readonly time: number }>(list: readonly T[], from: number | null | undefined, to: number | null | undefined) =>
  list.filter(({ time }) => time >= (from ?? 0) && time <= (to ?? Infinity))

/** The oldest first, from its start: who wants more asks again from the last one's time. */
export const userFillsByTime = defineQuery({
  request: UserFillsByTimeRequest,
  response: UserFillsByTimeResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.fills ?? [], startTime, endTime)
      .slice(0, mostTold.fills)
      .map(fillOf),
})

export const userFunding = defineQuery({
  request: UserFundingRequest,
  response: UserFundingResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.fundings ?? [], startTime, endTime)
      .slice(0, mostTold.funding)
      .map((payment) => ({ time: payment.time, hash: payment.hash, delta: { type: 'funding', ...fundingOf(payment) } })),
})

export const userNonFundingLedgerUpdates = defineQuery({
  request: UserNonFundingLedgerUpdatesRequest,
  response: UserNonFundingLedgerUpdatesResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.updates ?? [], startTime, endTime).slice(0, mostTold.updates),
})
