import { existsSync } from 'node:fs'
import path from 'node:path'
import { loadPluginConfigBy, type TokenListSource } from '../config/plugin-config.ts'
import { ConfigError, nearest } from '../config/problems.ts'
import { devnetNetwork, pluginFileWarnings, type Settings } from '../config/settings.ts'
import { loadTokens, type AmbiguousSymbol, type LeftOutToken } from '../config/token-list.ts'
import { mapTexts, substitute } from '../config/tree.ts'
import { mergedFiles } from '../config/yaml.ts'
import type { Log } from '../contracts/index.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import { makeCandidate, type Candidate, type PluginOutline } from './candidate.ts'
import { registerHook } from './code/compile.ts'
import { explainProblems } from './configuration.ts'
import { refuseTakenChainId } from './discover/declared.ts'
import { findPlugins, isDeclared, type FoundPlugin } from './discover/find.ts'
import type { Host } from './isolate/host.ts'
import { createHosts, type Hosts, type HostsOptions } from './isolate/hosts.ts'
import { hostsNamedIn } from './isolate/web.ts'
import { loadInterface, type LoadedInterface } from './load-interfaces.ts'
import { chainVenues, connectorVenues, loadChain, loadConnector, trialVenues, type Absence } from './load-venues.ts'
import type { LoadedChain, LoadedConnector, LoadedPlugin, LoadOptions } from './loaded-plugin.ts'
import { faultOf, PluginFault, type Refusal } from './refusal.ts'
import { startTrials, type Trials } from './code/trials.ts'
import { loadBudget } from './load-budget.ts'
import { isObject } from '../base/json.ts'
import { releasedHolders } from '../wallet/policy-files.ts'

interface LoadedPlugins {
  /** Chains first, then connectors; by name. */
  readonly loaded: readonly LoadedPlugin[]
  /** By name. */
  readonly refused: readonly Refusal[]
}

export interface LoadResult extends LoadedPlugins {
  /** By name. They are loaded at the start alone. */
  readonly interfaces: readonly LoadedInterface[]
  /** Not tried yet: they run in hosts, which start when all else is ready. */
  readonly pending: readonly FoundPlugin[]
  /** Loads plugins that are pending. What was loaded stays as it is. */
  loadPending(pending: readonly FoundPlugin[]): Promise<LoadedPlugins>
  /**
   * Tries plugins again that were refused for lack of time, and those that lacked a chain: it may be there now. What was loaded stays as it
   * is. @returns what was loaded now, and all that is still refused
   */
  retryRefused(refused: readonly Refusal[]): Promise<LoadedPlugins>
}

/**
 * Tries, checks and creates the plugins that may run, and starts none of them (`startVenues` does). A plugin that fails is
 * refused with the step, the reason and a remedy; it never makes this function throw.
 */
