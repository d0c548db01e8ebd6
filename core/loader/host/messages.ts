// What the server and its hosts say to each other at the start. What a host says is checked where it is read.
import type { Token, TradingType } from '../../contracts/index.ts'
import type { HookUpdate } from '../hook.ts'
import type { Description } from '../instantiate.ts'
import type { Step } from '../refusal.ts'

export interface LoadRequest {
  /** The file that exports the plugin, as the host sees it. */
  readonly entry: string
  readonly news: HookUpdate
}

interface Refused {
  readonly refused: { readonly step: Step; readonly reason: string; readonly cure: string }
}

export type LoadReply = Refused | { readonly description: Description }

/** A venue as data. */
export interface HostVenue {
  readonly chain: string
  readonly network: string
  readonly config: unknown
  readonly contracts: Readonly<Record<string, string>>
  readonly tokens: readonly Token[]
  readonly nativeCurrency: Token
  readonly tradingTypes: readonly TradingType[]
  /** What the family's reader knows without asking. */
  readonly facts: unknown
  /** The chain tells the events of its blocks. */
  readonly isFollowed: boolean
}

export interface HostSettings {
  /** Of the plugin. */
  readonly name: string
  /** Of each venue, whether its network is a local one. */
  readonly local: readonly boolean[]
  readonly staleBlocks: number
  readonly staleBlockSeconds: number
  readonly checkSeconds: number
  readonly cachedQuotes: number
}

/** What a connector has besides its methods. */
export interface VenueProperties {
  readonly spenders?: unknown
  readonly events?: unknown
  readonly refusals?: unknown
  readonly versions?: unknown
  /** Its prices can be followed. */
  readonly follows: boolean
  readonly starts: boolean
  readonly stops: boolean
}
