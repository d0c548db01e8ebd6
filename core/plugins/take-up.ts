// Takes a change of a plugin up: loads it, puts it in the place of another version, or takes it out.
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { PluginKind } from '../contracts/plugin.ts'
import type { Logger } from 'pino'
import type { LockedPlugin } from '../config/lock.ts'
import { pluginHome, type Settings } from '../config/settings.ts'
import { readYaml } from '../config/yaml.ts'
import { foldersOf, interfaceAs, isReplaceable, isTakenUp, placesOf, runningAs, type ChangeLog, type PendingChange } from './changes.ts'
import { allowedNow } from './consent/consent.ts'
import { findPlugins, findRefusal, isDeclared, type FoundPlugin } from './discover/find.ts'
import { triedCopy } from './discover/tried-copy.ts'
import type { LoadResult } from './load.ts'
import type { LoadedPlugin } from './loaded-plugin.ts'
import { faultOf, PluginFault, type Refusal } from './refusal.ts'
import type { GrowingRegistry } from './registry.ts'
import type { RunningPlugins } from './running.ts'
import type { FormerVersions } from './versions.ts'
import { withoutStop } from '../base/printable.ts'

/** Deploys what plugins bring for the devnet. */
export interface Deployer {
  whyNotDeployed(plugin: Pick<FoundPlugin, 'name' | 'folder'>): Promise<string | undefined>
  deployAdded(plugin: FoundPlugin): Promise<void>
}

interface TakeUpParts {
  readonly settings: Settings
  readonly changes: ChangeLog
  readonly plugins: RunningPlugins
  readonly loader: Pick<LoadResult, 'loadPending'>
  readonly registry: Pick<GrowingRegistry, 'note'>
  readonly former: Pick<FormerVersions, 'add'>
  readonly devnet: Deployer | undefined
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Aborted when the server stops. */
  readonly signal: AbortSignal
}

export interface TakeUp {
  /** Takes a change up, or says why it is not in force. It waits on where it may come by itself. */
  takeUp(name: string, change: PendingChange): Promise<void>
  /** @returns why it was not loaded */
  reload(name: string): Promise<Refusal | undefined>
}

const againMs = 30_000

export function createTakeUp({ settings, changes, plugins, loader, registry, former, devnet, log, signal }: TakeUpParts): TakeUp {
  const { waiting } = changes

  function remove(name: string): void {
    const running = runningAs(plugins, name)
    const served = running ? undefined : interfaceAs(plugins, name)
    if (served) return notInForce(name, `It was removed. ${whyRestart({ kind: 'interface' })}. ${restart}`)
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
    if (running?.kind === 'connector') {
      await plugins.replace(running, now, signal)
      former.add(running)
    } else plugins.add({ loaded, refused: [] })
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
