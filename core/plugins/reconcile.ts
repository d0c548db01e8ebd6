// Loads plugins while the server runs: what `sluice plugin add|update|allow|remove` changed in sluice.lock, what appears in the folders of a server
// that only tries, and again what was refused for lack of time. One loop does it all, so that no two loads are about one plugin.
import { existsSync } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { abortable, createBackoff, pause } from '../base/async.ts'
import { lockFile, readLockAgain, type LockedPlugin, type PluginLock } from '../config/lock.ts'
import { pluginHome, type Settings } from '../config/settings.ts'
import { readYaml } from '../config/yaml.ts'
import { createFormerVersions } from './versions.ts'
import type { GrowingRegistry } from './registry.ts'
import { allowedNow, isSandbox } from './consent/consent.ts'
import { findPlugins, findRefusal, isDeclared, pluginNames, type FoundPlugin, type Tier } from './discover/find.ts'
import { whyNotContained } from './isolate/backend.ts'
import type { LoadResult } from './load.ts'
import type { LoadedConnector, LoadedPlugin } from './loaded-plugin.ts'
import { faultOf, PluginFault, type Refusal } from './refusal.ts'
import { triedCopy } from './discover/tried-copy.ts'
import type { RunningPlugins } from './running.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import { watchFile, type WatchedFile } from '../base/whole-file.ts'

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

/** Deploys what plugins bring for the devnet. */
interface Deployer {
  whyNotDeployed(plugin: Pick<FoundPlugin, 'name' | 'folder'>): Promise<string | undefined>
  deployAdded(plugin: FoundPlugin): Promise<void>
}

interface ChangesOptions {
  settings: Settings
  lock: LockOfStart
  plugins: RunningPlugins
  loader: Pick<LoadResult, 'more' | 'again'>
  registry: Pick<GrowingRegistry, 'note'>
  journal: Pick<Journal, 'openQueues' | 'unfinished'>
  /** Where one runs. */
  devnet?: Deployer
  /** It begins then: when what the start found was loaded or refused. */
  after: Promise<unknown>
  /** Why nothing contains plugins here. */
  notContained?: () => Promise<Error | undefined>
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  pauses?: typeof usualPauses
}

/** What is not in force yet. */
interface Waiting {
  /** Its record in sluice.lock; absent where that was removed, or where nobody has to allow it. */
  readonly record?: LockedPlugin
  readonly is: 'allowed' | 'removed' | 'dropped in'
  /** Of the plugin's folder when it was looked at. */
  stamp: string
  /** By the steady clock: it is tried again then, also where the folder is as it was. */
  againAt: number
}
const againMs = 30_000
const usualPauses = {
  /** Volumes do not tell of changes, so the file is looked at. */
  lookMs: 2_000,
  /** Before what was refused for lack of time is tried again. It grows: a trial that goes on for ever uses its budget each time. */
  firstAgainMs: 5_000,
}
const maxAgainMs = 600_000

export interface PluginChanges {
  /**
   * Loads a plugin again from its folder, whatever was loaded of it, for its author. @returns why it was not loaded; the version before goes on
   * then
   */
  reload(name: string): Promise<Refusal | undefined>
  stop(): void
}

