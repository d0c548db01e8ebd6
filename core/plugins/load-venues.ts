import type { Bridge, Chain, Connector, ChainVenue, Manifest, Token } from '../contracts/index.ts'
import { importCandidate, type Candidate } from './candidate.ts'
import {
  bridgesOf,
  checkBaseKeys,
  checkNetworkKeys,
  contractsKey,
  contractsOf,
  explainProblems,
  mayDeposit,
  networkRemedy,
  placeOf,
  readingConfiguration,
  type MisspeltNetwork,
} from './configuration.ts'
import { nearest } from '../config/problems.ts'
import { command } from '../base/layout.ts'
import { devnetNetwork } from '../config/settings.ts'
import type { PluginConfig } from '../config/plugin-config.ts'
import { placeOfText } from './code/source-places.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { Host } from './isolate/host.ts'
import type { HostedVenue, Hosts } from './isolate/hosts.ts'
import { instantiateConnector, instantiateChain } from './instantiate.ts'
import { deepFreeze } from './code/parser.ts'
import {
  networksOf,
  type LoadedChain,
  type LoadedConnector,
  type LoadedVenue,
  type UnservedNetwork,
  type LoadOptions,
  type ChainNetwork,
} from './loaded-plugin.ts'
import { ownersOf, type ContractOwners } from '../wallet/policy-files.ts'
import { remedies, faultOf, notRemote, PluginFault, signedActions, trustedOnly, trustRemedy } from './refusal.ts'
import { messageOf } from './code/thrown.ts'
import type { TrialVenue } from './code/trials.ts'

/** A network that a connector can be created on. */
interface ConnectorVenue {
  readonly on: LoadedVenue<Chain>
  readonly contracts: Readonly<Record<string, string>>
  readonly bridges: Readonly<Record<string, Bridge>>
}

interface ConnectorVenues {
  readonly venues: readonly ConnectorVenue[]
  readonly unserved: readonly UnservedNetwork[]
}

/** Why something is not there, and what to do about it. */
export interface Absence {
  readonly reason: string
  readonly remedy: string
}

/**
 * The networks of the manifest that loaded chains serve, with their contracts.
 * @param holders contracts that a contained plugin may not have
 * @param whyAway of a chain that is here, but was not loaded
 * @throws PluginFault where there are none
 */
export function connectorVenues(
  { found, description, manifest, configuration }: Candidate,
  chains: readonly LoadedChain[],
  holders: ContractOwners,
  whyAway: (chain: string) => Absence | undefined = () => undefined,
): ConnectorVenues {
  const { config } = configuration
  const misspelt = misspeltNetworks(found, manifest, chains)
  checkNetworkKeys(found.name, configuration, manifest, misspelt)
  checkBaseKeys(found, config)
  const venues: ConnectorVenue[] = []
  const unserved: UnservedNetwork[] = []
  let firstFault: unknown
  for (const { chain: name, networks } of manifest.available_networks) {
    const chain = chains.find((loaded) => loaded.name === name)
    if (chain !== undefined && chain.family !== description.family) {
      throw new PluginFault(
        'networks',
        `It is written for chains of the family '${description.family}', but ${name} is of '${chain.family}'`,
        `Take ${name} out of available_networks, or use the family's kit.`,
      )
    }
    for (const network of networks) {
      const on = chain?.venues.find((venue) => venue.network === network)
      const here = { chain: name, network }
      const contracts = contractsOf(found.name, config, here, manifest, configuration.places)
      if (chain === undefined)
        unserved.push({
          ...here,
          ...(whyAway(name) ?? { reason: `There is no chain '${name}'`, remedy: chainRemedy(found, name, chains) }),
        })
      else if (on === undefined) unserved.push({ ...here, ...whyNotOn(chain, network, misspelt) })
      else if (contracts === undefined)
        unserved.push({
          chain: name,
          network,
          reason: `contractAddresses has no entry for ${name} ${network}`,
          remedy: `Add it to conf/connectors/${found.name}.yml, or as its author to defaults.yml.`,
        })
      else {
        let inForce: Readonly<Record<string, string>>
        let bridges: Readonly<Record<string, Bridge>>
        try {
          inForce = canonical(found, on, contracts, configuration)
          bridges = mayDeposit(found) ? bridgesOf(found.name, config, here, manifest, chains) : {}
        } catch (thrown) {
          // The entry of another network is another one.
          const { message: reason, remedy } = faultOf(thrown, 'configuration', `See conf/connectors/${found.name}.yml.`)
          firstFault ??= thrown
          unserved.push({ chain: name, network, reason, remedy, isWrong: true })
          continue
        }
        if (found.tier === 'contained' && found.allowedBy === 'operator' && on.implementation.local !== true)
          refuseHolders(found.name, here, inForce, holders)
        venues.push({ on, contracts: inForce, bridges })
      }
    }
  }
  if (venues.length === 0) {
    if (firstFault !== undefined) throw firstFault
    const reasons = [...new Set(unserved.map(({ reason }) => reason))].join('; ')
    throw new PluginFault(
      'networks',
      `None of its networks can be served: ${reasons}`,
      [...new Set(unserved.map(({ remedy }) => remedy))].join(' '),
    )
  }
  return { venues, unserved }
}

