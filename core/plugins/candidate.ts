import { withTimeout } from '../base/async.ts'
import { Ajv, type ErrorObject } from 'ajv'
import type { PluginConfig } from '../config/plugin-config.ts'
import { judgeBySchema } from '../config/plugin-schema.ts'
import { checkBy } from '../config/check.ts'
import { type Manifest, apiVersion as ours, tradingMethods } from '../contracts/index.ts'
import type { AnyPlugin } from '../contracts/interface.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import { syntaxFault } from './code/compile.ts'
import { networkKeysOf, readingConfiguration, unusedBridges } from './configuration.ts'
import { type FoundPlugin, isDeclared, namePattern } from './discover/find.ts'
import { checkDeclaredCalls, endpointsForPeople, type DeclaredCalls } from './interface-rights.ts'
import type { Host } from './isolate/host.ts'
import { importPlugin, type Description } from './instantiate.ts'
import { deepFreeze } from './code/parser.ts'
import type { JudgeConfig, LoadOptions } from './loaded-plugin.ts'
import { chainDecides, notRemote, PluginFault, signedActions, trustedOnly, withArticle } from './refusal.ts'
import type { Trials } from './code/trials.ts'
import type { LoadBudget } from './load-budget.ts'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import { quoted } from '../base/printable.ts'

/** A plugin with a valid manifest and configuration, whose code the server has not imported yet. */
export interface Candidate {
  /** Under the name of its manifest. */
  readonly found: FoundPlugin
  readonly description: Description
  readonly manifest: Manifest & DeclaredCalls
  readonly configuration: PluginConfig
  /** What it, or the operator's file for it, still has that is deprecated, as words for people. */
  readonly deprecated: readonly string[]
  /** Where it runs, unless in the server. */
  readonly host?: Host
}

/** What is known of a plugin so far, for its refusal. */
export interface PluginOutline {
  kind?: PluginKind
  manifest?: Manifest
}

/** The first half of loading a plugin: import on trial, manifest, configuration. @throws PluginFault */
export async function makeCandidate(found: FoundPlugin, known: PluginOutline, trials: Trials, options: LoadOptions): Promise<Candidate> {
  const { description, host } = await describe(found, trials, options)
  known.kind = description.kind
  requireAllowedKind(found, description)
  const manifest = checkManifest(found, description)
  known.manifest = manifest
  if (found.tier === 'contained') requireContainable(description, manifest)
  // A schema is code too: it runs where its plugin runs.
  const judge: JudgeConfig = async (question) => {
    if (found.builtIn || isDeclared(found)) return judgeBySchema(question)
    return host ? host.judge(question) : trials.judge(found, question)
  }
  const configuration = await configurationOf(found, description, manifest, options, judge)
  return {
    found: { ...found, name: manifest.name },
    description,
    manifest,
    configuration: deepFreeze(configuration),
    deprecated: [
      ...(configuration.deprecated ?? []),
      ...(description.kind === 'connector' ? unusedBridges(found, configuration) : []),
      ...(isDeclared(found) ? [withoutCode(found.name)] : []),
    ],
    ...(host && { host }),
  }
}

const withoutCode = (name: string): string =>
  `plugin.yml is deprecated: ${command} plugin show ${name} prints the index.ts that takes its place, with which the plugin is allowed again`

interface DescribedPlugin {
  readonly description: Description
  readonly host?: Host
}

/** In a host, or on trial in a thread of its own; but a built-in plugin was tried by the release's tests, and has no deadline. */
async function describe(found: FoundPlugin, trials: Trials, options: LoadOptions): Promise<DescribedPlugin> {
  if (found.builtIn || isDeclared(found)) return { description: (await importPlugin(found.entry)).description }
  try {
    if (found.tier !== 'contained' || options.hosts === 'here') return { description: await trials.describe(found) }
    const refused = await options.hosts.refused()
    if (refused) throw refused
    const host = await options.hosts.open(found)
    return { description: host.description, host }
  } catch (thrown) {
    const mayBeSyntax = thrown instanceof PluginFault && thrown.step === 'import'
    throw (mayBeSyntax && (await syntaxFault(found))) || thrown
  }
}

/** What an interface, a connector or a chain may do differs, and the operator was shown one of them. @throws PluginFault */
function requireAllowedKind({ name, tier, lockedKind }: FoundPlugin, { kind }: Description): void {
  if (lockedKind === undefined || kind === lockedKind) return
  const verb = tier === 'trusted' ? 'trust' : 'allow'
  throw new PluginFault(
    'consent',
    `It was allowed as ${withArticle(lockedKind)}, and is ${withArticle(kind)}`,
    `See what it may do, and allow it again: ${command} plugin ${verb} ${name}`,
  )
}

/** @throws PluginFault where the plugin can only run in the server, for which allowing it is not enough */
function requireContainable(description: Description, { name, signs = [] }: Manifest): void {
  if (description.kind === 'chain') throw trustedOnly(name, chainDecides)
  if (signs.length > 0) throw trustedOnly(name, signedActions)
  if (description.kind === 'connector' && !description.isRemote) throw trustedOnly(name, notRemote(description.family))
}

