// Exact decimal arithmetic: human units are decimal strings, smallest units are bigint. Rounding is always named.
export type Rounding = 'up' | 'down'

/** More than any token can hold; keeps what is computed small. */
export const maxRaw = 2n ** 255n

const powers = Array.from({ length: 128 }, (_, exponent) => 10n ** BigInt(exponent))
const powerOf10 = (exponent: number): bigint => powers[exponent] ?? 10n ** BigInt(exponent)

/** `digits / 10^scale`. */
export interface DecimalParts {
  digits: bigint
  /** Digits after the point. */
  scale: number
}

/** Reads "1.5", "-1", "1E-8", "1.000". The pattern was checked before. */
export function parseDecimal(text: string): DecimalParts {
  const at = text.search(/e/i)
  const mantissa = at < 0 ? text : text.slice(0, at)
  const point = mantissa.indexOf('.')
  const fractionDigits = point < 0 ? 0 : mantissa.length - point - 1
  const digits = BigInt(point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1))
  const scale = fractionDigits - (at < 0 ? 0 : Number(text.slice(at + 1)))
  return scale < 0 ? { digits: digits * powerOf10(-scale), scale: 0 } : { digits, scale }
}

/** Exactly what the text says. The pattern was checked before. */
export function fractionOf(text: string): { numerator: bigint; denominator: bigint } {
  const { digits, scale } = parseDecimal(text)
  return { numerator: digits, denominator: powerOf10(scale) }
}

/** Smallest units of a token; undefined where the text has more decimals than the token (trailing zeros do not count). */
export function toRaw(text: string, decimals: number): bigint | undefined {
  const { digits, scale } = parseDecimal(text)
  if (scale <= decimals) return digits * powerOf10(decimals - scale)
  const surplus = powerOf10(scale - decimals)
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
export function formatRatio(numerator: bigint, denominator: bigint, rounding: Rounding, significantDigits = 18): string {
  return shiftedRatio(numerator, denominator, 0, rounding, significantDigits)
}

/** The same of `numerator / denominator * 10^shift`. */
function shiftedRatio(numerator: bigint, denominator: bigint, shift: number, rounding: Rounding, significantDigits = 18): string {
  if (numerator === 0n) return '0'
  // An estimate of the leading digit's place that is never too high; one more digit than asked for does no harm.
  const leading = digitsOf(numerator) - digitsOf(denominator) + shift - 1
  const scale = Math.max(0, significantDigits - leading)
  const power = scale + shift
  const [above, below] = power < 0 ? [numerator, denominator * powerOf10(-power)] : [numerator * powerOf10(power), denominator]
  return fromRaw(divide(above, below, rounding), scale)
}

/** How many digits it has; it is more than 0. By its logarithm, which takes a tenth of the time that writing it takes. */
function digitsOf(number: bigint): number {
  const near = Math.floor(Math.log10(Number(number)))
  // Beyond what a double holds.
  if (!Number.isFinite(near)) return number.toString().length
  if (number >= powerOf10(near + 1)) return near + 2
  return number >= powerOf10(near) ? near + 1 : near
}

/** An amount of one token in human units, with what its smallest unit means. */
interface Amount {
  raw: bigint
  decimals: number
}

/** Quote per one base. */
export function priceOf(quote: Amount, base: Amount, rounding: Rounding): string {
  return shiftedRatio(quote.raw, base.raw, base.decimals - quote.decimals, rounding)
}

/** What an amount of base is worth at a price, in the quote's smallest unit. */
export function valueAt(priceText: string, base: Amount, quoteDecimals: number, rounding: Rounding): bigint {
  const { digits, scale } = parseDecimal(priceText)
  return divide(base.raw * digits * powerOf10(quoteDecimals), powerOf10(base.decimals + scale), rounding)
}

// Decimal numbers as order books have them: exact, below 0 too where they are accounts' figures, and without zeros at the end.

const power = (exponent: number) => 10n ** BigInt(exponent)

/** The digits of both at the larger scale. */
function aligned(a: DecimalParts, b: DecimalParts): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * power(scale - a.scale), b.digits * power(scale - b.scale)]
}

export const isZero = (text: string) => parseDecimal(text).digits === 0n

/** Below 0, 0, or above 0: as the first is less than, equal to or more than the second. */
export function compare(a: string, b: string): number {
  const [first, second] = aligned(parseDecimal(a), parseDecimal(b))
  return first < second ? -1 : first > second ? 1 : 0
}

export const isLess = (a: string, b: string) => compare(a, b) < 0
export const max = (a: string, b: string) => (isLess(a, b) ? b : a)

/** "1.50" and "15E-1" are "1.5". */
export const normalize = (text: string) => formatDecimal(parseDecimal(text))

export function formatDecimal({ digits, scale }: DecimalParts): string {
  const size = digits < 0n ? -digits : digits
  const text = size.toString().padStart(scale + 1, '0')
  const shown = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
  return digits < 0n ? `-${shown}` : shown
}

export function multiply(a: string, b: string): string {
  const [first, second] = [parseDecimal(a), parseDecimal(b)]
  return formatDecimal({ digits: first.digits * second.digits, scale: first.scale + second.scale })
}

/** A number of 0 or more on a grid of multiples of a step. */
export function roundToMultiple({ numerator, denominator }: Fraction, step: DecimalParts, rounding: Rounding): DecimalParts {
  return { digits: divide(numerator * power(step.scale), denominator * step.digits, rounding) * step.digits, scale: step.scale }
}

export interface Fraction {
  numerator: bigint
  /** Above 0. */
  denominator: bigint
}

export const partsToFraction = ({ digits, scale }: DecimalParts): Fraction => ({ numerator: digits, denominator: power(scale) })

/** The place of the leading digit of a number above 0: 0 for 1 to 9.99, 2 for 100, -1 for 0.1. */
export function magnitude({ numerator, denominator }: Fraction): number {
  const guess = numerator.toString().length - denominator.toString().length
  const isAbove = guess >= 0 ? numerator >= denominator * power(guess) : numerator * power(-guess) >= denominator
  return isAbove ? guess : guess - 1
}

/** Both in smallest units of one scale, for what is reckoned with whole numbers. */
export function toCommonScale(a: string, b: string): { aRaw: bigint; bRaw: bigint } {
  const [aRaw, bRaw] = aligned(parseDecimal(a), parseDecimal(b))
  return { aRaw, bRaw }
}
