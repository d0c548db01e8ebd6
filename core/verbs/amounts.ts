// Exact decimal arithmetic: human units are decimal strings, smallest units are bigint. Rounding is always named.

export type Rounding = 'up' | 'down'

/** More than any token can hold; keeps what is computed small. */
export const mostRaw = 2n ** 255n

/** `digits / 10^scale`. */
export interface Decimal {
  digits: bigint
  /** Digits after the point. */
  scale: number
}

/** Reads "1.5", "-1", "1E-8", "1.000". The pattern was checked before. */
export function parse(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** Exactly what the text says. The pattern was checked before. */
export function fractionOf(text: string): { numerator: bigint; denominator: bigint } {
  const { digits, scale } = parse(text)
  return { numerator: digits, denominator: 10n ** BigInt(scale) }
}

/** Smallest units of a token; undefined where the text has more decimals than the token (trailing zeros do not count). */
export function toRaw(text: string, decimals: number): bigint | undefined {
  const { digits, scale } = parse(text)
  if (scale <= decimals) return digits * 10n ** BigInt(decimals - scale)
  const surplus = 10n ** BigInt(scale - decimals)
  return digits % surplus === 0n ? digits / surplus : undefined
}

/** A decimal string padded to the token's decimals: 1500000n with 6 is "1.500000". */
export function fromRaw(raw: bigint, decimals: number): string {
  const text = raw.toString().padStart(decimals + 1, '0')
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}

export const divide = (numerator: bigint, denominator: bigint, rounding: Rounding) =>
  rounding === 'up' ? (numerator + denominator - 1n) / denominator : numerator / denominator

/** `numerator / denominator` as a decimal string with at least 18 significant digits. Both are at least 0, the denominator more. */
export function ratio(numerator: bigint, denominator: bigint, rounding: Rounding, significantDigits = 18): string {
  if (numerator === 0n) return '0'
  // An estimate of the leading digit's place that is never too high; one more digit than asked for does no harm.
  const leading = numerator.toString().length - denominator.toString().length - 1
  const scale = Math.max(0, significantDigits - leading)
  return fromRaw(divide(numerator * 10n ** BigInt(scale), denominator, rounding), scale)
}

/** An amount of one token in human units, with what its smallest unit means. */
export interface Amount {
  raw: bigint
  decimals: number
}

/** Quote per one base. */
export function priceOf(quote: Amount, base: Amount, rounding: Rounding): string {
  return ratio(quote.raw * 10n ** BigInt(base.decimals), base.raw * 10n ** BigInt(quote.decimals), rounding)
}

/** What an amount of base is worth at a price, in the quote's smallest unit. */
export function valueAt(priceText: string, base: Amount, quoteDecimals: number, rounding: Rounding): bigint {
  const { digits, scale } = parse(priceText)
  return divide(base.raw * digits * 10n ** BigInt(quoteDecimals), 10n ** BigInt(base.decimals + scale), rounding)
}
