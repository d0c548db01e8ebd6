/** What positions need to know of an exchange on one network. Addresses. */
export interface RangeExchange {
  /** The label of this protocol version: "v3". */
  readonly version: string
  /** What the position manager names as its factory. */
  readonly factory: string
  /** Makes the pools: the factory itself where it is absent. */
  readonly deployer?: string
  /** keccak256 of a pool's creation code. */
  readonly initCodeHash: string
  /** The tiers that there are, in hundredths of a basis point. */
  readonly fees: readonly number[]
  /** What their names stand for. */
  readonly feeTiers: Readonly<Record<string, number>>
  readonly positionManager: string
}
