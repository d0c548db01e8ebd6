import { balanceOf, loansOf, type Account } from '../account.ts'
import { ceilDiv, least, toUsd, one, most, toUnits } from '../amounts.ts'
import type { Engine } from '../engine.ts'
import type { Token } from '../listing.ts'
import { crossSummary, wholeSummary } from './perp-account.ts'
import type { Reserve } from './reserves.ts'

export const ratioDecimals = 10
/** Above it the account is liquidated. */
export const liquidatableFrom = 95n * 10n ** 8n

/** All in US dollars. */
interface Portfolio {
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

/** What a token is worth in US dollars: the middle one of its prices, on the spot market and as a perpetual. */
export function borrowOraclePx({ listing, states }: Engine, token: Token): bigint {
  if (token.index === 0) return one
  const spot = listing.spot.find(({ base }) => base.index === token.index)
  const perp = listing.byCoin(token.name.replace(/^U(?=BTC$)/, ''))
  const prices = [spot && states.get(spot.coin)?.markPx]
  if (perp?.kind === 'perp') prices.push(states.get(perp.coin)?.markPx, states.get(perp.coin)?.oraclePx)
  const known = prices.filter((price) => price !== undefined).toSorted((a, b) => (a < b ? -1 : 1))
  return known[known.length >> 1] ?? 0n
}

/** In 10^-6 US dollars, rounded down. */
export const usdOf = (engine: Engine, token: Token, wei: bigint): bigint =>
  (wei * borrowOraclePx(engine, token) * 10n ** 6n) / 10n ** BigInt(8 + token.weiDecimals)

/** How much more of a token may be borrowed, in its smallest unit: by its cap, by what stands against it, and by what is there. */
export function borrowable(engine: Engine, account: Account, { token, isBorrowable, balance }: Reserve): bigint {
  if (!isBorrowable || account.mode !== 'portfolioMargin') return 0n
  const { borrowableUsd, borrowedUsd } = portfolioOf(engine, account)
  const free = most(0n, borrowableUsd - borrowedUsd)
  const byCollateral = (free * 10n ** BigInt(2 + token.weiDecimals)) / borrowOraclePx(engine, token)
  const cap = toUnits(engine.rules.borrowCap, token.weiDecimals) - loansOf(account, token.index).borrowed
  return most(0n, least(least(byCollateral, cap), balance))
}

/** What orders may pay with: with portfolio margin what was lent, and what can be borrowed, too. */
export function spendable(engine: Engine, account: Account, token: Token): bigint {
  const { total } = balanceOf(account, token.index)
  const reserve = engine.reserves.get(token.index)
  if (account.mode !== 'portfolioMargin' || !reserve) return total
  const { supplied } = loansOf(account, token.index)
  const back = supplied < reserve.balance ? supplied : reserve.balance
  return total + back + borrowable(engine, account, reserve)
}

/** With portfolio margin, the US dollars that perpetuals may have of it. */
export function lendableUsd(engine: Engine, account: Account): bigint {
  if (account.mode !== 'portfolioMargin') return 0n
  const usdc = engine.listing.token(0)!
  return (spendable(engine, account, usdc) - balanceOf(account, usdc.index).hold) / 100n
}
