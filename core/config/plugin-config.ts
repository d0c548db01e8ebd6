import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { checkTree, type Check, compile, finishTree, prepareTree } from './check.ts'
import { maskedCopy } from './mask.ts'
import { judgeBySchema, type SchemaAnswer, type SchemaQuestion } from './plugin-schema.ts'
import { ConfigError, type ConfigProblem, nearest, suggestion } from './problems.ts'
import { type Environment, getAt, type TreeProblem, mergeOver, type Section, pointerOf, substitute } from './tree.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import type { ShownConf } from './shown-conf.ts'
import { locate, mergedFiles, readYaml, type YamlFile } from './yaml.ts'
import { isObject } from '../base/json.ts'
import type { NetworkName } from '../base/networks.ts'

export interface PluginConfigSources {
  kind: PluginKind
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
  /** In place of the operator's file, where the plugin is only examined. */
  conf?: ShownConf | undefined
  /** The networks of a chain's manifest: each gets an entry, and others are refused. Absent: those of the files. */
  networks?: readonly string[]
  /** Of a connector: network → the key with its chain, where the name alone means one. */
  networkKeys?: Readonly<Record<string, string>>
  /** A network of a chain that is simulated here. Where it is off, for who has no node of it, this is its node. */
  site?: { readonly network: string; readonly url: string }
}

export interface PluginConfig {
  /** Checked. The settings of a connector, or those of a chain's enabled networks by name. */
  config: Section
  /** The same with secrets masked. */
  shown: Section
  /** The part that core reads of a chain's networks; empty for a connector. */
  networks: Readonly<Record<string, NetworkSettings>>
  /** Of a connector's values: `<file>:<line>` by JSON pointer, for people. */
  places?: Readonly<Record<string, string>>
  /** What should be written in another way, as words for people. */
  deprecated?: readonly string[]
  /** Entries that are wrong and left out: the others are used. */
  leftOut?: readonly LeftOutEntry[]
}

/** An entry of a plugin's configuration that is not used. */
export interface LeftOutEntry extends ConfigProblem {
  /** The network that is not served because of it; absent: only this entry is missing. */
  readonly network?: string
}

/** `defaults.yml` of the plugin's folder with the operator's file laid over it. @throws ConfigError with every problem */
export function loadPluginConfig(sources: PluginConfigSources): PluginConfig {
  const { question, finish } = preparePluginConfig(sources)
  return finish(judgeBySchema(question))
}

/**
 * The same for a plugin whose schema must not run here: a pattern may take for ever.
 * @param judge asks for the schema's answer elsewhere @throws ConfigError with every problem
 */
export async function loadPluginConfigBy(
  judge: (question: SchemaQuestion) => Promise<SchemaAnswer>,
  sources: PluginConfigSources,
): Promise<PluginConfig> {
  const { question, finish } = preparePluginConfig(sources)
  return finish(await judge(question))
}

interface PreparedConfig {
  /** What the manifest's schema has to judge. */
  readonly question: SchemaQuestion
  /** @throws ConfigError with every problem */
  finish(answer: SchemaAnswer): PluginConfig
}

