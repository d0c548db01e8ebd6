// Runs in Node's module-hooks thread. Two things make plugins work wherever their folder lies: the public entry
// points resolve to the running core's own files (one instance, whatever a plugin has in its node_modules), and a
// plugin's own files load as ES modules, TypeScript included.
import { existsSync, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { LoadHook, ResolveFnOutput, ResolveHook } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { MessagePort } from 'node:worker_threads'

export interface HookData {
  /** Public entry point → URL in the running core. */
  entryPoints: Record<string, string>
  /** URLs of folders, ending with a slash: what plugins reach through the entry points only. */
  privateFolders: readonly string[]
  /** Where updates come in; each is acknowledged once it is applied. */
  port: MessagePort
}

/** Plugins that may be imported from now on. */
export interface HookUpdate {
  /** URLs that end with a slash. */
  folders: readonly string[]
  compiled: CompiledFiles
}

/** URL of a plugin's TypeScript file → its JavaScript, or why it does not compile. */
export type CompiledFiles = Readonly<Record<string, { readonly code: string } | { readonly error: string }>>

let privateFolders: readonly string[] = []
let entryPoints: Readonly<Record<string, string>> = {}
let packageName = ''
const folders = new Set<string>()
const compiled = new Map<string, CompiledFiles[string]>()

export function initialize(data: HookData): void {
  ;({ entryPoints, privateFolders } = data)
  packageName = Object.keys(entryPoints)[0]?.split('/')[0] ?? ''
  data.port.on('message', (update: HookUpdate) => {
    for (const folder of update.folders) folders.add(folder)
    for (const [url, file] of Object.entries(update.compiled)) compiled.set(url, file)
    data.port.postMessage('applied')
  })
  data.port.unref()
}

export const resolve: ResolveHook = async (specifier, context, next) => {
  if (Object.hasOwn(entryPoints, specifier)) return { url: entryPoints[specifier] ?? '', format: 'module', shortCircuit: true }
  const folder = context.parentURL === undefined ? undefined : pluginFolder(context.parentURL)
  if (folder === undefined) return isPluginFile(specifier) ? asModule(specifier) : next(specifier, context)
  if (specifier === packageName || specifier.startsWith(`${packageName}/`)) {
    throw new Error(`'${specifier}' is not one of the public entry points: ${Object.keys(entryPoints).join(', ')}`)
  }
  if (!/^(\.{0,2}\/|file:)/.test(specifier)) return next(specifier, context)
  const requested = new URL(specifier, context.parentURL)
  const url = existingFile(requested)
  if (url === undefined) {
    const importer = path.relative(fileURLToPath(folder), fileURLToPath(context.parentURL ?? folder))
    throw new Error(`'${specifier}' does not exist, and ${importer} imports it (ES modules name files with their extension)`)
  }
  const target = pluginFolder(url.href)
  const leavesFolder = target === undefined ? requested.href.startsWith(folder) && !url.href.startsWith(folder) : target !== folder
  // TypeScript is compiled for the plugin's own files alone.
  const isPrivate = privateFolders.some((each) => url.href.startsWith(each)) || /\.[cm]?ts$/.test(url.href)
  if (leavesFolder || (target === undefined && isPrivate)) {
    throw new Error(
      `'${specifier}' leads out of the plugin's folder to ${url.href}: a plugin imports its own files, its packages and ${Object.keys(entryPoints).join(', ')}`,
    )
  }
  return isPluginFile(url.href) ? asModule(url.href) : next(url.href, context)
}

export const load: LoadHook = async (url, context, next) => {
  if (!isPluginFile(url)) return next(url, context)
  if (/\.m?js$/.test(url)) return { format: 'module', source: await readFile(fileURLToPath(url), 'utf8'), shortCircuit: true }
  const file = compiled.get(url)
  if (file === undefined) throw new Error(`${fileURLToPath(url)} did not exist when the plugins were compiled`)
  if ('error' in file) throw new SyntaxError(file.error)
  return { format: 'module', source: file.code, shortCircuit: true }
}

function asModule(url: string): ResolveFnOutput {
  return { url, format: 'module', shortCircuit: true }
}

/** A source file of a plugin; not of the packages that it brings. */
function isPluginFile(url: string): boolean {
  return /\.m?[jt]s$/.test(url) && pluginFolder(url) !== undefined
}

function pluginFolder(url: string): string | undefined {
  for (const folder of folders) {
    if (url.startsWith(folder) && !url.slice(folder.length - 1).includes('/node_modules/')) return folder
  }
  return undefined
}

/** The real file, as Node follows links. TypeScript imports `./x.js` where the file is `./x.ts`. */
function existingFile(url: URL): URL | undefined {
  const asTypeScript = new URL(url.href.replace(/js$/, 'ts'))
  const found = [url, asTypeScript].find((candidate) => existsSync(candidate))
  return found && pathToFileURL(realpathSync(fileURLToPath(found)))
}
