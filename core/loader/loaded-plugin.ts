import type { PluginConfig, NetworkSettings } from '../config/plugin-config.ts'
import type { Bridge, Chain, Connector, Family, Log, Manifest, NetworkNames, Token, ChainVenue } from '../contracts/index.ts'

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

/** What the settings are asked for a plugin's configuration with. */
interface PluginIdentity {
  readonly kind: 'chain' | 'connector'
  readonly name: string
  readonly folder: string
  /** The manifest's JSON Schema: of a connector's configuration, or of one network's settings of a chain. */
  readonly schema: object
  /** A chain's networks, as its manifest has them. */
  readonly networks?: readonly string[]
}

export interface ChainNetwork {
  readonly chain: string
  readonly network: string
  /** The chain plugin's folder. */
  readonly folder: string
  readonly implementation: Chain
  /** What the kernel itself reads of the network's settings. */
  readonly settings: NetworkSettings | undefined
}

/** What the loader is given by the kernel. */
export interface LoadOptions {
  /** Absolute, or relative to the working directory; each is a folder of plugins or a plugin. */
  readonly folders: readonly string[]
  /** Names of plugins that are left alone. */
  readonly disabled?: readonly string[]
  /** For each step of a plugin: its import, and its `create` for all networks. */
  readonly deadlineMs: number
  /** Throws what is wrong with the configuration; that refuses the plugin. */
  configOf(plugin: PluginIdentity): PluginConfig | Promise<PluginConfig>
  /** The network's token list. */
  tokensOf(network: ChainNetwork): readonly Token[] | Promise<readonly Token[]>
  /** The logger that a plugin gets; its lines carry the plugin's name. */
  logOf(name: string): Log
  /** Counts a network's calls to its nodes. */
  meterOf?(chain: string, network: string): ChainVenue['meter']
  /** The loader's own log. */
  readonly log: Log
}
