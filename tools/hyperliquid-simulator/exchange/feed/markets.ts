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
} from '@nktkas/hyperliquid/api/subscription'
import { union } from 'valibot'
import { bookOf, stateOf, type Engine } from '../engine.ts'
import { bookAt, levelsOf, tradeOf } from '../info/books.ts'
import { midsOf, perpContextOf, spotContextOf } from '../info/markets.ts'
import { defineTopic } from './topic.ts'

const isOther = ({ outbox }: Engine, coin: string) => outbox.coins.has(coin)

/** The whole book each time: there are no increments. */
export const l2Book = defineTopic({
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
export const bbo = defineTopic({
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

export const trades = defineTopic({
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

export const allMids = defineTopic({
  request: AllMidsRequest,
  event: AllMidsEvent,
  channel: () => 'allMids',
  first: (engine) => [{ mids: midsOf(engine) }],
  changed: ({ outbox }) => outbox.coins.size > 0 || outbox.contexts.size > 0,
})

export const activeAssetCtx = defineTopic({
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
