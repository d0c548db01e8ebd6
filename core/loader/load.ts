import path from 'node:path'
import { makeCandidate, type Candidate, type Known } from './candidate.ts'
import { findPlugins, type FoundPlugin } from './find.ts'
import { chainVenues, loadChain } from './load-chain.ts'
import { connectorVenues, loadConnector, trialVenues } from './load-venues.ts'
import type { LoadedChain, LoadedConnector, LoadedPlugin } from './loaded-plugin.ts'
import type { LoadOptions } from './load-options.ts'
import { PluginFault, faultOf, type Refusal } from './refusal.ts'
import { registerHook } from './register-hook.ts'
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
  const known = new Map<string, Known>(findings.found.map(({ folder }) => [folder, {}]))
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

function refusalOf({ name, folder }: FoundPlugin, { kind, manifest }: Known, thrown: unknown): Refusal {
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
