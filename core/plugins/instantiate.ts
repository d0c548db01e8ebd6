import path from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  tradingMethods,
  type Chain,
  type ChainPlugin,
  type ChainVenue,
  type Connector,
  type ConnectorPlugin,
  type Venue,
  type Family,
  type Json,
} from '../contracts/index.ts'
import type { AnyPlugin } from '../contracts/interface.ts'
import { chainBoundary, connectorBoundary } from './code/boundary.ts'
import { declaredPlugin } from './discover/declared.ts'
import { isDeclared } from './discover/find.ts'
import { deepFreeze } from './code/parser.ts'
import { createRemedy, remedies, faultOf, PluginFault } from './refusal.ts'
import { messageOf, messageWithPlace } from './code/thrown.ts'
import { isObject } from '../base/json.ts'

/**
 * Calls `create` of a chain for one network and checks the result, on trial and in the server alike.
 * @returns the chain behind the boundary @throws PluginFault
 */
export function instantiateChain(plugin: ChainPlugin, name: string, venue: ChainVenue<unknown>): Chain {
  const chain = created(plugin, () => plugin.create(frozen(venue)), venue)
  requireMethods(chain, 'the chain', [
    'rpcUrl',
    'address',
    'head',
    'heads',
    'balances',
    'token',
    'gas',
    'find',
    'isTransactionId',
  ] satisfies (keyof Chain)[])
  for (const part of ['reader', 'rail', 'nativeCurrency'] satisfies (keyof Chain)[]) {
    if (typeof chain[part] !== 'object' || chain[part] === null) throw missing(`the chain has no ${part}`)
  }
  if (!Number.isSafeInteger(chain.chainId)) throw missing(`the chain's chainId is not a whole number`)
  return bounded(() => chainBoundary(chain, { plugin: name, log: venue.log, ...folderOf(plugin) }))
}

/**
 * Calls `create` of a connector for one network, and checks that each declared trading type has all of its methods.
 * @returns the connector behind the boundary @throws PluginFault
 */
export function instantiateConnector(
  plugin: ConnectorPlugin,
  name: string,
  tradingTypes: readonly (keyof typeof tradingMethods)[],
  venue: Venue,
): Partial<Connector> {
  const connector = created<Partial<Connector>>(plugin, () => plugin.create(frozen(venue)), venue)
  for (const type of tradingTypes) {
    const implementation: unknown = connector[type]
    if (!isObject(implementation)) throw missing(`trading type ${type} is declared but not implemented`)
    requireMethods(implementation, type, tradingMethods[type])
    if (type.endsWith('CLOB')) requireBooks(Reflect.get(implementation, 'books'), type)
  }
  return bounded(() => connectorBoundary(connector, { plugin: name, log: venue.log, ...folderOf(plugin) }))
}

function bounded<T>(make: () => T): T {
  try {
    return make()
  } catch (thrown) {
    throw missing(messageOf(thrown))
  }
}

/** Books that the exchange streams, or that are followed on its chain. */
function requireBooks(books: unknown, type: string): void {
  if (!isObject(books)) throw missing(`${type} has no books`)
  if ('watch' in books) return requireMethods(books, `books of ${type}`, ['watch', 'snapshot'])
  requireMethods(books, `books of ${type}`, ['keysOf', 'load', 'apply', 'keyOfMarket', 'show'])
  if (!Array.isArray(Reflect.get(books, 'follow'))) throw missing(`books of ${type} has no list called follow`)
}

function created<T>(plugin: AnyPlugin, create: () => T, { chain, network }: { chain: string; network: string }): T {
  let implementation: T
  try {
    implementation = create()
  } catch (thrown) {
    if (thrown instanceof PluginFault) throw thrown
    throw new PluginFault('create', messageWithPlace(thrown, folderOf(plugin).folder), createRemedy(chain, network))
  }
  if (!isObject(implementation)) throw missing('create() did not return an object')
  if ('then' in implementation) throw new PluginFault('create', 'create() returned a promise', remedies.noPromise)
  for (const life of ['start', 'stop']) {
    const step: unknown = Reflect.get(implementation, life)
    if (step !== undefined && typeof step !== 'function') throw missing(`${life} is not a function`)
  }
  return implementation
}

/** @throws PluginFault */
export function requireMethods(implementation: object, of: string, verbs: readonly string[]): void {
  const absent = verbs.filter((verb) => typeof Reflect.get(implementation, verb) !== 'function')
  if (absent.length > 0) throw missing(`${of} has no ${absent.join(', ')}`)
}

