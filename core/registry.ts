import { maskUrls } from './config/mask.ts'
import type { ConnectorConfig } from './contracts/index.ts'
import type { LoadedPlugin, LoadedVenue } from './loader/loaded-plugin.ts'
import type { LoadResult } from './loader/load.ts'
import type { Refusal } from './loader/refusal.ts'
import type { RunningVenue } from './loader/start-venue.ts'
import { createRecentQuotes } from './verbs/amm/recent-quotes.ts'
import { createDirectory, type Directory, type NetworkEntry, type PluginEntry, type VenueEntry } from './handlers/registry.ts'
import { createTokenBook } from './handlers/tokens.ts'
import { guarded } from './loader/boundary.ts'
import { venueActions } from './boot/venue-actions.ts'
import { version } from './version.ts'

/** What was loaded and what runs, as the verbs look it up. */
export function directoryOf({ loaded, refused }: LoadResult, running: ReadonlyMap<LoadedVenue<object>, RunningVenue>): Directory {
  const life = (venue: LoadedVenue<object>) => {
    const run = running.get(venue)
    return {
      wake: async () => run?.wake(),
      // A plugin's own words, which callers will read.
      notReady: () => (run?.state === 'ready' ? undefined : maskUrls(run?.lastError ?? run?.state ?? 'not started')),
    }
  }
  const chains = loaded.flatMap((plugin) => (plugin.kind === 'chain' ? plugin.venues : []))
  const networks: NetworkEntry[] = []
  const venues: (VenueEntry & { chain: string; network: string })[] = []
  for (const plugin of loaded) {
    if (plugin.kind === 'chain') {
      for (const venue of plugin.venues) {
        const { chain, network, tokens } = venue
        const impl = guarded(venue.implementation, venue)
        const required = plugin.configuration.networks[network]?.required ?? false
        networks.push({
          chain,
          network,
          impl,
          required,
          tokens: createTokenBook(impl, tokens, `${chain}/${network}`),
          ...life(venue),
        })
      }
    } else {
      // The loader has checked the keys that every connector has.
      const config = plugin.configuration.config as unknown as ConnectorConfig
      for (const venue of plugin.venues) {
        const { chain, network } = venue
        const on = chains.find((each) => each.chain === chain && each.network === network)
        const actions = on && venueActions(venue, guarded(on.implementation, on))
        venues.push({
          connector: plugin.name,
          chain,
          network,
          impl: guarded(venue.implementation, venue),
          ...(actions && { actions }),
          config,
          contracts: Object.values(venue.contracts),
          bridges: venue.bridges,
          quotes: createRecentQuotes(),
          ...life(venue),
        })
      }
    }
  }
  const plugins = [...loaded.map((plugin) => loadedEntry(plugin, running)), ...refused.map(refusedEntry)]
  return createDirectory(plugins, networks, venues)
}

function loadedEntry(
  { name, kind, folder, manifest, available_networks, venues, configuration, unserved }: LoadedPlugin,
  running: ReadonlyMap<LoadedVenue<object>, RunningVenue>,
): PluginEntry {
  return {
    name,
    kind,
    folder,
    available_networks,
    version: manifest.version ?? version,
    trading_type: manifest.trading_type,
    state: 'loaded',
    shownConfig: configuration.shown,
    unserved,
    starting: () => venues.filter((venue) => running.get(venue)?.state === 'starting').map(({ chain, network }) => `${chain}/${network}`),
  }
}

function refusedEntry({ name, kind, folder, version, trading_type, available_networks, step, reason, cure }: Refusal): PluginEntry {
  return {
    name,
    folder,
    kind: kind ?? 'unknown',
    version: version ?? '',
    trading_type: trading_type ?? [],
    available_networks: available_networks ?? [],
    state: 'refused',
    reason: maskUrls(`${step}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'} ${cure}`),
  }
}
