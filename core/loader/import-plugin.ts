import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Family, Json, Plugin } from '../contracts/index.ts'
import { PluginFault, faultOf } from './refusal.ts'

/** What a plugin says of itself, as data that may cross threads. */
export interface Description {
  readonly kind: 'chain' | 'connector'
  readonly family: string
  /** The curve of its wallets' keys; absent where the family names none that is known. */
  readonly keys?: Family['keys']
  /** As it was written: not checked yet. */
  readonly manifest: Json
}

export interface ImportedPlugin {
  readonly plugin: Plugin
  readonly description: Description
}

/** Imports a plugin's module and reads what it is. The module hook must know its folder. Throws PluginFault. */
export async function importPlugin(entry: string): Promise<ImportedPlugin> {
  let exported: unknown
  try {
    const module: unknown = await import(pathToFileURL(entry).href)
    exported = typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND'
    throw faultOf(
      thrown,
      'import',
      isMissing ? `Install the package with npm in the plugin's folder.` : 'Correct the plugin, or take its folder away.',
    )
  }
  const plugin = assertPlugin(exported, entry)
  return { plugin, description: describe(plugin) }
}

function describe(plugin: Plugin): Description {
  try {
    const manifest: Json = JSON.parse(JSON.stringify(plugin.manifest))
    const { name, keys } = plugin.family
    return { kind: plugin.kind, family: name, ...((keys === 'secp256k1' || keys === 'ed25519') && { keys }), manifest }
  } catch (thrown) {
    throw faultOf(thrown, 'manifest', 'A manifest holds plain data only: no functions, no bigint, no cycles.')
  }
}

function assertPlugin(exported: unknown, entry: string): Plugin {
  if (isPlugin(exported)) return exported
  const what = exported === undefined ? 'has no default export' : 'has a default export that is no plugin'
  throw new PluginFault(
    'import',
    `${path.basename(entry)} ${what}`,
    'Export the result of defineConnector or defineChain: export default defineConnector({ … }).',
  )
}

/** The outline only: the manifest is checked by checkManifest, what `create` gives by its callers. */
function isPlugin(value: unknown): value is Plugin {
  return (
    isObject(value) &&
    'kind' in value &&
    (value.kind === 'chain' || value.kind === 'connector') &&
    'create' in value &&
    typeof value.create === 'function' &&
    'manifest' in value &&
    isObject(value.manifest) &&
    'family' in value &&
    isObject(value.family) &&
    'name' in value.family &&
    typeof value.family.name === 'string'
  )
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
