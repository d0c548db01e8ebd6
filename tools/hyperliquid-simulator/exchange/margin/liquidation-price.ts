import { abs, roundDiv } from '../amounts/decimals.ts'
import type { Engine } from '../engine.ts'
import type { Account, Position } from '../ledger/account.ts'
import { maintenanceLines, maintenanceUsd } from './maintenance.ts'
import { crossSummary, signedWorthOf, worthOf } from './perp-account.ts'

/** With ten decimals, as the exchange tells it. */
export const liquidationPxDecimals = 10

/**
 * The mark price at which nothing but the maintenance margin is left, all other prices as they are; undefined where there is none above 0.
 * https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations
 */
export function liquidationPx(engine: Engine, account: Account, position: Position): bigint | undefined {
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
