// Takes up what `sluice plugin add|update|allow|remove` changed in sluice.lock, while the server runs.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { pause } from './async.ts'
import { lockFile, readLockAgain, type LockedPlugin, type PluginLock } from './config/lock.ts'
import { pluginHome, type Settings } from './config/settings.ts'
import { pluginVersionOf, type GrowingRegistry } from './handlers/registry.ts'
import { allowedNow } from './loader/consent.ts'
import { findRefusal } from './loader/find.ts'
import type { LoadResult } from './loader/load.ts'
import type { LoadedConnector, LoadedPlugin } from './loader/loaded-plugin.ts'
import { keptFolder } from './loader/plugin-files.ts'
import { faultOf, PluginFault, type Refusal } from './loader/refusal.ts'
import type { RunningPlugins } from './running-plugins.ts'
import type { Journal } from './transactions/journal/journal.ts'
import { watchFile, type WatchedFile } from './whole-file.ts'

/** What the start read of sluice.lock, and the file from then on. */
export interface LockOfStart {
  readonly file: WatchedFile
  readonly plugins: PluginLock
}

/** Reads sluice.lock; what cannot be read has no plugins, and counts as changed once it can be. */
export function lockOfStart({ confDir }: Settings): LockOfStart {
  const file = watchFile(lockFile(confDir))
  return { file, plugins: readLockAgain(confDir, false)?.plugins ?? {} }
}

