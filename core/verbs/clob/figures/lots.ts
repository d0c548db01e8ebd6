import { parse } from '../../../decimal.ts'
import { fraction, isLess, isZero, plain, show, toMultiple } from './exact.ts'

interface Lots {
  readonly lotSize: string
  readonly minOrderSize?: string
}

export function isInLots(amount: string, lotSize: string): boolean {
  const { numerator, denominator } = fraction(parse(amount))
  const step = parse(lotSize)
  return (numerator * 10n ** BigInt(step.scale)) % (denominator * step.digits) === 0n
}

/** The smallest amount that a market takes. */
export function leastAmount({ lotSize, minOrderSize = '0' }: Lots): string {
  return isZero(minOrderSize) ? plain(lotSize) : toLots(minOrderSize, lotSize, 'up')
}

/** The next ones that the market takes, not above and not below. */
export function nearestAmounts(amount: string, lots: Lots): readonly string[] {
  const least = leastAmount(lots)
  const around = [toLots(amount, lots.lotSize, 'down'), toLots(amount, lots.lotSize, 'up')]
  return [...new Set(around.map((each) => (isLess(each, least) ? least : each)))]
}

const toLots = (amount: string, lotSize: string, rounding: 'up' | 'down') =>
  show(toMultiple(fraction(parse(amount)), parse(lotSize), rounding))
