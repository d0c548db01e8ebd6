// Loads plugins while the server runs: what `sluice plugin add|update|allow|remove` changed in sluice.lock, what appears in the folders of a server
// that only tries, and again what was refused for lack of time. One loop does it all, so that no two loads are about one plugin.
import path from 'node:path'
import type { Logger } from 'pino'
import { abortable, createBackoff, pause } from '../base/async.ts'
import type { Settings } from '../config/settings.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import { createChangeLog, isSameRecord, type LockOfStart } from './changes.ts'
import { whyNotContained } from './isolate/backend.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { LoadResult } from './load.ts'
import type { Refusal } from './refusal.ts'
import type { GrowingRegistry } from './registry.ts'
import type { RunningPlugins } from './running.ts'
import { createTakeUp, type Deployer } from './take-up.ts'
import { createFormerVersions } from './versions.ts'

interface ChangesOptions {
  settings: Settings
  lock: LockOfStart
  plugins: RunningPlugins
  loader: Pick<LoadResult, 'loadPending' | 'retryRefused'> & { readonly interfaces: readonly Pick<FoundPlugin, 'origin'>[] }
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
  const changes = createChangeLog({ settings, lock, plugins, interfaces: loader.interfaces, log })
  const backoff = createBackoff(firstAgainMs, maxAgainMs)
  const failures = new Map<string, string>()
  const former = createFormerVersions({
    settings,
    plugins,
    loadPending: loader.loadPending,
    journal,
    log,
    signal: stopping.signal,
    whyNotContained: notContained,
    allowed: (name) => (Object.hasOwn(changes.known, name) ? changes.known[name]?.sha256 : undefined),
  })
  const { takeUp, reload } = createTakeUp({ settings, changes, plugins, loader, registry, former, devnet, log, signal: stopping.signal })

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

  async function round(): Promise<void> {
    await apart('sluice.lock', () => changes.readLock())
    await apart('folders of plugins', () => changes.readFolders())
    // One after the other: each starts a process.
    for (const [name, state] of changes.waiting) await apart(name, () => takeUp(name, state))
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