function missing(reason: string): PluginFault {
  return new PluginFault('create', reason, remedies.methods)
}

/** Plugins share these values, so they are frozen; the reader and the log are live objects and are not. */
function frozen<V extends { config: unknown }>(venue: V): V {
  deepFreeze(venue.config)
  if ('contracts' in venue) deepFreeze(venue.contracts)
  if ('tokens' in venue) deepFreeze(venue.tokens)
  if ('nativeCurrency' in venue) deepFreeze(venue.nativeCurrency)
  return Object.freeze(venue)
}

/** A plugin's description of itself, as data that may cross threads. */
export type Description = {
  readonly family: string
  /** Not checked yet. */
  readonly manifest: Json
} & (
  | { readonly kind: 'connector'; /** Its reader of the chain works from another process. */ readonly isRemote: boolean }
  | { readonly kind: 'chain'; /** The curve of its wallets' keys. */ readonly keys: Family['keys'] }
  | { readonly kind: 'interface' }
)

interface ImportedPlugin {
  readonly plugin: AnyPlugin
  readonly description: Description
}

/** By plugin: the folder that it was imported from. */
const folders = new WeakMap<AnyPlugin, string>()
const folderOf = (plugin: AnyPlugin): { readonly folder?: string } => {
  const folder = folders.get(plugin)
  return folder === undefined ? {} : { folder }
}

/** Imports a plugin's module and reads its description. The module hook must know its folder. @throws PluginFault */
export async function importPlugin(entry: string): Promise<ImportedPlugin> {
  let exported: unknown
  if (isDeclared({ entry })) {
    const plugin = assertPlugin(await declaredPlugin(entry), entry)
    return { plugin, description: describe(plugin) }
  }
  try {
    const module: unknown = await import(pathToFileURL(entry).href)
    exported = isObject(module) && 'default' in module ? module.default : undefined
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND'
    if (thrown instanceof PluginFault) throw thrown
    throw new PluginFault('import', messageWithPlace(thrown, path.dirname(entry)), isMissing ? remedies.install : remedies.correctOrRemove)
  }
  const plugin = assertPlugin(exported, entry)
  folders.set(plugin, path.dirname(entry))
  return { plugin, description: describe(plugin) }
}

/** A schema of hundreds of settings has a tenth of that. */
const maxManifestLength = 1_000_000

function describe(plugin: AnyPlugin): Description {
  try {
    const text = JSON.stringify(plugin.manifest)
    if (text.length > maxManifestLength)
      throw new PluginFault(
        'manifest',
        `Its manifest has ${text.length} characters as JSON: at most ${maxManifestLength} are read`,
        remedies.short,
      )
    const manifest: Json = JSON.parse(text)
    // It is of no family of chains.
    if (plugin.kind === 'interface') return { kind: 'interface', family: '', manifest }
    const { name: family, keys, remote } = plugin.family
    return plugin.kind === 'chain'
      ? { kind: 'chain', family, keys: curveOf(family, keys), manifest }
      : { kind: 'connector', family, manifest, isRemote: remote !== undefined }
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new PluginFault('manifest', 'Its manifest is nested too deep to be read', remedies.short)
    throw faultOf(thrown, 'manifest', remedies.plainManifest)
  }
}

/** A kit may be written in plain JavaScript, so its value is checked. */
function curveOf(family: string, keys: unknown): Family['keys'] {
  if (keys === 'secp256k1' || keys === 'ed25519') return keys
  throw new PluginFault('manifest', `Its family '${family}' does not say which curve its wallets' keys are on`, remedies.keys)
}

function assertPlugin(exported: unknown, entry: string): AnyPlugin {
  if (isPlugin(exported)) return exported
  const what = exported === undefined ? 'has no default export' : 'has a default export that is not a plugin'
  throw new PluginFault('import', `${path.basename(entry)} ${what}`, remedies.export)
}

const hasFamily = (value: object): boolean =>
  'family' in value && isObject(value.family) && 'name' in value.family && typeof value.family.name === 'string'

/** Checks the outline only: checkManifest checks the manifest, and instantiateChain and instantiateConnector what `create` returns. */
function isPlugin(value: unknown): value is AnyPlugin {
  return (
    isObject(value) &&
    'kind' in value &&
    (value.kind === 'chain' || value.kind === 'connector' || value.kind === 'interface') &&
    'create' in value &&
    typeof value.create === 'function' &&
    'manifest' in value &&
    isObject(value.manifest) &&
    (value.kind === 'interface' || hasFamily(value))
  )
}