/** Everything but the manifest's schema. @throws ConfigError */
function preparePluginConfig({
  kind,
  name,
  confDir,
  home = dirname(confDir),
  pluginFolder,
  schema,
  builtIn = false,
  env = process.env,
  conf,
  networks,
  networkKeys = {},
  site,
}: PluginConfigSources): PreparedConfig {
  if (!/^\w[\w-]*$/.test(name))
    throw new ConfigError([
      { file: pluginFolder, path: 'manifest.name', problem: 'is not a valid name of a file', remedy: 'Use letters, digits, - and _.' },
    ])
  const file = join(`${kind}s`, `${name}.yml`)
  const shownFile = join(basename(confDir), file)
  const problems: ConfigProblem[] = []
  // The folder may be a copy that is named by a hash.
  const shownDefaults = join(basename(pluginFolder) === `${name}-chain` ? basename(pluginFolder) : name, 'defaults.yml')
  const defaults = readYaml(join(pluginFolder, 'defaults.yml'), shownDefaults, problems)
  const asWritten = conf ? { ...conf, lines: new Map(conf.lines) } : readYaml(join(confDir, file), shownFile, problems)
  const { own, deprecated } = inKeysOf(defaults, asWritten, networkKeys)
  const layers = [defaults, own].filter((layer) => layer !== undefined)
  // Only the operator's texts: a plugin could ask for any secret of the server otherwise.
  const mayName = (pointer: string) => typeof getAt(own?.value, pointer) === 'string'
  const hidden = new Set(conf?.hidden)
  const isHidden = (pointer: string) => hidden.has(pointer)
  if (problems.length > 0) throw new ConfigError(problems)

  const tree = withSite(
    layers.reduce<Section>((below, layer) => mergeOver(below, layer.value), {}),
    site,
  )
  const how: CheckOptions = { env, mayName, isHidden }
  const prepared = kind === 'chain' ? prepareChain(tree, { ...how, networks, home }) : prepareConnector(tree, how)
  return {
    question: { schema, isTested: builtIn, parts: prepared.parts },
    finish(answer) {
      if ('invalid' in answer)
        throw new ConfigError([
          {
            file: `plugin ${name}`,
            path: 'manifest.schema',
            problem: answer.invalid,
            remedy: 'This is a defect of the plugin: tell its author, or disable it in plugins.disabled.',
          },
        ])
      const { leftOut, ...checked } = prepared.finish(answer.judged)
      // What is in no file belongs into the author's, unless the operator has one.
      const otherwise = own ? shownFile : shownDefaults
      const placed = ({ pointer, problem, remedy }: TreeProblem) => ({ ...locate(pointer, layers, otherwise), problem, remedy })
      if ('config' in checked) {
        const without = leftOut?.map(({ network, ...trouble }) => ({ ...placed(trouble), ...(network !== undefined && { network }) }))
        const result = { ...checked, ...(without && { leftOut: without }) }
        if (kind === 'interface') {
          result.config = withOwnAddress(result.config, own?.value)
          result.shown = withOwnAddress(result.shown, own?.value)
        }
        return kind === 'chain' ? result : { ...result, places: placesOf(layers), deprecated }
      }
      const found = checked.troubles.map(placed)
      throw new ConfigError(layers.length > 0 ? found : [noDefaults(shownDefaults), ...found])
    },
  }
}

const operatorsKeys: readonly string[] = ['port', 'host', 'keys', 'endpoints']

/** Where an interface listens, whether it takes keys, and which endpoints for people it may call, is the operator's word alone: not the plugin's defaults, nor those of its schema. */
const withOwnAddress = (config: Section, own: Section | undefined): Section =>
  Object.fromEntries(Object.entries(config).filter(([key]) => !operatorsKeys.includes(key) || (own?.[key] ?? undefined) !== undefined))

function withSite(tree: Section, site: PluginConfigSources['site']): Section {
  if (site === undefined) return tree
  const { [site.network]: entry } = tree
  if (!isObject(entry) || entry['enabled'] !== false) return tree
  return { ...tree, [site.network]: { ...entry, enabled: true, rpcUrls: [site.url] } }
}

/**
 * The operator's file with each network under the key that the defaults have: `local` and `ethereum_local` may mean the same network, and only
 * equal keys are laid over each other. An update of the plugin may have made the one into the other.
 */
function inKeysOf(defaults: YamlFile | undefined, own: YamlFile | undefined, networkKeys: Readonly<Record<string, string>>) {
  const deprecated: string[] = []
  if (!defaults || !own) return { own, deprecated }
  let { value, lines } = own
  for (const section of ['contractAddresses', 'bridges'])
    for (const [short, long] of Object.entries(networkKeys)) {
      const [theirs, ours] = [defaults.value[section], value[section]]
      if (!isObject(theirs) || !isObject(ours)) continue
      const [from, to] = Object.hasOwn(theirs, long) ? [short, long] : [long, short]
      if (!Object.hasOwn(theirs, to) || !Object.hasOwn(ours, from) || Object.hasOwn(ours, to)) continue
      const { [from]: entry, ...others } = ours
      value = { ...value, [section]: { ...others, [to]: entry } }
      const [before, after] = [pointerOf([section, from]), pointerOf([section, to])]
      const line = lines.get(before)
      const moved = (pointer: string) =>
        pointer === before || pointer.startsWith(`${before}/`) ? after + pointer.slice(before.length) : pointer
      lines = new Map([...lines].map(([pointer, at]) => [moved(pointer), at]))
      if (from === short)
        deprecated.push(
          `${own.file}${line === undefined ? '' : `:${line}`} ${section}.${short} is read as ${long}, as its defaults have it now: write that`,
        )
    }
  return { own: { ...own, value, lines }, deprecated }
}

