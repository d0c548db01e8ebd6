import type { PriceGrid } from '../../contracts/index.ts'
import {
  formatDecimal,
  formatRatio,
  isLess,
  isMultiple,
  isZero,
  magnitude,
  normalize,
  parseDecimal,
  roundToMultiple,
  toFraction,
  type DecimalParts,
  type Fraction,
  type Rounding,
} from '../../base/decimal.ts'

/** The distance between prices of the grid around a price above 0; undefined if the grid has every price. */
function stepAt(price: Fraction, grid: PriceGrid): DecimalParts | undefined {
  if (grid === 'any') return undefined
  if ('step' in grid) return parseDecimal(grid.step)
  // An integer is always on the grid, whatever its number of figures.
  const decimals = Math.max(0, Math.min(grid.maxDecimals, grid.significantFigures - 1 - magnitude(price)))
  return { digits: 1n, scale: decimals }
}

/** A price above 0 rounded to the grid; "0" if it is below the smallest price and rounded down. */
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

/** The grid's prices next below and above; only one if the price is below the smallest. */
export function nearestPrices(price: string, grid: PriceGrid): readonly string[] {
  if (grid === 'any') return [normalize(price)]
  const exact = toFraction(price)
  return [roundPrice(exact, grid, 'down'), roundPrice(exact, grid, 'up')].filter((each) => each !== '0')
}

/** For error messages. */
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

/** The smallest amount of an order. */
export function minAmount({ lotSize, minOrderSize = '0' }: Lots): string {
  return isZero(minOrderSize) ? normalize(lotSize) : toLots(minOrderSize, lotSize, 'up')
}

/** The amounts next below and above that the market takes. */
export function nearestAmounts(amount: string, lots: Lots): readonly string[] {
  const min = minAmount(lots)
  const around = [toLots(amount, lots.lotSize, 'down'), toLots(amount, lots.lotSize, 'up')]
  return [...new Set(around.map((each) => (isLess(each, min) ? min : each)))]
}

const toLots = (amount: string, lotSize: string, rounding: Rounding) =>
  formatDecimal(roundToMultiple(toFraction(amount), parseDecimal(lotSize), rounding))
