import type { Logger } from 'pino'
import { ConfigError } from '../config/problems.ts'
import { loadPluginConfig } from '../config/plugin-config.ts'
import { loadTokens } from '../config/token-list.ts'
import { type Settings } from '../config/settings.ts'
import { type TokenListSource } from '../config/plugins/network-settings.ts'
import { devnetNetwork } from '../devnet/network.ts'
import { type Devnet } from '../devnet/start-devnet.ts'
import type { LoadOptions } from '../loader/load-options.ts'
import type { Metrics } from '../http/metrics.ts'

export interface PluginSources {
  settings: Settings
  log: Logger
  metrics: Metrics
  devnet: Pick<Devnet, 'rpcUrl'> | undefined
}

/** What the loader asks the settings: configurations, token lists, logs and meters. */
export function pluginOptions({ settings, log, metrics, devnet }: PluginSources): LoadOptions {
  const { plugins, limits, confDir, home, data } = settings
  return {
    folders: plugins.folders,
    disabled: plugins.disabled,
    deadlineMs: limits.pluginLoadSeconds * 1000,
    log,
    logOf: (plugin) => log.child({ plugin }),
    meterOf: (chain, network) => ({ rpc: (method, outcome) => metrics.rpcCalls.inc({ chain, network, method, outcome }) }),
    configOf({ kind, name, folder, schema, networks }) {
      const configuration = loadPluginConfig({ kind, name, confDir, pluginFolder: folder, schema, ...(networks && { networks }) })
      if (kind !== 'chain' || name !== devnetNetwork.chain) return configuration
      return { ...configuration, config: withDevnet(configuration.config, devnet), shown: withDevnet(configuration.shown, devnet) }
    },
    async tokensOf({ chain, network, folder, implementation: { chainId }, settings: own }) {
      const tokensWith = (tokenLists: readonly TokenListSource[]) =>
        loadTokens({ pluginFolder: folder, confDir, chain, network, chainId, home, tokenLists, dataDir: data.dir })
      const tokenLists = own?.tokenLists ?? []
      return tokensWith(tokenLists).catch((error: unknown) => {
        // A host that is away is no mistake of the operator's: the network works with the lists that are here.
        if (!(error instanceof ConfigError) || !error.problems.every(({ temporary }) => temporary)) throw error
        log.warn({ chain, network, reason: error.message }, 'token lists from elsewhere are left out until the next start')
        return tokensWith(tokenLists.filter((each) => typeof each === 'string'))
      })
    },
  }
}

/** The devnet's network is there when the devnet is, at the devnet's address. */
function withDevnet<C extends Record<string, unknown>>(config: C, devnet: PluginSources['devnet']): C {
  const { [devnetNetwork.network]: local, ...others } = config
  if (!devnet || typeof local !== 'object' || local === null) return others as C
  return { ...config, [devnetNetwork.network]: { ...local, rpcUrls: [devnet.rpcUrl] } }
}
