// A plugin on its way into the folder of plugins: it lies beside them, under a name that nobody looks at, until the operator has said yes. Then
// it is renamed. None of its code runs here.
import { randomUUID } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { readLock, type LockedPlugin, type PluginLock } from '../../config/lock.ts'
import { pluginHome, type Settings } from '../../config/settings.ts'
import { isObject } from '../../base/json.ts'
import { builtInPlugins, command } from '../../base/layout.ts'
import type { PluginOnDisk } from '../consent/allow.ts'
import { cloneRepository, installPackage, packPackage, unpackPackage } from './fetch.ts'
import { findPlugins, inspectPlugin, namePattern } from './find.ts'
import { isKept, keptFolder, maxBytes, readPluginFiles, sumOfPluginFiles, type PluginFiles } from './plugin-files.ts'
import { diskFault, PluginFault } from '../refusal.ts'
import { quoted } from '../../base/printable.ts'
import { messageOf } from '../code/thrown.ts'

export interface StagedPlugin {
  readonly name: string
  /** What it was made of, for the record: where a newer version can be asked for, or what the operator gave. */
  readonly source: string
  readonly onDisk: PluginOnDisk
  /**
   * Puts it in its place, and does what records it. Where that fails, what was there before is there again.
   * @throws PluginFault where the files changed since they were looked at
   */
  commit(record: () => Promise<void>): Promise<void>
  /** Leaves nothing behind but what was put in its place. */
  discard(): Promise<void>
}

interface StageOptions {
  readonly settings: Settings
  /** Where the plugin's name is not what its package's name suggests. */
  readonly name?: string
  /** The plugin that it is a version of: its folder, and what was recorded of it. */
  readonly replaces?: Pick<LockedPlugin, 'sha256' | 'source'> & { readonly name: string; readonly folder: string }
}

/** Brings a plugin beside the others, and checks what can be checked without running it. @throws PluginFault */
export async function stagePlugin(given: string, { settings, name, replaces }: StageOptions): Promise<StagedPlugin> {
  const home = replaces ? path.dirname(replaces.folder) : pluginHome(settings)
  const staging = path.join(home, [`${stagingPrefix}${process.pid}`, startOf(process.pid) ?? [], randomUUID()].flat().join('-'))
  const discard = () => rm(staging, { recursive: true, force: true })
  try {
    await putBackLeftovers(settings)
    if (replaces) refuseLoss(replaces)
    await mkdir(staging, { recursive: true, mode: 0o700 })
    const fetched = await fetchInto(path.join(staging, 'fetched'), sourceOf(given))
    const own = name ?? replaces?.name ?? fetched.name
    requireFree(own, settings, replaces)
    const folder = path.join(staging, own)
    await copyFiles(fetched.folder, folder)
    const plugin = inspectStaged(own, folder)
    refuseScripts(folder)
    const onDisk = { plugin, files: readPluginFiles(folder) }
    const wasKept = existsSync(keptFolder(settings.data.dir, onDisk.files.sha256, own))
    let isCommitted = false
    return {
      name: own,
      source: fetched.source,
      onDisk,
      async commit(record) {
        // Somebody may have put something there while it was asked.
        if (replaces) refuseLoss(replaces)
        await putInPlace(folder, path.join(home, own), staging, onDisk.files, record)
        isCommitted = true
      },
      async discard() {
        await discard()
        if (!isCommitted && !wasKept) await dropKept(settings, onDisk.files, own)
      },
    }
  } catch (thrown) {
    await discard()
    throw diskFault(thrown, home)
  }
}

const stagingPrefix = '.sluice-adding-'

/** What commands that were killed left: the version that an update had put aside is put back, and the rest is deleted. */
export async function putBackLeftovers(settings: Settings): Promise<void> {
  const { folders } = settings.plugins
  const lock = readLock(settings.confDir)
  for (const home of new Set([
    pluginHome(settings),
    ...folders.filter((each) => each !== builtInPlugins).flatMap((each) => [each, path.dirname(each)]),
  ]))
    for (const name of namesIn(home)) {
      // Those of earlier releases have no start in their names.
      const [, processId, start] = new RegExp(`^\\${stagingPrefix}(\\d+)-(?:(\\d+\\.[0-9a-f-]{36})-)?`).exec(name) ?? []
      if (processId === undefined || isAlive(Number(processId), start)) continue
      await putBack(path.join(home, name, aside), home, lock)
      await rm(path.join(home, name), { recursive: true, force: true })
    }
}

/** None where it is not there, or cannot be listed. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** In the folder of a command, the version that its own is to replace. */
const aside = 'before'

async function putBack(from: string, home: string, lock: PluginLock): Promise<void> {
  for (const name of namesIn(from)) {
    const target = path.join(home, name)
    const isAllowed = (folder: string) => sumOf(folder) === lock[name]?.sha256
    if (existsSync(target)) {
      if (isAllowed(target) || !isAllowed(path.join(from, name))) continue
      await rm(target, { recursive: true, force: true })
    }
    await rename(path.join(from, name), target)
  }
}