/**
 * A contract takes a call of the wallet for the wallet's own, whichever plugin made it: one that may have it called could have positions or
 * collateral paid out to somebody else. What the simulation sees is the wallet, and not what lies there. Where a server only tries, and nobody
 * has allowed a plugin, nothing is at stake.
 * @throws PluginFault
 */
function refuseHolders(
  name: string,
  { chain, network }: { chain: string; network: string },
  contracts: Readonly<Record<string, string>>,
  holders: ContractOwners,
): void {
  for (const [label, address] of Object.entries(contracts)) {
    const [connector] = ownersOf(holders, `${chain}/${network}`, address)
    if (connector !== undefined)
      throw new PluginFault(
        'networks',
        `Its ${JSON.stringify(label)} on ${chain}/${network} is ${address}, in which wallets have what they hold by the built-in connector '${connector}'. A plugin that is not trusted may not have wallets call it`,
        `Trade there by '${connector}'. ${trustRemedy(name)}`,
      )
  }
}

/** The networks that the manifest names and their chains do not have, whatever the settings say. */
function misspeltNetworks({ folder }: FoundPlugin, manifest: Manifest, chains: readonly LoadedChain[]): readonly MisspeltNetwork[] {
  return manifest.available_networks.flatMap(({ chain, networks }) => {
    const known = chains.find(({ name }) => name === chain)?.manifest.available_networks.flatMap((each) => each.networks)
    if (!known) return []
    return networks.flatMap((network) => (known.includes(network) ? [] : [{ chain, network, at: placeOfText(network, folder), known }]))
  })
}

/** Why a chain that is loaded does not serve a network: in the chain's own words. */
function whyNotOn({ name, unserved }: LoadedChain, network: string, misspelt: readonly MisspeltNetwork[]): Absence {
  const wrong = misspelt.find((each) => each.chain === name && each.network === network)
  if (wrong) return { reason: `The chain '${name}' does not serve the network '${network}'`, remedy: networkRemedy(wrong) }
  const own = unserved.find((each) => each.network === network)
  if (own) return { reason: `The chain '${name}' does not serve '${network}'. ${own.reason}`, remedy: own.remedy }
  return { reason: `The chain '${name}' does not serve the network '${network}'`, remedy: `See conf/chains/${name}.yml.` }
}

function chainRemedy({ folder }: FoundPlugin, name: string, chains: readonly LoadedChain[]): string {
  const near = nearest(
    name,
    chains.map((each) => each.name),
  )
  if (near === undefined) return "Add the chain's plugin, or correct it where it was refused."
  const at = placeOfText(name, folder)
  return `Did you mean '${near}'? Correct available_networks of the manifest${at === undefined ? '' : ` (${at})`}, or add the chain's plugin.`
}

