/** A pool of concentrated liquidity with what is known of its ticks, at one block. */
export interface RangePoolState {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  /** In range at this price. */
  readonly liquidity: bigint
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  readonly below: KnownTicks
  readonly above: KnownTicks
}

/** The initialised ticks from the price in one direction, nearest first, with nothing left out up to `end`. */
export interface KnownTicks {
  readonly count: number
  tick(index: number): number
  /** What crossing it on the way up adds to the liquidity. */
  liquidityNet(index: number): bigint
  /** At the edge of a word of the bitmap, or at a tick of which no more is known. */
  readonly end: number
  /** How much was asked for. */
  readonly reach: Reach
}

/** How far to look from the price in one direction. */
export interface Reach {
  /** Of the tick bitmap. */
  readonly words: number
  /** Initialised ones, at most. */
  readonly ticks: number
}
