import {
  ActiveAssetDataEvent,
  ActiveAssetDataRequest,
  ClearinghouseStateEvent,
  ClearinghouseStateRequest,
  OpenOrdersEvent,
  OpenOrdersRequest,
  OrderUpdatesEvent,
  OrderUpdatesRequest,
  SpotStateEvent,
  SpotStateRequest,
  UserEventsEvent,
  UserEventsRequest,
  UserFillsEvent,
  UserFillsRequest,
  UserFundingsEvent,
  UserFundingsRequest,
  UserNonFundingLedgerUpdatesEvent,
  UserNonFundingLedgerUpdatesRequest,
} from '@nktkas/hyperliquid/api/subscription'
import type { Engine } from '../engine.ts'
import { fillOf, fundingOf } from '../info/fills.ts'
import { frontendOpenOrdersOf, openOrderOf } from '../info/orders.ts'
import { activeAssetDataOf, clearinghouseStateOf } from '../info/perp-account.ts'
import { spotStateOf } from '../info/spot-account.ts'
import { defineTopic } from './topic.ts'

const concerns = ({ outbox }: Engine, { user }: { readonly user: string }) => outbox.users.has(user)

export const orderUpdates = defineTopic({
  request: OrderUpdatesRequest,
  event: OrderUpdatesEvent,
  channel: () => 'orderUpdates',
  next: ({ outbox }, { user }) => {
    const own = outbox.changes.filter(({ order }) => order.owner === user)
    return own.length > 0
      ? [own.map(({ order, sz, status, time }) => ({ order: openOrderOf(order, sz), status, statusTimestamp: time }))]
      : []
  },
})

export const userFills = defineTopic({
  request: UserFillsRequest,
  event: UserFillsEvent,
  channel: () => 'userFills',
  first: ({ accounts }, { user }) => [{ user, fills: (accounts.get(user)?.fills ?? []).slice(-2000).map(fillOf), isSnapshot: true }],
  next: ({ outbox }, { user }) => {
    const own = outbox.fills.filter((each) => each.user === user)
    return own.length > 0 ? [{ user, fills: own.map(({ fill }) => fillOf(fill)) }] : []
  },
})

export const userEvents = defineTopic({
  request: UserEventsRequest,
  event: UserEventsEvent,
  channel: () => 'user',
  next: ({ outbox }, { user }) => {
    const fills = outbox.fills.filter((each) => each.user === user).map(({ fill }) => fillOf(fill))
    const taken = outbox.changes.filter(({ order, status }) => order.owner === user && /.Canceled$/.test(status))
    const nonUserCancel = taken.map(({ order }) => ({ coin: order.market.coin, oid: order.oid }))
    const fundings = outbox.fundings.filter((each) => each.user === user)
    return [
      ...(fills.length > 0 ? [{ fills }] : []),
      ...(nonUserCancel.length > 0 ? [{ nonUserCancel }] : []),
      ...fundings.map(({ payment }) => ({ funding: fundingOf(payment) })),
    ]
  },
})

export const userFundings = defineTopic({
  request: UserFundingsRequest,
  event: UserFundingsEvent,
  channel: () => 'userFundings',
  first: ({ accounts }, { user }) => [
    {
      user,
      fundings: (accounts.get(user)?.fundings ?? []).slice(-500).map((payment) => ({ time: payment.time, ...fundingOf(payment) })),
      isSnapshot: true,
    },
  ],
  next: ({ outbox }, { user }) => {
    const own = outbox.fundings.filter((each) => each.user === user)
    return own.length > 0 ? [{ user, fundings: own.map(({ payment }) => ({ time: payment.time, ...fundingOf(payment) })) }] : []
  },
})

export const userNonFundingLedgerUpdates = defineTopic({
  request: UserNonFundingLedgerUpdatesRequest,
  event: UserNonFundingLedgerUpdatesEvent,
  channel: () => 'userNonFundingLedgerUpdates',
  first: ({ accounts }, { user }) => [
    { user, nonFundingLedgerUpdates: (accounts.get(user)?.updates ?? []).slice(-2000), isSnapshot: true },
  ],
  next: ({ outbox }, { user }) => {
    const own = outbox.updates.filter((each) => each.user === user)
    return own.length > 0 ? [{ user, nonFundingLedgerUpdates: own.map(({ update }) => update) }] : []
  },
})

export const openOrders = defineTopic({
  request: OpenOrdersRequest,
  event: OpenOrdersEvent,
  channel: () => 'openOrders',
  first: (engine, { user, dex = '' }) => [{ dex, user, orders: frontendOpenOrdersOf(engine, user) }],
  changed: concerns,
})

export const clearinghouseState = defineTopic({
  request: ClearinghouseStateRequest,
  event: ClearinghouseStateEvent,
  channel: () => 'clearinghouseState',
  first: (engine, { user, dex = '' }) => [{ dex, user, clearinghouseState: clearinghouseStateOf(engine, user) }],
  changed: concerns,
})

export const spotState = defineTopic({
  request: SpotStateRequest,
  event: SpotStateEvent,
  channel: () => 'spotState',
  first: (engine, { user }) => [{ user, spotState: spotStateOf(engine, user) }],
  changed: concerns,
})

export const activeAssetData = defineTopic({
  request: ActiveAssetDataRequest,
  event: ActiveAssetDataEvent,
  channel: () => 'activeAssetData',
  first: (engine, { user, coin }) => {
    const data = activeAssetDataOf(engine, user, coin)
    return data ? [data] : []
  },
  changed: concerns,
})
