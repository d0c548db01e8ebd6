// Plugins come, change and go while the server runs: what `sluice plugin add|update|allow|remove` changed in sluice.lock, what appears in the folders
// of a server that only tries, and again what was refused for lack of time. One loop does it all, so that no two loads are about one plugin. A
// connector drains before another version takes its place: two never serve side by side.
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { abortable, createBackoff, pause } from '../base/async.ts'
import { withoutStop } from '../base/printable.ts'
import type { LockedPlugin } from '../config/lock.ts'
import { pluginHome, type Settings } from '../config/settings.ts'
import { readYaml } from '../config/yaml.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import type { Entry } from '../transactions/entry.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import {
  createChangeLog,
  foldersOf,
  interfaceAs,
  isReplaceable,
  isSameRecord,
  isTakenUp,
  placesOf,
  runningAs,
  type ChangeLog,
  type LockOfStart,
  type PendingChange,
} from './changes.ts'
import { allowedNow } from './consent/consent.ts'
import { findPlugins, findRefusal, isDeclared, type FoundPlugin } from './discover/find.ts'
import { createKeptCopies } from './discover/kept-copies.ts'
import { triedCopy } from './discover/tried-copy.ts'
import { createDrain, type Drain } from './drain.ts'
import type { LoadResult } from './load.ts'
import type { LoadedPlugin } from './loaded-plugin.ts'
import { faultOf, PluginFault, type Refusal } from './refusal.ts'
import type { GrowingRegistry } from './registry.ts'
import type { RunningPlugins } from './running.ts'

/** Deploys what plugins bring for the devnet. */
interface Deployer {
  whyNotDeployed(plugin: Pick<FoundPlugin, 'name' | 'folder'>): Promise<string | undefined>
  deployAdded(plugin: FoundPlugin): Promise<void>
}

interface HotReloadOptions {
  settings: Settings
  lock: LockOfStart
  plugins: RunningPlugins
  loader: Pick<LoadResult, 'loadPending' | 'retryRefused'> & { readonly interfaces: readonly Pick<FoundPlugin, 'origin'>[] }
  registry: Pick<GrowingRegistry, 'note' | 'isAsked' | 'forget'>
  journal: Pick<Journal, 'unfinished'>
  /** Whether nobody but the plugin that planned a transaction can read what it brings. */
  isReadByPlugin(entry: Entry): boolean
  /** Where one runs. */
  devnet?: Deployer
  /** It begins then: when what the start found was loaded or refused. */
  after: Promise<unknown>
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  pauses?: typeof usualPauses
}

const usualPauses = {
  /** Volumes do not tell of changes, so the file is looked at. */
  lookMs: 2_000,
  /** Before what was refused for lack of time is tried again. It grows: a trial that goes on for ever uses its budget each time. */
  firstAgainMs: 5_000,
  /** Between looks whether a connector has drained. */
  drainLookMs: 100,
  /** So long another version waits for transactions whose outcome only the one before can read. */
  maxDrainMs: 30_000,
}
const maxAgainMs = 600_000
/** Before a change that could not be taken up is tried again as it is. */
const againMs = 30_000

export interface HotReload {
  /** Loads a plugin again from its folder, whatever was loaded of it, for its author. @returns why it was not loaded; what ran goes on then */
  reload(name: string): Promise<Refusal | undefined>
  stop(): void
}