function sumOf(folder: string): string | false {
  try {
    return sumOfPluginFiles(folder)
  } catch {
    return false
  }
}

/** An update takes the whole folder away, so it has to have what was recorded, and nothing else. @throws PluginFault */
function refuseLoss({ name, folder, sha256, source }: NonNullable<StageOptions['replaces']>): void {
  if (source === undefined)
    throw new PluginFault(
      'find',
      `${folder} was not made by plugin add, so an update would take away what you put there`,
      `Put the new files there yourself, and type ${command} plugin allow ${name}.`,
    )
  const own = dotNameIn(folder)
  if (own !== undefined)
    throw new PluginFault('find', `${folder} has ${own}, which an update would take away`, 'Move it out of that folder, and try again.')
  if (sumOf(folder) !== sha256)
    throw new PluginFault(
      'find',
      `${folder} has other files than were allowed, which an update would take away`,
      `See which with ${command} plugin show ${name}. Move them out, or put the allowed ones back, and try again.`,
    )
}

/** What plugins do not bring, so that somebody else put it there. */
export const dotNameIn = (folder: string): string | undefined =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).find((each) => path.basename(each).startsWith('.'))

/** @param start of the process that is meant, where it is known: in containers the next command has the same process id */
function isAlive(processId: number, start: string | undefined): boolean {
  const now = startOf(processId)
  if (start !== undefined && now !== undefined && now !== start) return false
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** When a process started, in ticks since which boot (man 5 proc); undefined where there is no /proc, or no such process. */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'latin1')
    // The second field is a name in brackets, which may hold spaces and brackets. The start is field 22.
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[22 - 3]
    return `${start}.${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}`
  } catch {
    return undefined
  }
}

type Source =
  | { readonly is: 'folder'; readonly file: string }
  | { readonly is: 'tarball'; readonly file: string }
  | { readonly is: 'git'; readonly url: string; readonly at: string | undefined }
  | { readonly is: 'package'; readonly spec: string }

const packagePattern = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(@[\w.+~^-]+)?$/

/** What the operator named. @throws PluginFault */
export function sourceOf(given: string): Source {
  const git = /^(?:git\+)?((?:https?|ssh|file|git):\/\/[^#]+|[\w-]+@[\w.-]+:[^#]+)(?:#(.+))?$/.exec(given)
  const isGit = git !== null && (given.startsWith('git') || /\.git(#|$)/.test(given) || given.startsWith('ssh:'))
  if (isGit) {
    const [, url = '', at] = git
    if (isSecret(url))
      throw new PluginFault(
        'find',
        'The URL has a login, a token or a query in it, which would be recorded',
        "Leave it out, and give it to git's credential helper.",
      )
    return { is: 'git', url, at }
  }
  if (git)
    throw new PluginFault(
      'find',
      `${given} would be taken from the web without a checksum`,
      'Download it, compare it with what its author publishes, and add the file.',
    )
  const file = path.resolve(given)
  if (existsSync(file)) return statSync(file).isDirectory() ? { is: 'folder', file } : { is: 'tarball', file }
  if (packagePattern.test(given) && !given.startsWith('.')) return { is: 'package', spec: given }
  throw new PluginFault(
    'find',
    `There is no file or folder ${file}`,
    'Name a folder, a packed package (.tgz), a package with its version, or a git URL.',
  )
}

/** The name of a user is none for ssh, and may be a token for others. What cannot be parsed may hold anything. */
function isSecret(url: string): boolean {
  if (!url.includes('://')) return false
  if (!URL.canParse(url)) return true
  const { protocol, username, password, search } = new URL(url)
  if (protocol === 'file:') return false
  return password !== '' || search !== '' || (username !== '' && protocol !== 'ssh:')
}

interface FetchedPlugin {
  readonly folder: string
  readonly name: string
  readonly source: string
}

async function fetchInto(into: string, source: Source): Promise<FetchedPlugin> {
  await mkdir(into, { recursive: true })
  if (source.is === 'folder') {
    const folder = realpathSync(source.file)
    return { folder, name: path.basename(folder), source: `folder:${path.basename(folder)}` }
  }
  if (source.is === 'tarball') return unpack(source.file, into, `file:${path.basename(source.file)}`)
  if (source.is === 'package') {
    const { file, name } = await packPackage(source.spec, into)
    return unpack(file, into, `npm:${name}`)
  }
  const clone = path.join(into, 'clone')
  await cloneRepository(source, clone)
  const kept = `git:${source.url}`
  if (!existsSync(path.join(clone, 'package.json'))) {
    const name = path.basename(source.url.replace(/[/\\]+$/, ''), '.git')
    return { folder: clone, name, source: kept }
  }
  const { file } = await packPackage(clone, into)
  return unpack(file, into, kept)
}

/** Twice what a plugin may have, for the headers of many small files. */
const maxUnpackedBytes = 2 * maxBytes

/** Unpacks a package, and installs what it needs and does not bring. @throws PluginFault */
async function unpack(file: string, into: string, source: string): Promise<FetchedPlugin> {
  let bytes = 0
  const counted = pipeline(createReadStream(file), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > maxUnpackedBytes) throw new Error('too much')
    }
  })
  await counted.catch((thrown: unknown) => {
    const name = path.basename(file)
    if (bytes > maxUnpackedBytes)
      throw new PluginFault(
        'consent',
        `${name} unpacks to more than ${maxUnpackedBytes / 1024 ** 2} MiB`,
        'Do not trust where it came from.',
      )
    throw new PluginFault(
      'find',
      `${name} is not a whole packed package: ${messageOf(thrown)}`,
      'Pack it with npm pack, or download it again.',
    )
  })
  const unpacked = path.join(into, 'unpacked')
  await unpackPackage(file, unpacked)
  const folder = bringsAll(unpacked) ? unpacked : await installPackage(file, path.join(into, 'installed'))
  return { folder, name: pluginNameOf(readPackage(folder)), source }
}

/** Whether it has the packages that it depends on. */
function bringsAll(folder: string): boolean {
  const { dependencies, optionalDependencies } = readPackage(folder)
  const needs = [dependencies, optionalDependencies].flatMap((each) => (isObject(each) ? Object.keys(each) : []))
  return needs.every((each) => existsSync(path.join(folder, 'node_modules', each, 'package.json')))
}

function readPackage(folder: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    return isObject(read) ? read : {}
  } catch {
    return {}
  }
}

