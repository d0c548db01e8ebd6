import type { PluginConfig } from '../config/plugin-config.ts'
import type { NetworkSettings } from '../config/plugins/network-settings.ts'
import type { Chain, ChainVenue, Log, Token } from '../contracts/index.ts'

/** What the settings are asked for a plugin's configuration with. */
export interface PluginIdentity {
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