export function createHotReload({
  settings,
  lock,
  plugins,
  loader,
  registry,
  journal,
  isReadByPlugin,
  devnet,
  after,
  log,
  pauses = usualPauses,
}: HotReloadOptions): HotReload {
  const stopping = new AbortController()
  const { signal } = stopping
  const changes = createChangeLog({ settings, lock, plugins, interfaces: loader.interfaces, log })
  const backoff = createBackoff(pauses.firstAgainMs, maxAgainMs)
  const failures = new Map<string, string>()
  const copies = createKeptCopies({
    dataDir: settings.data.dir,
    isNeeded: ({ name, sha256, folder }) =>
      (Object.hasOwn(changes.known, name) && changes.known[name]?.sha256 === sha256) ||
      [...plugins.loaded, ...[...draining.now.values()].map(({ plugin }) => plugin)].some((each) => each.folder === folder),
    log,
  })
  const draining = createDrain({ settings, plugins, registry, journal, isReadByPlugin, copies, log, pauses, signal })
  const { takeUp, reload } = createTakeUp({ settings, changes, plugins, loader, registry, draining, devnet, log, signal })

  /** Those that were refused for lack of time: the machine may have been busy. What was changed meanwhile is taken up as it is now. */
  async function tryAgain(): Promise<void> {
    const isAsItWas = ({ folder }: Refusal) => {
      const name = path.basename(folder)
      return isSameRecord(lock.plugins[name], changes.known[name]) && !changes.waiting.has(name)
    }
    const left = plugins.refused.filter(isAsItWas)
    if (!left.some(({ temporary }) => temporary)) return backoff.reset()
    if (!backoff.due()) return
    const { loaded, refused } = await loader.retryRefused(left)
    signal.throwIfAborted()
    backoff.failed()
    const tried = refused.filter((each) => !left.includes(each))
    plugins.add({ loaded, refused: tried })
    for (const { name, kind } of loaded) log.info({ plugin: name, kind }, 'plugin loaded')
    for (const { name, temporary, step, reason } of tried)
      if (temporary) log.error({ plugin: name, step }, `plugin still refused, tried again later: ${reason}`)
  }

  /** One that fails keeps no other one from what it does. It is tried again, and said once. */
  async function apart(what: string, work: () => unknown): Promise<void> {
    if (signal.aborted) return
    try {
      await work()
      failures.delete(what)
    } catch (error) {
      if (signal.aborted) return
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

  async function round(): Promise<void> {
    await apart('sluice.lock', () => changes.readLock())
    await apart('folders of plugins', () => changes.readFolders())
    // One after the other: each starts a process.
    for (const [name, state] of changes.waiting) await apart(name, () => takeUp(name, state))
    await apart('plugins that were refused for lack of time', tryAgain)
    for (const { plugin, since } of draining.now.values()) await apart(`end of ${plugin.name}`, () => draining.endDrained(plugin, since))
  }

  async function repeat(): Promise<void> {
    await abortable(after, signal)
    // It is counted from here, when a start has used the machine.
    backoff.failed()
    await apart('copies of plugins', () => copies.dropUnused())
    while (!signal.aborted) {
      await inTurn(round)
      await pause(pauses.lookMs, signal, { ref: false })
    }
  }

  repeat().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'changes of plugins are not taken up any more: restart the server')
  })
  return { reload: (name) => inTurn(() => reload(name)), stop: () => stopping.abort() }
}

interface TakeUpParts extends Pick<HotReloadOptions, 'settings' | 'plugins' | 'log'> {
  readonly changes: ChangeLog
  readonly loader: Pick<LoadResult, 'loadPending'>
  readonly registry: Pick<GrowingRegistry, 'note'>
  readonly draining: Drain
  readonly devnet: Deployer | undefined
  readonly signal: AbortSignal
}

