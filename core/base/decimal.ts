// Exact decimal arithmetic: the only one in the project, and "sluice/decimal" for plugins. An amount is a decimal string in human units, or
// a bigint in the token's smallest unit ("raw"). Money is never a `number`. Every function that rounds takes the direction.

export type Rounding = 'up' | 'down'

/** More than any token can hold: keeps intermediate results small. */
export const maxRaw = 2n ** 255n

/** The number `digits / 10^scale`. */
export interface DecimalParts {
  readonly digits: bigint
  /** Digits after the point; below 0 for trailing zeros before it. */
  readonly scale: number
}

export interface Fraction {
  readonly numerator: bigint
  /** Above 0. */
  readonly denominator: bigint
}

/** A raw amount with the decimals of its token. */
interface Amount {
  readonly raw: bigint
  readonly decimals: number
}

const powers = Array.from({ length: 128 }, (_, exponent) => 10n ** BigInt(exponent))
const powerOf10 = (exponent: number): bigint => powers[exponent] ?? 10n ** BigInt(exponent)

/** Reads "1.5", "-1", "1E-8", "1.000". @throws SyntaxError for a text that is not a number */
export function parseDecimal(text: string): DecimalParts {
  const at = text.includes('e') || text.includes('E') ? text.search(/e/i) : -1
  const mantissa = at < 0 ? text : text.slice(0, at)
  const point = mantissa.indexOf('.')
  const fractionDigits = point < 0 ? 0 : mantissa.length - point - 1
  const digits = BigInt(point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1))
  const scale = fractionDigits - (at < 0 ? 0 : Number(text.slice(at + 1)))
  return scale < 0 ? { digits: digits * powerOf10(-scale), scale: 0 } : { digits, scale }
}

/** The text without trailing zeros: 150 with scale 2 is "1.5". */
export const formatDecimal = ({ digits, scale }: DecimalParts): string =>
  scale > 0 ? withoutTrailingZeros(fromRaw(digits, scale)) : (digits * powerOf10(-scale)).toString()

function withoutTrailingZeros(text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text.charCodeAt(end - 1) === zero) end -= 1
  if (end === text.length) return text
  return text.slice(0, text.charCodeAt(end - 1) === point ? end - 1 : end)
}

const [point, zero] = [0x2e, 0x30]

/** At least 0, without leading and trailing zeros. */
const canonical = /^(0|[1-9]\d*)(\.\d*[1-9])?$/

/**
 * Without leading and trailing zeros: "1.50" and "15E-1" are "1.5", "-0.0" is "0". Texts that only need to be cut, such as those of whole
 * books, cost no bigint.
 */
export function normalize(text: string): string {
  const cut = withoutTrailingZeros(text)
  return canonical.test(cut) ? cut : formatDecimal(parseDecimal(text))
}

/**
 * The one spelling of a number from outside, so that equal numbers are equal texts. Undefined for anything but digits with at most one
 * point.
 */
export function canonicalDecimal(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  if (canonical.test(text)) return text
  return /^\d+(\.\d+)?$/.test(text) ? normalize(text) : undefined
}

/** The exact value of a decimal text. */
export function toFraction(text: string): Fraction {
  const { digits, scale } = parseDecimal(text)
  return { numerator: digits, denominator: powerOf10(scale) }
}

/** Raw amount of a token; undefined if the text has more decimals than the token (trailing zeros do not count). */
export function toRaw(text: string, decimals: number): bigint | undefined {
  const { digits, scale } = parseDecimal(text)
  if (scale <= decimals) return digits * powerOf10(decimals - scale)
  const surplus = powerOf10(scale - decimals)
  return digits % surplus === 0n ? digits / surplus : undefined
}

/** The text padded to the token's decimals, as amounts in responses are: 1500000n with 6 is "1.500000". */
export function fromRaw(raw: bigint, decimals: number): string {
  if (raw < 0n) return `-${fromRaw(-raw, decimals)}`
  const text = raw.toString()
  if (decimals === 0) return text
  const whole = text.length - decimals
  return whole > 0 ? `${text.slice(0, whole)}.${text.slice(whole)}` : `0.${'0'.repeat(-whole)}${text}`
}

