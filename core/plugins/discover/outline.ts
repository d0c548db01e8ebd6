import { approvableOf } from '../../contracts/index.ts'
import type { LockedPlugin } from '../../config/lock.ts'
import type { DeclaredCalls } from '../interface-rights.ts'
import type { LoadedInterface } from '../load-interfaces.ts'
import type { LoadedPlugin } from '../loaded-plugin.ts'

/** What a loaded plugin declares: what sluice.lock records of those of third parties, and `signing.json` of the release's. */
export type PluginDeclaration = Omit<LockedPlugin, 'sha256' | 'tier' | 'hosts' | 'allowedAt' | 'since' | 'source' | 'seal'>

export function outlineOf(plugin: LoadedPlugin | LoadedInterface): PluginDeclaration {
  const { manifest, kind } = plugin
  if (plugin.kind === 'interface')
    return {
      ...(manifest.version !== undefined && { version: manifest.version }),
      kind,
      networks: {},
      signs: [],
      ...(plugin.manifest.calls && { calls: copied(plugin.manifest.calls) }),
      ...(plugin.manifest.decides && { decides: [...plugin.manifest.decides] }),
    }
  return {
    ...(manifest.version !== undefined && { version: manifest.version }),
    kind,
    ...(plugin.kind === 'chain' && { keys: plugin.keys }),
    networks: networksOf(plugin),
    signs: (manifest.signs ?? []).map(({ own, ...each }) => ({ ...each, ...(own && { own: [...own] }) })),
    ...(plugin.kind === 'connector' && {
      deposits: plugin.venues.flatMap(({ bridges }) => Object.entries(bridges).map(([chain, bridge]) => ({ chain, ...bridge }))),
    }),
  }
}

const copied = (calls: NonNullable<DeclaredCalls['calls']>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(calls).map(([path, endpoints]) => [path, [...endpoints]]))

function networksOf(plugin: LoadedPlugin): PluginDeclaration['networks'] {
  const networks: PluginDeclaration['networks'] = {}
  if (plugin.kind === 'chain')
    for (const { chain, network, implementation } of plugin.venues) {
      const { chainId, feeCapRaw, local } = implementation
      networks[`${chain}/${network}`] = {
        contracts: {},
        spenders: [],
        chainId,
        feeCapRaw: feeCapRaw.toString(),
        ...(local === true && { local }),
      }
    }
  else
    for (const { chain, network, contracts, implementation } of plugin.venues)
      networks[`${chain}/${network}`] = {
        contracts: { ...contracts },
        // A token is approved to Permit2, and by it to the spender.
        spenders: [
          ...new Set([...Object.values(approvableOf(implementation)), ...(implementation.permit2 ? [implementation.permit2.address] : [])]),
        ],
      }
  return networks
}
