import {
  ActiveAssetCtxEvent,
  ActiveAssetCtxRequest,
  ActiveSpotAssetCtxEvent,
  AllMidsEvent,
  AllMidsRequest,
  BboEvent,
  BboRequest,
  L2BookEvent,
  L2BookRequest,
  TradesEvent,
  TradesRequest,
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
import { union, type GenericSchema, type InferOutput } from 'valibot'
import { bookOf, stateOf, type Engine } from './engine.ts'
import { bookAt, levelsOf, tradeOf, midsOf, perpContextOf, spotContextOf } from './info/markets.ts'
import { fillOf, fundingOf, frontendOpenOrdersOf, openOrderOf } from './info/orders.ts'
import { activeAssetDataOf, clearinghouseStateOf, spotStateOf } from './info/accounts.ts'

/** Something that can be subscribed to. */
export interface Topic {
  readonly request: GenericSchema
  readonly event: GenericSchema
  /** What its messages are called by. */
  channel(engine: Engine, subscription: unknown): string
  /** What is told at once to who subscribes. */
  first(engine: Engine, subscription: unknown, time: number): readonly unknown[]
  /** What is told of what happened since. */
  next(engine: Engine, subscription: unknown, time: number): readonly unknown[]
}

interface Definition<S extends GenericSchema> {
  readonly request: S
  readonly event: GenericSchema
  channel(engine: Engine, subscription: InferOutput<S>): string
  first?(engine: Engine, subscription: InferOutput<S>, time: number): readonly unknown[]
  next?(engine: Engine, subscription: InferOutput<S>, time: number): readonly unknown[]
  /** Where the whole is told each time: whether it is another than before. */
  changed?(engine: Engine, subscription: InferOutput<S>): boolean
}

/** What comes to its functions was read by the schema. */
const defineTopic = <S extends GenericSchema>({ changed, first = () => [], next, ...definition }: Definition<S>): Topic => ({
  ...definition,
  first,
  next: next ?? ((engine, subscription, time) => (changed?.(engine, subscription) ? first(engine, subscription, time) : [])),
})

const isOther = ({ outbox }: Engine, coin: string) => outbox.coins.has(coin)

/** The whole book each time: there are no increments. */
const l2Book = defineTopic({
  request: L2BookRequest,
  event: L2BookEvent,
  channel: () => 'l2Book',
  first: (engine, { coin, nSigFigs, mantissa }, time) => {
    const market = engine.listing.byCoin(coin)
    return market ? [bookAt(engine, market, time, nSigFigs, mantissa)] : []
  },
  changed: (engine, { coin }) => isOther(engine, coin),
})

/** Only where there are both sides: the published schema knows no other. */
const bbo = defineTopic({
  request: BboRequest,
  event: BboEvent,
  channel: () => 'bbo',
  first: (engine, { coin }, time) => {
    const market = engine.listing.byCoin(coin)
    if (!market) return []
    const { bids, asks } = bookOf(engine, market)
    const [[bid], [ask]] = [levelsOf(bids.slice(0, 1), false), levelsOf(asks.slice(0, 1), true)]
    return bid && ask ? [{ coin, time, bbo: [bid, ask] }] : []
  },
  changed: (engine, { coin }) => isOther(engine, coin),
})

const trades = defineTopic({
  request: TradesRequest,
  event: TradesEvent,
  channel: () => 'trades',
  first: (engine, { coin }) => {
    const market = engine.listing.byCoin(coin)
    const last = market ? stateOf(engine, market).trades.slice(-10) : []
    return last.length > 0 ? [last.map(tradeOf)] : []
  },
  next: ({ outbox }, { coin }) => {
    const made = outbox.trades.filter(({ market }) => market.coin === coin)
    return made.length > 0 ? [made.map(tradeOf)] : []
  },
})

const allMids = defineTopic({
  request: AllMidsRequest,
  event: AllMidsEvent,
  channel: () => 'allMids',
  first: (engine) => [{ mids: midsOf(engine) }],
  changed: ({ outbox }) => outbox.coins.size > 0 || outbox.contexts.size > 0,
})

const activeAssetCtx = defineTopic({
  request: ActiveAssetCtxRequest,
  event: union([ActiveAssetCtxEvent, ActiveSpotAssetCtxEvent]),
  channel: ({ listing }, { coin }) => (listing.byCoin(coin)?.kind === 'spot' ? 'activeSpotAssetCtx' : 'activeAssetCtx'),
  first: (engine, { coin }) => {
    const market = engine.listing.byCoin(coin)
    if (!market) return []
    return [{ coin, ctx: market.kind === 'spot' ? spotContextOf(engine, market) : perpContextOf(engine, market) }]
  },
  changed: (engine, { coin }) => isOther(engine, coin) || engine.outbox.contexts.has(coin),
})

const concerns = ({ outbox }: Engine, { user }: { readonly user: string }) => outbox.users.has(user)

const orderUpdates = defineTopic({
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

const userFills = defineTopic({
  request: UserFillsRequest,
  event: UserFillsEvent,
  channel: () => 'userFills',
  first: ({ accounts }, { user }) => [{ user, fills: (accounts.get(user)?.fills ?? []).slice(-2000).map(fillOf), isSnapshot: true }],
  next: ({ outbox }, { user }) => {
    const own = outbox.fills.filter((each) => each.user === user)
    return own.length > 0 ? [{ user, fills: own.map(({ fill }) => fillOf(fill)) }] : []
  },
})

const userEvents = defineTopic({
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

const userFundings = defineTopic({
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

const userNonFundingLedgerUpdates = defineTopic({
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

const openOrders = defineTopic({
  request: OpenOrdersRequest,
  event: OpenOrdersEvent,
  channel: () => 'openOrders',
  first: (engine, { user, dex = '' }) => [{ dex, user, orders: frontendOpenOrdersOf(engine, user) }],
  changed: concerns,
})

const clearinghouseState = defineTopic({
  request: ClearinghouseStateRequest,
  event: ClearinghouseStateEvent,
  channel: () => 'clearinghouseState',
  first: (engine, { user, dex = '' }) => [{ dex, user, clearinghouseState: clearinghouseStateOf(engine, user) }],
  changed: concerns,
})

const spotState = defineTopic({
  request: SpotStateRequest,
  event: SpotStateEvent,
  channel: () => 'spotState',
  first: (engine, { user }) => [{ user, spotState: spotStateOf(engine, user) }],
  changed: concerns,
})

const activeAssetData = defineTopic({
  request: ActiveAssetDataRequest,
  event: ActiveAssetDataEvent,
  channel: () => 'activeAssetData',
  first: (engine, { user, coin }) => {
    const data = activeAssetDataOf(engine, user, coin)
    return data ? [data] : []
  },
  changed: concerns,
})

/** All that can be subscribed to, by its type. */
export const topics: Readonly<Record<string, Topic>> = {
  activeAssetCtx,
  activeAssetData,
  allMids,
  bbo,
  clearinghouseState,
  l2Book,
  openOrders,
  orderUpdates,
  spotState,
  trades,
  userEvents,
  userFills,
  userFundings,
  userNonFundingLedgerUpdates,
}
