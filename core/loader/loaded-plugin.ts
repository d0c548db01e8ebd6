import type { PluginConfig } from '../config/plugin-config.ts'
import type { Bridge, Chain, Connector, Family, Log, Manifest, NetworkNames, Token } from '../contracts/index.ts'

/** What was created for one network. */
export interface LoadedVenue<T> {
  /** The plugin's name. */
  readonly plugin: string
  readonly chain: string
  readonly network: string
  readonly implementation: T
  /** Of a connector: what it may call on this network, by the names in its configuration. */
  readonly contracts: Readonly<Record<string, string>>
  /** Of a connector: what deposits come by from other chains, by chain. Addresses are spelt canonically where that chain is there. */
  readonly bridges: Readonly<Record<string, Bridge>>
  /** Of the network's token list, addresses in the family's canonical spelling. */
  readonly tokens: readonly Token[]
  readonly log: Log
}

/** A network that the manifest names and that the plugin does not serve here. */
export interface UnservedNetwork {
  readonly chain: string
  readonly network: string
  readonly reason: string
  readonly cure: string
}

interface Loaded {
  readonly name: string
  readonly folder: string
  readonly family: string
  /** A frozen copy. */
  readonly manifest: Manifest
  /** What is really served: the manifest's networks without the unserved ones. */
  readonly available_networks: readonly NetworkNames[]
  readonly unserved: readonly UnservedNetwork[]
  /** Checked and frozen. */
  readonly configuration: PluginConfig
}

export type LoadedChain = Loaded & {
  readonly kind: 'chain'
  /** The curve of its wallets' keys. */
  readonly keys: Family['keys']
  readonly venues: readonly LoadedVenue<Chain>[]
}
export type LoadedConnector = Loaded & { readonly kind: 'connector'; readonly venues: readonly LoadedVenue<Partial<Connector>>[] }
export type LoadedPlugin = LoadedChain | LoadedConnector

/** The venues' networks, in the shape of `available_networks`. */
export function networksOf(venues: readonly { chain: string; network: string }[]): readonly NetworkNames[] {
  const chains = [...new Set(venues.map(({ chain }) => chain))]
  return chains.map((chain) => ({ chain, networks: venues.filter((venue) => venue.chain === chain).map(({ network }) => network) }))
}