async function configurationOf(
  { folder, builtIn }: FoundPlugin,
  { kind }: Description,
  { name, schema, available_networks, shortNames = {} }: Manifest,
  options: LoadOptions,
  judge: JudgeConfig,
): Promise<PluginConfig> {
  const networks = available_networks.flatMap((entry) => entry.networks)
  const ofKind = kind === 'chain' ? { networks } : { networkKeys: networkKeysOf(available_networks, shortNames) }
  const whole = kind === 'interface' ? withListenerKeys(schema) : schema
  const configure = async () => options.configOf({ kind, name, folder, schema: whole, builtIn, ...ofKind }, judge)
  return structuredClone(await readingConfiguration(configure, `Correct conf/${kind}s/${name}.yml, or the plugin's defaults.yml.`))
}

/** The keys that every interface has, beside those of its manifest. */
export const withListenerKeys = (schema: object): object => ({
  additionalProperties: false,
  ...schema,
  type: 'object',
  properties: {
    ...(isObject(schema) && isObject(schema['properties']) && schema['properties']),
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      description: 'Port of its listener, for HTTPS with client certificates; 0 takes any free port. Absent: it does not listen',
    },
    host: { type: 'string', minLength: 1, description: 'Address to listen on. Absent: server.host' },
    keys: {
      enum: ['refuse', 'accept'],
      description: 'Whether its clients may send private keys, which the keystore keeps. Absent: refuse',
    },
    endpoints: {
      type: 'array',
      items: { enum: endpointsForPeople },
      description: 'Endpoints for people that it may call with the rights of its callers. Absent: none',
    },
  },
})

/** Imports a plugin that passed its trials into the server, within the cap by the clock. @throws PluginFault */
export async function importCandidate({ found, description }: Candidate, { clockMs }: LoadBudget): Promise<AnyPlugin> {
  if (found.builtIn) return (await importPlugin(found.entry)).plugin
  const { plugin, description: again } = await withTimeout(importPlugin(found.entry), clockMs, () => {
    throw new PluginFault(
      'import',
      `It did not finish loading within ${clockMs / 1000} s, though it did on trial`,
      'Make the plugin load alike in every thread: remove what depends on the thread.',
      true,
    )
  })
  if (JSON.stringify(again) !== JSON.stringify(description)) {
    throw new PluginFault(
      'import',
      'Its description changes each time it is imported',
      'Make the manifest constant: it must not depend on time, thread or environment.',
    )
  }
  return plugin
}

const tradingTypes = Object.keys(tradingMethods)

const manifestSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: namePattern.source },
    apiVersion: { type: 'string' },
    trading_type: { type: 'array', items: { enum: tradingTypes }, uniqueItems: true },
    available_networks: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        properties: {
          chain: { type: 'string', pattern: namePattern.source },
          networks: { type: 'array', minItems: 1, maxItems: 100, uniqueItems: true, items: { type: 'string', pattern: '^\\w{1,64}$' } },
        },
        required: ['chain', 'networks'],
        additionalProperties: false,
      },
    },
    schema: { type: 'object' },
    version: { type: 'string', minLength: 1, maxLength: 64 },
    shortNames: { type: 'object', maxProperties: 1_000, additionalProperties: { type: 'string' } },
    calls: {
      type: 'object',
      maxProperties: 500,
      propertyNames: { pattern: '^(GET|POST|DELETE) /', maxLength: 210 },
      additionalProperties: { type: 'array', maxItems: 200, uniqueItems: true, items: { type: 'string', maxLength: 64 } },
    },
    decides: { type: 'array', maxItems: 500, uniqueItems: true, items: { type: 'string', maxLength: 210 } },
    signs: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        properties: {
          domain: { type: 'string' },
          primaryType: { type: 'string' },
          chainId: { type: 'integer', minimum: 1 },
          own: { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string' } },
        },
        required: ['domain', 'primaryType'],
        additionalProperties: false,
      },
    },
  },
  required: ['name', 'apiVersion', 'trading_type', 'available_networks', 'schema'],
  additionalProperties: false,
}

const options = { allErrors: true, strict: false, validateFormats: false, meta: false, validateSchema: false } as const
const isManifest = checkBy<Manifest & DeclaredCalls>(manifestSchema, () => new Ajv(options).compile(manifestSchema))