export async function loadPlugins(options: LoadOptions): Promise<LoadResult> {
  const { found, refused: notFound, disabled = [] } = options.plugins
  /** Of everything that was tried and not refused. */
  const candidates: Candidate[] = []
  const chains: LoadedChain[] = []
  /** What may be a chain and was refused, by name. */
  const chainsAway = new Map<string, Refusal>()
  const noteAway = (refusal: Refusal) => void (refusal.kind !== 'connector' && chainsAway.set(refusal.name, refusal))
  notFound.forEach(noteAway)
  /** Loads that are under way share the threads. */
  let [trials, loads]: [Trials | undefined, number] = [undefined, 0]
  let isStart = true
  const isLater = (plugin: FoundPlugin) =>
    options.hostsLater === true && isForHost(plugin, options) && options.opensListener?.(plugin.name) !== true
  const first = await load(found.filter((plugin) => !isLater(plugin)))
  isStart = false
  return {
    interfaces: first.interfaces,
    loaded: first.loaded,
    refused: byName([...notFound, ...first.refused]),
    pending: found.filter(isLater),
    loadPending: (plugins) => load(plugins),
    async retryRefused(refused) {
      const isTriedAgain = ({ temporary, step }: Refusal) => temporary === true || step === 'networks'
      const folders = new Set(refused.filter(isTriedAgain).map(({ folder }) => folder))
      const result = await load(found.filter(({ origin }) => folders.has(origin)))
      return { ...result, refused: byName([...refused.filter((each) => !folders.has(each.folder)), ...result.refused]) }
    },
  }

  function enterTrials(): Trials {
    loads += 1
    return (trials ??= startTrials(options.budget))
  }
  async function leaveTrials(): Promise<void> {
    loads -= 1
    if (loads > 0) return
    const unused = trials
    trials = undefined
    await unused?.close()
  }

  /** Several loads may be under way. */
  async function addChain(candidate: Candidate): Promise<LoadedChain> {
    const chain = await loadChain(candidate, options)
    const rival = chains.find(({ name }) => name === chain.name)
    if (rival) throw rivalFault(candidate, rival)
    const { found } = candidate
    if (isDeclared(found)) refuseTakenChainId(chain, chains)
    // Who trusts a chain in place of one of the release takes that one out.
    else if (!found.builtIn)
      refuseTakenChainId(
        chain,
        chains.filter(({ builtIn }) => !builtIn),
        { besidesRelease: true },
      )
    chains.push(chain)
    return chain
  }

  async function interfaceOf(candidate: Candidate): Promise<LoadedInterface> {
    if (isStart) return loadInterface(candidate, options)
    throw listenersAreOpen(candidate)
  }

  async function load(plugins: readonly FoundPlugin[]): Promise<LoadedPlugins & Pick<LoadResult, 'interfaces'>> {
    const refused: Refusal[] = []
    /** By folder. */
    const outlines = new Map<string, PluginOutline>(plugins.map(({ folder }) => [folder, {}]))
    const outlineOf = ({ folder }: FoundPlugin) => outlines.get(folder) ?? {}
    const trials = enterTrials()

    /** By folder. */
    const opened = new Map<string, Host>()

    /** Does a step for each plugin: the results in their order, without the plugins that the step refuses. */
    async function forEach<P, T>(each: readonly P[], foundOf: (plugin: P) => FoundPlugin, step: (plugin: P) => Promise<T>): Promise<T[]> {
      const results = await Promise.all(
        each.map((plugin) =>
          step(plugin).then(
            (result) => [result],
            async (thrown: unknown) => {
              const found = foundOf(plugin)
              if (isOfLocalNetworks(found, outlineOf(found)) && isWithoutNetworks(thrown)) return []
              const refusal = refusalOf(found, outlineOf(found), thrown)
              refused.push(refusal)
              noteAway(refusal)
              // At once: the others may take long.
              const host = opened.get(found.folder)
              if (host) await hosts?.close([host])
              return []
            },
          ),
        ),
      )
      return results.flat()
    }
    const ofCandidate = ({ found: plugin }: Candidate) => plugin
    const hosts = options.hosts === 'here' ? undefined : options.hosts
    const own = notingHosts(options, opened)
    const connectors: LoadedConnector[] = []
    const interfaces: LoadedInterface[] = []

    try {
      await registerHook(plugins.filter((plugin) => !isForHost(plugin, options) && !isDeclared(plugin)))
      const described = await forEach(
        plugins,
        (plugin) => plugin,
        (plugin) => makeCandidate(plugin, outlineOf(plugin), trials, own),
      )
      const all = [...candidates, ...described]
      const tried = await forEach(described, ofCandidate, async (candidate) => withoutRival(candidate, all))
      tried.sort((a, b) => (a.found.name < b.found.name ? -1 : 1))

      const triedChains = await forEach(tried.filter(isChain), ofCandidate, async (candidate) => {
        if (isTried(candidate.found)) await trials.create(candidate.found, chainVenues(candidate).venues)
        return candidate
      })
      const loadedChains: LoadedChain[] = []
      // A chain that is data alone gives way to others with its chain id, so it comes after them.
      for (const candidate of triedChains.toSorted(byTier))
        loadedChains.push(...(await forEach([candidate], ofCandidate, () => addChain(candidate))))
      candidates.push(...triedChains)

      const triedConnectors = await forEach(
        tried.filter(({ description }) => description.kind === 'connector'),
        ofCandidate,
        async (candidate) => {
          const venues = connectorVenues(candidate, chains, options.holders, (chain) => whyAway(chain, disabled, chainsAway))
          if (isTried(candidate.found) && !candidate.host) await trials.create(candidate.found, trialVenues(candidate, venues, candidates))
          return { candidate, venues }
        },
      )
      for (const { candidate, venues } of triedConnectors)
        connectors.push(...(await forEach([candidate], ofCandidate, () => loadConnector(candidate, venues, options))))
      for (const candidate of tried.filter(({ description }) => description.kind === 'interface'))
        interfaces.push(...(await forEach([candidate], ofCandidate, () => interfaceOf(candidate))))
      const loaded = [...loadedChains, ...connectors]
      for (const { name, deprecated } of [...loaded, ...interfaces])
        for (const each of deprecated) options.log.warn({ plugin: name }, `plugin ${name}: ${each}`)
      return { loaded, interfaces, refused }
    } finally {
      const used = new Set([...connectors.map(({ host }) => host), ...interfaces.map((each) => each.process)])
      await Promise.all([leaveTrials(), hosts?.close([...opened.values()].filter((host) => !used.has(host)))])
    }
  }
}

