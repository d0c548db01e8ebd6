import { ceilDiv, least } from '../amounts/decimals.ts'
import { toUsd } from '../amounts/units.ts'
import type { Engine } from '../engine.ts'
import { balanceOf, loansOf, type Account } from '../ledger/account.ts'
import { crossSummary, wholeSummary } from '../margin/perp-account.ts'
import { usdOf } from './oracle.ts'

export const ratioDecimals = 10
/** Above it the account is liquidated. */
export const liquidatableFrom = 95n * 10n ** 8n

/** All in US dollars. */
export interface Portfolio {
  /** What may be borrowed against what is there, without what was borrowed. */
  borrowableUsd: bigint
  borrowedUsd: bigint
  /** What everything is worth, less what is owed. */
  equityUsd: bigint
  collateralUsd: bigint
  requirementUsd: bigint
  liquidationValueUsd: bigint
  /** In 10^-10. */
  ratio: bigint
}

/** https://hyperliquid.gitbook.io/hyperliquid-docs/trading/portfolio-margin: "Liquidations" */
export function portfolioOf(engine: Engine, account: Account): Portfolio {
  const perps = crossSummary(engine, account)
  let [borrowableUsd, borrowedUsd, collateralUsd, supportUsd] = [0n, 0n, 0n, 0n]
  let balanceUsd = perps.value
  let worthUsd = wholeSummary(engine, account).value
  for (const { token, ltvPercent, supplyCap } of engine.reserves.values()) {
    const { supplied, borrowed } = loansOf(account, token.index)
    const has = balanceOf(account, token.index).total + supplied
    const worth = usdOf(engine, token, has)
    worthUsd += worth
    borrowedUsd += usdOf(engine, token, borrowed)
    if (ltvPercent === 0n) balanceUsd += worth
    else {
      collateralUsd += worth
      const counted = usdOf(engine, token, least(has, supplyCap))
      borrowableUsd += (counted * ltvPercent) / 100n
      supportUsd += (counted * (100n + ltvPercent)) / 200n
    }
  }
  const requirementUsd = toUsd(engine.rules.minBorrowOffset) + perps.maintenance + borrowedUsd
  const liquidationValueUsd = balanceUsd + least(toUsd(engine.rules.borrowCap), supportUsd)
  return {
    borrowableUsd,
    borrowedUsd,
    equityUsd: worthUsd - borrowedUsd,
    collateralUsd,
    requirementUsd,
    liquidationValueUsd,
    ratio: liquidationValueUsd > 0n ? ceilDiv(requirementUsd * 10n ** BigInt(ratioDecimals), liquidationValueUsd) : 10n ** 20n,
  }
}
