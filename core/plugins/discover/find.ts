import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtInPlugins, codeRoot, inSource } from '../../base/layout.ts'
import type { PluginKind } from '../../contracts/plugin.ts'
import type { DeclaredCalls } from '../interface-rights.ts'
import { PluginFault, faultOf, type Refusal } from '../refusal.ts'

/** Where a plugin runs: in the server, kept away from it, or nowhere, because it is data. */
export type Tier = 'built in' | 'trusted' | 'contained' | 'data'

/** Who said that it may run: the release, or the operator in sluice.lock; nobody, where a server only tries. */
export type AllowedBy = 'release' | 'operator' | 'nobody'

export interface FoundPlugin {
  /** The folder's name; the manifest has the same. */
  readonly name: string
  /** What is run; of an allowed plugin the copy that was allowed. */
  readonly folder: string
  /** Where the operator put it. */
  readonly origin: string
  /** The file that exports the plugin. */
  readonly entry: string
  /** Of this release: it is bundled with the server, and its tests are the release's. */
  readonly builtIn: boolean
  readonly tier: Tier
  readonly allowedBy: AllowedBy
  /** Of its files, where they were compared with sluice.lock. */
  readonly sha256?: string
  /** What it was allowed as, by sluice.lock: it may not be loaded yet. */
  readonly lockedKind?: PluginKind
  /** The hosts on the web that it was allowed, as its files name them. */
  readonly hosts?: readonly string[]
  /** What its paths were allowed to call, of an interface that was allowed. */
  readonly allowedCalls?: DeclaredCalls
}

export interface FindResult {
  readonly found: readonly FoundPlugin[]
  readonly refused: readonly Refusal[]
  /** Names of plugins that the settings disable; their folders are not read. */
  readonly disabled: readonly string[]
}

/** `any` stands for all connectors, and `constructor` is a name that every object has: records by name would seem to have it. */
export const namePattern = /^(?!(?:any|constructor)$)[a-z0-9][a-z0-9-]{0,63}$/
/** The only file of a plugin that is data alone, beside its lists. */
export const declaredFile = 'plugin.yml'
/** Where both are there, the author edits the source. */
const codeNames = ['index.ts', 'index.js']
const entryNames = [...codeNames, declaredFile]
const commonJsNames = ['index.cjs', 'index.cts']

/** Whether a plugin is data alone: nothing of it is ever run. Its file says so, and no record does. */
export const isDeclared = ({ entry }: { readonly entry: string }): boolean => path.basename(entry) === declaredFile

/** Lists the plugins in these folders; each is a folder of plugins, or a plugin itself. Runs no code of plugins. */
export function findPlugins(folders: readonly string[], disabled: readonly string[]): FindResult {
  const found = new Map<string, FoundPlugin>()
  const refused: Refusal[] = []
  const seen = new Set<string>()
  const given = folders
    .flatMap((each) => pluginFolders(each, refused))
    .map((each) => ({ name: path.basename(each), folder: bundledInPlaceOf(each) }))
  // A plugin of the release keeps its name, whoever is listed before it: the devnet and the signer know it by that.
  const isOurs = ({ folder }: { folder: string }) => path.dirname(folder) === builtInPlugins
  for (const { name, folder } of [...given.filter(isOurs), ...given.filter((each) => !isOurs(each))]) {
    if (disabled.includes(name) || seen.has(folder)) continue
    seen.add(folder)
    try {
      const plugin = inspect(name, folder, found.get(name))
      found.set(name, plugin)
    } catch (thrown) {
      refused.push(findRefusal(name, folder, thrown))
    }
  }
  return { found: [...found.values()], refused, disabled }
}

/** The names that folders of plugins have in these folders, whether or not each is one. */
export const pluginNames = (folders: readonly string[]): string[] =>
  folders.flatMap((each) => pluginFolders(each, [])).map((folder) => path.basename(folder))

const checkoutPlugins = fileURLToPath(new URL('../plugins', codeRoot))