/** `@acme/sluice-riverswap` has the plugin `riverswap`. */
const pluginNameOf = ({ name }: Readonly<Record<string, unknown>>): string =>
  path.posix.basename(typeof name === 'string' ? name : '').replace(/^sluice-(plugin-|connector-)?/, '')

/** @throws PluginFault */
function requireFree(name: string, { plugins }: Settings, replaces: StageOptions['replaces']): void {
  if (!namePattern.test(name))
    throw new PluginFault('find', `${quoted(name)} is not a valid name of a plugin`, 'Give the name of its manifest with --name <name>.')
  if (replaces) return
  const { found, refused } = findPlugins([builtInPlugins, ...plugins.folders], [])
  const rival = [...found, ...refused].find((each) => each.name === name)
  if (rival)
    throw new PluginFault(
      'find',
      `There is a plugin '${name}' already, in ${'origin' in rival ? rival.origin : rival.folder}`,
      `For another version of it: ${command} plugin update ${name}. Two plugins cannot have one name.`,
    )
}

/** Copies what is a plugin's, and nothing else. @throws PluginFault where it is not plain files, too much, or changes meanwhile */
async function copyFiles(from: string, to: string): Promise<void> {
  const { sha256, files } = readPluginFiles(from)
  await mkdir(to)
  for (const each of new Set(files.map(({ path: file }) => path.posix.dirname(file)))) await mkdir(path.join(to, each), { recursive: true })
  for (const { path: file, content } of files) await writeFile(path.join(to, file), content, { flag: 'wx' })
  if (sumOfPluginFiles(from) !== sha256)
    throw new PluginFault('consent', `${from} was changed while it was read`, 'Try again when nothing writes to it.')
}

function inspectStaged(name: string, folder: string) {
  try {
    return inspectPlugin(folder)
  } catch (thrown) {
    if (!(thrown instanceof PluginFault)) throw thrown
    throw new PluginFault(
      thrown.step,
      `${name} is not a plugin: ${thrown.message}`,
      'Name what its author publishes: index.js, index.ts or plugin.yml lies at its top.',
    )
  }
}

/** They would not be run, and who wrote them counts on that they are. @throws PluginFault */
function refuseScripts(folder: string): void {
  const { scripts } = readPackage(folder)
  const named = isObject(scripts) ? ['preinstall', 'install', 'postinstall'].filter((each) => Object.hasOwn(scripts, each)) : []
  if (named.length > 0)
    throw new PluginFault(
      'consent',
      `Its package.json has the script ${named.join(', ')}, and no script of a package is run here`,
      'Use a version of it that needs none.',
    )
}

async function putInPlace(
  staged: string,
  target: string,
  staging: string,
  { sha256 }: PluginFiles,
  record: () => Promise<void>,
): Promise<void> {
  if (sumOfPluginFiles(staged) !== sha256) throw new PluginFault('consent', 'Its files were changed since they were shown', 'Try again.')
  const before = path.join(staging, aside, path.basename(target))
  const isUpdate = existsSync(target)
  if (isUpdate) {
    await mkdir(path.dirname(before))
    await rename(target, before)
  }
  let isPlaced = false
  try {
    await rename(staged, target)
    isPlaced = true
    await record()
  } catch (thrown) {
    if (isPlaced) await rm(target, { recursive: true, force: true })
    if (isUpdate) await rename(before, target)
    throw thrown
  }
}

/** The copy that was made to read it. */
async function dropKept({ data }: Settings, { sha256 }: PluginFiles, name: string): Promise<void> {
  const kept = keptFolder(data.dir, sha256, name)
  if (isKept(kept, sha256)) await rm(path.dirname(kept), { recursive: true, force: true })
}
