import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { checkTree, type Check, compile } from './check.ts'
import { maskedCopy } from './mask.ts'
import { ConfigError, type ConfigProblem, suggestion } from './problems.ts'
import { type Environment, getAt, type TreeProblem, mergeOver, type Section, pointerOf } from './tree.ts'
import { locate, mergedFiles, readYaml } from './yaml.ts'
import { isObject } from '../json.ts'

export interface PluginConfigSources {
  kind: 'chain' | 'connector'
  /** The plugin's name, and that of its file in the conf folder. */
  name: string
  confDir: string
  /** Relative paths in the files start here; absent: the folder that contains the conf folder. */
  home?: string
  pluginFolder: string
  /** The manifest's JSON Schema; that of a chain describes the entry of one network. */
  schema: object
  /** The release's tests have checked its schema. */
  builtIn?: boolean
  env?: Environment
  /** The networks of a chain's manifest: each gets an entry, and others are refused. Absent: those of the files. */
  networks?: readonly string[]
}

export interface PluginConfig {
  /** Checked. The settings of a connector, or those of a chain's enabled networks by name. */
  config: Section
  /** The same with secrets masked. */
  shown: Section
  /** The part that core reads of a chain's networks; empty for a connector. */
  networks: Readonly<Record<string, NetworkSettings>>
}

/** `defaults.yml` of the plugin's folder with the operator's file laid over it. @throws ConfigError with every problem */
export function loadPluginConfig({
  kind,
  name,
  confDir,
  home = dirname(confDir),
  pluginFolder,
  schema,
  builtIn = false,
  env = process.env,
  networks,
}: PluginConfigSources): PluginConfig {
  if (!/^\w[\w-]*$/.test(name))
    throw new ConfigError([
      { file: pluginFolder, path: 'manifest.name', problem: 'is not a valid name of a file', cure: 'Use letters, digits, - and _.' },
    ])
  const validate = compilePluginSchema(schema, name, builtIn)
  const file = join(`${kind}s`, `${name}.yml`)
  const shownFile = join(basename(confDir), file)
  const problems: ConfigProblem[] = []
  const defaults = readYaml(join(pluginFolder, 'defaults.yml'), join(basename(pluginFolder), 'defaults.yml'), problems)
  const own = readYaml(join(confDir, file), shownFile, problems)
  const layers = [defaults, own].filter((layer) => layer !== undefined)
  // Only the operator's texts: a plugin could ask for any secret of the server otherwise.
  const mayName = (pointer: string) => typeof getAt(own?.value, pointer) === 'string'
  if (problems.length > 0) throw new ConfigError(problems)

  const tree = layers.reduce<Section>((below, layer) => mergeOver(below, layer.value), {})
  const checked =
    kind === 'chain'
      ? chainConfig(tree, { validate, env, mayName, networks, home })
      : connectorConfig(checkTree(tree, { validate, env, mayName }))
  if ('config' in checked) return checked
  throw new ConfigError(checked.troubles.map(({ pointer, problem, cure }) => ({ ...locate(pointer, layers, shownFile), problem, cure })))
}

function connectorConfig(checked: ReturnType<typeof checkTree<Section>>): PluginConfig | { troubles: readonly TreeProblem[] } {
  return 'value' in checked ? { config: checked.value, shown: checked.shown, networks: {} } : checked
}

interface ChainCheck extends Required<Pick<Check<Section>, 'validate' | 'env' | 'mayName'>> {
  networks: readonly string[] | undefined
  home: string
}

/** A chain's file: network → entry, which holds keys of core beside keys of the chain family. */
function chainConfig(
  tree: Section,
  { validate, env, mayName, networks, home }: ChainCheck,
): PluginConfig | { troubles: readonly TreeProblem[] } {
  const troubles: TreeProblem[] = []
  const config: Section = {}
  const shown: Section = {}
  const kernel: Record<string, NetworkSettings> = {}

  for (const network of Object.keys(tree)) {
    if (networks && !networks.includes(network))
      troubles.push({ pointer: pointerOf([network]), problem: 'is not a network of this chain', cure: suggestion(network, networks) })
  }
  for (const network of networks ?? Object.keys(tree)) {
    const at = pointerOf([network])
    const entry = Object.hasOwn(tree, network) ? tree[network] : {}
    if (!isObject(entry)) {
      troubles.push({
        pointer: at,
        problem: 'is of the wrong type',
        cure: "Write the network's settings as a mapping (`key: value` lines).",
      })
      continue
    }
    const parts = splitEntry(entry)
    const mayNameHere = (pointer: string) => mayName(at + pointer)
    const own = checkTree(parts.kernel, { validate: validateNetwork, env, mayName: mayNameHere })
    if ('value' in own) kernel[network] = networkSettings(own.value, home)
    if (kernel[network]?.enabled === false) {
      // A disabled entry is not checked: its variables may be unset.
      shown[network] = maskedCopy(entry, new Map())
      continue
    }
    const family = checkTree(parts.family, { validate, env, mayName: mayNameHere, alsoKnown: networkKeys })
    for (const part of [own, family]) if ('troubles' in part) troubles.push(...within(at, part.troubles))
    if ('value' in family) config[network] = family.value
    if ('value' in family && 'value' in own) shown[network] = { ...own.shown, ...family.shown }
  }
  return troubles.length > 0 ? { troubles } : { config, shown, networks: kernel }
}

