import type { Chain, ChainVenue, Token } from '../contracts/index.ts'
import { enter, type Candidate } from './candidate.ts'
import { asConfiguration } from './configuration-fault.ts'
import { deepFreeze } from './deep-freeze.ts'
import { instantiateChain } from './instantiate.ts'
import { networksOf, type LoadedChain, type LoadedVenue, type UnservedNetwork } from './loaded-plugin.ts'
import type { ChainNetwork, LoadOptions } from './load-options.ts'
import { PluginFault } from './refusal.ts'
import type { TrialVenue } from './trial-messages.ts'

/** What a chain can be created with: its networks that have settings. Throws PluginFault where there are none. */
export function chainVenues({ found, manifest, configuration }: Candidate): {
  venues: readonly TrialVenue[]
  unserved: readonly UnservedNetwork[]
} {
  const chain = manifest.name
  const settings = new Map(Object.entries(configuration.config))
  const networks = manifest.available_networks.flatMap((entry) => entry.networks)
  const venues = networks.filter((network) => settings.has(network)).map((network) => ({ chain, network, config: settings.get(network) }))
  const cure = `Add the network to conf/chains/${found.name}.yml.`
  const unserved = networks
    .filter((network) => !settings.has(network))
    .map((network) => ({ chain, network, reason: 'It has no settings, or is switched off in them', cure }))
  if (venues.length === 0) throw new PluginFault('networks', `None of its networks (${networks.join(', ')}) has settings`, cure)
  return { venues, unserved }
}

/** The second half of a chain's way, after its trial: import and create for good. Throws PluginFault. */
export async function loadChain(candidate: Candidate, options: LoadOptions): Promise<LoadedChain> {
  const { found, description, manifest, configuration } = candidate
  const { venues: wanted, unserved } = chainVenues(candidate)
  const plugin = await enter(candidate, options.deadlineMs)
  if (plugin.kind !== 'chain' || description.kind !== 'chain')
    throw new PluginFault('import', 'It is no chain any more', 'Correct the plugin.')
  const log = options.logOf(found.name)
  const venues: LoadedVenue<Chain>[] = []
  for (const { chain, network, config: settings } of wanted) {
    const meter: ChainVenue['meter'] = options.meterOf?.(chain, network) ?? { rpc: () => {} }
    const implementation = instantiateChain(plugin, { chain, network, config: settings, log, meter })
    const tokens = await tokensOf(
      { chain, network, folder: found.folder, implementation, settings: configuration.networks[network] },
      options,
    )
    venues.push(Object.freeze({ plugin: found.name, chain, network, implementation, contracts: {}, bridges: {}, tokens, log }))
  }
  return Object.freeze<LoadedChain>({
    kind: 'chain',
    name: found.name,
    folder: found.folder,
    family: description.family,
    keys: description.keys,
    manifest,
    configuration,
    unserved,
    venues,
    available_networks: networksOf(venues),
  })
}

/** In the chain's own spelling of addresses. A list entry that is none of this chain's is left out, and said. */
async function tokensOf(of: ChainNetwork, options: LoadOptions): Promise<readonly Token[]> {
  const tokens: Token[] = []
  for (const token of await asConfiguration(async () => options.tokensOf(of), `Correct the token lists of ${of.chain} ${of.network}.`)) {
    const address = of.implementation.address(token.address)
    if (address === undefined)
      options.log.warn({ chain: of.chain, network: of.network, token }, 'token list: no address of this chain, left out')
    else tokens.push({ ...token, address })
  }
  return deepFreeze(tokens)
}