const listenersAreOpen = ({ found: { name } }: Candidate): PluginFault =>
  new PluginFault(
    'create',
    'Listeners are opened when the server starts, and it was not loaded then',
    `Give it a port in conf/interfaces/${name}.yml, and restart the server.`,
  )

/** @param opened gets each host that is opened, by folder */
function notingHosts(options: LoadOptions, opened: Map<string, Host>): LoadOptions {
  const { hosts } = options
  if (hosts === 'here') return options
  const open: Hosts['open'] = async (plugin) => {
    const host = await hosts.open(plugin)
    opened.set(plugin.folder, host)
    return host
  }
  return { ...options, hosts: { ...hosts, open } }
}

const isWithoutNetworks = (thrown: unknown) => thrown instanceof PluginFault && thrown.step === 'networks'

/** Where networks of the release that are for trying only are off, an exchange of theirs is nothing that anybody would miss. */
const isOfLocalNetworks = ({ builtIn }: FoundPlugin, { kind, manifest }: PluginOutline): boolean =>
  builtIn &&
  kind === 'connector' &&
  manifest?.available_networks.every(({ networks }) => networks.every((each) => each === devnetNetwork.network)) === true

/** The trouble of a chain that is here and was not loaded, for the connectors on it. */
function whyAway(chain: string, disabled: readonly string[], chainsAway: ReadonlyMap<string, Refusal>): Absence | undefined {
  const names = [`${chain}-chain`, chain]
  const off = names.find((name) => disabled.includes(name))
  if (off !== undefined)
    return { reason: `The chain '${chain}' is switched off`, remedy: `Take ${off} out of plugins.disabled in conf/server.yml.` }
  const refusal = names.map((name) => chainsAway.get(name)).find((each) => each !== undefined)
  return refusal && { reason: `The chain '${chain}' was refused (${refusal.step}): ${refusal.reason}`, remedy: refusal.remedy }
}

/** Plugins of the release were tried by its tests. Plugins that are data alone run no code. */
const isTried = (found: FoundPlugin): boolean => !found.builtIn && !isDeclared(found)

/** Some turn out not to run in hosts, and are refused. */
const isForHost = ({ tier }: FoundPlugin, { hosts }: LoadOptions): boolean => tier === 'contained' && hosts !== 'here'

const byName = (refused: readonly Refusal[]) => refused.toSorted((a, b) => (a.name + a.folder < b.name + b.folder ? -1 : 1))

const byTier = (a: Candidate, b: Candidate): number => Number(isDeclared(a.found)) - Number(isDeclared(b.found))

function isChain({ description }: Candidate): boolean {
  return description.kind === 'chain'
}

/** Where two chains have one name, only the one whose folder has that name is loaded. @throws PluginFault */
function withoutRival(candidate: Candidate, all: readonly Candidate[]): Candidate {
  const { name, folder } = candidate.found
  // One that is tried again is there from the first time, too.
  const rival = all.find((each) => each.found.folder !== folder && isChain(each) && isChain(candidate) && each.found.name === name)
  if (rival === undefined || path.basename(folder) === name) return candidate
  throw rivalFault(candidate, rival.found)
}

const rivalFault = ({ found: { name, folder } }: Candidate, rival: Pick<FoundPlugin, 'folder'>): PluginFault =>
  new PluginFault(
    'manifest',
    `There is a chain '${name}' already, in ${rival.folder}; this one is in ${folder}`,
    'Remove one of the two folders, or rename this one and its manifest.',
  )

function refusalOf({ name, origin: folder }: FoundPlugin, { kind, manifest }: PluginOutline, thrown: unknown): Refusal {
  const { step, message: reason, remedy, isTemporary } = faultOf(thrown, 'create', 'Correct the plugin.')
  return {
    name,
    folder,
    step,
    reason,
    remedy,
    ...(isTemporary && { temporary: true }),
    ...(kind && { kind }),
    ...(manifest && { trading_type: manifest.trading_type, available_networks: manifest.available_networks }),
    ...(manifest?.version !== undefined && { version: manifest.version }),
  }
}

