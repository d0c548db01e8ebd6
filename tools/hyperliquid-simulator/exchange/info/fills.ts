import {
  UserFillsByTimeRequest,
  UserFillsByTimeResponse,
  UserFillsRequest,
  UserFillsResponse,
  UserFundingRequest,
  UserFundingResponse,
  UserNonFundingLedgerUpdatesRequest,
  UserNonFundingLedgerUpdatesResponse,
} from '@nktkas/hyperliquid/api/info'
import { fromUnits } from '../amounts/decimals.ts'
import { fromPrice, fromRate, fromSize, fromUsd } from '../amounts/units.ts'
import type { Fill, FundingPayment } from '../ledger/history.ts'
import { defineQuery } from './query.ts'

const most = { fills: 2000, funding: 500, updates: 2000 }

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
  answer: ({ accounts }, { user }) => (accounts.get(user)?.fills ?? []).slice(-most.fills).toReversed().map(fillOf),
})

const within = <T extends { readonly time: number }>(list: readonly T[], from: number | null | undefined, to: number | null | undefined) =>
  list.filter(({ time }) => time >= (from ?? 0) && time <= (to ?? Infinity))

/** The oldest first, from its start: who wants more asks again from the last one's time. */
export const userFillsByTime = defineQuery({
  request: UserFillsByTimeRequest,
  response: UserFillsByTimeResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.fills ?? [], startTime, endTime)
      .slice(0, most.fills)
      .map(fillOf),
})

export const userFunding = defineQuery({
  request: UserFundingRequest,
  response: UserFundingResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.fundings ?? [], startTime, endTime)
      .slice(0, most.funding)
      .map((payment) => ({ time: payment.time, hash: payment.hash, delta: { type: 'funding', ...fundingOf(payment) } })),
})

export const userNonFundingLedgerUpdates = defineQuery({
  request: UserNonFundingLedgerUpdatesRequest,
  response: UserNonFundingLedgerUpdatesResponse,
  answer: ({ accounts }, { user, startTime, endTime }) =>
    within(accounts.get(user)?.updates ?? [], startTime, endTime).slice(0, most.updates),
})
