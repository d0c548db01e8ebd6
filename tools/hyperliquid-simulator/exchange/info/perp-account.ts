import {
  ActiveAssetDataRequest,
  ActiveAssetDataResponse,
  ClearinghouseStateRequest,
  ClearinghouseStateResponse,
} from '@nktkas/hyperliquid/api/info'
import { abs, floorDiv, fromUnits, most, roundDiv } from '../amounts/decimals.ts'
import { fromPrice, fromSize, fromUsd, one } from '../amounts/units.ts'
import { accountOf, stateOf, type Engine } from '../engine.ts'
import { leverageOf, type Account, type Position } from '../ledger/account.ts'
import { readAccount } from '../ledger/read-account.ts'
import type { PerpMarket } from '../listing/listing.ts'
import { spendable } from '../lending/spendable.ts'
import { liquidationPx, liquidationPxDecimals } from '../margin/liquidation-price.ts'
import {
  crossSummary,
  freeUsd,
  marginUsedBy,
  unrealizedOf,
  wholeSummary,
  withdrawableUsd,
  worthOf,
  type MarginSummary,
} from '../margin/perp-account.ts'
import { defineQuery } from './query.ts'

const summaryOf = ({ value, ntl, raw, used }: MarginSummary) => ({
  accountValue: fromUsd(value),
  totalNtlPos: fromUsd(ntl),
  totalRawUsd: fromUsd(raw),
  totalMarginUsed: fromUsd(used),
})

const leverageShown = (account: Account, market: PerpMarket, position?: Position) => {
  const { isCross, value } = leverageOf(account, market)
  return isCross ? { type: 'cross', value } : { type: 'isolated', value, rawUsd: fromUsd(position?.isolatedUsd ?? 0n) }
}

export function positionOf(engine: Engine, account: Account, position: Position) {
  const { market, szi, entryNtl, funding } = position
  const [pnl, liquidation] = [unrealizedOf(engine, position), liquidationPx(engine, account, position)]
  const step = 10n ** BigInt(8 - market.maxDecimals)
  return {
    coin: market.coin,
    szi: fromSize(szi),
    leverage: leverageShown(account, market, position),
    entryPx: fromPrice(roundDiv(entryNtl * 100n * one, abs(szi) * step) * step),
    positionValue: fromUsd(worthOf(engine, position)),
    unrealizedPnl: fromUsd(pnl),
    // Of the margin that it was entered with.
    returnOnEquity: entryNtl === 0n ? '0.0' : fromUnits((pnl * BigInt(leverageOf(account, market).value) * 10n ** 10n) / entryNtl, 10),
    liquidationPx: liquidation === undefined ? null : fromUnits(liquidation, liquidationPxDecimals),
    marginUsed: fromUsd(most(0n, marginUsedBy(engine, account, position))),
    maxLeverage: market.maxLeverage,
    cumFunding: { allTime: fromUsd(funding.allTime), sinceOpen: fromUsd(funding.sinceOpen), sinceChange: fromUsd(funding.sinceChange) },
  }
}

export function clearinghouseStateOf(engine: Engine, user: string) {
  const account = readAccount(engine, user)
  const cross = crossSummary(engine, account)
  return {
    marginSummary: summaryOf(wholeSummary(engine, account)),
    crossMarginSummary: summaryOf(cross),
    crossMaintenanceMarginUsed: fromUsd(cross.maintenance),
    withdrawable: fromUsd(account.mode === 'portfolioMargin' ? 0n : withdrawableUsd(engine, account)),
    assetPositions: [...account.positions.values()].map((position) => ({
      type: 'oneWay',
      position: positionOf(engine, account, position),
    })),
    time: engine.clock.now(),
  }
}

export const clearinghouseState = defineQuery({
  request: ClearinghouseStateRequest,
  response: ClearinghouseStateResponse,
  weight: 2,
  answer: (engine, { user }) => clearinghouseStateOf(engine, user),
})

export function activeAssetDataOf(engine: Engine, user: string, coin: string) {
  const market = engine.listing.byCoin(coin)
  if (market?.kind !== 'perp') return null
  const account = readAccount(engine, user)
  const position = account.positions.get(coin)
  const { markPx } = stateOf(engine, market)
  const leverage = BigInt(leverageOf(account, market).value)
  const lent = account.mode === 'portfolioMargin' ? spendable(engine, accountOf(engine, user), engine.listing.token(0)!) / 100n : 0n
  const free = most(0n, freeUsd(engine, account) + lent)
  // What closes a position needs no margin, and sets its own free.
  const [buys, sells] = [position && position.szi < 0n, position && position.szi > 0n].map(
    (closes) => free + (closes && position ? 2n * marginUsedBy(engine, account, position) : 0n),
  )
  const lot = 10n ** BigInt(8 - market.szDecimals)
  const sizeOf = (usd = 0n) => fromSize((floorDiv(usd * leverage * 100n * one, markPx) / lot) * lot)
  return {
    user: account.address,
    coin,
    leverage: leverageShown(account, market, position),
    maxTradeSzs: [sizeOf(buys), sizeOf(sells)],
    availableToTrade: [fromUsd(buys ?? 0n), fromUsd(sells ?? 0n)],
    markPx: fromPrice(markPx),
  }
}

export const activeAssetData = defineQuery({
  request: ActiveAssetDataRequest,
  response: ActiveAssetDataResponse,
  answer: (engine, { user, coin }) => activeAssetDataOf(engine, user, coin),
})
