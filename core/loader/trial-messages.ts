import type { Token, TradingType } from '../contracts/index.ts'
import type { FoundPlugin } from './find.ts'
import type { HookNews } from './hook.ts'
import type { Description } from './import-plugin.ts'
import type { Step } from './refusal.ts'

/** A venue as data: what a thread needs to build one of its own. */
export interface TrialVenue {
  readonly chain: string
  readonly network: string
  readonly config: unknown
  /** Absent for a chain's own networks. */
  readonly connector?: {
    readonly contracts: Readonly<Record<string, string>>
    readonly tokens: readonly Token[]
    readonly tradingTypes: readonly TradingType[]
    /** The chain whose reader the connector gets. */
    readonly on: { readonly plugin: FoundPlugin; readonly config: unknown }
  }
}

export type TrialRequest = {
  readonly plugin: FoundPlugin
  /** Of the plugin, and of the chains that its venues are on. */
  readonly news: HookNews
} & ({ readonly do: 'describe' } | { readonly do: 'create'; readonly venues: readonly TrialVenue[] })

export type TrialReply =
  | { readonly is: 'ready' }
  | { readonly is: 'passed'; readonly description: Description }
  | { readonly is: 'refused'; readonly step: Step; readonly reason: string; readonly cure: string }