const noDefaults = (file: string): ConfigProblem => ({
  file,
  path: '',
  problem: 'does not exist',
  remedy: "Add it beside the plugin's index, with a value for each required key: a plugin's defaults are complete.",
})

/** The topmost file's, where several have the key. */
const placesOf = (layers: readonly YamlFile[]): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...layers.map(({ file, lines }) => Object.fromEntries([...lines].map(([pointer, line]) => [pointer, `${file}:${line}`]))),
  )

type CheckOptions = Required<Pick<Check<Section>, 'env' | 'mayName' | 'isHidden'>>
type SchemaVerdicts = Extract<SchemaAnswer, { judged: unknown }>['judged']

/** What is wrong with an entry that is left out; with the network that is not served then. */
type LeftOutTrouble = TreeProblem & Pick<LeftOutEntry, 'network'>

type ConfigOrTroubles = (Omit<PluginConfig, 'leftOut'> | { troubles: readonly TreeProblem[] }) & { leftOut?: readonly LeftOutTrouble[] }

interface PreparedKind {
  readonly parts: SchemaQuestion['parts']
  finish(judged: SchemaVerdicts): ConfigOrTroubles
}

function prepareConnector(tree: Section, how: CheckOptions): PreparedKind {
  const prepared = prepareTree(tree, how)
  return {
    parts: prepared.part ? [prepared.part] : [],
    finish([judged]) {
      const checked = finishTree<Section>(prepared, judged)
      return 'value' in checked ? { config: checked.value, shown: checked.shown, networks: {} } : checked
    },
  }
}

interface ChainCheck extends CheckOptions {
  networks: readonly string[] | undefined
  home: string
}

/**
 * A chain's file: network → entry, which holds keys of core beside keys of the chain family. A network whose entry is wrong is left out, and the
 * others are served; so is a node's URL that is wrong, where the list has others.
 */
function prepareChain(tree: Section, { env, mayName, isHidden, networks, home }: ChainCheck): PreparedKind {
  const troubles: LeftOutTrouble[] = []
  const shown: Section = {}
  const kernel: Record<string, NetworkSettings> = {}
  const families: { network: string; own: ReturnType<typeof checkTree>; prepared: ReturnType<typeof prepareTree> }[] = []

  for (const network of Object.keys(tree)) {
    if (!networks || networks.includes(network)) continue
    // It may be meant for the network of the most similar name, whose limits it would have.
    const meant = nearest(network, networks)
    troubles.push({
      pointer: pointerOf([network]),
      problem: `is not a network of this chain${meant === undefined ? '' : `, and may be meant for ${meant}`}`,
      remedy: suggestion(network, networks),
      ...(meant !== undefined && { network: meant }),
    })
  }
  const unclear = new Set(troubles.flatMap(({ network }) => network ?? []))
  for (const network of networks ?? Object.keys(tree)) {
    const at = pointerOf([network])
    const entry = Object.hasOwn(tree, network) ? tree[network] : {}
    if (!isObject(entry)) {
      troubles.push({
        pointer: at,
        problem: 'is of the wrong type',
        remedy: "Write the network's settings as a mapping (`key: value` lines).",
        network,
      })
      continue
    }
    const here: CheckOptions = { env, mayName: (pointer) => mayName(at + pointer), isHidden: (pointer) => isHidden(at + pointer) }
    const { entry: usable, placeOf, wrong } = withoutWrongUrls(entry, here)
    troubles.push(...within(at, wrong))
    const parts = splitEntry(usable)
    const how: CheckOptions = {
      env,
      mayName: (pointer) => here.mayName(placeOf(pointer)),
      isHidden: (pointer) => here.isHidden(placeOf(pointer)),
    }
    const own = checkTree(parts.kernel, { validate: validateNetwork, ...how })
    if ('value' in own) kernel[network] = networkSettings(own.value, home)
    if (kernel[network]?.enabled === false) {
      // A disabled entry is not checked: its variables may be unset.
      shown[network] = maskedCopy(entry, new Map())
      continue
    }
    families.push({ network, own, prepared: prepareTree(parts.family, { ...how, alsoKnown: networkKeys }) })
  }
  const asked = families.filter(({ prepared }) => prepared.part !== undefined)
  return {
    parts: asked.flatMap(({ prepared: { part } }) => part ?? []),
    finish(judged) {
      const config: Section = {}
      for (const each of families) {
        const { network, own, prepared } = each
        const family = finishTree(prepared, judged[asked.indexOf(each)])
        for (const part of [own, family])
          if ('troubles' in part) troubles.push(...within(pointerOf([network]), part.troubles).map((each) => ({ ...each, network })))
        if (!('value' in family && 'value' in own) || unclear.has(network)) continue
        config[network] = family.value
        shown[network] = { ...own.shown, ...family.shown }
      }
      if (troubles.length > 0 && Object.keys(config).length === 0) return { troubles }
      return { config, shown, networks: kernel, ...(troubles.length > 0 && { leftOut: troubles }) }
    },
  }
}

