import type { PerpMarketName, Ratio, PerpAccount, PerpPosition } from '../../contracts/index.ts'
import { fromRaw, formatRatio, type Rounding } from '../../decimal.ts'

export const abs = (value: bigint) => (value < 0n ? -value : value)

/** A decimal string padded to the decimals, below 0 with its sign. */
export const fromSigned = (raw: bigint, decimals: number) => `${raw < 0n ? '-' : ''}${fromRaw(abs(raw), decimals)}`

/** Of a price in amounts of 18 decimals. */
const mostDecimals = 36

/**
 * A fraction as a decimal string: exact where it is one of a power of ten, as contracts have their prices; else with at least 18
 * significant digits. `rounding` is that of its size.
 */
export function formatFraction({ numerator, denominator }: Ratio, rounding: Rounding): string {
  const decimals = denominator.toString().length - 1
  if (decimals <= mostDecimals && denominator === 10n ** BigInt(decimals)) return withoutZeros(fromSigned(numerator, decimals))
  const text = formatRatio(abs(numerator), denominator, rounding)
  return numerator < 0n ? `-${text}` : text
}

const withoutZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

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

/** An amount in other decimals, towards zero. */
export const rescale = (raw: bigint, from: number, to: number): bigint =>
  to >= from ? raw * 10n ** BigInt(to - from) : raw / 10n ** BigInt(from - to)

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
