import { leverageOf, type Account, type Position } from '../account.ts'
import { abs, ceilDiv, most, usdValue, least } from '../amounts.ts'
import { stateOf, type Engine } from '../engine.ts'
import type { PerpMarket, MarginTier } from '../listing.ts'

/** In US dollars, as all here. */
export const worthOf = (engine: Engine, { market, szi }: Position) => usdValue(stateOf(engine, market).markPx, abs(szi))
/** Below 0 where the position is short. */
export const signedWorthOf = (engine: Engine, { market, szi }: Position) => usdValue(stateOf(engine, market).markPx, szi)
export const unrealizedOf = (engine: Engine, position: Position) =>
  signedWorthOf(engine, position) - (position.szi < 0n ? -position.entryNtl : position.entryNtl)

export function marginUsedBy(engine: Engine, account: Account, position: Position): bigint {
  if (position.isolatedUsd !== undefined) return position.isolatedUsd + signedWorthOf(engine, position)
  return ceilDiv(worthOf(engine, position), BigInt(leverageOf(account, position.market).value))
}

export interface MarginSummary {
  value: bigint
  ntl: bigint
  raw: bigint
  used: bigint
  maintenance: bigint
}

/** Of what has cross margin. */
export function crossSummary(engine: Engine, account: Account): MarginSummary {
  const summary: MarginSummary = { value: account.crossUsd, ntl: 0n, raw: account.crossUsd, used: 0n, maintenance: 0n }
  for (const position of account.positions.values()) {
    if (position.isolatedUsd !== undefined) continue
    const worth = worthOf(engine, position)
    summary.value += signedWorthOf(engine, position)
    summary.ntl += worth
    summary.used += marginUsedBy(engine, account, position)
    summary.maintenance += maintenanceUsd(position.market, worth)
  }
  return summary
}

/** Of everything. */
export function wholeSummary(engine: Engine, account: Account): MarginSummary {
  const summary = crossSummary(engine, account)
  for (const position of account.positions.values()) {
    if (position.isolatedUsd === undefined) continue
    const [value, worth] = [marginUsedBy(engine, account, position), worthOf(engine, position)]
    summary.value += value
    summary.raw += position.isolatedUsd
    summary.ntl += worth
    summary.used += value
    summary.maintenance += maintenanceUsd(position.market, worth)
  }
  return summary
}

/** By how much an order may make the position of its market larger, in size. */
const growth = (szi: bigint, buys: bigint, sells: bigint) => most(0n, most(abs(szi + buys), abs(szi - sells)) - abs(szi))

/** What open orders hold back of the free collateral: the margin of what they can add to positions, at the mark price. */
export function reservedUsd(engine: Engine, account: Account, more?: { market: PerpMarket; isBuy: boolean; sz: bigint }): bigint {
  const sizes = new Map<PerpMarket, { buys: bigint; sells: bigint }>()
  const add = (market: PerpMarket, isBuy: boolean, sz: bigint) => {
    const sum = sizes.get(market) ?? { buys: 0n, sells: 0n }
    sum[isBuy ? 'buys' : 'sells'] += sz
    sizes.set(market, sum)
  }
  for (const { market, isBuy, sz, reduceOnly } of account.open.values()) if (market.kind === 'perp' && !reduceOnly) add(market, isBuy, sz)
  if (more) add(more.market, more.isBuy, more.sz)
  let reserved = 0n
  for (const [market, { buys, sells }] of sizes) {
    const grown = growth(account.positions.get(market.coin)?.szi ?? 0n, buys, sells)
    reserved += ceilDiv(usdValue(stateOf(engine, market).markPx, grown), BigInt(leverageOf(account, market).value))
  }
  return reserved
}

/** What orders may still take. */
export function freeUsd(engine: Engine, account: Account): bigint {
  const { value, used } = crossSummary(engine, account)
  return value - used - reservedUsd(engine, account)
}

/**
 * What may leave: positions keep their initial margin, and a tenth of their worth.
 * https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining
 */
export function withdrawableUsd(engine: Engine, account: Account): bigint {
  const { value, used, ntl } = crossSummary(engine, account)
  return most(0n, value - most(used, ceilDiv(ntl, 10n)) - reservedUsd(engine, account))
}

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