interface ChangesOptions {
  settings: Settings
  lock: LockOfStart
  plugins: RunningPlugins
  more: LoadResult['more']
  registry: Pick<GrowingRegistry, 'note'>
  journal: Pick<Journal, 'unfinished'>
  /** It begins then: when what the start found was loaded or refused. */
  after: Promise<unknown>
  log: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Volumes do not tell of changes, so the file is looked at. */
const lookMs = 2_000
/** After the longest time that a request takes. */
const afterRequestsMs = 1_000

/** A change of the lock that is not in force yet. */
interface Waiting {
  readonly record: LockedPlugin
  /** Of the plugin's folder when it was looked at. */
  stamp: string
  /** By the steady clock: it is tried again then, also where the folder is as it was. */
  againAt: number
}
const againMs = 30_000

/** A version that was replaced or removed. */
interface Leaving {
  readonly plugin: LoadedConnector
  readonly since: number
}

export function takeUpChanges({ settings, lock, plugins, more, registry, journal, after, log }: ChangesOptions): { stop(): void } {
  const stopping = new AbortController()
  const waiting = new Map<string, Waiting>()
  const leaving: Leaving[] = []
  let known = lock.plugins
  let isUnreadable = false

  const runningAs = (name: string): LoadedPlugin | undefined =>
    plugins.loaded.find(({ builtIn, origin }) => !builtIn && path.basename(origin) === name)

  function readChanges(): void {
    const now = readLockAgain(settings.confDir, Object.keys(known).length > 0)?.plugins
    if (now === undefined) {
      if (!isUnreadable) log.error('sluice.lock cannot be read: what runs goes on. Correct it, or restore it')
      isUnreadable = true
      return
    }
    isUnreadable = false
    for (const name of Object.keys(known)) if (!Object.hasOwn(now, name)) removed(name)
    for (const [name, record] of Object.entries(now)) {
      const before = known[name]
      if (before?.sha256 === record.sha256 && before.tier === record.tier && before.allowedAt === record.allowedAt) continue
      waiting.set(name, { record, stamp: '', againAt: 0 })
    }
    known = now
  }

  function removed(name: string): void {
    waiting.delete(name)
    const running = runningAs(name)
    if (!running) return
    if (!isContained(running)) return notInForce(name, 'It was removed, and runs in the server. Restart the server.')
    plugins.remove(running)
    leaving.push({ plugin: running, since: performance.now() })
    log.info({ plugin: name, sha256: running.sha256 }, 'plugin removed: its open transactions are followed to their end')
  }

  function notInForce(name: string, why: string): void {
    registry.note(name, why)
    log.warn({ plugin: name }, `change of a plugin is not in force: ${why}`)
  }

  async function takeUp(name: string, state: Waiting): Promise<void> {
    const { record } = state
    const running = runningAs(name)
    const isSame = running?.allowedBy === 'operator' && running.sha256 === record.sha256 && running.tier === record.tier
    if (isSame || settings.plugins.disabled.includes(name)) {
      waiting.delete(name)
      registry.note(name, undefined)
      return
    }
    const stamp = stampOf(folders(), name)
    if (stamp === state.stamp && performance.now() < state.againAt) return
    state.stamp = stamp
    state.againAt = performance.now() + againMs
    if (record.tier !== 'contained' || record.kind === 'chain' || (running && !isContained(running))) {
      waiting.delete(name)
      const why = 'It is to run in the server, or does so now. Restart the server.'
      if (running) notInForce(name, why)
      else refuse(findRefusal(name, placeOf(name), new PluginFault('consent', 'It runs in the server', 'Restart the server.')))
      return
    }
    const refusal = await load(name, running)
    if (refusal === undefined || known[name] !== record) return
    // What may come by itself: files that are still being put there, or time.
    if (refusal.temporary !== true && refusal.step !== 'find' && refusal.step !== 'consent') waiting.delete(name)
    if (running) notInForce(name, `${refusal.step}: ${refusal.reason}. ${refusal.cure}`)
    else refuse(refusal)
  }

  function refuse(refusal: Refusal): void {
    const { name, folder, step, reason, cure } = refusal
    const before = plugins.refused.find((each) => each.folder === folder)
    if (before?.reason === reason) return
    log.error({ plugin: name, folder, step, cure }, `plugin refused: ${reason}`)
    plugins.add({ loaded: [], refused: [refusal] })
  }

  const placeOf = (name: string): string => path.join(pluginHome(settings), name)

  /** The home's own folder of plugins may be newer than the server. */
  function folders(): readonly string[] {
    const own = pluginHome(settings)
    return settings.plugins.folders.includes(own) || !existsSync(own) ? settings.plugins.folders : [...settings.plugins.folders, own]
  }

  /** @returns why it was not loaded */
  async function load(name: string, running: LoadedPlugin | undefined): Promise<Refusal | undefined> {
    const found = await allowedNow(name, known, { ...settings, plugins: { ...settings.plugins, folders: [...folders()] } }).catch(
      (thrown: unknown) => faultOf(thrown, 'consent', 'See the reason.'),
    )
    if (found instanceof PluginFault) return findRefusal(name, running?.origin ?? placeOf(name), found)
    const { loaded, refused } = await more([found])
    const [now] = loaded
    if (now?.kind !== 'connector') return refused[0]
    stopping.signal.throwIfAborted()
    waiting.delete(name)
    if (running?.kind === 'connector') {
      await plugins.replace(running, now)
      leaving.push({ plugin: running, since: performance.now() })
    } else plugins.add({ loaded, refused: [] })
    const { manifest, sha256 } = now
    log.info({ plugin: name, version: manifest.version, sha256, before: running?.sha256 }, running ? 'plugin updated' : 'plugin loaded')
    return undefined
  }

  /** Transactions that this version planned, and that are not final. */
  async function openOf({ name, venues, sha256 }: LoadedConnector): Promise<number> {
    const version = sha256 === undefined ? undefined : pluginVersionOf(sha256)
    const open = await Promise.all(venues.map(({ chain, network }) => journal.unfinished({ chain, network })))
    return open.flat().filter(({ connector, plugin }) => connector === name && plugin === version).length
  }

  async function endThoseWithoutTransactions(): Promise<void> {
    const maxRequestMs = settings.server.requestTimeoutSeconds * 1000 + afterRequestsMs
    for (const each of leaving.filter(({ since }) => performance.now() - since > maxRequestMs)) {
      if ((await openOf(each.plugin)) > 0) continue
      leaving.splice(leaving.indexOf(each), 1)
      await plugins.end(each.plugin)
      await dropCopy(each.plugin)
      log.info({ plugin: each.plugin.name, sha256: each.plugin.sha256 }, 'earlier version of a plugin ended: its transactions are final')
    }
  }

  /** The bytes that it ran from, unless they are allowed again. */
  async function dropCopy({ name, folder, sha256 }: LoadedPlugin): Promise<void> {
    if (sha256 === undefined || folder !== keptFolder(settings.data.dir, sha256, path.basename(folder))) return
    const isUsed = known[name]?.sha256 === sha256 || plugins.loaded.some((each) => each.folder === folder)
    if (isUsed) return
    try {
      await rm(folder, { recursive: true, force: true })
      await rmdir(path.dirname(folder))
    } catch (error) {
      log.warn({ plugin: name, folder, err: error }, 'copy of an earlier version of a plugin could not be removed')
    }
  }

  async function round(): Promise<void> {
    if (lock.file.hasChanged()) readChanges()
    // One after the other: each starts a process.
    for (const [name, state] of waiting) await takeUp(name, state)
    await endThoseWithoutTransactions()
  }

  async function repeat(): Promise<void> {
    await after
    while (!stopping.signal.aborted) {
      try {
        await round()
      } catch (error) {
        if (!stopping.signal.aborted) log.error({ err: error }, 'changes of sluice.lock could not be taken up; tried again')
      }
      await pause(lookMs, stopping.signal, { ref: false })
    }
  }

  void repeat()
  return { stop: () => stopping.abort() }
}

type ContainedConnector = LoadedConnector & { readonly tier: 'contained' }

const isContained = (plugin: LoadedPlugin): plugin is ContainedConnector => plugin.kind === 'connector' && plugin.tier === 'contained'

/** Differs when a file of the plugin was changed. Its content is not read. */
function stampOf(folders: readonly string[], name: string): string {
  const lines: string[] = []
  const add = (file: string): void => {
    try {
      const { size, mtimeMs, ino } = lstatSync(file)
      lines.push(`${file} ${size} ${mtimeMs} ${ino}`)
    } catch {
      // It is not there, or went away meanwhile.
    }
  }
  for (const folder of folders) {
    const place = path.basename(folder) === name ? folder : path.join(folder, name)
    add(place)
    try {
      for (const entry of readdirSync(place, { recursive: true, withFileTypes: true })) add(path.join(entry.parentPath, entry.name))
    } catch {
      // The same.
    }
  }
  return lines.join('\n')
}
