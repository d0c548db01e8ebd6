import { SpotClearinghouseStateRequest, SpotClearinghouseStateResponse } from '@nktkas/hyperliquid/api/info'
import { fromUnits, most } from '../amounts/decimals.ts'
import { fromUsd } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import { loansOf, type Account } from '../ledger/account.ts'
import { readAccount } from '../ledger/read-account.ts'
import { portfolioOf, ratioDecimals } from '../lending/portfolio.ts'
import { wholeSummary } from '../margin/perp-account.ts'
import { defineQuery } from './query.ts'

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
