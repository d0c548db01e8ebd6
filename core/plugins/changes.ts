// What has changed of plugins since the server started: sluice.lock, and, where a server only tries, what lies in its folders.
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { PluginKind } from '../contracts/plugin.ts'
import type { Logger } from 'pino'
import { watchFile, type WatchedFile } from '../base/whole-file.ts'
import { lockFile, readLockAgain, type LockedPlugin, type PluginLock } from '../config/lock.ts'
import { pluginHome, type Settings } from '../config/settings.ts'
import { isSandbox } from './consent/consent.ts'
import { pluginNames, type FoundPlugin, type Tier } from './discover/find.ts'
import type { LoadedConnector, LoadedPlugin } from './loaded-plugin.ts'
import type { RunningInterface, RunningPlugins } from './running.ts'

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

/** What is not in force yet. */
export interface PendingChange {
  /** Its record in sluice.lock; absent where that was removed, or where nobody has to allow it. */
  readonly record?: LockedPlugin
  readonly is: 'allowed' | 'removed' | 'dropped in'
  /** Of the plugin's folder when it was looked at. */
  stamp: string
  /** By the steady clock: it is tried again then, also where the folder is as it was. */
  againAt: number
}
interface ChangeLogParts {
  readonly settings: Settings
  readonly lock: LockOfStart
  readonly plugins: RunningPlugins
  /** Of the start, also those that are off: their listeners are opened with the server. */
  readonly interfaces: readonly Pick<FoundPlugin, 'origin'>[]
  readonly log: Pick<Logger, 'error'>
}

/** The changes that are not in force yet. */
export interface ChangeLog {
  /** By name. */
  readonly waiting: Map<string, PendingChange>
  /** What sluice.lock had when it was last read. */
  readonly known: PluginLock
  /** Looks whether sluice.lock has changed. */
  readLock(): void
  /** Where a server only tries, what is put into its folders needs nobody's word. What was there at the start was taken up, or refused, by then. */
  readFolders(): void
}

export function createChangeLog({ settings, lock, plugins, interfaces, log }: ChangeLogParts): ChangeLog {
  const waiting = new Map<string, PendingChange>()
  /** Their folders may still be there, and are not taken for new ones. */
  const removedNames = new Set<string>()
  let known = lock.plugins
  let isUnreadable = false
  const ofStart = new Set([...plugins.loaded.filter(({ builtIn }) => builtIn), ...interfaces].map(({ origin }) => path.basename(origin)))

  function readChanges(): void {
    const now = readLockAgain(settings.confDir, Object.keys(known).length > 0)?.plugins
    if (now === undefined) {
      if (!isUnreadable) log.error('sluice.lock cannot be read: what runs goes on. Correct it, or restore it')
      isUnreadable = true
      // It may be readable later without another change of it.
      lock.file.forget()
      return
    }
    isUnreadable = false
    for (const name of Object.keys(known)) {
      if (Object.hasOwn(now, name)) continue
      removedNames.add(name)
      waiting.set(name, { is: 'removed', stamp: '', againAt: 0 })
    }
    for (const [name, record] of Object.entries(now))
      if (!isSameRecord(known[name], record)) waiting.set(name, { is: 'allowed', record, stamp: '', againAt: 0 })
    known = now
  }

  function readFolders(): void {
    const seen = (name: string) =>
      waiting.has(name) ||
      removedNames.has(name) ||
      Object.hasOwn(known, name) ||
      settings.plugins.disabled.includes(name) ||
      runningAs(plugins, name) !== undefined ||
      plugins.interfaces?.some(({ origin }) => path.basename(origin) === name) === true ||
      plugins.refused.some(({ folder }) => path.basename(folder) === name)
    for (const { origin, allowedBy } of plugins.loaded.filter(isReplaceable))
      if (allowedBy === 'nobody' && !existsSync(origin)) waiting.set(path.basename(origin), { is: 'removed', stamp: '', againAt: 0 })
    for (const [name, { is }] of waiting) {
      if (is !== 'dropped in' || placesOf(foldersOf(settings), name).some((place) => existsSync(place))) continue
      waiting.delete(name)
      plugins.dropRefused(name)
    }
    const appeared = pluginNames(foldersOf(settings)).filter((name) => !ofStart.has(name) && !seen(name))
    if (appeared.length === 0 || !isSandbox(settings)) return
    for (const name of appeared) waiting.set(name, { is: 'dropped in', stamp: '', againAt: 0 })
  }

  return {
    waiting,
    get known() {
      return known
    },
    readLock() {
      if (!lock.file.hasChanged()) return
      try {
        readChanges()
      } catch (error) {
        lock.file.forget()
        throw error
      }
    },
    readFolders,
  }
}

/** The plugin of third parties that runs under a name. */
export const runningAs = ({ loaded }: Pick<RunningPlugins, 'loaded'>, name: string): LoadedPlugin | undefined =>
  loaded.find(({ builtIn, origin }) => !builtIn && path.basename(origin) === name)

/** The interface of a third party that has run under a name since the start. */
export const interfaceAs = ({ interfaces = [] }: Pick<RunningPlugins, 'interfaces'>, name: string): RunningInterface | undefined =>
  interfaces.find(({ builtIn, origin }) => !builtIn && path.basename(origin) === name)

/** The home's own folder of plugins may be newer than the server. */
export function foldersOf(settings: Settings): readonly string[] {
  const own = pluginHome(settings)
  return settings.plugins.folders.includes(own) || !existsSync(own) ? settings.plugins.folders : [...settings.plugins.folders, own]
}

export const placesOf = (folders: readonly string[], name: string): string[] =>
  folders.map((folder) => (path.basename(folder) === name ? folder : path.join(folder, name)))

/** Whether a plugin is allowed as it was. */
export const isSameRecord = (one: LockedPlugin | undefined, other: LockedPlugin | undefined): boolean =>
  one?.sha256 === other?.sha256 && one?.tier === other?.tier && one?.allowedAt === other?.allowedAt

type ReplaceableConnector = LoadedConnector & { readonly tier: 'contained' | 'data' }

/** No code of it runs in the server, and no chain is of it. */
export const isReplaceable = (plugin: LoadedPlugin): plugin is ReplaceableConnector => isTakenUp(plugin) && !plugin.builtIn

export const isTakenUp = ({ kind, tier }: { readonly kind: PluginKind; readonly tier: Tier }): boolean =>
  kind === 'connector' && (tier === 'contained' || tier === 'data')
