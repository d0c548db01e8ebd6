import type { PriceGrid } from '../../contracts/index.ts'
import { parse, ratio, type Decimal, type Rounding } from '../../decimal.ts'
import { fraction, magnitude, plain, show, toMultiple, type Fraction } from '../../verbs/clob/figures/exact.ts'

/** Between neighbours on the grid around a price above 0; undefined where every price is on it. */
function stepAt(price: Fraction, grid: PriceGrid): Decimal | undefined {
  if (grid === 'any') return undefined
  if ('step' in grid) return parse(grid.step)
  // A whole number is always a price, however many figures it has.
  const decimals = Math.max(0, Math.min(grid.maxDecimals, grid.significantFigures - 1 - magnitude(price)))
  return { digits: 1n, scale: decimals }
}

/** A price above 0 on the grid; "0" where it is below the smallest and rounded down. */
export function roundPrice(price: Fraction, grid: PriceGrid, rounding: Rounding): string {
  const step = stepAt(price, grid)
  return step ? show(toMultiple(price, step, rounding)) : show(parse(ratio(price.numerator, price.denominator, rounding)))
}

export function isOnGrid(price: string, grid: PriceGrid): boolean {
  const exact = fraction(parse(price))
  const step = stepAt(exact, grid)
  return !step || (exact.numerator * 10n ** BigInt(step.scale)) % (exact.denominator * step.digits) === 0n
}

/** The next ones below and above that are on the grid: one where the price lies below the smallest. */
export function nearestPrices(price: string, grid: PriceGrid): readonly string[] {
  if (grid === 'any') return [plain(price)]
  const exact = fraction(parse(price))
  return [roundPrice(exact, grid, 'down'), roundPrice(exact, grid, 'up')].filter((each) => each !== '0')
}

/** As people read it. */
export function gridInWords(grid: PriceGrid): string {
  if (grid === 'any') return 'any price'
  if ('step' in grid) return `multiples of the tickSize ${grid.step}`
  return `prices of at most ${grid.significantFigures} significant figures and ${grid.maxDecimals} decimals`
}
