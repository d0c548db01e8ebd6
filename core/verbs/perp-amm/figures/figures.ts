import type { PerpMarketName, Ratio } from '../../../contracts/index.ts'
import { fromRaw, ratio, type Rounding } from '../../amounts.ts'

export const absolute = (value: bigint) => (value < 0n ? -value : value)

/** A decimal string padded to the decimals, below 0 with its sign. */
export const fromSigned = (raw: bigint, decimals: number) => `${raw < 0n ? '-' : ''}${fromRaw(absolute(raw), decimals)}`

/** Of a price in amounts of 18 decimals. */
const mostDecimals = 36

/**
 * A fraction as a decimal string: exact where it is one of a power of ten, as contracts have their prices; else with at least 18
 * significant digits. `rounding` is that of its size.
 */
export function showRatio({ numerator, denominator }: Ratio, rounding: Rounding): string {
  const decimals = denominator.toString().length - 1
  if (decimals <= mostDecimals && denominator === 10n ** BigInt(decimals)) return withoutZeros(fromSigned(numerator, decimals))
  const text = ratio(absolute(numerator), denominator, rounding)
  return numerator < 0n ? `-${text}` : text
}

const withoutZeros = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)

/** Two amounts by each other, as a decimal string; "0" where there is nothing to divide by, or it is below that. */
export const showQuotient = (numerator: bigint, denominator: bigint, rounding: Rounding) =>
  denominator > 0n ? showRatio({ numerator, denominator }, rounding) : '0'

/** Quote per one base, of amounts of a market. */
export const priceIn = ({ baseDecimals, quoteDecimals }: PerpMarketName, quoteRaw: bigint, sizeRaw: bigint): Ratio => ({
  numerator: absolute(quoteRaw) * 10n ** BigInt(baseDecimals),
  denominator: absolute(sizeRaw) * 10n ** BigInt(quoteDecimals),
})

/** What a size is worth at a price in the market's quote, towards zero. Below 0 for a size below 0. */
export const worth = ({ baseDecimals, quoteDecimals }: PerpMarketName, sizeRaw: bigint, { numerator, denominator }: Ratio): bigint =>
  (sizeRaw * numerator * 10n ** BigInt(quoteDecimals)) / (denominator * 10n ** BigInt(baseDecimals))

/** An amount in other decimals, towards zero. */
export const rescale = (raw: bigint, from: number, to: number): bigint =>
  to >= from ? raw * 10n ** BigInt(to - from) : raw / 10n ** BigInt(from - to)
