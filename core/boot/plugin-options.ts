import path from 'node:path'
import type { Logger } from 'pino'
import { loadPluginConfig, loadTokens, type NetworkSettings, type Settings } from '../config/index.ts'
import { devnetNetwork, type Devnet } from '../devnet/index.ts'
import type { LoadOptions } from '../loader/index.ts'
import type { Metrics } from '../http/metrics.ts'

export interface PluginSources {
  settings: Settings
  log: Logger
  metrics: Metrics
  devnet: Devnet | undefined
}

/** What the loader asks the settings: configurations, token lists, logs and meters. `networkSettings` is filled as chains are read. */
export function pluginOptions({ settings, log, metrics, devnet }: PluginSources, networkSettings: Map<string, NetworkSettings>): LoadOptions {
  const { plugins, limits, confDir, home, data } = settings
  return {
    folders: plugins.folders,
    disabled: plugins.disabled,
    deadlineMs: limits.pluginLoadSeconds * 1000,
    log,
    logOf: (plugin) => log.child({ plugin }),
    meterOf: (chain, network) => ({ rpc: (method, outcome) => metrics.rpcCalls.inc({ chain, network, method, outcome }) }),
    configOf({ kind, name, folder, schema, networks }) {
      const { config, shown, networks: ofNetworks } = loadPluginConfig({ kind, name, confDir, pluginFolder: folder, schema, networks })
      for (const [network, each] of Object.entries(ofNetworks)) networkSettings.set(`${name}/${network}`, each)
      return kind === 'chain' && name === devnetNetwork.chain ? { config: withDevnet(config, devnet), shown: withDevnet(shown, devnet) } : { config, shown }
    },
    tokensOf: ({ chain, network, folder, implementation: { chainId } }) =>
      loadTokens({
        pluginFolder: folder, confDir, chain, network, chainId, home,
        tokenLists: networkSettings.get(`${chain}/${network}`)?.tokenLists ?? [],
        cacheDir: path.join(data.dir, 'token-lists'),
      }),
  }
}

/** The devnet's network is there when the devnet is, at the devnet's address. */
function withDevnet<C extends Record<string, unknown>>(config: C, devnet: Devnet | undefined): C {
  const { [devnetNetwork.network]: local, ...others } = config
  if (!devnet || typeof local !== 'object' || local === null) return others as C
  return { ...config, [devnetNetwork.network]: { ...local, rpcUrls: [devnet.rpcUrl] } }
}
