import { createTokenBook } from '../live-state/token-book.ts'
import { createRecentQuotes } from '../live-state/recent-quotes.ts'
import { maskUrls } from '../config/mask.ts'
import type { ConnectorConfig, Chain, Connector } from '../contracts/index.ts'
import {
  createRegistry,
  type GrowingRegistry,
  type Registry,
  type RegistryEntries,
  type NetworkEntry,
  type PluginEntry,
  type VenueEntry,
  pluginVersionOf,
} from './registry.ts'
import { version } from '../base/layout.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { LoadResult } from './load.ts'
import type { LoadedInterface } from './load-interfaces.ts'
import type { LoadedPlugin, LoadedVenue } from './loaded-plugin.ts'
import type { Refusal } from './refusal.ts'
import type { RunningVenue } from './start-venue.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'

interface LoadedParts extends Pick<LoadResult, 'loaded' | 'refused'> {
  readonly interfaces?: LoadResult['interfaces']
  /** Not tried yet. */
  pending?: readonly FoundPlugin[]
  running: ReadonlyMap<LoadedVenue<object>, RunningVenue>
  /** Loaded earlier: connectors may be on their networks. */
  before?: readonly LoadedPlugin[]
  /** Of networks that are simulated. */
  whyAway?: (chain: string, network: string) => string | undefined
}

/** Builds what handlers look up: the networks, venues and plugins that were loaded, and whether they run. */
export const buildRegistry = (parts: LoadedParts): GrowingRegistry => createRegistry(registryEntries(parts))

export function registryEntries({
  loaded,
  refused,
  interfaces = [],
  pending = [],
  running,
  before = [],
  whyAway = () => undefined,
}: LoadedParts): RegistryEntries {
  const life = (venue: LoadedVenue<object>) => {
    const run = () => running.get(venue)
    return {
      wake: async () => run()?.wake(),
      // Callers read it, and a plugin's error may hold a URL with a key.
      notReady() {
        if (run()?.state !== 'ready') return maskUrls(run()?.lastError ?? run()?.state ?? 'not started')
        const why = venue.host?.notReady()
        return why === undefined ? undefined : maskUrls(why)
      },
      trouble: () => run()?.lastTrouble,
    }
  }
  const lifeOf = (venue: LoadedVenue<object>) => {
    const [own, away] = [life(venue), () => whyAway(venue.chain, venue.network)]
    return {
      ...own,
      whyAway: away,
      notReady: () => away() ?? own.notReady(),
      trouble: () => (away() === undefined ? own.trouble() : ('NETWORK' as const)),
    }
  }
  const chains = [...before, ...loaded].flatMap((plugin) => (plugin.kind === 'chain' ? plugin.venues : []))
  const networks: NetworkEntry[] = []
  const venues: (VenueEntry & { chain: string; network: string })[] = []
  for (const plugin of loaded) {
    if (plugin.kind === 'chain') {
      for (const venue of plugin.venues) {
        const { chain, network, tokens } = venue
        const { implementation: impl } = venue
        const required = plugin.configuration.networks[network]?.required ?? false
        networks.push({
          chain,
          network,
          impl,
          required,
          tokens: createTokenBook(impl, tokens, `${chain}/${network}`),
          ...lifeOf(venue),
        })
      }
    } else {
      // The loader has checked the keys that every connector has.
      const config = plugin.configuration.config as unknown as ConnectorConfig
      for (const venue of plugin.venues) {
        const { chain, network } = venue
        const on = chains.find((each) => each.chain === chain && each.network === network)
        const actions = on && actionsTarget(venue, on.implementation)
        venues.push({
          connector: plugin.name,
          builtIn: plugin.builtIn,
          ...(plugin.sha256 !== undefined && { plugin: pluginVersionOf(plugin.sha256) }),
          ...(!plugin.builtIn && plugin.tier !== 'trusted' && plugin.allowedBy === 'operator' && { contained: true }),
          ...(plugin.tier === 'trusted' && { trusted: true }),
          ...(plugin.allowedBy === 'nobody' && { tried: true }),
          chain,
          network,
          impl: venue.implementation,
          ...(venue.host && { hosted: venue }),
          ...(actions && { actions }),
          config,
          contracts: Object.values(venue.contracts),
          bridges: venue.bridges,
          recentQuotes: createRecentQuotes(),
          requests: 0,
          ...life(venue),
        })
      }
    }
  }
  const plugins = [
    ...loaded.map((plugin) => loadedEntry(plugin, running)),
    ...interfaces.map(interfaceEntry),
    ...refused.map(refusedEntry),
    ...pending.map(pendingEntry),
  ]
  return { plugins, networks, venues }
}