/** In a checkout that runs bundled, the folder `plugins` holds the sources of the built-in plugins, and others that somebody put there. */
function bundledInPlaceOf(folder: string): string {
  const bundled = path.join(builtInPlugins, path.basename(folder))
  const isSource = !inSource && existsSync(bundled) && realpathSync(path.dirname(folder)) === checkoutPlugins
  return isSource ? bundled : folder
}

function pluginFolders(given: string, refused: Refusal[]): string[] {
  const folder = path.resolve(given)
  try {
    if (isPlugin(folder)) return [folder]
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .map((entry) => entry.name)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .toSorted()
      .map((name) => path.join(folder, name))
  } catch (thrown) {
    const reason = existsSync(folder) ? `The folder cannot be read: ${faultOf(thrown, 'find', '').message}` : `There is no folder ${folder}`
    const remedy = 'Make the folder, or correct plugins.folders in conf/server.yml (relative paths start at the folder that holds conf).'
    refused.push(findRefusal(path.basename(folder), folder, new PluginFault('find', reason, remedy)))
    return []
  }
}

/** Looks at one folder, whichever others there are. @throws PluginFault where it is not a plugin */
export const inspectPlugin = (folder: string): FoundPlugin => inspect(path.basename(folder), folder, undefined)

function inspect(name: string, folder: string, rival: FoundPlugin | undefined): FoundPlugin {
  if (!namePattern.test(name)) {
    throw new PluginFault(
      'find',
      `'${name}' is not a valid name of a plugin`,
      'Rename the folder: lower-case letters, digits and hyphens, at most 64, not `any` or `constructor`, and the same name in the manifest.',
    )
  }
  const real = realpathSync(folder)
  if (real !== path.join(realpathSync(path.dirname(folder)), name)) {
    throw new PluginFault('find', `The folder is a link to ${real}`, 'Name that folder in plugins.folders instead of linking to it.')
  }
  if (rival !== undefined) {
    throw new PluginFault(
      'find',
      `There is a plugin '${name}' already, in ${rival.folder}; this one is in ${folder}`,
      'Remove one of the two folders, or rename this one and its manifest.',
    )
  }
  const builtIn = path.dirname(real) === builtInPlugins
  const entry = entryOf(real)
  return {
    name,
    folder: real,
    origin: real,
    entry,
    builtIn,
    tier: builtIn ? 'built in' : isDeclared({ entry }) ? 'data' : 'contained',
    allowedBy: builtIn ? 'release' : 'nobody',
  }
}

function entryOf(folder: string): string {
  const entry = entryNames.find((file) => existsSync(path.join(folder, file)))
  if (entry === undefined) {
    const commonJs = commonJsNames.find((file) => existsSync(path.join(folder, file)))
    if (commonJs !== undefined) throw commonJsFault(commonJs)
    throw new PluginFault(
      'find',
      'The folder has neither index.ts nor index.js nor plugin.yml',
      'Add the file that exports the plugin, or move the folder out of the plugins folder.',
    )
  }
  const file = realpathSync(path.join(folder, entry))
  if (!file.startsWith(folder + path.sep)) {
    throw new PluginFault('find', `${entry} is a link to ${file}, outside of the plugin's folder`, 'Put the file itself into the folder.')
  }
  if (!statSync(file).isFile()) throw new PluginFault('find', `${entry} is not a file`, 'Put the file that exports the plugin there.')
  return file
}

export function commonJsFault(file: string): PluginFault {
  return new PluginFault(
    'import',
    `${file} is CommonJS`,
    'Plugins are ES modules: write import and export, or compile with "module": "nodenext" and "type": "module".',
  )
}

function isPlugin(folder: string): boolean {
  return [...entryNames, ...commonJsNames].some((file) => existsSync(path.join(folder, file)))
}

/** @param kind where it is known without the plugin's code */
export function findRefusal(name: string, folder: string, thrown: unknown, kind?: PluginKind): Refusal {
  const { step, message, remedy } = faultOf(thrown, 'find', 'See the reason.')
  return { name, folder, step, reason: message, remedy, ...(kind && { kind }) }
}
