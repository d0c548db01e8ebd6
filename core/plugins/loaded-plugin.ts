import type { PluginConfig, NetworkSettings } from '../config/plugin-config.ts'
import type { SchemaAnswer, SchemaQuestion } from '../config/plugin-schema.ts'
import type { Bridge, Chain, Connector, Family, Log, Manifest, NetworkNames, RemoteReading, Token, ChainVenue } from '../contracts/index.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import type { AllowedBy, FindResult, Tier } from './discover/find.ts'
import type { Host } from './isolate/host.ts'
import type { Hosts } from './isolate/hosts.ts'
import type { FollowPrice, HostedBooks } from './isolate/remote-connector.ts'
import type { LoadBudget } from './load-budget.ts'
import type { ContractOwners } from '../wallet/policy-files.ts'

/** A chain or connector as created for one network. */
export interface LoadedVenue<T> {
  /** The plugin's name. */
  readonly plugin: string
  readonly chain: string
  readonly network: string
  readonly implementation: T
  /** The contracts that a connector may call on this network, by their names in its configuration. */
  readonly contracts: Readonly<Record<string, string>>
  /** The bridges over which deposits reach a connector, by chain. Addresses are canonical where that chain is loaded. */
  readonly bridges: Readonly<Record<string, Bridge>>
  /** The network's token list, with addresses in the family's canonical spelling. */
  readonly tokens: readonly Token[]
  readonly log: Log
  /** Of a chain: how connectors in hosts read it. */
  readonly remote?: RemoteReading<object>
  /** Of a connector that runs in one. */
  readonly host?: Host
  /** Follows a price in it. */
  readonly followPrice?: FollowPrice
  /** The books that it keeps. */
  readonly books?: HostedBooks
}

/** A network of the manifest that the plugin does not serve on this server. */
export interface UnservedNetwork {
  readonly chain: string
  readonly network: string
  readonly reason: string
  readonly remedy: string
  /** What its settings say is wrong: it would be served otherwise. */
  readonly isWrong?: true
}

interface LoadedPluginBase {
  readonly name: string
  /** What is run. */
  readonly folder: string
  /** Where the operator put it. */
  readonly origin: string
  /** Of this release. */
  readonly builtIn: boolean
  readonly tier: Tier
  readonly allowedBy: AllowedBy
  /** Of its files, where they were compared with sluice.lock. */
  readonly sha256?: string
  /** The process that it runs in; absent: the server. */
  readonly host?: Host
  readonly family: string
  /** A frozen copy. */
  readonly manifest: Manifest
  /** The networks of the manifest without the unserved ones. */
  readonly available_networks: readonly NetworkNames[]
  readonly unserved: readonly UnservedNetwork[]
  /** Checked and frozen. */
  readonly configuration: PluginConfig
  /** What it still has of an earlier interface, as words for people. */
  readonly deprecated: readonly string[]
}

export type LoadedChain = LoadedPluginBase & {
  readonly kind: 'chain'
  /** The curve of its wallets' keys. */
  readonly keys: Family['keys']
  readonly venues: readonly LoadedVenue<Chain>[]
}
export type LoadedConnector = LoadedPluginBase & { readonly kind: 'connector'; readonly venues: readonly LoadedVenue<Partial<Connector>>[] }
export type LoadedPlugin = LoadedChain | LoadedConnector

/** The venues' networks, in the shape of `available_networks`. */
export function networksOf(venues: readonly { chain: string; network: string }[]): readonly NetworkNames[] {
  const chains = [...new Set(venues.map(({ chain }) => chain))]
  return chains.map((chain) => ({ chain, networks: venues.filter((venue) => venue.chain === chain).map(({ network }) => network) }))
}

/** What identifies a plugin when its configuration is read. */
interface PluginIdentity {
  readonly kind: PluginKind
  readonly name: string
  readonly folder: string
  /** The JSON Schema of the manifest: for a connector's configuration, or for the settings of one network of a chain. */
  readonly schema: object
  /** Of this release. */
  readonly builtIn?: boolean
  /** A chain's networks, as its manifest has them. */
  readonly networks?: readonly string[]
  /** Of a connector: network → the key with its chain, where the name alone means one. */
  readonly networkKeys?: Readonly<Record<string, string>>
}

export interface ChainNetwork {
  readonly chain: string
  readonly network: string
  /** The chain plugin's folder. */
  readonly folder: string
  readonly implementation: Chain
  /** The part of the network's settings that core itself reads. */
  readonly settings: NetworkSettings | undefined
}

/** Asks what a plugin's schema says, where this schema may run. */
export type JudgeConfig = (question: SchemaQuestion) => Promise<SchemaAnswer>

/** What the loader gets from the kernel. */
export interface LoadOptions {
  /** Those that may run, and those that were refused before. */
  readonly plugins: Pick<FindResult, 'found' | 'refused'> & Partial<Pick<FindResult, 'disabled'>>
  /** For each step of a plugin that is not built in: its import, and its `create` for all networks. */
  readonly budget: LoadBudget
  /** Throws where the configuration is wrong; then the plugin is refused. */
  configOf(plugin: PluginIdentity, judge: JudgeConfig): PluginConfig | Promise<PluginConfig>
  /** The network's token list. */
  tokensOf(network: ChainNetwork): readonly Token[] | Promise<readonly Token[]>
  /** The logger that a plugin gets; its lines carry the plugin's name. */
  logOf(name: string): Log
  /** Counts a network's calls to its nodes. */
  meterOf?(chain: string, network: string): ChainVenue['meter']
  /** Where plugins run that are not trusted. In this process only where it is contained itself, and holds one plugin. */
  readonly hosts: Hosts | 'here'
  /** Loads at first what needs no host; the others are `pending`. */
  readonly hostsLater?: boolean
  /** The contracts in which wallets have something by connectors of the release: not for plugins that the operator allowed without trust. */
  readonly holders: ContractOwners
  /** Whether the operator configured it as an interface: listeners are opened at the start alone, so it is loaded then. */
  opensListener?(name: string): boolean
  /** The loader's own log. */
  readonly log: Log
}