/** The text without trailing zeros, as numbers of order books are: 1500000n with 6 is "1.5". */
export const formatRaw = (raw: bigint, decimals: number): string => formatDecimal({ digits: raw, scale: decimals })

/** A raw amount in other decimals, rounded towards zero. */
export const rescale = (raw: bigint, from: number, to: number): bigint =>
  to >= from ? raw * powerOf10(to - from) : raw / powerOf10(from - to)

export const abs = (value: bigint) => (value < 0n ? -value : value)

/** Both are at least 0, the denominator more. */
export const divideRaw = (numerator: bigint, denominator: bigint, rounding: Rounding): bigint =>
  rounding === 'up' ? (numerator + denominator - 1n) / denominator : numerator / denominator

/** Of an integer of 0 or more, as an integer: Newton's method from above. */
export function squareRoot(value: bigint, rounding: Rounding): bigint {
  let root = value < 2n ? value : 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (let next = root; next > 0n;) {
    next = (root + value / root) >> 1n
    if (next >= root) break
    root = next
  }
  return rounding === 'up' && root * root < value ? root + 1n : root
}

/** Both as integers of the same scale. */
export function toCommonScale(a: string, b: string): { aRaw: bigint; bRaw: bigint; scale: number } {
  const [left, right] = [parseDecimal(a), parseDecimal(b)]
  const scale = Math.max(left.scale, right.scale)
  return { aRaw: left.digits * powerOf10(scale - left.scale), bRaw: right.digits * powerOf10(scale - right.scale), scale }
}

export const isZero = (text: string) => parseDecimal(text).digits === 0n

/** Below 0, 0 or above 0, as `a` is less than, equal to or more than `b`. */
export function compare(a: string, b: string): number {
  const { aRaw, bRaw } = toCommonScale(a, b)
  return aRaw < bRaw ? -1 : aRaw > bRaw ? 1 : 0
}

/**
 * `compare` for canonical numbers, most of them without bigints. Where the nearest doubles differ they have the order of the numbers, since
 * rounding is monotone (IEEE 754, 4.3); where they are equal, the digits decide.
 */
export function compareCanonical(a: string, b: string, aNear = Number(a), bNear = Number(b)): number {
  if (aNear !== bNear) return aNear < bNear ? -1 : 1
  return a === b ? 0 : compare(a, b)
}

export const isLess = (a: string, b: string) => compare(a, b) < 0
export const max = (a: string, b: string) => (isLess(a, b) ? b : a)

export function add(a: string, b: string): string {
  const { aRaw, bRaw, scale } = toCommonScale(a, b)
  return formatDecimal({ digits: aRaw + bRaw, scale })
}

export function subtract(a: string, b: string): string {
  const { aRaw, bRaw, scale } = toCommonScale(a, b)
  return formatDecimal({ digits: aRaw - bRaw, scale })
}

export const sum = (all: readonly string[]): string => all.reduce(add, '0')

export function multiply(a: string, b: string): string {
  const [left, right] = [parseDecimal(a), parseDecimal(b)]
  return formatDecimal({ digits: left.digits * right.digits, scale: left.scale + right.scale })
}

/** `a / b` with so many decimals. Both are at least 0, `b` more. */
export function divide(a: string, b: string, decimals: number, rounding: Rounding): string {
  const { aRaw, bRaw } = toCommonScale(a, b)
  return formatRaw(divideRaw(aRaw * powerOf10(decimals), bRaw, rounding), decimals)
}

/** Digits after the point, trailing zeros not counted. */
export const countDecimals = (text: string): number => parseDecimal(normalize(text)).scale

/** The place of the leading digit of a number above 0: 0 for 1 to 9.99, 2 for 100, -1 for 0.1. */
export function magnitude({ numerator, denominator }: Fraction): number {
  const guess = numerator.toString().length - denominator.toString().length
  const isAbove = guess >= 0 ? numerator >= denominator * powerOf10(guess) : numerator * powerOf10(-guess) >= denominator
  return isAbove ? guess : guess - 1
}

