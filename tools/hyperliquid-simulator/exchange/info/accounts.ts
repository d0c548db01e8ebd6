import {
  ActiveAssetDataRequest,
  ActiveAssetDataResponse,
  ClearinghouseStateRequest,
  ClearinghouseStateResponse,
  SpotClearinghouseStateRequest,
  SpotClearinghouseStateResponse,
} from '@nktkas/hyperliquid/api/info'
import { leverageOf, loansOf, type Account, type Position } from '../account.ts'
import { abs, floorDiv, fromUnits, most, roundDiv, fromPrice, fromSize, fromUsd, one } from '../amounts.ts'
import { accountOf, stateOf, readAccount, type Engine } from '../engine.ts'
import { portfolioOf, ratioDecimals, spendable } from '../margin/portfolio.ts'
import type { PerpMarket } from '../listing.ts'
import {
  maintenanceLines,
  maintenanceUsd,
  crossSummary,
  freeUsd,
  marginUsedBy,
  unrealizedOf,
  wholeSummary,
  withdrawableUsd,
  worthOf,
  signedWorthOf,
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

/** With ten decimals, as the exchange tells it. */
const liquidationPxDecimals = 10

/**
 * The mark price at which nothing but the maintenance margin is left, all other prices as they are; undefined where there is none above 0.
 * https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
 */
function liquidationPx(engine: Engine, account: Account, position: Position): bigint | undefined {
  const { market, szi, isolatedUsd } = position
  // What stands behind the position but its own worth.
  let behindUsd = isolatedUsd
  if (behindUsd === undefined) {
    const { value, maintenance } = crossSummary(engine, account)
    behindUsd = value - signedWorthOf(engine, position) - (maintenance - maintenanceUsd(market, worthOf(engine, position)))
  }
  return priceWhere(behindUsd, szi, maintenanceLines(market))
}

/** Where `behind + szi * price` is `rate * |szi| * price - deduction`, on the line that holds at that price. */
function priceWhere(behindUsd: bigint, szi: bigint, lines: ReturnType<typeof maintenanceLines>): bigint | undefined {
  for (const { rate, one, deductionUsd, from, to } of lines) {
    // Sizes are 10^-8 and dollars 10^-6, so that a quotient of both is 10^2 of a price.
    const divisor = rate * abs(szi) - one * szi
    if (divisor === 0n) continue
    const price = roundDiv((behindUsd + deductionUsd) * one * 10n ** BigInt(liquidationPxDecimals + 2), divisor)
    const worth = (price * abs(szi)) / 10n ** BigInt(liquidationPxDecimals + 2)
    if (price > 0n && worth >= from && (to === undefined || worth < to)) return price
  }
  return undefined
}

export function spotStateOf(engine: Engine, user: string) {
  const account = readAccount(engine, user)
  const isPortfolio = account.mode === 'portfolioMargin'
  const balances = engine.listing.tokens.flatMap((token) => {
    const balance = account.spot.get(token.index)
    const reserve = engine.reserves.get(token.index)
    const { supplied, borrowed } = loansOf(account, token.index)
    if (!balance && supplied === 0n && borrowed === 0n) return []
    const show = (wei: bigint) => fromUnits(wei, token.weiDecimals)
    const { total, hold, entryNtl } = balance ?? { total: 0n, hold: 0n, entryNtl: 0n }
    // There is one balance for everything then: what perpetuals are worth is of it, and held.
    const perps = isPortfolio && token.index === 0 ? wholeSummary(engine, account).value * 100n : 0n
    return [
      {
        coin: token.name,
        token: token.index,
        total: show(total + (isPortfolio ? supplied : 0n) + perps),
        hold: show(hold + perps),
        entryNtl: fromUnits(entryNtl, 8),
        ...(isPortfolio && reserve ? { ltv: fromUnits(reserve.ltvPercent, 2) } : {}),
        ...(isPortfolio && supplied > 0n ? { supplied: show(supplied) } : {}),
        ...(isPortfolio && borrowed > 0n ? { borrowed: show(borrowed) } : {}),
      },
    ]
  })
  return {
    ...(isPortfolio ? portfolioShown(engine, account) : {}),
    balances,
    tokenToAvailableAfterMaintenance: availableOf(engine, account),
  }
}

function availableOf(engine: Engine, account: Account) {
  const isPortfolio = account.mode === 'portfolioMargin'
  return [...engine.reserves.values()].flatMap(({ token }) => {
    if (isPortfolio && token.index === 0) {
      const { liquidationValueUsd, requirementUsd } = portfolioOf(engine, account)
      return [[0, fromUsd(most(0n, liquidationValueUsd - requirementUsd))]]
    }
    if (!isPortfolio && token.index > 0) return []
    const { total, hold } = account.spot.get(token.index) ?? { total: 0n, hold: 0n }
    return [[token.index, fromUnits(most(0n, total + loansOf(account, token.index).supplied - hold), token.weiDecimals)]]
  })
}

/** Only with portfolio margin; the published schemas know nothing of it. */
function portfolioShown(engine: Engine, account: Account) {
  return { portfolioMarginEnabled: true, portfolioMarginRatio: fromUnits(portfolioOf(engine, account).ratio, ratioDecimals) }
}

export const spotClearinghouseState = defineQuery({
  request: SpotClearinghouseStateRequest,
  response: SpotClearinghouseStateResponse,
  weight: 2,
  answer: (engine, { user }) => spotStateOf(engine, user),
})
