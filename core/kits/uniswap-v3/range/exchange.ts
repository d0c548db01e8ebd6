import type { PoolOrigin } from '../pools/pool-at.ts'

/** What positions need to know of an exchange on one network. Addresses. */
export interface RangeExchange extends PoolOrigin {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
  /** What their names stand for. */
  readonly feeTiers: Readonly<Record<string, number>>
  readonly positionManager: string
  /** The network's token list. */
  readonly listed: ReadonlySet<string>
}