/** The same venues as data, for the trial. */
export function trialVenues(
  { manifest, configuration: { config } }: Candidate,
  { venues }: ConnectorVenues,
  chains: readonly Candidate[],
): readonly TrialVenue[] {
  return venues.flatMap(({ on: { chain, network, tokens }, contracts }) =>
    chains
      .filter(({ found, description }) => found.name === chain && description.kind === 'chain')
      .map(({ found, configuration }) => ({
        chain,
        network,
        config,
        connector: { contracts, tokens, tradingTypes: manifest.trading_type, on: { plugin: found, config: configuration.config[network] } },
      })),
  )
}

/** The second half of loading a connector, after its trial: imports and creates it in the server. @throws PluginFault */
export async function loadConnector(
  candidate: Candidate,
  { venues: wanted, unserved }: ConnectorVenues,
  options: LoadOptions,
): Promise<LoadedConnector> {
  const { found, manifest, configuration } = candidate
  if (candidate.host && options.hosts !== 'here')
    return loadContained(candidate, candidate.host, { venues: wanted, unserved }, options, options.hosts)
  const plugin = await importCandidate(candidate, options.budget)
  if (plugin.kind !== 'connector') throw new PluginFault('import', 'It was a connector on trial and is not one now', 'Correct the plugin.')
  const log = options.logOf(found.name)
  const venues: LoadedVenue<Partial<Connector>>[] = wanted.map(({ on, contracts, bridges }) => {
    const { chain, network, tokens } = on
    const { reader, nativeCurrency } = on.implementation
    const implementation = instantiateConnector(plugin, found.name, manifest.trading_type, {
      chain,
      network,
      config: configuration.config,
      contracts,
      tokens,
      reader,
      nativeCurrency,
      log,
    })
    if (!found.builtIn && found.tier !== 'trusted' && implementation.actions) throw trustedOnly(found.name, signedActions)
    checkSpenders(implementation, contracts, on)
    if (!found.builtIn) checkEvents(implementation, on)
    return Object.freeze({ plugin: found.name, chain, network, implementation, contracts, bridges, tokens, log })
  })
  return Object.freeze<LoadedConnector>({
    kind: 'connector',
    ...aboutPlugin(candidate, venues),
    unserved,
    venues,
  })
}

/** The same in a host. */
async function loadContained(
  candidate: Candidate,
  host: Host,
  { venues: wanted, unserved }: ConnectorVenues,
  { logOf }: LoadOptions,
  hosts: Hosts,
): Promise<LoadedConnector> {
  const { description, manifest, configuration } = candidate
  const { name } = candidate.found
  const log = logOf(name)
  const hosted = wanted.map(({ on, contracts }): HostedVenue => {
    const { chain, network, tokens, implementation, remote } = on
    if (!remote) throw trustedOnly(name, notRemote(description.family))
    const { config } = configuration
    const { nativeCurrency } = implementation
    const venue = { chain, network, config, contracts, tokens, nativeCurrency, tradingTypes: manifest.trading_type }
    return { venue, chain: implementation, remote }
  })
  const connectors = await hosts.connect(host, hosted, { plugin: name, log })
  const venues = wanted.flatMap(({ on, contracts, bridges }, index): LoadedVenue<Partial<Connector>>[] => {
    const connector = connectors[index]
    if (!connector) return []
    const { implementation } = connector
    checkSpenders(implementation, contracts, on)
    checkEvents(implementation, on)
    const { chain, network, tokens } = on
    return [Object.freeze({ plugin: name, chain, network, contracts, bridges, tokens, log, host, ...connector })]
  })
  return Object.freeze<LoadedConnector>({
    kind: 'connector',
    ...aboutPlugin(candidate, venues),
    host,
    unserved,
    venues,
  })
}

