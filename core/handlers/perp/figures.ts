import type { PerpAccount, PerpMarketName, PerpPosition, Ratio } from '../../contracts/index.ts'
import { abs, formatFraction } from '../../base/decimal.ts'

/**
 * The notional of positions divided by their account's value, rounded up; "0" without positions. An account with no value, or a negative
 * one, counts as its smallest unit, so that its leverage is not taken for a low one.
 */
export const showLeverage = (notionalRaw: bigint, valueRaw: bigint) =>
  notionalRaw > 0n ? formatFraction({ numerator: notionalRaw, denominator: valueRaw > 0n ? valueRaw : 1n }, 'up') : '0'

/** An account's value divided by the notional of its positions, rounded down, also below 0; "0" without positions. */
export const showMarginRatio = (valueRaw: bigint, notionalRaw: bigint) =>
  notionalRaw > 0n ? formatFraction({ numerator: valueRaw, denominator: notionalRaw }, valueRaw < 0n ? 'up' : 'down') : '0'

/** Quote per one base in human units, of raw amounts of a market. */
export const pricePerBase = ({ baseDecimals, quoteDecimals }: PerpMarketName, quoteRaw: bigint, sizeRaw: bigint): Ratio => ({
  numerator: abs(quoteRaw) * 10n ** BigInt(baseDecimals),
  denominator: abs(sizeRaw) * 10n ** BigInt(quoteDecimals),
})

/** The value of a size at a price in the market's quote, rounded towards zero. Below 0 for a size below 0. */
export const notionalAt = ({ baseDecimals, quoteDecimals }: PerpMarketName, sizeRaw: bigint, { numerator, denominator }: Ratio): bigint =>
  (sizeRaw * numerator * 10n ** BigInt(quoteDecimals)) / (denominator * 10n ** BigInt(baseDecimals))

/** The value of an account, and its minimum. */
export type AccountMargin = Pick<PerpAccount, 'decimals' | 'valueRaw' | 'maintenanceMarginRaw'>

/**
 * The price at which the account's value falls to its maintenance margin: value + size·(p − mark) = margin + ratio·|size|·(p − mark), with
 * the other positions unchanged. Undefined without a position, and if no price above 0 does that.
 */
export function liquidationPrice(
  { market, sizeRaw, mark }: Pick<PerpPosition, 'market' | 'sizeRaw' | 'mark'>,
  { decimals, valueRaw, maintenanceMarginRaw }: AccountMargin,
): Ratio | undefined {
  const { numerator: part, denominator: whole } = market.maintenanceRatio
  // How fast the surplus shrinks as the price falls: in base, times `whole`.
  const slope = sizeRaw * whole - part * abs(sizeRaw)
  if (slope === 0n) return undefined
  const unit = 10n ** BigInt(decimals)
  const surplusRaw = valueRaw - maintenanceMarginRaw
  const numerator = mark.numerator * slope * unit - surplusRaw * whole * mark.denominator * 10n ** BigInt(market.baseDecimals)
  const denominator = mark.denominator * slope * unit
  const price = denominator > 0n ? { numerator, denominator } : { numerator: -numerator, denominator: -denominator }
  return price.numerator > 0n ? price : undefined
}
