import { divide, parse, type Decimal, type Rounding } from '../../../decimal.ts'

// Decimal numbers as order books have them: exact, below 0 too where they are accounts' figures, and without zeros at the end.

const power = (exponent: number) => 10n ** BigInt(exponent)

/** The digits of both at the larger scale. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * power(scale - a.scale), b.digits * power(scale - b.scale)]
}

export const isZero = (text: string) => parse(text).digits === 0n

/** Below 0, 0, or above 0: as the first is less than, equal to or more than the second. */
export function compare(a: string, b: string): number {
  const [first, second] = aligned(parse(a), parse(b))
  return first < second ? -1 : first > second ? 1 : 0
}

export const isLess = (a: string, b: string) => compare(a, b) < 0
export const larger = (a: string, b: string) => (isLess(a, b) ? b : a)

/** "1.50" and "15E-1" are "1.5". */
export const plain = (text: string) => show(parse(text))

export function show({ digits, scale }: Decimal): string {
  const size = digits < 0n ? -digits : digits
  const text = size.toString().padStart(scale + 1, '0')
  const shown = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '')
  return digits < 0n ? `-${shown}` : shown
}

export function times(a: string, b: string): string {
  const [first, second] = [parse(a), parse(b)]
  return show({ digits: first.digits * second.digits, scale: first.scale + second.scale })
}

/** A number of 0 or more on a grid of multiples of a step. */
export function toMultiple({ numerator, denominator }: Fraction, step: Decimal, rounding: Rounding): Decimal {
  return { digits: divide(numerator * power(step.scale), denominator * step.digits, rounding) * step.digits, scale: step.scale }
}

export interface Fraction {
  numerator: bigint
  /** Above 0. */
  denominator: bigint
}

export const fraction = ({ digits, scale }: Decimal): Fraction => ({ numerator: digits, denominator: power(scale) })

/** The place of the leading digit of a number above 0: 0 for 1 to 9.99, 2 for 100, -1 for 0.1. */
export function magnitude({ numerator, denominator }: Fraction): number {
  const guess = numerator.toString().length - denominator.toString().length
  const isAbove = guess >= 0 ? numerator >= denominator * power(guess) : numerator * power(-guess) >= denominator
  return isAbove ? guess : guess - 1
}

/** Both in smallest units of one scale, for what is reckoned with whole numbers. */
export function inOneScale(a: string, b: string): { aRaw: bigint; bRaw: bigint } {
  const [aRaw, bRaw] = aligned(parse(a), parse(b))
  return { aRaw, bRaw }
}