/** Lists of nodes, one of which may be wrong while the others work. */
interface UrlList {
  readonly pattern: RegExp
  readonly remedy: string
  /** The network works without it. */
  readonly isSpare?: true
}
const calls: UrlList = { pattern: /^https?:\/\/[^\s/]+/, remedy: 'Write it like https://host/path, in quotes.' }
const urlLists: Readonly<Record<string, UrlList>> = {
  rpcUrls: calls,
  sendUrls: calls,
  privateUrls: calls,
  subscribeUrls: { pattern: /^wss?:\/\/[^\s/]+/, remedy: 'Write it like wss://host/path, in quotes.', isSpare: true },
}

/**
 * A network's entry without the URLs that are wrong, where the list has others, or is one that a network works without; the chain's schema judges any
 * other list without right ones. Never does one list stand in for another: transactions that are for some nodes alone must not go to all.
 */
function withoutWrongUrls(entry: Section, { env, mayName, isHidden }: CheckOptions) {
  const wrong: TreeProblem[] = []
  const usable: Section = { ...entry }
  /** By the places in what is left, those in the file. */
  const places = new Map<string, string>()
  for (const [key, list] of Object.entries(urlLists)) {
    const urls = entry[key]
    if (!Array.isArray(urls)) continue
    const judged = urls.map((url: unknown, index) => {
      const pointer = pointerOf([key, index])
      const trouble = isHidden(pointer) ? undefined : urlTrouble(url, list, env, () => mayName(pointer))
      const isRepeated = trouble === undefined && urls.indexOf(url) < index
      return { url, pointer, trouble: isRepeated ? { problem: 'repeats an entry above', remedy: 'Keep one of them.' } : trouble }
    })
    const right = judged.filter(({ trouble }) => trouble === undefined)
    if (right.length > 0) usable[key] = right.map(({ url }) => url)
    else if (list.isSpare && urls.length > 0) delete usable[key]
    else continue
    for (const [index, { pointer }] of right.entries()) places.set(pointerOf([key, index]), pointer)
    for (const { pointer, trouble } of judged) if (trouble) wrong.push({ pointer, ...trouble })
  }
  return { entry: usable, wrong, placeOf: (pointer: string) => places.get(pointer) ?? pointer }
}

function urlTrouble(
  url: unknown,
  { pattern, remedy }: UrlList,
  env: Environment,
  mayName: () => boolean,
): Omit<TreeProblem, 'pointer'> | undefined {
  const { value, troubles } = substitute(url, env, mayName)
  const [first] = troubles
  if (first) return { problem: first.problem, remedy: first.remedy }
  if (typeof value === 'string' && pattern.test(value) && URL.canParse(value)) return undefined
  return { problem: 'is not a URL', remedy }
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
export function requiredNetworks(confDir: string, plugins: readonly ChainFolder[], env: Environment = process.env): readonly NetworkName[] {
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

/** What the configuration says of a network. @throws Error where it is wrong */
export function readNetworkSettings(
  { confDir, home, chain, network }: { confDir: string; home: string; chain: string; network: string },
  pluginFolder: string,
  env: Environment = process.env,
): NetworkSettings {
  const entry = mergedFiles([join(pluginFolder, 'defaults.yml'), join(confDir, 'chains', `${chain}.yml`)])[network]
  const checked = checkTree(splitEntry(isObject(entry) ? entry : {}).kernel, { validate: validateNetwork, env })
  if ('value' in checked) return networkSettings(checked.value, home)
  throw new Error(`${basename(confDir)}/chains/${chain}.yml is wrong for ${network}`)
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
