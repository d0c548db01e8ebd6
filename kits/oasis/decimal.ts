import type { Decimal } from '../../core/contracts/index.ts'

export type Rounding = 'down' | 'up'

/** What prices are shown with: as many as callers are promised. */
const significantDigits = 18

interface Ratio {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** As it is written, exactly. */
export function ratioOf(text: Decimal): Ratio {
  const [whole = '0', fraction = ''] = text.split('.')
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(fraction.length) }
}

/** An amount in smallest units, in a token's human units. */
export function amountText(raw: bigint, decimals: number): Decimal {
  if (decimals <= 0) return String(raw * 10n ** BigInt(-decimals))
  const digits = String(raw).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  return `${digits.slice(0, -decimals)}${fraction && '.'}${fraction}`
}

/** Of an amount that has no more decimals than its token. */
export function rawOf(text: Decimal, decimals: number): bigint {
  const { numerator, denominator } = ratioOf(text)
  const scaled = numerator * 10n ** BigInt(decimals)
  if (scaled % denominator !== 0n) throw new Error(`${text} has more than ${decimals} decimals.`)
  return scaled / denominator
}

/** A ratio of raw amounts as a price, with up to 18 significant digits. `decimals`: by which those of the numerator exceed the denominator's. */
export function priceText({ numerator, denominator }: Ratio, decimals: number, rounding: Rounding): Decimal {
  if (numerator === 0n) return '0'
  // So many places behind the point that the quotient has one digit more than is shown, or two.
  const places = significantDigits + 1 + String(denominator).length - String(numerator).length
  const [scaled, by] = places >= 0 ? [numerator * 10n ** BigInt(places), denominator] : [numerator, denominator * 10n ** BigInt(-places)]
  const quotient = scaled / by
  const cut = 10n ** BigInt(String(quotient).length - significantDigits)
  const shown = quotient / cut
  const isExact = shown * cut * by === scaled
  return amountText(isExact || rounding === 'down' ? shown : shown + 1n, places - (String(quotient).length - significantDigits) + decimals)
}

export const divide = (numerator: bigint, denominator: bigint, rounding: Rounding): bigint =>
  rounding === 'down' ? numerator / denominator : (numerator + denominator - 1n) / denominator
