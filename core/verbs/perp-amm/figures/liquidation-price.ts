import type { PerpAccount, PerpPosition, Ratio } from '../../../contracts/index.ts'
import { absolute } from '../../../handlers/perp/figures.ts'

/** What an account is worth, and what it must be worth. */
export type Backing = Pick<PerpAccount, 'decimals' | 'valueRaw' | 'maintenanceMarginRaw'>

/**
 * Where the account is worth no more than its maintenance margin: value + size·(p − mark) = margin + ratio·|size|·(p − mark), the
 * other positions unchanged. Undefined without a position, and where no price above 0 would do.
 */
export function liquidationPrice(
  { market, sizeRaw, mark }: Pick<PerpPosition, 'market' | 'sizeRaw' | 'mark'>,
  { decimals, valueRaw, maintenanceMarginRaw }: Backing,
): Ratio | undefined {
  const { numerator: part, denominator: whole } = market.maintenanceRatio
  // In base, times `whole`: how fast what is spare goes as the price falls.
  const slope = sizeRaw * whole - part * absolute(sizeRaw)
  if (slope === 0n) return undefined
  const unit = 10n ** BigInt(decimals)
  const spareRaw = valueRaw - maintenanceMarginRaw
  const numerator = mark.numerator * slope * unit - spareRaw * whole * mark.denominator * 10n ** BigInt(market.baseDecimals)
  const denominator = mark.denominator * slope * unit
  const price = denominator > 0n ? { numerator, denominator } : { numerator: -numerator, denominator: -denominator }
  return price.numerator > 0n ? price : undefined
}
