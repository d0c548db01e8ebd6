import type { PriceGrid } from '../../contracts/index.ts'
import {
  parseDecimal,
  formatRatio,
  type DecimalParts,
  type Rounding,
  toFraction,
  magnitude,
  normalize,
  formatDecimal,
  roundToMultiple,
  type Fraction,
  isLess,
  isZero,
  isMultiple,
} from '../../decimal.ts'

/** Between neighbours on the grid around a price above 0; undefined where every price is on it. */
function stepAt(price: Fraction, grid: PriceGrid): DecimalParts | undefined {
  if (grid === 'any') return undefined
  if ('step' in grid) return parseDecimal(grid.step)
  // A whole number is always a price, however many figures it has.
  const decimals = Math.max(0, Math.min(grid.maxDecimals, grid.significantFigures - 1 - magnitude(price)))
  return { digits: 1n, scale: decimals }
}

/** A price above 0 on the grid; "0" where it is below the smallest and rounded down. */
export function roundPrice(price: Fraction, grid: PriceGrid, rounding: Rounding): string {
  const step = stepAt(price, grid)
  return step
    ? formatDecimal(roundToMultiple(price, step, rounding))
    : formatDecimal(parseDecimal(formatRatio(price.numerator, price.denominator, rounding)))
}

export function isOnGrid(price: string, grid: PriceGrid): boolean {
  const exact = toFraction(price)
  const step = stepAt(exact, grid)
  return !step || isMultiple(exact, step)
}

/** The next ones below and above that are on the grid: one where the price lies below the smallest. */
export function nearestPrices(price: string, grid: PriceGrid): readonly string[] {
  if (grid === 'any') return [normalize(price)]
  const exact = toFraction(price)
  return [roundPrice(exact, grid, 'down'), roundPrice(exact, grid, 'up')].filter((each) => each !== '0')
}

/** As people read it. */
export function describeGrid(grid: PriceGrid): string {
  if (grid === 'any') return 'any price'
  if ('step' in grid) return `multiples of the tickSize ${grid.step}`
  return `prices of at most ${grid.significantFigures} significant figures and ${grid.maxDecimals} decimals`
}

interface Lots {
  readonly lotSize: string
  readonly minOrderSize?: string
}

export const isInLots = (amount: string, lotSize: string): boolean => isMultiple(toFraction(amount), parseDecimal(lotSize))

/** The smallest amount that a market takes. */
export function minAmount({ lotSize, minOrderSize = '0' }: Lots): string {
  return isZero(minOrderSize) ? normalize(lotSize) : toLots(minOrderSize, lotSize, 'up')
}

/** The next ones that the market takes, not above and not below. */
export function nearestAmounts(amount: string, lots: Lots): readonly string[] {
  const least = minAmount(lots)
  const around = [toLots(amount, lots.lotSize, 'down'), toLots(amount, lots.lotSize, 'up')]
  return [...new Set(around.map((each) => (isLess(each, least) ? least : each)))]
}

const toLots = (amount: string, lotSize: string, rounding: 'up' | 'down') =>
  formatDecimal(roundToMultiple(toFraction(amount), parseDecimal(lotSize), rounding))