/** What all that is loaded has. */
const loadedPart = (plugin: LoadedPlugin | LoadedInterface) => {
  const { name, kind, origin: folder, tier, allowedBy, sha256, manifest, configuration, deprecated } = plugin
  return {
    name,
    kind,
    folder,
    version: manifest.version ?? version,
    trading_type: manifest.trading_type,
    state: 'loaded' as const,
    tier,
    allowedBy,
    ...(sha256 !== undefined && { sha256 }),
    maskedConfig: configuration.shown,
    deprecated,
  }
}

function loadedEntry(plugin: LoadedPlugin, running: ReadonlyMap<LoadedVenue<object>, RunningVenue>): PluginEntry {
  const { available_networks, venues, unserved, host } = plugin
  return {
    ...loadedPart(plugin),
    available_networks,
    unserved,
    ...(host && { deaths: () => host.deaths, whyDown: () => host.notReady() }),
    starting: () => venues.filter((venue) => running.get(venue)?.state === 'starting').map(({ chain, network }) => `${chain}/${network}`),
  }
}

/** It serves all networks. */
const interfaceEntry = (plugin: LoadedInterface): PluginEntry => {
  const { process } = plugin
  return {
    ...loadedPart(plugin),
    available_networks: [],
    ...(process && { deaths: () => process.deaths, whyDown: () => process.notReady() }),
  }
}

function refusedEntry({ name, kind, folder, version, trading_type, available_networks, step, reason, remedy }: Refusal): PluginEntry {
  return {
    name,
    folder,
    kind: kind ?? 'unknown',
    version: version ?? '',
    trading_type: trading_type ?? [],
    available_networks: available_networks ?? [],
    state: 'refused',
    refusedAt: step,
    reason: maskUrls(`${step}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'} ${remedy}`),
  }
}

/** Its manifest has not been read: its kind is that which was allowed. */
const pendingEntry = ({ name, origin: folder, tier, allowedBy, sha256, lockedKind }: FoundPlugin): PluginEntry => ({
  name,
  folder,
  kind: lockedKind ?? 'unknown',
  version: '',
  trading_type: [],
  available_networks: [],
  state: 'pending',
  tier,
  allowedBy,
  ...(sha256 !== undefined && { sha256 }),
})

/** An exchange's own rail as a target of transactions; what the rail does not have comes from the chain. Undefined without such a rail. */
export function actionsTarget(venue: LoadedVenue<Partial<Connector>>, on: Chain): TransactionTarget | undefined {
  const { plugin: connector, chain, network, implementation } = venue
  const { actions } = implementation
  if (!actions) return undefined
  return {
    chain,
    network,
    connector,
    impl: {
      rail: actions.rail,
      heads: (signal) => actions.heads(signal),
      // The exchange's answer is final.
      confirmations: 1,
      bumpAfterSeconds: on.bumpAfterSeconds,
      nativeCurrency: on.nativeCurrency,
      address: (text) => on.address(text),
      balances: (owner, tokens, at) => on.balances(owner, tokens, at),
      head: (at) => on.head(at),
    },
  }
}

/** All targets of transactions: every network, and every exchange's own rail. */
export function transactionTargets({ networks, venuesOn }: Registry): readonly TransactionTarget[] {
  const venues = networks.flatMap(({ chain, network }) => venuesOn(chain, network))
  return [...networks, ...venues.flatMap(({ actions }) => actions ?? [])]
}
