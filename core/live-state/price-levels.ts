import type { BookSide, Level } from '../contracts/index.ts'
import { canonicalDecimal, compareCanonical } from '../base/decimal.ts'
import { isObject } from '../base/json.ts'

/** One side of a book, sorted best first. */
export interface PriceLevels {
  /** Sets the quantity at a price; 0 removes the level. Returns false if price or quantity is not a number above 0. */
  set(price: string, quantity: string): boolean
  /** Replaces all levels, given best first. Returns false, and keeps no level, if they are out of order or not numbers above 0. */
  replace(levels: readonly Level[]): boolean
  readonly best: string | undefined
  /** Immutable: the same array until the next change. */
  levels(): readonly Level[]
}

/**
 * Two sorted arrays, of prices as doubles and of levels. A price is found by binary search, and a level is inserted by moving those behind it,
 * which is faster than any tree for up to many thousands of levels.
 */
export function createPriceLevels(side: BookSide): PriceLevels {
  const direction = side === 'buys' ? -1 : 1
  let doubles: number[] = []
  let sorted: Level[] = []
  /** Levels that were handed out are not changed any more. */
  let shown: readonly Level[] | undefined

  /** The index of the first level that is not better than the price. */
  function indexOf(price: string, priceDouble: number): number {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = direction * compareCanonical(sorted[middle]?.price ?? '', price, doubles[middle], priceDouble)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    set(rawPrice, rawQuantity) {
      const [price, quantity] = [canonicalDecimal(rawPrice), canonicalDecimal(rawQuantity)]
      if (price === undefined || quantity === undefined || price === '0') return false
      const priceDouble = Number(price)
      const index = indexOf(price, priceDouble)
      const exists = sorted[index]?.price === price
      if (quantity === '0') {
        if (!exists) return true
        doubles.splice(index, 1)
        sorted.splice(index, 1)
      } else if (exists) {
        if (sorted[index]?.quantity === quantity) return true
        sorted[index] = { price, quantity }
      } else {
        doubles.splice(index, 0, priceDouble)
        sorted.splice(index, 0, { price, quantity })
      }
      shown = undefined
      return true
    },
    replace(levels) {
      const read = readLevels(levels, direction)
      ;({ sorted, doubles } = read ?? { sorted: [], doubles: [] })
      shown = undefined
      return read !== undefined
    },
    get best() {
      return sorted[0]?.price
    },
    levels: () => (shown ??= sorted.slice()),
  }
}

/** Levels with canonical numbers; undefined if they are not sorted best first with each price once, or are not numbers above 0. */
function readLevels(levels: readonly Level[], direction: number): { sorted: Level[]; doubles: number[] } | undefined {
  if (!Array.isArray(levels)) return undefined
  const [sorted, doubles]: [Level[], number[]] = [[], []]
  for (const level of levels as readonly unknown[]) {
    if (!isLevel(level)) return undefined
    const [price, quantity] = [canonicalDecimal(level.price), canonicalDecimal(level.quantity)]
    if (price === undefined || quantity === undefined || price === '0' || quantity === '0') return undefined
    const priceDouble = Number(price)
    const before = sorted.at(-1)
    if (before && direction * compareCanonical(before.price, price, doubles.at(-1), priceDouble) >= 0) return undefined
    sorted.push({ price, quantity })
    doubles.push(priceDouble)
  }
  return { sorted, doubles }
}

const isLevel = (level: unknown): level is { price: unknown; quantity: unknown } =>
  isObject(level) && 'price' in level && 'quantity' in level

/** Why the two sides are no book; undefined if they are. */
export const crossedBy = (buys: PriceLevels, sells: PriceLevels): string | undefined =>
  buys.best !== undefined && sells.best !== undefined && compareCanonical(buys.best, sells.best) >= 0
    ? `the best bid ${buys.best} is not below the best ask ${sells.best}`
    : undefined
