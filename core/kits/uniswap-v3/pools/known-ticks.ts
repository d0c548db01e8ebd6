import type { Stretches } from './stretch.ts'
import type { SwapPath } from './swap-path.ts'

/** Liquidity at initialised ticks, by their places in a table. */
export interface TickLiquidity {
  /** Of all positions that begin or end there: a tick is initialised as long as there is any. */
  gross(index: number): bigint
  /** What crossing it on the way up adds to the liquidity in range. */
  net(index: number): bigint
}

/**
 * What swaps found on their ways through a pool, kept for those to come: the way from the price that they were asked at last, or memory
 * would be full of old ones, and the stretches between ticks. Of a pool's tables all have the same.
 */
export interface Gone {
  down?: SwapPath
  up?: SwapPath
  downward?: Stretches
  upward?: Stretches
}

/** All initialised ticks of a pool between two ticks, rising. A table is never changed, so that states share it as long as positions stay. */
export class KnownTicks {
  /** Multiples of the tick spacing: of these two and of what lies beyond them nothing is known. */
  readonly from: number
  readonly to: number
  readonly ticks: readonly number[]
  readonly liquidity: TickLiquidity
  readonly gone: Gone

  constructor(from: number, to: number, ticks: readonly number[], liquidity: TickLiquidity, gone: Gone = {}) {
    this.from = from
    this.to = to
    this.ticks = ticks
    this.liquidity = liquidity
    this.gone = gone
  }

  /** How many of them are not above a tick, which is the place of the first that is. */
  upTo(tick: number): number {
    return countUpTo(this.ticks, tick)
  }

  knows(tick: number): boolean {
    return tick > this.from && tick < this.to
  }
}

/** Of rising numbers, how many are not above one. */
export function countUpTo(ticks: readonly number[], tick: number): number {
  let [low, high] = [0, ticks.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ticks[middle] ?? 0) <= tick) low = middle + 1
    else high = middle
  }
  return low
}
