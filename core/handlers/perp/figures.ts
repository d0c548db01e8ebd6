import type { PerpMarketName, Ratio, PerpAccount, PerpPosition } from '../../contracts/index.ts'
import { abs, formatFraction } from '../../decimal.ts'

/**
 * What positions are worth by their account's value, rounded up; "0" without positions. An account that is worth nothing, or less, counts
 * as its smallest unit: whoever looks for too much leverage finds it.
 */
export const showLeverage = (notionalRaw: bigint, valueRaw: bigint) =>
  notionalRaw > 0n ? formatFraction({ numerator: notionalRaw, denominator: valueRaw > 0n ? valueRaw : 1n }, 'up') : '0'

/** An account's value by what its positions are worth, rounded down, also below 0; "0" without positions. */
export const showMarginRatio = (valueRaw: bigint, notionalRaw: bigint) =>
  notionalRaw > 0n ? formatFraction({ numerator: valueRaw, denominator: notionalRaw }, valueRaw < 0n ? 'up' : 'down') : '0'

/** Quote per one base, of amounts of a market. */
export const pricePerBase = ({ baseDecimals, quoteDecimals }: PerpMarketName, quoteRaw: bigint, sizeRaw: bigint): Ratio => ({
  numerator: abs(quoteRaw) * 10n ** BigInt(baseDecimals),
  denominator: abs(sizeRaw) * 10n ** BigInt(quoteDecimals),
})

/** What a size is worth at a price in the market's quote, towards zero. Below 0 for a size below 0. */
export const notionalAt = ({ baseDecimals, quoteDecimals }: PerpMarketName, sizeRaw: bigint, { numerator, denominator }: Ratio): bigint =>
  (sizeRaw * numerator * 10n ** BigInt(quoteDecimals)) / (denominator * 10n ** BigInt(baseDecimals))

/** What an account is worth, and what it must be worth. */
export type AccountMargin = Pick<PerpAccount, 'decimals' | 'valueRaw' | 'maintenanceMarginRaw'>

/**
 * Where the account is worth no more than its maintenance margin: value + size·(p − mark) = margin + ratio·|size|·(p − mark), the
 * other positions unchanged. Undefined without a position, and where no price above 0 would do.
 */
export function liquidationPrice(
  { market, sizeRaw, mark }: Pick<PerpPosition, 'market' | 'sizeRaw' | 'mark'>,
  { decimals, valueRaw, maintenanceMarginRaw }: AccountMargin,
): Ratio | undefined {
  const { numerator: part, denominator: whole } = market.maintenanceRatio
  // In base, times `whole`: how fast what is spare goes as the price falls.
  const slope = sizeRaw * whole - part * abs(sizeRaw)
  if (slope === 0n) return undefined
  const unit = 10n ** BigInt(decimals)
  const spareRaw = valueRaw - maintenanceMarginRaw
  const numerator = mark.numerator * slope * unit - spareRaw * whole * mark.denominator * 10n ** BigInt(market.baseDecimals)
  const denominator = mark.denominator * slope * unit
  const price = denominator > 0n ? { numerator, denominator } : { numerator: -numerator, denominator: -denominator }
  return price.numerator > 0n ? price : undefined
}
