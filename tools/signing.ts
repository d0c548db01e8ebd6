// `npm run signing`: writes signing.json, which says what the release's plugins declare to be signed in code, and their defaults.yml do
// not have. The signer reads it, since it loads no plugin. test/wallet/policy-files.test.ts compares it with the plugins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPluginConfig } from '../core/config/plugin-config.ts'
import { loadTokens } from '../core/config/token-list.ts'
import { builtInPlugins, codeRoot } from '../core/base/layout.ts'
import { findPlugins } from '../core/plugins/discover/find.ts'
import { loadPlugins } from '../core/plugins/load.ts'
import type { LoadedPlugin } from '../core/plugins/loaded-plugin.ts'
import { outlineOf } from '../core/plugins/discover/outline.ts'
import type { ReleasePolicy } from '../core/wallet/release-policy.ts'
import { readersOf, signedActions } from './signing-readers.ts'

const silent = { info: () => {}, warn: () => {} }

/** The release's plugins, on every network that they know. */
async function loadReleased(): Promise<readonly LoadedPlugin[]> {
  const { found } = findPlugins([builtInPlugins], [])
  const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-signing-'))
  try {
    const { loaded, refused } = await loadPlugins({
      plugins: { found, refused: [] },
      hosts: 'here',
      holders: {},
      budget: { processorMs: 60_000, clockMs: 600_000 },
      log: silent,
      logOf: () => silent,
      configOf({ folder, ...each }) {
        const read = () => loadPluginConfig({ ...each, pluginFolder: folder, confDir: path.join(dataDir, 'conf'), env: {} })
        if (each.kind === 'connector') return read()
        // Networks that are off until the operator switches them on.
        const { networks, config, shown } = read()
        const all = (each.networks ?? []).map((network) => [network, config[network] ?? {}] as const)
        const on = Object.entries(networks).map(([network, settings]) => [network, { ...settings, enabled: true }] as const)
        return { config: Object.fromEntries(all), shown, networks: Object.fromEntries(on) }
      },
      tokensOf: ({ chain, network, folder, implementation: { chainId } }) =>
        loadTokens({
          pluginFolder: folder,
          confDir: path.join(dataDir, 'conf'),
          chain,
          network,
          chainId,
          home: dataDir,
          tokenLists: [],
          dataDir,
        }),
    })
    const [first] = refused
    if (first) throw new Error(`${first.name} is refused: ${first.reason}`)
    return loaded
  } finally {
    rmSync(dataDir, { recursive: true })
  }
}

export async function releasedNow(): Promise<ReleasePolicy> {
  const loaded = (await loadReleased()).toSorted((one, other) => (one.folder < other.folder ? -1 : 1))
  const release: ReleasePolicy = { chains: {}, connectors: {} }
  for (const plugin of loaded) {
    const { networks, signs, keys } = outlineOf(plugin)
    const folder = path.basename(plugin.folder)
    const [readers, actions] = [readersOf(folder), signedActions[folder]]
    if (keys !== undefined)
      release.chains[folder] = {
        chain: plugin.name,
        keys,
        networks: Object.fromEntries(
          Object.entries(networks).map(([on, { chainId = 0, feeCapRaw = '0', local }]) => {
            const network = on.slice(plugin.name.length + 1)
            const wrapped = wrappedOn(plugin, network)
            return [network, { chainId, feeCapRaw, ...(local === true && { local }), ...(wrapped !== undefined && { wrapped }) }]
          }),
        ),
      }
    else
      release.connectors[folder] = {
        networks: plugin.manifest.available_networks.flatMap((each) => each.networks.map((network) => `${each.chain}/${network}`)),
        spenders: [
          ...new Set(
            Object.values(networks).flatMap(({ contracts, spenders }) =>
              Object.entries(contracts).flatMap(([name, address]) => (spenders.includes(address) ? [name] : [])),
            ),
          ),
        ].toSorted(),
        holds: heldBy(plugin),
        signs,
        ...(Object.keys(readers).length > 0 && { readers }),
        ...(actions && { signedActions: [...actions] }),
        ...permitsOf(plugin),
      }
  }
  return release
}

/** The token that wraps a chain's coin. */
const wrappedOn = (plugin: LoadedPlugin, network: string): string | undefined =>
  plugin.kind === 'chain' ? plugin.venues.find((venue) => venue.network === network)?.implementation.evm?.wrapped?.token.address : undefined

/** By the names of its contracts. */
function permitsOf(plugin: LoadedPlugin): Pick<ReleasePolicy['connectors'][string], 'permits'> {
  if (plugin.kind === 'chain') return {}
  const named = plugin.venues.flatMap(({ contracts, implementation: { permit2 } }) => {
    if (!permit2?.permitSpenders) return []
    const nameOf = (address: string) => Object.entries(contracts).flatMap(([name, each]) => (each === address ? [name] : []))
    return [{ permit2: nameOf(permit2.address), spenders: permit2.permitSpenders.flatMap(nameOf) }]
  })
  const [permit2] = named.flatMap((each) => each.permit2)
  return permit2 === undefined ? {} : { permits: { permit2, spenders: [...new Set(named.flatMap((each) => each.spenders))].toSorted() } }
}

/**
 * A swap leaves nothing with its contracts, and shares of pools are the wallet's own; positions in ranges are with their manager, and all else is
 * with any contract of the exchange.
 */
function heldBy(plugin: LoadedPlugin): string[] {
  if (plugin.kind === 'chain') return []
  const names = plugin.venues.flatMap(({ contracts, implementation }) => {
    const {
      AMM: _,
      AMM_RANGE: range,
      AMM_SHARES: _shares,
      ...others
    } = Object.fromEntries(plugin.manifest.trading_type.map((type) => [type, implementation[type]]))
    const managers = [
      ...(range && 'positionManager' in range ? [range.positionManager] : []),
      ...(range && 'positionManagers' in range ? Object.values(range.positionManagers ?? {}) : []),
    ]
    return Object.entries(contracts).flatMap(([name, address]) =>
      Object.keys(others).length > 0 || managers.includes(address) || address === implementation.permit2?.address ? [name] : [],
    )
  })
  return [...new Set(names)].toSorted()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = fileURLToPath(new URL('signing.json', codeRoot))
  writeFileSync(file, `${JSON.stringify(await releasedNow(), null, 2)}\n`)
  console.log(`Wrote ${file}.`)
}