function within(at: string, troubles: readonly TreeProblem[]): TreeProblem[] {
  return troubles.map((trouble) => ({ ...trouble, pointer: at + trouble.pointer }))
}

const remoteList = Type.Object(
  {
    url: Type.String({ pattern: '^https://', description: 'an https:// URL' }),
    sha256: Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'SHA-256 of the list, 64 hexadecimal digits' }),
  },
  { additionalProperties: false, description: 'url and sha256' },
)

/** What core reads of a network's entry in `conf/chains/<chain>.yml`; the other keys are the chain family's. */
const networkSchema = Type.Object(
  {
    required: Type.Optional(Type.Boolean({ description: 'Whether the server is ready only when this network is' })),
    enabled: Type.Optional(Type.Boolean({ description: 'false: the network is not loaded, and its entry not checked' })),
    tokenLists: Type.Optional(
      Type.Array(Type.Union([Type.String({ minLength: 1, description: 'a file' }), remoteList]), {
        description: 'Token lists that go over the chain’s own',
      }),
    ),
  },
  { additionalProperties: false },
)
export const networkKeys = Object.keys(networkSchema.properties)
const validateNetwork = compile(networkSchema)

/** A file (absolute path), or a remote list, which must have this hash. */
export type TokenListSource = string | { url: string; sha256: string }

export interface NetworkSettings {
  required: boolean
  enabled: boolean
  tokenLists: readonly TokenListSource[]
}

/** A chain's plugin, as far as it was found. */
interface ChainFolder {
  name: string
  folder: string
}

/**
 * The networks that the configuration calls required, also of chains whose plugin is missing or cannot be loaded: those of `conf/chains`, and
 * of the defaults of these plugins. What cannot be read is left out; a plugin with such a file is refused.
 */
export function requiredNetworks(
  confDir: string,
  plugins: readonly ChainFolder[],
  env: Environment = process.env,
): readonly { chain: string; network: string }[] {
  const folder = join(confDir, 'chains')
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.yml')) : []
  const chains = new Set([...files.map((file) => basename(file, '.yml')), ...plugins.map(({ name }) => name)])
  return [...chains].flatMap((chain) => {
    const own = plugins.find(({ name }) => name === chain)
    const layers = [...(own ? [join(own.folder, 'defaults.yml')] : []), join(folder, `${chain}.yml`)]
    return Object.entries(mergedFiles(layers)).flatMap(([network, entry]) => {
      const checked = isObject(entry) ? checkTree(splitEntry(entry).kernel, { validate: validateNetwork, env }) : undefined
      const { required = false, enabled = true } = checked && 'value' in checked ? checked.value : {}
      return required && enabled ? [{ chain, network }] : []
    })
  })
}

/** Separates the keys of core from those of the family. */
function splitEntry(entry: Section): { kernel: Section; family: Section } {
  const of = (isKernel: boolean) => Object.fromEntries(Object.entries(entry).filter(([key]) => networkKeys.includes(key) === isKernel))
  return { kernel: of(true), family: of(false) }
}

function networkSettings(
  { required = false, enabled = true, tokenLists = [] }: Static<typeof networkSchema>,
  home: string,
): NetworkSettings {
  const lists = tokenLists.map((source) =>
    typeof source === 'string' ? resolve(home, source) : { url: source.url, sha256: source.sha256.toLowerCase() },
  )
  return { required, enabled, tokenLists: lists }
}

/**
 * Not strict: a plugin's schema may have keywords of its own. `format` is not checked. The schema itself is checked where the release's tests
 * have not done so: to compile the schema of schemas takes longer than to compile those of all built-in plugins.
 */
const options = {
  strict: false,
  allErrors: true,
  verbose: true,
  useDefaults: true,
  validateFormats: false,
  validateSchema: false,
  logger: false,
  code: { optimize: false },
} as const

// Creating an instance takes as long as loading a plugin, so it is shared; schemas are removed after they are compiled.
let ajv2020: Ajv2020 | undefined
/** For schemas that say so: keywords of the two drafts mean different things. */
let ajv7: Ajv | undefined
/** By their text: all chains of a family share a schema. */
const compiled = new Map<string, ValidateFunction<Section>>()

/** Compiles the schema of a plugin's manifest (JSON Schema 2020-12, or draft 7 where `$schema` says so). @throws ConfigError */
function compilePluginSchema(schema: unknown, plugin: string, builtIn: boolean): ValidateFunction<Section> {
  const refuse = (problem: string) =>
    new ConfigError([
      {
        file: `plugin ${plugin}`,
        path: 'manifest.schema',
        problem,
        cure: 'This is a defect of the plugin: tell its author, or disable it in plugins.disabled.',
      },
    ])
  if (!isObject(schema)) throw refuse('is not a JSON Schema object')
  // It would validate asynchronously.
  if (schema['$async'] === true) throw refuse('is an asynchronous schema')
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  if (known) return known
  const isDraft7 = typeof schema['$schema'] === 'string' && schema['$schema'].includes('draft-07')
  const ajv = isDraft7 ? (ajv7 ??= new Ajv(options)) : (ajv2020 ??= new Ajv2020(options))
  // A copy, because the plugin's object may be frozen or change.
  const copy = structuredClone(schema)
  try {
    if (!builtIn) void ajv.validateSchema(copy, true)
    const validate = ajv.compile<Section>(copy)
    compiled.set(text, validate)
    return validate
  } catch (error) {
    throw refuse(`is not a valid JSON Schema: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    ajv.removeSchema(copy)
  }
}
