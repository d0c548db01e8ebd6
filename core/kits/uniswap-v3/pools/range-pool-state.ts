import type { KnownTicks } from './known-ticks.ts'

/** A pool of concentrated liquidity with what is known of its ticks, at one block. */
export interface RangePoolState {
  readonly sqrtPriceX96: bigint
  readonly tick: number
  /** In range at this price. */
  readonly liquidity: bigint
  /** Hundredths of a basis point. */
  readonly fee: number
  readonly tickSpacing: number
  /** Around the price when they were read; where it has gone since is another thing. */
  readonly ticks: KnownTicks
}
