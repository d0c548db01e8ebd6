// Fills of orders wait here until the book has come to their time: an order may be filled long after it was requested, and transactions come by the time of
// their requests. Pure.
import type { OnNetwork } from './book-lines.ts'
import type { OrderTrade } from './trades.ts'

interface WaitingFill {
  readonly on: OnNetwork
  readonly fill: OrderTrade
}

export interface FillQueue {
  add(fill: WaitingFill): void
  /** Removes those that are not later, oldest first; of one time in the order in which they were added. */
  takeUntil(atMs: number): readonly WaitingFill[]
}

export function createFillQueue(): FillQueue {
  let waiting: WaitingFill[] = []
  let isSorted = true
  let firstMs = Infinity

  return {
    add(fill) {
      isSorted &&= fill.fill.atMs >= (waiting.at(-1)?.fill.atMs ?? -Infinity)
      waiting.push(fill)
      firstMs = Math.min(firstMs, fill.fill.atMs)
    },
    takeUntil(atMs) {
      if (firstMs > atMs) return []
      if (!isSorted) waiting.sort((one, other) => one.fill.atMs - other.fill.atMs)
      isSorted = true
      const later = waiting.findIndex(({ fill }) => fill.atMs > atMs)
      const taken = later < 0 ? waiting : waiting.slice(0, later)
      waiting = later < 0 ? [] : waiting.slice(later)
      firstMs = waiting[0]?.fill.atMs ?? Infinity
      return taken
    },
  }
}
