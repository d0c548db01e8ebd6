import type { MissingFixture, TestVenue, WalletChanges } from './venue.ts'

/** What the cards of an exchange share. */
export interface AmmFixture {
  readonly venue: TestVenue
  /** Cards that call contracts by the devnet's node. */
  readonly isDevnet: boolean
  /** What a mined transaction did to a wallet. Absent where no node is asked. */
  readonly changesOf: ((wallet: string, txHash: string) => Promise<WalletChanges>) | undefined
  /** Of the trades that were made. */
  readonly gasSamples: GasSample[]
  firstPair(): readonly [string, string]
  eachPair(check: (base: string, quote: string) => Promise<void>): Promise<void>
}

export interface GasSample {
  readonly what: string
  /** As `/amm/price` shows it. */
  readonly limit: number
  readonly used: bigint
}

/** Its id, its title, the cards without which it does not run, and what it does. */
export type AmmCard = readonly [
  id: string,
  title: string,
  needed: readonly string[],
  run: (fixture: AmmFixture) => Promise<void | MissingFixture>,
]