/** Callers approve spenders by the connector's name, so these must be addresses that the operator sees in the configuration. */
function checkSpenders(
  { spenders = {}, permit2, AMM_SHARES }: Partial<Connector>,
  contracts: Readonly<Record<string, string>>,
  { chain, network, implementation }: LoadedVenue<Chain>,
): void {
  const named = [
    ...Object.entries(spenders).map(([label, spender]) => [`spenders.${label}`, spender] as const),
    ...Object.entries(AMM_SHARES?.depositSpenders ?? {}).map(([label, spender]) => [`depositSpenders.${label}`, spender] as const),
  ]
  for (const [label, spender] of [...named, ...(permit2 ? [['permit2.address', permit2.address] as const] : [])]) {
    const address = typeof spender === 'string' ? implementation.address(spender) : undefined
    if (address !== undefined && Object.values(contracts).includes(address)) continue
    throw new PluginFault(
      'create',
      `${label} '${spender}' is ${address === undefined ? 'not an address' : 'not one of its contractAddresses'} on ${chain} ${network}`,
      "Give the contract that moves tokens, one of the venue's contracts.",
    )
  }
}

/** Polls explain the logs of a transaction by the events of all connectors, so that one which cannot be read would be everybody's. */
function checkEvents({ events = [] }: Partial<Connector>, { implementation: { decode } }: LoadedVenue<Chain>): void {
  if (events.length === 0) return
  const fails = (signatures: readonly string[]): string | undefined => {
    try {
      decode({ logs: [] }, signatures)
      return undefined
    } catch (thrown) {
      return messageOf(thrown)
    }
  }
  // A family whose receipts are of another kind says nothing about events here.
  if (fails([]) !== undefined) return
  for (const event of events) {
    const reason = fails([event])
    if (reason !== undefined) throw new PluginFault('create', `events: ${reason}`, remedies.events)
  }
}

function canonical(
  { name }: FoundPlugin,
  { chain, network, implementation }: LoadedVenue<Chain>,
  contracts: Readonly<Record<string, string>>,
  configuration: PluginConfig,
) {
  return Object.fromEntries(
    Object.entries(contracts).map(([key, text]) => {
      const address = implementation.address(text)
      if (address !== undefined) return [key, address]
      const section = contractsKey(configuration.config, { chain, network })
      const { place, file } = placeOf(name, configuration, ['contractAddresses', section, key])
      throw new PluginFault(
        'configuration',
        `${place === undefined ? '' : `${place} `}contractAddresses.${section}.${key} '${text}' is not an address on ${chain} ${network}`,
        `Correct it in ${file}: quoted, complete, and with the right checksum where it has one.`,
      )
    }),
  )
}

/** The networks of a chain that have settings. @throws PluginFault where there are none */
export function chainVenues({ found, manifest, configuration }: Candidate): {
  venues: readonly TrialVenue[]
  unserved: readonly UnservedNetwork[]
} {
  const chain = manifest.name
  const settings = new Map(Object.entries(configuration.config))
  const networks = manifest.available_networks.flatMap((entry) => entry.networks)
  const venues = networks.filter((network) => settings.has(network)).map((network) => ({ chain, network, config: settings.get(network) }))
  const unserved = networks
    .filter((network) => !settings.has(network))
    .map((network): UnservedNetwork => {
      const wrong = (configuration.leftOut ?? []).filter((each) => each.network === network)
      if (wrong.length > 0) return { chain, network, ...explainProblems(wrong), isWrong: true }
      return { chain, network, ...whyLeftOut(found, network, configuration) }
    })
  if (venues.length === 0) {
    const remedies = [...new Set(unserved.map(({ remedy }) => remedy))]
    throw new PluginFault(
      'networks',
      `None of its networks (${networks.join(', ')}) has settings, or all are switched off`,
      remedies.join(' '),
    )
  }
  return { venues, unserved }
}