/** Takes a change up: loads a plugin, puts it in the place of another version, or takes it out. */
function createTakeUp({ settings, changes, plugins, loader, registry, draining, devnet, log, signal }: TakeUpParts) {
  const { waiting } = changes

  function remove(name: string): void {
    const running = runningAs(plugins, name)
    const served = running ? undefined : interfaceAs(plugins, name)
    if (served) return notInForce(name, `It was removed. ${whyRestart({ kind: 'interface' })}. ${restart}`)
    if (!running) return plugins.dropRefused(name)
    if (!isReplaceable(running)) return notInForce(name, `It was removed. ${whyRestart(running)}. ${restart}`)
    draining.begin(running, false)
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

  async function takeUp(name: string, state: PendingChange): Promise<void> {
    const { record } = state
    if (state.is === 'removed') {
      remove(name)
      waiting.delete(name)
      return
    }
    const running = runningAs(plugins, name)
    const served = running ? undefined : interfaceAs(plugins, name)
    const now = running ?? served
    const isSame = record && now?.allowedBy === 'operator' && now.sha256 === record.sha256 && now.tier === record.tier
    if (isSame || settings.plugins.disabled.includes(name)) {
      waiting.delete(name)
      if (!running || !(await noteDevnet(name, running))) registry.note(name, undefined)
      return
    }
    if (served) {
      notInForce(name, `${whyRestart({ kind: 'interface' })}. ${restart}`)
      waiting.delete(name)
      return
    }
    const stamp = await stampOf(foldersOf(settings), name)
    if (stamp === state.stamp && performance.now() < state.againAt) return
    // A folder that nobody allows is tried once it was the same twice: somebody may be putting it there, or about to allow it.
    const isBeingPut = state.is === 'dropped in' && stamp !== state.stamp
    state.stamp = stamp
    state.againAt = isBeingPut ? 0 : performance.now() + againMs
    if (isBeingPut) return
    const kept = record && !isTakenUp(record) ? record : running && !isReplaceable(running) ? running : undefined
    if (kept) {
      if (running) notInForce(name, `${whyRestart(kept)}. ${restart}`)
      else refuse(findRefusal(name, placeOf(name), new PluginFault('consent', whyRestart(kept), restart), kept.kind))
      waiting.delete(name)
      return
    }
    const refusal = await load(name, state, running)
    if (refusal === undefined || waiting.get(name) !== state) return
    // What may come by itself: files that are still being put there, or time. Who drops folders in corrects them there.
    const mayCome = refusal.temporary === true || refusal.step === 'find' || refusal.step === 'consent' || state.is === 'dropped in'
    if (!mayCome) waiting.delete(name)
    if (running) notInForce(name, `${refusal.step}: ${withoutStop(refusal.reason)}. ${refusal.remedy}${howLong(running, record)}`)
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

  /** @returns why it was not loaded */
  async function load(name: string, { record }: PendingChange, running: LoadedPlugin | undefined): Promise<Refusal | undefined> {
    const here = { ...settings, plugins: { ...settings.plugins, folders: [...foldersOf(settings)] } }
    const found = await (record ? allowedNow(name, changes.known, here) : droppedIn(name, here)).catch((thrown: unknown) =>
      faultOf(thrown, 'consent', 'See the reason.'),
    )
    if (found instanceof PluginFault) return findRefusal(name, running?.origin ?? placeOf(name), found, running?.kind ?? record?.kind)
    // Its venues read their contracts when they start.
    await devnet?.deployAdded(found)
    const { loaded, refused } = await loader.loadPending([found])
    const [now] = loaded
    if (now?.kind !== 'connector') return refused[0]
    signal.throwIfAborted()
    const before = running?.kind === 'connector' ? running : draining.now.get(name)?.plugin
    if (before) await draining.replace(before, now)
    else plugins.add({ loaded, refused: [] })
    waiting.delete(name)
    const { manifest, sha256 } = now
    log.info({ plugin: name, version: manifest.version, sha256, before: running?.sha256 }, running ? 'plugin updated' : 'plugin loaded')
    await noteDevnet(name, now)
    return undefined
  }

  async function reload(name: string): Promise<Refusal | undefined> {
    const running = runningAs(plugins, name)
    if (running && !isReplaceable(running))
      return findRefusal(name, running.origin, new PluginFault('consent', whyRestart(running), restart))
    const served = running ? undefined : interfaceAs(plugins, name)
    if (served) return findRefusal(name, served.origin, new PluginFault('consent', whyRestart({ kind: 'interface' }), restart))
    const refusal = await load(
      name,
      { is: 'dropped in', stamp: '', againAt: 0, ...(changes.known[name] && { record: changes.known[name] }) },
      running,
    )
    if (refusal && !running) refuse(refusal)
    return refusal
  }

  return { takeUp, reload }
}

const restart = 'Restart the server.'

/** Why a running server cannot take it up, or take it out. */
const whyRestart = ({ kind }: { readonly kind: PluginKind }): string =>
  kind === 'chain'
    ? 'A running server does not change its chains: nonces, open transactions and what the signer signs depend on them'
    : kind === 'interface'
      ? 'The listeners of interfaces are opened when the server starts'
      : 'A trusted plugin runs in the server, whose code cannot be changed while it runs'

/** How long the signer signs for a version whose update did not load: `earlierMs` of core/wallet/own-policy.ts. */
const howLong = ({ sha256 }: LoadedPlugin, record: LockedPlugin | undefined): string =>
  record?.since === undefined || record.sha256 === sha256
    ? ''
    : ' The version before goes on. The signer signs for it for one hour after the update was allowed, and refuses its trades then.'

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
