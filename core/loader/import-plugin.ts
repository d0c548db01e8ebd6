import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Family, Json, Plugin } from '../contracts/index.ts'
import { PluginFault, faultOf } from './refusal.ts'

/** What a plugin says of itself, as data that may cross threads. */
export type Description = {
  readonly family: string
  /** As it was written: not checked yet. */
  readonly manifest: Json
} & ({ readonly kind: 'connector' } | { readonly kind: 'chain'; /** The curve of its wallets' keys. */ readonly keys: Family['keys'] })

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
    const { name: family, keys } = plugin.family
    return plugin.kind === 'chain'
      ? { kind: 'chain', family, keys: curveOf(family, keys), manifest }
      : { kind: 'connector', family, manifest }
  } catch (thrown) {
    throw faultOf(thrown, 'manifest', 'A manifest holds plain data only: no functions, no bigint, no cycles.')
  }
}

/** A kit is written in any language that compiles to JavaScript: its word is checked. */
function curveOf(family: string, keys: unknown): Family['keys'] {
  if (keys === 'secp256k1' || keys === 'ed25519') return keys
  throw new PluginFault(
    'manifest',
    `Its family '${family}' does not say of which curve the keys of its wallets are`,
    "Use the family's kit, or give the family keys: 'secp256k1' or 'ed25519'.",
  )
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