/** The server's log, as far as the loader needs it. */
interface ParentLog extends Log {
  child(fields: { plugin: string }): Log
}

interface PluginOptions extends Pick<LoadOptions, 'meterOf' | 'hosts' | 'hostsLater'> {
  settings: Settings
  /** Those that may run. */
  plugins: LoadOptions['plugins']
  log: ParentLog
  /** Absent where no devnet runs: then the devnet's network is left out. */
  devnetUrl: string | undefined
  /** Addresses for hosts of defaults that end with `.localhost`. A chain's network `local` on another such host is left out. */
  localHosts?: ReadonlyMap<string, string>
}

/** What the settings say of plugins: their folders, configurations, token lists and logs. */
export function pluginOptions({ settings, plugins, log, devnetUrl, localHosts, meterOf, hosts, hostsLater }: PluginOptions): LoadOptions {
  const { limits, confDir, home, data } = settings
  return {
    plugins,
    budget: loadBudget(limits),
    log,
    logOf: (plugin) => logOfPlugin(log, plugin),
    ...(meterOf && { meterOf }),
    hosts,
    ...(hostsLater && { hostsLater }),
    holders: releasedHolders({ confDir, environment: process.env }),
    opensListener: (name) => existsSync(path.join(confDir, 'interfaces', `${name}.yml`)),
    async configOf({ kind, name, folder, schema, builtIn, networks, networkKeys }, judge) {
      const site = builtIn && kind === 'chain' ? localHosts?.get(`${name}.localhost`) : undefined
      const configuration = await loadPluginConfigBy(judge, {
        kind,
        name,
        confDir,
        home,
        pluginFolder: folder,
        schema,
        builtIn,
        ...(networks && { networks }),
        ...(networkKeys && { networkKeys }),
        ...(site !== undefined && { site: { network: devnetNetwork.network, url: `http://${site}` } }),
      })
      for (const { file, line, path: entry, network, problem: reason, remedy } of configuration.leftOut ?? [])
        log.warn({ plugin: name, file, line, entry, network, reason, remedy }, 'entry of the configuration left out')
      if (!builtIn) return configuration
      const local = <C extends Record<string, unknown>>(config: C): C => {
        if (kind === 'chain' && name === devnetNetwork.chain) return withDevnet(config, devnetUrl)
        const placed = withLocalHosts(config, localHosts)
        return kind === 'chain' ? withoutUnplaced(placed) : placed
      }
      return { ...configuration, config: local(configuration.config), shown: local(configuration.shown) }
    },
    async tokensOf({ chain, network, folder, implementation: chainImpl, settings: own }) {
      const { chainId } = chainImpl
      const tokensWith = async (tokenLists: readonly TokenListSource[]) => {
        const leftOut: LeftOutToken[] = []
        const onLeftOut = (entry: LeftOutToken) => void leftOut.push(entry)
        const sources = { pluginFolder: folder, confDir, chain, network, chainId, home, tokenLists, dataDir: data.dir }
        const ambiguous: AmbiguousSymbol[] = []
        const onAmbiguous = (symbol: AmbiguousSymbol) => void ambiguous.push(symbol)
        const tokens = await loadTokens({ ...sources, chainImpl, onLeftOut, onAmbiguous })
        for (const { symbol, tokens: named, more } of ambiguous)
          log.warn(
            { chain, network, symbol, tokens: named, ...(more !== undefined && { more }) },
            'several tokens have this symbol: requests have to give the address, or take the wrong one out of the list',
          )
        for (const { file: list, path: entry, symbol, address, problem: reason, remedy } of leftOut)
          log.warn({ chain, network, list, entry, symbol, address, reason, remedy }, 'token list entry left out')
        return tokens
      }
      const tokenLists = own?.tokenLists ?? []
      return tokensWith(tokenLists).catch((error: unknown) => {
        // An unreachable host is not a mistake of the operator: the network works with the lists that are here.
        if (!(error instanceof ConfigError) || !error.problems.every(({ temporary }) => temporary)) throw error
        log.warn({ chain, network, reason: error.message }, 'remote token lists not fetched, left out until the next start')
        return tokensWith(tokenLists.filter((each) => typeof each === 'string'))
      })
    },
  }
}

