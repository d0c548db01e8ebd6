// What the server and its hosts say to each other at the start. What a host says is checked where it is read.
import { connectorContract } from '../../contracts/answers/connector.ts'
import type { Contract } from '../../contracts/answers/contract.ts'
import type { Token, TradingType } from '../../contracts/index.ts'
import type { HookUpdate } from '../hook.ts'
import type { Description } from '../instantiate.ts'
import type { Step } from '../refusal.ts'

export interface LoadRequest {
  /** The file that exports the plugin, as the host sees it. */
  readonly entry: string
  readonly news: HookUpdate
  /** It says on its error output which function of the plugin has run for so long. */
  readonly loopSeconds?: number
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
  readonly staleSeconds: number
  readonly cachedQuotes: number
}

/** What a connector has besides its methods. */
export interface VenueProperties {
  readonly spenders?: unknown
  readonly events?: unknown
  readonly refusals?: unknown
  readonly types: Readonly<Partial<Record<TradingType, TypeReport>>>
  /** Its prices can be followed. */
  readonly follows: boolean
  readonly starts: boolean
  readonly stops: boolean
  /** It takes signed actions itself. */
  readonly acts: boolean
}

/** What a connector has of a trading type: which of its methods are there, and its properties. */
export interface TypeReport {
  readonly methods: readonly string[]
  readonly properties: Readonly<Record<string, unknown>>
}

/** Of a trading type, the name of a method and its arguments; whether a signal is the last of these. */
export type CallArguments = readonly [type: TradingType, name: string, args: readonly unknown[], waits: boolean]

/** The methods and properties of a trading type that cross, as its contract declares them. What is followed in memory stays in the host. */
export function membersOf(type: TradingType): { readonly methods: readonly string[]; readonly properties: readonly string[] } {
  const { part } = connectorContract[type] as { readonly part: Contract<Record<string, object>> }
  const names = (kind: 'answer' | 'value') => Object.entries(part).flatMap(([name, member]) => (kind in member ? [name] : []))
  return { methods: names('answer'), properties: names('value') }
}
