// A plugin that nobody has allowed runs from a copy, too: where a server only tries, in tests, and while it is written. The copy has what is in its
// own folder and, of the packages around that, those that it uses, as plain files within bounds. No link is followed to anything else.
import { realpathSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import { mergedFiles } from '../../config/yaml.ts'
import { isObject } from '../../base/json.ts'
import { packageName } from '../../base/layout.ts'
import { knowOrigin } from '../code/compile.ts'
import type { FoundPlugin } from './find.ts'
import { keepFiles, listFiles, readPlainFile, sumOfKept, type PluginFile } from './plugin-files.ts'
import { PluginFault } from '../refusal.ts'

/** The plugin as it is tried. One that runs from a copy already stays as it is. @throws PluginFault */
export async function triedCopy(plugin: FoundPlugin, dataDir: string): Promise<FoundPlugin> {
  const { name, folder, builtIn, entry } = plugin
  if (builtIn || sumOfKept(dataDir, folder) !== undefined) return plugin
  const kept = await keepFiles(dataDir, name, filesToTry(folder))
  knowOrigin(kept, folder)
  return { ...plugin, folder: kept, entry: path.join(kept, path.relative(folder, entry)) }
}

/** A package that something in the copy imports. */
interface NeededPackage {
  readonly name: string
  /** The folder in the copy that imports it, and where that comes from. */
  readonly by: string
  readonly from: string
}

const maxPackages = 500

/** What a copy has: each file is read when it is asked for. @throws PluginFault */
function* filesToTry(folder: string): Generator<PluginFile> {
  const surroundings = look(folder)
  /** Folders of packages in the copy, and where they come from. */
  const placed = new Map<string, string>()
  const linked: [place: string, from: string][] = []
  const needed: NeededPackage[] = []

  for (const { path: inside, file, isLink } of listFiles(folder)) {
    for (const place of packagesAlong(inside)) if (!placed.has(place)) placed.set(place, path.join(folder, place))
    const target = isLink ? targetOf(inside, file, surroundings) : { file }
    if (target && 'package' in target) {
      placed.set(inside, target.package)
      linked.push([inside, target.package])
    } else if (target) {
      const content = readPlainFile(target.file, inside)
      needed.push(...packagesOf(inside, content).map((name) => ({ name, by: folderOf(inside), from: path.dirname(file) })))
      yield { path: inside, content }
    }
  }

  for (const [place, from] of linked) yield* packageFiles(place, from, needed)
  for (let next = needed.shift(); next; next = needed.shift()) {
    const from = foundPackage(next, surroundings)
    const place = from === undefined ? undefined : freePlace(next, from, placed)
    if (from === undefined || place === undefined) continue
    placed.set(place, from)
    if (placed.size > maxPackages)
      throw new PluginFault('consent', `It uses more than ${maxPackages} packages`, 'Bundle it (esbuild --bundle).')
    yield* packageFiles(place, from, needed)
  }
}

/** The files of a package without those that are never run. What it depends on is appended to `needed`. */
function* packageFiles(place: string, from: string, needed: NeededPackage[]): Generator<PluginFile> {
  for (const { path: inside, file, isLink } of listFiles(from, { isPackage: true })) {
    if (isLink || /\.(?:map|md|d\.[cm]?ts)$/.test(inside)) continue
    const content = readPlainFile(file, `${place}/${inside}`)
    if (inside === 'package.json') needed.push(...dependenciesIn(content).map((name) => ({ name, by: place, from })))
    yield { path: `${place}/${inside}`, content }
  }
}

/** What is around a plugin's folder: real paths. */
interface Surroundings {
  readonly folder: string
  /** The folders of packages above it, and the folders that have them. */
  readonly above: readonly { readonly packages: string; readonly root: string }[]
}

function look(folder: string): Surroundings {
  const above: { packages: string; root: string }[] = []
  for (let root = path.dirname(folder); ; root = path.dirname(root)) {
    const packages = realPath(path.join(root, 'node_modules'))
    if (packages !== undefined) above.push({ packages, root })
    if (root === path.dirname(root)) return { folder, above }
  }
}

/** What a link of the plugin's own stands for; undefined where it leads nowhere, or is not needed. @throws PluginFault where it leads out */
function targetOf(inside: string, link: string, surroundings: Surroundings): { file: string } | { package: string } | undefined {
  const real = realPath(link)
  if (real === undefined) return undefined
  const { folder, above } = surroundings
  const [name] = /(?<=(?:^|\/)node_modules\/)(?:@[^/]+\/)?[^/@][^/]*$/.exec(inside) ?? []
  // What is above is found there without the link, and the server's own package is the one that runs.
  if (name === packageName || (inside === 'node_modules' && above.some(({ packages }) => packages === real))) return undefined
  const { isFile, isFolder } = kindOf(real)
  if (isFile && isIn(real, folder)) return { file: real }
  if (isFolder && name !== undefined && isPackage(real, name, surroundings, { isOwnLink: true })) return { package: real }
  throw new PluginFault(
    'consent',
    `${inside} is a link to what is neither a file in its folder nor a package of its workspace`,
    'Put the file itself there. Packages: install them with npm, or bundle them (esbuild --bundle); a workspace names its packages in package.json or pnpm-workspace.yaml.',
  )
}

/**
 * Whether a folder is a package that may be copied: of the plugin's own folder, of the folders of packages above, or of the workspace that the
 * plugin is in. Who wrote the plugin chose where its own links lead, so there the workspace has to name both.
 */
function isPackage(real: string, name: string, { folder, above }: Surroundings, { isOwnLink }: { isOwnLink: boolean }): boolean {
  if (isIn(real, folder)) return true
  if (isIn(folder, real)) return false
  const { name: own } = packageJson(real)
  // An alias has another name than its package.
  if (typeof own !== 'string' || (own !== name && !real.endsWith(path.join('node_modules', own)))) return false
  return above.some(
    ({ packages, root }) =>
      isIn(real, packages) ||
      (isIn(real, root) && (isOwnLink ? isMember(folder, root) && isMember(real, root) : realPath(path.join(packages, name)) === real)),
  )
}

/** Whether a workspace names a folder as one of its packages. */
function isMember(folder: string, root: string): boolean {
  const inside = path.relative(root, folder).split(path.sep).join('/')
  const patterns = workspaceOf(root)
  const matches = (pattern: string) => globOf(pattern.replace(/^\.\//, '').replace(/\/$/, '')).test(inside)
  return (
    patterns.some((each) => !each.startsWith('!') && matches(each)) &&
    !patterns.some((each) => each.startsWith('!') && matches(each.slice(1)))
  )
}

/** `packages/*` and `apps/**`, as npm, yarn and pnpm have them. */
const globOf = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split(/(\*\*\/|\*\*|\*)/)
      .map((part) => ({ '**/': '(?:.+/)?', '**': '.+', '*': '[^/]+' })[part] ?? part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
      .join('')}$`,
  )

function workspaceOf(root: string): readonly string[] {
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [])
  const { workspaces } = packageJson(root)
  const ofPnpm = mergedFiles([path.join(root, 'pnpm-workspace.yaml')])
  return [...texts(workspaces), ...(isObject(workspaces) ? texts(workspaces['packages']) : []), ...texts(ofPnpm['packages'])]
}

/** Where Node would find a package; undefined where it is in the plugin's folder already, or nowhere that may be copied. */
function foundPackage({ name, from }: NeededPackage, surroundings: Surroundings): string | undefined {
  const place = nearest(name, from)
  const real = place && realPath(place)
  if (place === undefined || real === undefined) return undefined
  const isCopied = real === place && isIn(place, surroundings.folder) && !path.relative(surroundings.folder, place).includes(`${path.sep}.`)
  return !isCopied && isPackage(real, name, surroundings, { isOwnLink: false }) ? real : undefined
}

/** Where Node looks for a package first that is there: https://nodejs.org/api/esm.html#resolution-algorithm-specification */
function nearest(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = path.dirname(folder)) {
    const place = path.join(folder, 'node_modules', name)
    const real = path.basename(folder) === 'node_modules' ? undefined : realPath(place)
    if (real !== undefined && kindOf(real).isFolder) return place
    if (folder === path.dirname(folder)) return undefined
  }
}

/** These packages and all that they depend on, by name, where they are found from a folder: of two of one name the first. */
export function packagesFrom(folder: string, names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const needed = names.map((name) => ({ name, from: folder }))
  for (let next = needed.shift(); next; next = needed.shift()) {
    const place = found.has(next.name) ? undefined : nearest(next.name, next.from)
    const real = place && realPath(place)
    if (real === undefined) continue
    found.set(next.name, real)
    needed.push(...dependenciesOf(packageJson(real)).map((name) => ({ name, from: real })))
  }
  return found
}

/** Where in the copy it will be found by who needs it; undefined where it is found already. */
function freePlace({ name, by }: NeededPackage, from: string, placed: ReadonlyMap<string, string>): string | undefined {
  for (let folder: string | undefined = by; folder !== undefined; folder = outerOf(folder)) {
    const there = placed.get(inPackages(folder, name))
    if (there !== undefined) return there === from ? undefined : inPackages(by, name)
  }
  return inPackages('', name)
}

const inPackages = (folder: string, name: string): string => `${folder === '' ? '' : `${folder}/`}node_modules/${name}`

/** The package or plugin that has this package in its own; undefined for the plugin. */
function outerOf(place: string): string | undefined {
  if (place === '') return undefined
  return place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))
}

/** The packages in whose folders a file of the plugin lies. */
function packagesAlong(inside: string): string[] {
  return [...inside.matchAll(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/g)].map(({ 0: found, index }) =>
    inside.slice(0, index + found.length),
  )
}

/** The package that a file belongs to, by its place in the copy. */
const folderOf = (inside: string): string => packagesAlong(inside).at(-1) ?? ''

/** The packages that a file of the plugin names: what its code imports, and what a package.json depends on. */
function packagesOf(inside: string, content: Buffer): readonly string[] {
  if (path.posix.basename(inside) === 'package.json') return dependenciesIn(content)
  if (folderOf(inside) !== '' || !/\.[cm]?[jt]s$/.test(inside)) return []
  const imports = content.toString('utf8').matchAll(/(?:\bfrom|\bimport|\brequire)\s*\(?\s*(['"])([^'"\s]+)\1/g)
  return [...new Set([...imports].flatMap(([, , specifier = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? []))].filter(isForeign)
}

const dependenciesIn = (content: Buffer): readonly string[] => dependenciesOf(jsonIn(content))

function dependenciesOf({ dependencies, optionalDependencies, peerDependencies }: Readonly<Record<string, unknown>>): readonly string[] {
  const named = [dependencies, optionalDependencies, peerDependencies].flatMap((each) => (isObject(each) ? Object.keys(each) : []))
  return [...new Set(named)].filter(isForeign)
}

/** Whether it can be the name of a package that has to be there: https://docs.npmjs.com/cli/configuring-npm/package-json#name */
const isForeign = (name: string): boolean =>
  name !== packageName &&
  !isBuiltin(name) &&
  !name.startsWith('@types/') &&
  name.length <= 214 &&
  /^(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*$/.test(name)

function packageJson(folder: string): Readonly<Record<string, unknown>> {
  try {
    return jsonIn(readPlainFile(path.join(folder, 'package.json'), 'package.json'))
  } catch {
    return {}
  }
}

function jsonIn(content: Buffer): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(content.toString('utf8'))
    return isObject(read) ? read : {}
  } catch {
    return {}
  }
}

const isIn = (file: string, folder: string): boolean => file === folder || file.startsWith(folder === path.sep ? folder : folder + path.sep)

/** Undefined where there is nothing, or a link that leads nowhere. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}

function kindOf(file: string): { isFile: boolean; isFolder: boolean } {
  const found = statSync(file)
  return { isFile: found.isFile(), isFolder: found.isDirectory() }
}
