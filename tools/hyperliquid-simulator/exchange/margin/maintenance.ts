import { ceilDiv, least } from '../amounts/decimals.ts'
import type { MarginTier, PerpMarket } from '../listing/listing.ts'

/** Finer than a millionth of a dollar, so that only the sum is rounded. */
const finer = 10n ** 12n

/**
 * What must stand behind a position that is worth so much, in US dollars: half of the initial margin at the most leverage, tier by tier.
 * Rounded up. https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margin-tiers
 */
export function maintenanceUsd({ tiers }: PerpMarket, ntlUsd: bigint): bigint {
  let fine = 0n
  for (const [n, tier] of tiers.entries()) {
    if (ntlUsd <= tier.lowerBoundUsd) break
    const upTo = least(ntlUsd, tiers[n + 1]?.lowerBoundUsd ?? ntlUsd)
    fine += (upTo - tier.lowerBoundUsd) * rateOf(tier)
  }
  return ceilDiv(fine, finer)
}

/** As parts of `finer`. */
const rateOf = ({ maxLeverage }: MarginTier) => finer / (2n * BigInt(maxLeverage))

export const tierOf = ({ tiers }: PerpMarket, ntlUsd: bigint): MarginTier =>
  tiers.findLast((tier) => ntlUsd >= tier.lowerBoundUsd) ?? tiers[0]!

/** The straight line that maintenance margin is in each tier: `rate * worth - deduction`. */
export function maintenanceLines({ tiers }: PerpMarket) {
  let deduction = 0n
  return tiers.map((tier, n) => {
    const before = tiers[n - 1]
    if (before) deduction += tier.lowerBoundUsd * (rateOf(tier) - rateOf(before))
    return { rate: rateOf(tier), one: finer, deductionUsd: deduction / finer, from: tier.lowerBoundUsd, to: tiers[n + 1]?.lowerBoundUsd }
  })
}