function whyLeftOut({ name, builtIn }: FoundPlugin, network: string, { networks }: PluginConfig): Absence {
  const file = `conf/chains/${name}.yml`
  if (networks[network]?.enabled === false)
    return { reason: 'It is switched off', remedy: `Take \`enabled: false\` of ${network} out of ${file}, if it is to be served.` }
  // A network of the release that has settings was taken out where nothing runs that it is.
  if (builtIn && network === devnetNetwork.network && networks[network])
    return {
      reason: 'It comes with the devnet, and that is off here',
      remedy: `See devnet.enabled and devnet.only in conf/server.yml; \`${command} start --devnet\` switches it on for once.`,
    }
  return { reason: 'It has no settings', remedy: `Add the network to ${file}.` }
}

/** The second half of loading a chain, after its trial: imports and creates it in the server. @throws PluginFault */
export async function loadChain(candidate: Candidate, options: LoadOptions): Promise<LoadedChain> {
  const { found, description, configuration } = candidate
  const { venues: wanted, unserved } = chainVenues(candidate)
  const wrong: UnservedNetwork[] = []
  let firstFault: unknown
  const plugin = await importCandidate(candidate, options.budget)
  if (plugin.kind !== 'chain' || description.kind !== 'chain')
    throw new PluginFault('import', 'It was a chain on trial and is not one now', 'Correct the plugin.')
  const log = options.logOf(found.name)
  const venues: LoadedVenue<Chain>[] = []
  for (const { chain, network, config: settings } of wanted) {
    const meter: ChainVenue['meter'] = options.meterOf?.(chain, network) ?? { rpc: () => {} }
    const { remote } = plugin.family
    let implementation: Chain
    let tokens: readonly Token[]
    try {
      implementation = instantiateChain(plugin, found.name, { chain, network, config: settings, log, meter })
      const of = { chain, network, folder: found.folder, implementation, settings: configuration.networks[network] }
      tokens = await tokensOf(of, options)
    } catch (thrown) {
      // Another network of the chain has its own settings and lists.
      const { message: reason, remedy } = faultOf(thrown, 'create', `See conf/chains/${chain}.yml.`)
      firstFault ??= thrown
      wrong.push({ chain, network, reason, remedy, isWrong: true })
      options.log.warn({ chain, network, reason, remedy }, 'network left out: its settings or token lists are wrong')
      continue
    }
    venues.push(
      Object.freeze({
        plugin: found.name,
        chain,
        network,
        implementation,
        contracts: {},
        bridges: {},
        tokens,
        log,
        ...(remote && { remote }),
      }),
    )
  }
  if (venues.length === 0) throw firstFault
  return Object.freeze<LoadedChain>({
    kind: 'chain',
    ...aboutPlugin(candidate, venues),
    keys: description.keys,
    unserved: [...unserved, ...wrong],
    venues,
  })
}

/** With addresses in the chain's canonical spelling. An entry with an invalid address is left out and logged. */
async function tokensOf(of: ChainNetwork, options: LoadOptions): Promise<readonly Token[]> {
  const tokens: Token[] = []
  for (const token of await readingConfiguration(
    async () => options.tokensOf(of),
    `Correct the token lists of ${of.chain} ${of.network}.`,
  )) {
    const address = of.implementation.address(token.address)
    if (address === undefined)
      options.log.warn({ chain: of.chain, network: of.network, token }, 'token list entry left out: its address is invalid on this chain')
    else tokens.push({ ...token, address })
  }
  return deepFreeze(tokens)
}

/** Which plugin it is, who allowed it, how it is configured, and the networks that it serves. */
function aboutPlugin(
  { found, description: { family }, manifest, configuration, deprecated }: Candidate,
  venues: readonly LoadedVenue<unknown>[],
) {
  const { name, folder, origin, builtIn, tier, allowedBy, sha256 } = found
  return {
    name,
    folder,
    origin,
    builtIn,
    tier,
    allowedBy,
    ...(sha256 !== undefined && { sha256 }),
    family,
    manifest,
    configuration,
    deprecated,
    available_networks: networksOf(venues),
  }
}