/** The manifest, checked and frozen. @throws PluginFault */
function checkManifest(found: FoundPlugin, { kind, manifest }: Description): Manifest & DeclaredCalls {
  checkApiVersion(manifest)
  if (!isManifest(manifest)) {
    throw new PluginFault(
      'manifest',
      firstOf((isManifest.errors ?? []).map(explain)).join('; '),
      "Correct these keys of the plugin's manifest.",
    )
  }
  if (manifest.name !== found.name && !isNamesakeChain(kind, manifest.name, found.name)) {
    throw new PluginFault(
      'manifest',
      `The manifest's name '${manifest.name}' is not the folder's, '${found.name}'`,
      'Give both the same name.',
    )
  }
  checkNetworks(kind, manifest)
  if (!found.builtIn && manifest.version === undefined)
    throw new PluginFault('manifest', 'It has no version', "Add the plugin's own version: version: '0.1.0'.")
  checkShortNames(manifest)
  checkCalls(kind, manifest)
  return deepFreeze(manifest)
}

function checkCalls(kind: PluginKind, { calls, decides }: DeclaredCalls): void {
  if (kind === 'interface') return checkDeclaredCalls({ ...(calls && { calls }), ...(decides && { decides }) })
  if (calls ?? decides)
    throw new PluginFault('manifest', 'Only an interface has calls and decides', "Leave them out of the plugin's manifest.")
}

/** An exchange with a chain of its own has two plugins of one name. The chain's folder ends with `-chain`. */
const isNamesakeChain = (kind: PluginKind, name: string, folder: string): boolean => kind === 'chain' && folder === `${name}-chain`

/** Comes first: keys of a later version would fail the other checks for the wrong reason. */
function checkApiVersion(manifest: unknown): void {
  const theirs = isObject(manifest) && 'apiVersion' in manifest ? manifest.apiVersion : undefined
  const [major, minor] =
    /^(\d{1,6})\.(\d{1,6})$/
      .exec(typeof theirs === 'string' ? theirs : '')
      ?.slice(1)
      .map(Number) ?? []
  const [ourMajor = 0, ourMinor = 0] = ours.split('.').map(Number)
  if (major === undefined || minor === undefined) {
    throw new PluginFault(
      'manifest',
      `apiVersion ${typeof theirs === 'string' ? quoted(theirs) : JSON.stringify(theirs)?.slice(0, 100)} is not 'major.minor'; this server has '${ours}'`,
      `Write apiVersion: '${ours}' when the plugin was made for this version.`,
    )
  }
  if (major !== ourMajor || minor > ourMinor) {
    const remedy =
      major > ourMajor || (major === ourMajor && minor > ourMinor)
        ? 'Use a newer server, or a version of the plugin that was made for this one.'
        : 'Use a version of the plugin that was made for this server.'
    throw new PluginFault('manifest', `The plugin is written for plugin interface ${major}.${minor}, this server has ${ours}`, remedy)
  }
}

function checkShortNames({ shortNames = {}, available_networks }: Manifest): void {
  for (const [network, chain] of Object.entries(shortNames)) {
    if (!available_networks.some((each) => each.chain === chain && each.networks.includes(network)))
      throw new PluginFault(
        'manifest',
        `shortNames.${network}: available_networks has no ${network} of ${chain}`,
        'Name a network of available_networks, and its chain.',
      )
  }
}

function checkNetworks(kind: PluginKind, { name, trading_type, available_networks }: Manifest): void {
  if (kind === 'interface' && trading_type.length + available_networks.length > 0)
    throw new PluginFault(
      'manifest',
      'An interface has no trading type, and serves all networks',
      'Write trading_type: [] and available_networks: [].',
    )
  if (kind !== 'interface' && available_networks.length === 0)
    throw new PluginFault('manifest', 'available_networks is empty', 'Name at least one chain, with its networks.')
  const chains = available_networks.map(({ chain }) => chain)
  const twice = chains.find((chain, index) => chains.indexOf(chain) !== index)
  if (twice !== undefined)
    throw new PluginFault('manifest', `available_networks has '${twice}' twice`, 'List all networks of a chain in one entry.')
  if (kind === 'connector' && trading_type.length === 0) {
    throw new PluginFault('manifest', 'trading_type is empty', `Name at least one of ${tradingTypes.join(', ')}.`)
  }
  if (kind === 'chain' && trading_type.length > 0)
    throw new PluginFault('manifest', "A chain's trading_type is empty", 'Write trading_type: [].')
  if (kind === 'chain' && (chains.length !== 1 || chains[0] !== name)) {
    throw new PluginFault(
      'manifest',
      `A chain lists only its own networks in available_networks, this one lists ${firstOf(chains).join(', ')}`,
      `Write available_networks: [{ chain: '${name}', networks: [ … ] }].`,
    )
  }
}

const maxShown = 5

/** Of a long list the beginning, and how many there are. */
const firstOf = (texts: readonly string[]): readonly string[] =>
  texts.length > maxShown ? [...texts.slice(0, maxShown), `and ${texts.length - maxShown} more`] : texts

function explain({ instancePath, keyword, message = keyword, params }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'manifest'
  if (keyword === 'additionalProperties') return `${place}: unknown key ${quoted(String(params.additionalProperty))}`
  if (keyword === 'enum') return `${place}: must be one of ${tradingTypes.join(', ')}`
  return `${place}: ${message}`
}
