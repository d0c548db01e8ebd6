import type { PluginConfig } from '../config/plugin-config.ts'
import type { Manifest, Plugin } from '../contracts/index.ts'
import { checkManifest } from './check-manifest.ts'
import { asConfiguration } from './configuration-fault.ts'
import { deepFreeze } from './deep-freeze.ts'
import type { FoundPlugin } from './find.ts'
import { importPlugin, type Description } from './import-plugin.ts'
import type { LoadOptions } from './load-options.ts'
import { PluginFault } from './refusal.ts'
import { syntaxFault } from './syntax-fault.ts'
import type { Trials } from './trials.ts'

/** A plugin whose manifest and configuration are good, and whose code has not entered the server yet. */
export interface Candidate {
  /** By its manifest's name. */
  readonly found: FoundPlugin
  readonly description: Description
  readonly manifest: Manifest
  readonly configuration: PluginConfig
}

/** What is known of a plugin so far, for whoever has to say that it was refused. */
export interface Known {
  kind?: 'chain' | 'connector'
  manifest?: Manifest
}

/** The first half of a plugin's way: import on trial, manifest, configuration. Throws PluginFault. */
export async function makeCandidate(found: FoundPlugin, known: Known, trials: Trials, options: LoadOptions): Promise<Candidate> {
  const description = await trials.describe(found).catch(async (thrown: unknown) => {
    const mayBeSyntax = thrown instanceof PluginFault && thrown.step === 'import'
    throw (mayBeSyntax && (await syntaxFault(found))) || thrown
  })
  known.kind = description.kind
  const manifest = checkManifest(found, description)
  known.manifest = manifest
  const configuration = await configurationOf(found.folder, description, manifest, options)
  return { found: { ...found, name: manifest.name }, description, manifest, configuration: deepFreeze(configuration) }
}

async function configurationOf(
  folder: string,
  { kind }: Description,
  { name, schema, available_networks }: Manifest,
  options: LoadOptions,
): Promise<PluginConfig> {
  const networks = available_networks.flatMap((entry) => entry.networks)
  const configure = async () => options.configOf({ kind, name, folder, schema, ...(kind === 'chain' && { networks }) })
  return structuredClone(await asConfiguration(configure, `Correct conf/${kind}s/${name}.yml, or the plugin's defaults.yml.`))
}

/** Imports a plugin that passed its trials into the server. Throws PluginFault. */
export async function enter({ found, description }: Candidate, deadlineMs: number): Promise<Plugin> {
  const { plugin, description: again } = await within(deadlineMs, importPlugin(found.entry))
  if (JSON.stringify(again) !== JSON.stringify(description)) {
    throw new PluginFault(
      'import',
      'It says something else of itself each time it is imported',
      'A manifest is constant: it depends on neither time, thread nor environment.',
    )
  }
  return plugin
}

async function within<T>(deadlineMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new PluginFault(
          'import',
          `It did not finish loading within ${deadlineMs / 1000} s, though it did on trial`,
          'A plugin loads alike in every thread: remove what tells them apart.',
        ),
      )
    }, deadlineMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
