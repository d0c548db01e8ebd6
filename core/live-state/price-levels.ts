import type { BookSide, Level } from '../contracts/index.ts'
import { canonicalDecimal, compareCanonical } from '../decimal.ts'

/** One side of a book, sorted best first. */
interface PriceLevels {
  /** What there is at a price from now on; nothing at a quantity of 0. False where price or quantity is no number above 0. */
  set(price: string, quantity: string): boolean
  /** All at once, best first. False where they are out of order, or one is no number above 0: then there is nothing on it. */
  replace(levels: readonly Level[]): boolean
  readonly best: string | undefined
  /** Never changed: the same until the next change. */
  levels(): readonly Level[]
}

/**
 * Two sorted lists, of prices as doubles and of levels: a price is found by halving, and a level put in its place by moving what is
 * behind it, which is quicker than any tree up to many thousands of levels.
 */
export function createPriceLevels(side: BookSide): PriceLevels {
  const direction = side === 'buys' ? -1 : 1
  let near: number[] = []
  let sorted: Level[] = []
  /** What was given out is not changed any more. */
  let shown: readonly Level[] | undefined

  /** The place of the first level that is not better than the price. */
  function placeOf(price: string, priceNear: number): number {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = direction * compareCanonical(sorted[middle]?.price ?? '', price, near[middle], priceNear)
      if (order < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    set(rawPrice, rawQuantity) {
      const [price, quantity] = [canonicalDecimal(rawPrice), canonicalDecimal(rawQuantity)]
      if (price === undefined || quantity === undefined || price === '0') return false
      const priceNear = Number(price)
      const place = placeOf(price, priceNear)
      const there = sorted[place]?.price === price
      if (quantity === '0') {
        if (!there) return true
        near.splice(place, 1)
        sorted.splice(place, 1)
      } else if (there) {
        if (sorted[place]?.quantity === quantity) return true
        sorted[place] = { price, quantity }
      } else {
        near.splice(place, 0, priceNear)
        sorted.splice(place, 0, { price, quantity })
      }
      shown = undefined
      return true
    },
    replace(levels) {
      const read = readLevels(levels, direction)
      ;({ sorted, near } = read ?? { sorted: [], near: [] })
      shown = undefined
      return read !== undefined
    },
    get best() {
      return sorted[0]?.price
    },
    levels: () => (shown ??= sorted.slice()),
  }
}

/** Canonical ones; undefined where they are not sorted best first with each price once, or are no numbers above 0. */
function readLevels(levels: readonly Level[], direction: number): { sorted: Level[]; near: number[] } | undefined {
  if (!Array.isArray(levels)) return undefined
  const [sorted, near]: [Level[], number[]] = [[], []]
  for (const level of levels as readonly unknown[]) {
    if (!isLevel(level)) return undefined
    const [price, quantity] = [canonicalDecimal(level.price), canonicalDecimal(level.quantity)]
    if (price === undefined || quantity === undefined || price === '0' || quantity === '0') return undefined
    const priceNear = Number(price)
    const before = sorted.at(-1)
    if (before && direction * compareCanonical(before.price, price, near.at(-1), priceNear) >= 0) return undefined
    sorted.push({ price, quantity })
    near.push(priceNear)
  }
  return { sorted, near }
}

const isLevel = (level: unknown): level is { price: unknown; quantity: unknown } =>
  typeof level === 'object' && level !== null && 'price' in level && 'quantity' in level
