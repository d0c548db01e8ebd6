import path from 'node:path'
import type { Logger } from 'pino'
import { loadPluginConfig, type TokenListSource } from '../config/plugin-config.ts'
import { ConfigError, nearest } from '../config/problems.ts'
import { type Settings, devnetNetwork, pluginFileWarnings } from '../config/settings.ts'
import { loadTokens } from '../config/token-list.ts'
import type { Devnet } from '../devnet/start-devnet.ts'
import type { Metrics } from '../http/metrics.ts'
import { makeCandidate, type Candidate, type PluginOutline } from './candidate.ts'
import { registerHook } from './compile.ts'
import { findPlugins, type FoundPlugin } from './find.ts'
import { chainVenues, loadChain, connectorVenues, loadConnector, trialVenues } from './load-venues.ts'
import type { LoadedChain, LoadedConnector, LoadedPlugin, LoadOptions } from './loaded-plugin.ts'
import { PluginFault, faultOf, type Refusal } from './refusal.ts'
import { startTrials } from './trials.ts'

export interface LoadResult {
  /** Chains first, then connectors; by name. */
  readonly loaded: readonly LoadedPlugin[]
  /** By name. */
  readonly refused: readonly Refusal[]
}

/**
 * Finds, tries, checks and creates the plugins of these folders. A plugin that fails is refused, with the step, the
 * reason and a cure; it never makes this function throw. Nothing of it is started: see startVenue.
 */
export async function loadPlugins(options: LoadOptions): Promise<LoadResult> {
  const findings = findPlugins(options.folders, options.disabled ?? [])
  const refused: Refusal[] = [...findings.refused]
  /** By folder. */
  const known = new Map<string, PluginOutline>(findings.found.map(({ folder }) => [folder, {}]))
  const trials = startTrials(options.deadlineMs)

  /** The outcome of a step for those that pass it, in their order; the others are refused. */
  async function passing<T>(found: FoundPlugin, step: () => Promise<T>): Promise<T[]> {
    try {
      return [await step()]
    } catch (thrown) {
      refused.push(refusalOf(found, known.get(found.folder) ?? {}, thrown))
      return []
    }
  }

  try {
    await registerHook(findings.found.map(({ folder }) => folder))
    const described = (
      await Promise.all(
        findings.found.map((found) => passing(found, () => makeCandidate(found, known.get(found.folder) ?? {}, trials, options))),
      )
    ).flat()
    const candidates = (
      await Promise.all(described.map((candidate) => passing(candidate.found, async () => withoutRival(candidate, described))))
    ).flat()
    candidates.sort((a, b) => (a.found.name < b.found.name ? -1 : 1))

    const triedChains = await Promise.all(
      candidates.filter(isChain).map((candidate) =>
        passing(candidate.found, async () => {
          await trials.create(candidate.found, chainVenues(candidate).venues)
          return candidate
        }),
      ),
    )
    const chains: LoadedChain[] = []
    for (const candidate of triedChains.flat()) chains.push(...(await passing(candidate.found, () => loadChain(candidate, options))))

    const triedConnectors = await Promise.all(
      candidates
        .filter((candidate) => !isChain(candidate))
        .map((candidate) =>
          passing(candidate.found, async () => {
            const venues = connectorVenues(candidate, chains)
            await trials.create(candidate.found, trialVenues(candidate, venues, candidates))
            return { candidate, venues }
          }),
        ),
    )
    const connectors: LoadedConnector[] = []
    for (const { candidate, venues } of triedConnectors.flat())
      connectors.push(...(await passing(candidate.found, () => loadConnector(candidate, venues, options))))

    return { loaded: [...chains, ...connectors], refused: refused.toSorted((a, b) => (a.name + a.folder < b.name + b.folder ? -1 : 1)) }
  } finally {
    await trials.close()
  }
}

function isChain({ description }: Candidate): boolean {
  return description.kind === 'chain'
}

/** Of two chains of one name, the one whose folder has that name. @throws PluginFault */
function withoutRival(candidate: Candidate, all: readonly Candidate[]): Candidate {
  const { name, folder } = candidate.found
  const rival = all.find((each) => each !== candidate && isChain(each) && isChain(candidate) && each.found.name === name)
  if (rival === undefined || path.basename(folder) === name) return candidate
  throw new PluginFault(
    'manifest',
    `There is a chain '${name}' already, in ${rival.found.folder}; this one is in ${folder}`,
    'Remove one of the two folders, or rename this one and its manifest.',
  )
}

function refusalOf({ name, folder }: FoundPlugin, { kind, manifest }: PluginOutline, thrown: unknown): Refusal {
  const { step, message: reason, cure } = faultOf(thrown, 'create', 'Correct the plugin.')
  return {
    name,
    folder,
    step,
    reason,
    cure,
    ...(kind && { kind }),
    ...(manifest && { trading_type: manifest.trading_type, available_networks: manifest.available_networks }),
    ...(manifest?.version !== undefined && { version: manifest.version }),
  }
}

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

/** What the settings say of plugins that are not there: probably misspelt names. */
export function pluginWarnings({ confDir, plugins }: Settings, { loaded, refused }: LoadResult): string[] {
  const ofKind = (kind: 'chain' | 'connector') => loaded.filter((plugin) => plugin.kind === kind).map(({ name }) => name)
  // A refused plugin's kind may be unknown, and a disabled one is not looked into. Their files wait for them.
  const waiting = [...refused.map(({ name }) => name), ...plugins.disabled]
  return [
    ...pluginFileWarnings(confDir, { chains: [...ofKind('chain'), ...waiting], connectors: [...ofKind('connector'), ...waiting] }),
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
      return `plugins.disabled names "${name}", and there is no such plugin.${near === undefined ? '' : ` Did you mean ${near}?`}`
    })
}

export { watchBackgroundFailures } from './uncaught.ts'
export { callPlugin, callPluginSync } from './boundary.ts'
export type { Callee } from './boundary.ts'
export { findPlugins } from './find.ts'
export type { LoadedChain, LoadedConnector, LoadedPlugin, LoadedVenue } from './loaded-plugin.ts'
export type { LoadOptions } from './loaded-plugin.ts'
export type { Refusal } from './refusal.ts'
export { registerHook } from './compile.ts'
export { startVenue } from './start-venue.ts'
export type { RunningVenue } from './start-venue.ts'
export { startWatchdog } from './watchdog.ts'
export { blockProcessExit as withholdExit } from './uncaught.ts'