/** What the settings say of hosts. */
export const hostOptions = ({ limits, market, ...settings }: Settings, log: ParentLog): Omit<HostsOptions, 'onFault' | 'onDeath'> => ({
  webOf: ({ name, hosts }) => ({
    // A plugin that nobody has allowed names no host to itself.
    named: hosts ?? [],
    configured: hostsNamedIn(substitute(mergedFiles([path.join(settings.confDir, 'connectors', `${name}.yml`)]), process.env).value),
  }),
  budget: loadBudget(limits),
  stallSeconds: limits.pluginStallSeconds,
  containment: settings,
  market,
  logOf: (plugin) => logOfPlugin(log, plugin),
})

/** Each line has the plugin's name once, also where who writes it names it. */
function logOfPlugin(log: ParentLog, plugin: string): Log {
  const own = log.child({ plugin })
  const rest = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'plugin'))
  return { info: (fields, message) => own.info(rest(fields), message), warn: (fields, message) => own.warn(rest(fields), message) }
}

const silent: ParentLog = { info: () => {}, warn: () => {}, child: () => silent }

/**
 * What a start with these settings would load and refuse. The devnet's network is there as if the devnet were up.
 * @param localHosts as if the networks beside the devnet were up, too
 */
export async function tryPlugins(
  settings: Settings,
  plugins: LoadOptions['plugins'],
  localHosts?: PluginOptions['localHosts'],
): Promise<LoadResult> {
  const { enabled, port } = settings.devnet
  const devnetUrl = enabled ? `http://127.0.0.1:${port}` : undefined
  const hosts = createHosts({ ...hostOptions(settings, silent), onFault: () => {}, onDeath: () => {} })
  try {
    return await loadPlugins(pluginOptions({ settings, plugins, log: silent, devnetUrl, hosts, ...(localHosts && { localHosts }) }))
  } finally {
    await hosts.stop()
  }
}

/** Puts the devnet's network at the devnet's address, or takes it out where no devnet runs. */
function withDevnet<C extends Record<string, unknown>>(config: C, devnetUrl: string | undefined): C {
  const { [devnetNetwork.network]: local, ...others } = config
  if (devnetUrl === undefined || !isObject(local)) return others as C
  return { ...config, [devnetNetwork.network]: { ...local, rpcUrls: [devnetUrl] } }
}

const localHost = /\/\/([a-z.-]+\.localhost)(?=\/|$)/

function withLocalHosts<C>(config: C, hosts: ReadonlyMap<string, string> = new Map()): C {
  const placed = (text: string) => text.replace(localHost, (whole, name: string) => `//${hosts.get(name) ?? name}`)
  return mapTexts(config, placed) as C
}

/** Nothing answers there. */
function withoutUnplaced<C extends Record<string, unknown>>(config: C): C {
  const { [devnetNetwork.network]: local, ...others } = config
  const urls = isObject(local) && Array.isArray(local['rpcUrls']) ? local['rpcUrls'] : []
  return urls.some((url) => localHost.test(String(url))) ? (others as C) : config
}

/** Warnings for settings of plugins that do not exist: the names are probably misspelt. */
export function pluginWarnings({ confDir, plugins }: Settings, { loaded, interfaces, refused, pending }: LoadResult): string[] {
  const ofKind = (kind: PluginKind) => [...loaded, ...interfaces].filter((plugin) => plugin.kind === kind).map(({ name }) => name)
  // The kind of a refused or pending plugin may be unknown, and a disabled one is not read: files for either kind may be theirs.
  const ofEitherKind = [...[...refused, ...pending].map(({ name }) => name), ...plugins.disabled]
  const leftOut = loaded.flatMap(({ configuration }) =>
    (configuration.leftOut ?? []).map(({ network, ...each }) => {
      const { reason, remedy } = explainProblems([each])
      return `${reason}. It is left out${network === undefined ? '' : `, and so is the network ${network}`}. ${remedy}`
    }),
  )
  return [
    ...leftOut,
    ...pluginFileWarnings(confDir, {
      chains: [...ofKind('chain'), ...ofEitherKind],
      connectors: [...ofKind('connector'), ...ofEitherKind],
      interfaces: [...ofKind('interface'), ...ofEitherKind],
    }),
    ...disabledWarnings(plugins),
  ]
}

function disabledWarnings({ folders, disabled }: Settings['plugins']): string[] {
  if (disabled.length === 0) return []
  const all = findPlugins(folders, [])
  const names = [...all.found, ...all.refused].map(({ name }) => name)
  return disabled
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = nearest(name, names)
      return `plugins.disabled names "${name}", but there is no such plugin.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}