/** A number of at least 0 as a multiple of a step. */
export function roundToMultiple({ numerator, denominator }: Fraction, step: DecimalParts, rounding: Rounding): DecimalParts {
  return { digits: divideRaw(numerator * powerOf10(step.scale), denominator * step.digits, rounding) * step.digits, scale: step.scale }
}

export const isMultiple = ({ numerator, denominator }: Fraction, step: DecimalParts): boolean =>
  (numerator * powerOf10(step.scale)) % (denominator * step.digits) === 0n

/** `numerator / denominator` with at least so many significant digits. Both are at least 0, the denominator more. */
export function formatRatio(numerator: bigint, denominator: bigint, rounding: Rounding, significantDigits = 18): string {
  return shiftedRatio(numerator, denominator, 0, rounding, significantDigits)
}

/** `formatRatio` of `numerator / denominator * 10^shift`. */
function shiftedRatio(numerator: bigint, denominator: bigint, shift: number, rounding: Rounding, significantDigits = 18): string {
  if (numerator === 0n) return '0'
  // An estimate of the leading digit's place that is never too high; it may give one digit more than asked for.
  const leading = countDigits(numerator) - countDigits(denominator) + shift - 1
  const scale = Math.max(0, significantDigits - leading)
  const power = scale + shift
  const [above, below] = power < 0 ? [numerator, denominator * powerOf10(-power)] : [numerator * powerOf10(power), denominator]
  return fromRaw(divideRaw(above, below, rounding), scale)
}

/** Of a number above 0. By its logarithm, in a tenth of the time that `toString` takes. */
function countDigits(number: bigint): number {
  const near = Math.floor(Math.log10(Number(number)))
  // More than a double holds.
  if (!Number.isFinite(near)) return number.toString().length
  if (number >= powerOf10(near + 1)) return near + 2
  return number >= powerOf10(near) ? near + 1 : near
}

/** The largest power of ten that `formatFraction` writes exactly: a price of two amounts of 18 decimals. */
const maxExactDecimals = 36

/**
 * A fraction, also below 0: exact if its denominator is a power of ten, as the prices of contracts are; else with at least 18 significant
 * digits.
 * @param rounding of its size
 */
export function formatFraction({ numerator, denominator }: Fraction, rounding: Rounding): string {
  const decimals = denominator.toString().length - 1
  if (decimals <= maxExactDecimals && denominator === powerOf10(decimals)) return formatRaw(numerator, decimals)
  const text = formatRatio(abs(numerator), denominator, rounding)
  return numerator < 0n ? `-${text}` : text
}

/** Quote per one base, with at least 18 significant digits. */
export function priceOf(quote: Amount, base: Amount, rounding: Rounding): string {
  return shiftedRatio(quote.raw, base.raw, base.decimals - quote.decimals, rounding)
}

/**
 * Quote per one base, with at most 18 significant digits and without trailing zeros, as prices of order books are. Exact if 18 digits hold
 * it.
 */
export function bookPriceOf(quote: Amount, base: Amount, rounding: Rounding): string {
  if (quote.raw === 0n) return '0'
  const digits = 18
  // So many decimals that the quotient has one digit more than is shown, or two.
  const places = digits + 1 + base.raw.toString().length - quote.raw.toString().length
  const [above, below] = places >= 0 ? [quote.raw * powerOf10(places), base.raw] : [quote.raw, base.raw * powerOf10(-places)]
  const surplus = (above / below).toString().length - digits
  const rounded = divideRaw(above, below * powerOf10(surplus), rounding)
  return formatDecimal({ digits: rounded, scale: places - surplus + quote.decimals - base.decimals })
}

/** What an amount of base is worth at a price, in the quote's smallest unit. */
export function valueAt(priceText: string, base: Amount, quoteDecimals: number, rounding: Rounding): bigint {
  const { digits, scale } = parseDecimal(priceText)
  return divideRaw(base.raw * digits * powerOf10(quoteDecimals), powerOf10(base.decimals + scale), rounding)
}
