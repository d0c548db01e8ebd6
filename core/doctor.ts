import pino from 'pino'
import { pluginOptions } from './boot/plugin-options.ts'
import { pluginWarnings } from './boot/plugin-warnings.ts'
import type { Settings } from './config/settings.ts'
import { devnetNetwork } from './devnet/network.ts'
import { createMetrics } from './http/metrics.ts'
import { loadPlugins, type LoadResult } from './loader/load.ts'
import { examineCertificates } from './doctor/certificates.ts'
import { examineClients } from './doctor/clients.ts'
import { examineDisk } from './doctor/disk.ts'
import type { Finding } from './doctor/finding.ts'
import { examineKeystore } from './doctor/keystore.ts'
import { examineNetworks } from './doctor/networks.ts'
import { examineStore } from './doctor/store.ts'

/** Looks at everything that a start needs, and starts nothing. */
export async function examine(settings: Settings): Promise<readonly Finding[]> {
  const silent = pino({ level: 'silent' })
  // Where the devnet will be: its network is examined as if it were up.
  const rpcUrl = `http://127.0.0.1:${settings.devnet.port}`
  const plugins = await loadPlugins(
    pluginOptions({ settings, log: silent, metrics: createMetrics(), devnet: settings.devnet.enabled ? { rpcUrl } : undefined }),
  )
  const { loaded, refused } = plugins
  const chains = loaded.filter((plugin) => plugin.kind === 'chain')
  const settingsOf = (chain: string, network: string) => chains.find(({ name }) => name === chain)?.configuration.networks[network]
  const isRequired = (chain: string, network: string) => settingsOf(chain, network)?.required ?? false
  // Left out on purpose: by `enabled: false`, or with the devnet.
  const isLeftOut = (chain: string, network: string) =>
    settingsOf(chain, network)?.enabled === false || (chain === devnetNetwork.chain && network === devnetNetwork.network)
  return [
    ...configuration(settings, plugins),
    ...(await examineCertificates(settings)),
    ...(await examineDisk(settings)),
    ...(await examineStore(settings)),
    ...examineKeystore(settings),
    ...examineClients(settings),
    ...loaded.flatMap(({ name, unserved }): Finding[] => [
      { part: 'plugins', state: 'good', what: `${name} loads.` },
      ...unserved
        .filter(({ chain, network }) => !isLeftOut(chain, network))
        .map(({ chain, network, reason, cure }): Finding => ({
          part: 'plugins',
          state: 'warn',
          what: `${name} does not serve ${chain}/${network}: ${reason}.`,
          cure,
        })),
    ]),
    ...refused.map(({ name, step, reason, cure }): Finding => ({
      part: 'plugins',
      state: 'bad',
      what: `${name} is refused (${step}): ${reason}`,
      cure,
    })),
    ...(await examineNetworks(chains, isRequired, settings)),
  ]
}

function configuration(settings: Settings, plugins: LoadResult): Finding[] {
  const all = [...settings.warnings, ...pluginWarnings(settings, plugins)]
  if (all.length === 0) return [{ part: 'configuration', state: 'good', what: `${settings.confDir} is in order.` }]
  return all.map((what) => ({ part: 'configuration', state: 'warn', what, cure: 'Remove or correct it.' }))
}