export function createReconciler({
  settings,
  lock,
  plugins,
  loader,
  registry,
  journal,
  devnet,
  after,
  notContained = async () => whyNotContained(settings),
  log,
  pauses: { lookMs, firstAgainMs } = usualPauses,
}: ChangesOptions): PluginChanges {
  const stopping = new AbortController()
  const waiting = new Map<string, Waiting>()
  const backoff = createBackoff(firstAgainMs, maxAgainMs)
  /** Their folders may still be there, and are not taken for new ones. */
  const removedNames = new Set<string>()
  const failures = new Map<string, string>()
  let known = lock.plugins
  let isUnreadable = false
  const former = createFormerVersions({
    settings,
    plugins,
    more: loader.more,
    journal,
    log,
    signal: stopping.signal,
    whyNotContained: notContained,
    allowed: (name) => (Object.hasOwn(known, name) ? known[name]?.sha256 : undefined),
  })

  const runningAs = (name: string): LoadedPlugin | undefined =>
    plugins.loaded.find(({ builtIn, origin }) => !builtIn && path.basename(origin) === name)

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

  function remove(name: string): void {
    const running = runningAs(name)
    if (!running) return plugins.dropRefused(name)
    if (!isReplaceable(running)) return notInForce(name, `It was removed. ${whyRestart(running)}. ${restart}`)
    plugins.remove(running)
    former.add(running)
    log.info({ plugin: name, sha256: running.sha256 }, 'plugin removed: its open transactions are followed to their end')
  }

  function notInForce(name: string, why: string): void {
    if (registry.note(name, why)) log.warn({ plugin: name }, `change of a plugin is not in force: ${why}`)
  }

  /** @returns whether there is something to say */
  async function noteDevnet(name: string, plugin: LoadedPlugin): Promise<boolean> {
    const why = await devnet?.whyNotDeployed(plugin)
    // The plugin itself is in force.
    if (why !== undefined && registry.note(name, why))
      log.warn({ plugin: name }, `plugin is loaded, but its contracts may not be on the devnet: ${why}`)
    return why !== undefined
  }

  async function takeUp(name: string, state: Waiting): Promise<void> {
    const { record } = state
    if (state.is === 'removed') {
      remove(name)
      waiting.delete(name)
      return
    }
    const running = runningAs(name)
    const isSame = record && running?.allowedBy === 'operator' && running.sha256 === record.sha256 && running.tier === record.tier
    if (isSame || settings.plugins.disabled.includes(name)) {
      waiting.delete(name)
      if (!running || !(await noteDevnet(name, running))) registry.note(name, undefined)
      return
    }
    const stamp = await stampOf(folders(), name)
    if (stamp === state.stamp && performance.now() < state.againAt) return
    // A folder that nobody allows is tried once it was the same twice: somebody may be putting it there, or about to allow it.
    const isBeingPut = state.is === 'dropped in' && stamp !== state.stamp
    state.stamp = stamp
    state.againAt = isBeingPut ? 0 : performance.now() + againMs
    if (isBeingPut) return
    const kept = record && !isTakenUp(record) ? record : running && !isReplaceable(running) ? running : undefined
    if (kept) {
      if (running) notInForce(name, `${whyRestart(kept)}. ${restart}`)
      else refuse(findRefusal(name, placeOf(name), new PluginFault('consent', whyRestart(kept), restart)))
      waiting.delete(name)
      return
    }
    const refusal = await load(name, state, running)
    if (refusal === undefined || waiting.get(name) !== state) return
    // What may come by itself: files that are still being put there, or time. Who drops folders in corrects them there.
    const mayCome = refusal.temporary === true || refusal.step === 'find' || refusal.step === 'consent' || state.is === 'dropped in'
    if (!mayCome) waiting.delete(name)
    if (running) notInForce(name, `${refusal.step}: ${refusal.reason}. ${refusal.remedy}${howLong(running, record)}`)
    else refuse(refusal)
  }

  function refuse(refusal: Refusal): void {
    const { name, folder, step, reason, remedy } = refusal
    const before = plugins.refused.find((each) => each.folder === folder)
    if (before?.reason === reason) return
    log.error({ plugin: name, folder, step, remedy }, `plugin refused: ${reason}`)
    plugins.add({ loaded: [], refused: [refusal] })
  }

  const placeOf = (name: string): string => path.join(pluginHome(settings), name)

  /** The home's own folder of plugins may be newer than the server. */
  function folders(): readonly string[] {
    const own = pluginHome(settings)
    return settings.plugins.folders.includes(own) || !existsSync(own) ? settings.plugins.folders : [...settings.plugins.folders, own]
  }

  /** @returns why it was not loaded */
  async function load(name: string, { record }: Waiting, running: LoadedPlugin | undefined): Promise<Refusal | undefined> {
    const here = { ...settings, plugins: { ...settings.plugins, folders: [...folders()] } }
    const found = await (record ? allowedNow(name, known, here) : droppedIn(name, here)).catch((thrown: unknown) =>
      faultOf(thrown, 'consent', 'See the reason.'),
    )
    if (found instanceof PluginFault) return findRefusal(name, running?.origin ?? placeOf(name), found)
    // Its venues read their contracts when they start.
    await devnet?.deployAdded(found)
    const { loaded, refused } = await loader.more([found])
    const [now] = loaded
    if (now?.kind !== 'connector') return refused[0]
    stopping.signal.throwIfAborted()
    if (running?.kind === 'connector') {
      await plugins.replace(running, now, stopping.signal)
      former.add(running)
    } else plugins.add({ loaded, refused: [] })
    waiting.delete(name)
    const { manifest, sha256 } = now
    log.info({ plugin: name, version: manifest.version, sha256, before: running?.sha256 }, running ? 'plugin updated' : 'plugin loaded')
    await noteDevnet(name, now)
    return undefined
  }

  /** Where a server only tries, what is put into its folders needs nobody's word. What was there at the start was taken up, or refused, by then. */
  function readFolders(): void {
    const seen = (name: string) =>
      waiting.has(name) ||
      removedNames.has(name) ||
      Object.hasOwn(known, name) ||
      settings.plugins.disabled.includes(name) ||
      runningAs(name) !== undefined ||
      plugins.refused.some(({ folder }) => path.basename(folder) === name)
    for (const { origin, allowedBy } of plugins.loaded.filter(isReplaceable))
      if (allowedBy === 'nobody' && !existsSync(origin)) waiting.set(path.basename(origin), { is: 'removed', stamp: '', againAt: 0 })
    for (const [name, { is }] of waiting) {
      if (is !== 'dropped in' || placesOf(folders(), name).some((place) => existsSync(place))) continue
      waiting.delete(name)
      plugins.dropRefused(name)
    }
    const appeared = pluginNames(folders()).filter((name) => !builtInNames.has(name) && !seen(name))
    if (appeared.length === 0 || !isSandbox(settings)) return
    for (const name of appeared) waiting.set(name, { is: 'dropped in', stamp: '', againAt: 0 })
  }
  const builtInNames = new Set(plugins.loaded.flatMap(({ builtIn, origin }) => (builtIn ? [path.basename(origin)] : [])))

  /** Those that were refused for lack of time: the machine may have been busy. What was changed meanwhile is taken up as it is now. */
  async function tryAgain(): Promise<void> {
    const isAsItWas = ({ folder }: Refusal) => {
      const name = path.basename(folder)
      return isSameRecord(lock.plugins[name], known[name]) && !waiting.has(name)
    }
    const left = plugins.refused.filter(isAsItWas)
    if (!left.some(({ temporary }) => temporary)) return backoff.reset()
    if (!backoff.due()) return
    const { loaded, refused } = await loader.again(left)
    stopping.signal.throwIfAborted()
    backoff.failed()
    const tried = refused.filter((each) => !left.includes(each))
    plugins.add({ loaded, refused: tried })
    for (const { name, kind } of loaded) log.info({ plugin: name, kind }, 'plugin loaded')
    for (const { name, temporary, step, reason } of tried)
      if (temporary) log.error({ plugin: name, step }, `plugin still refused, tried again later: ${reason}`)
  }

  /** One that fails keeps no other one from what it does. It is tried again, and said once. */
  async function apart(what: string, work: () => unknown): Promise<void> {
    if (stopping.signal.aborted) return
    try {
      await work()
      failures.delete(what)
    } catch (error) {
      if (stopping.signal.aborted) return
      const failure = error instanceof Error ? error.message : 'unknown'
      if (failures.get(what) !== failure) log.error({ what, err: error }, 'a change of plugins could not be taken up; tried again')
      failures.set(what, failure)
    }
  }

  let turn: Promise<unknown> = Promise.resolve()
  /** One after the other, also where one failed. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => undefined)
    return result
  }

  async function reload(name: string): Promise<Refusal | undefined> {
    const running = runningAs(name)
    if (running && !isReplaceable(running))
      return findRefusal(name, running.origin, new PluginFault('consent', whyRestart(running), restart))
    const refusal = await load(name, { is: 'dropped in', stamp: '', againAt: 0, ...(known[name] && { record: known[name] }) }, running)
    if (refusal && !running) refuse(refusal)
    return refusal
  }

  async function round(): Promise<void> {
    await apart('sluice.lock', () => {
      if (!lock.file.hasChanged()) return
      try {
        readChanges()
      } catch (error) {
        lock.file.forget()
        throw error
      }
    })
    await apart('folders of plugins', readFolders)
    // One after the other: each starts a process.
    for (const [name, state] of waiting) await apart(name, () => takeUp(name, state))
    await apart('plugins that were refused for lack of time', tryAgain)
    await former.endUnused()
  }

  async function repeat(): Promise<void> {
    await abortable(after, stopping.signal)
    // It is counted from here, when a start has used the machine.
    backoff.failed()
    let isResumed = false
    while (!stopping.signal.aborted) {
      if (!isResumed)
        await apart('earlier versions of plugins', async () => {
          await former.resume()
          isResumed = true
        })
      await inTurn(round)
      await pause(lookMs, stopping.signal, { ref: false })
    }
  }

  repeat().catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'changes of plugins are not taken up any more: restart the server')
  })
  return { reload: (name) => inTurn(() => reload(name)), stop: () => stopping.abort() }
}

type ReplaceableConnector = LoadedConnector & { readonly tier: 'contained' | 'data' }

/** No code of it runs in the server, and no chain is of it. */
const isReplaceable = (plugin: LoadedPlugin): plugin is ReplaceableConnector => isTakenUp(plugin) && !plugin.builtIn

const isTakenUp = ({ kind, tier }: { readonly kind: 'chain' | 'connector'; readonly tier: Tier }): boolean =>
  kind === 'connector' && (tier === 'contained' || tier === 'data')

const restart = 'Restart the server.'

/** Why a running server cannot take it up, or take it out. */
const whyRestart = ({ kind }: { readonly kind: 'chain' | 'connector' }): string =>
  kind === 'chain'
    ? 'A running server does not change its chains: nonces, open transactions and what the signer signs depend on them'
    : 'A trusted plugin runs in the server, whose code cannot be changed while it runs'

/** How long the signer signs for a version whose update did not load: `earlierMs` of core/wallet/own-policy.ts. */
const howLong = ({ sha256 }: LoadedPlugin, record: LockedPlugin | undefined): string =>
  record?.since === undefined || record.sha256 === sha256
    ? ''
    : ' The version before goes on. The signer signs for it for one hour after the update was allowed, and refuses its trades then.'

/** Whether a plugin is allowed as it was. */
const isSameRecord = (one: LockedPlugin | undefined, other: LockedPlugin | undefined): boolean =>
  one?.sha256 === other?.sha256 && one?.tier === other?.tier && one?.allowedAt === other?.allowedAt

/** @throws PluginFault where it is no plugin, or is a chain */
async function droppedIn(name: string, settings: Settings): Promise<FoundPlugin> {
  const { found, refused } = findPlugins(settings.plugins.folders, settings.plugins.disabled)
  const plugin = found.find((each) => each.name === name)
  const refusal = refused.find((each) => each.name === name)
  if (!plugin) throw new PluginFault('find', refusal?.reason ?? 'Its folder is gone', refusal?.remedy ?? 'Put it there again.')
  const copy = await triedCopy(plugin, settings.data.dir)
  if (isDeclared(copy) && readYaml(copy.entry, name, [])?.value['kind'] === 'chain')
    throw new PluginFault('consent', whyRestart({ kind: 'chain' }), restart)
  return copy
}

const placesOf = (folders: readonly string[], name: string): string[] =>
  folders.map((folder) => (path.basename(folder) === name ? folder : path.join(folder, name)))

/** Differs when a file of the plugin was changed. Its content is not read. Requests are served meanwhile: a plugin may have thousands of files. */
async function stampOf(folders: readonly string[], name: string): Promise<string> {
  const lines: string[] = []
  const add = async (file: string): Promise<void> => {
    try {
      const { size, mtimeMs, ino } = await lstat(file)
      lines.push(`${file} ${size} ${mtimeMs} ${ino}`)
    } catch {
      // It is not there, or went away meanwhile.
    }
  }
  for (const place of placesOf(folders, name)) {
    await add(place)
    try {
      for (const entry of await readdir(place, { recursive: true, withFileTypes: true })) await add(path.join(entry.parentPath, entry.name))
    } catch {
      // The same.
    }
  }
  return lines.join('\n')
}
