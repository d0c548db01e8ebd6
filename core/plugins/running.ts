import path from 'node:path'
import { abortable, withTimeout } from '../base/async.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { EarlierVersion, GrowingRegistry } from './registry.ts'
import type { Hosts } from './isolate/hosts.ts'
import type { LoadedConnector, LoadedPlugin } from './loaded-plugin.ts'
import type { Refusal } from './refusal.ts'
import type { Venues } from './start-venue.ts'
import type { LateResult } from './late.ts'
import { registryEntries, transactionTargets } from './registry-entries.ts'
import type { TransactionTarget } from '../transactions/submit-request.ts'

/** What tells whether an interface runs as it is allowed. */
export type RunningInterface = Pick<FoundPlugin, 'origin' | 'builtIn' | 'tier' | 'allowedBy' | 'sha256'>

/** The plugins of a server while it runs: what was loaded and refused, and where each change of that has to be known. */
export interface RunningPlugins {
  readonly loaded: readonly LoadedPlugin[]
  readonly refused: readonly Refusal[]
  /** They change at the start alone. */
  readonly interfaces?: readonly RunningInterface[]
  /** Adds plugins, and puts refusals in place of what was known of their folders. What is loaded stays, whatever is said of its name or folder. */
  add(result: LateResult): void
  /**
   * Puts a connector in the place of another version of it. Requests from now on find the new one; those under way end on the old one. Once
   * aborted it changes nothing more. @throws the signal's reason
   */
  replace(old: LoadedConnector, now: LoadedConnector, signal: AbortSignal): Promise<void>
  /** Takes a connector out: requests from now on do not find it. */
  remove(old: LoadedConnector): void
  /** Adds a version that was replaced or removed before the server started: only what its transactions bring is asked of it. */
  addFormer(former: LoadedConnector): void
  /** Forgets that a plugin was refused, which nobody allows any more, or which is not there any more. */
  dropRefused(name: string): void
  /** Ends a version that was replaced or removed, which nobody uses any more. */
  end(old: LoadedConnector): Promise<void>
}

interface Parts {
  loaded: readonly LoadedPlugin[]
  refused: readonly Refusal[]
  interfaces?: RunningPlugins['interfaces']
  venues: Venues
  registry: GrowingRegistry
  hosts: Pick<Hosts, 'close'>
  /** Told of rails that were not there before. */
  onTarget(target: TransactionTarget): void
  /** Told that another version of a connector runs from now on, or none. */
  onReplaced(connector: string): void
}

/** A new version waits so long for its venues, so that its first callers do not. */
const maxWakeMs = 10_000

export function createRunningPlugins({ venues, registry, hosts, onTarget, onReplaced, interfaces = [], ...first }: Parts): RunningPlugins {
  let { loaded, refused } = first
  /** Of what was replaced or removed: how the registry knows it. */
  const versions = new Map<LoadedConnector, EarlierVersion>()

  const entriesOf = (now: readonly LoadedPlugin[], { refused: some = [] }: { refused?: readonly Refusal[] } = {}) =>
    registryEntries({ loaded: now, refused: some, running: venues.running, before: loaded })

  function leave(old: LoadedConnector, version: EarlierVersion | undefined): void {
    if (version) versions.set(old, version)
    onReplaced(old.name)
  }

  return {
    get loaded() {
      return loaded
    },
    get refused() {
      return refused
    },
    interfaces,
    add(more) {
      const isKnown = ({ kind, name }: LoadedPlugin) => loaded.some((each) => each.kind === kind && each.name === name)
      const fresh = more.loaded.filter((each) => !isKnown(each))
      const unused = more.loaded.flatMap((each) => (fresh.includes(each) ? [] : (each.host ?? [])))
      if (unused.length > 0) void hosts.close(unused)
      const places = new Set([...loaded, ...fresh].map(({ origin }) => origin))
      const refusals = more.refused.filter(({ folder }) => !places.has(folder))
      const replaced = new Set([...places, ...refusals.map(({ folder }) => folder)])
      refused = [...refused.filter(({ folder }) => !replaced.has(folder)), ...refusals]
      if (fresh.length > 0) venues.add(fresh)
      registry.add(entriesOf(fresh, { refused: refusals }))
      loaded = [...loaded, ...fresh]
      for (const target of transactionTargets(registry)) onTarget(target)
    },
    async replace(old, now, signal) {
      try {
        venues.add([now])
        const wasReady = old.venues.some((venue) => venues.running.get(venue)?.state === 'ready')
        const waking = Promise.all(now.venues.map(async (venue) => venues.running.get(venue)?.wake()))
        if (wasReady)
          await abortable(
            withTimeout(waking, maxWakeMs, () => {}),
            signal,
          )
        signal.throwIfAborted()
      } catch (error) {
        await venues.remove(now)
        if (now.host) await hosts.close([now.host])
        throw error
      }
      loaded = [...loaded.filter((each) => each !== old), now]
      refused = refused.filter(({ folder }) => folder !== now.origin)
      leave(old, registry.replace(old.name, entriesOf([now])))
    },
    remove(old) {
      loaded = loaded.filter((each) => each !== old)
      leave(old, registry.replace(old.name))
    },
    dropRefused(name) {
      const gone = refused.filter(({ folder }) => path.basename(folder) === name).map(({ folder }) => folder)
      refused = refused.filter(({ folder }) => !gone.includes(folder))
      if (gone.length > 0) registry.dropRefused(gone)
    },
    addFormer(former) {
      venues.add([former])
      versions.set(former, registry.addEarlier(former.name, entriesOf([former])))
    },
    async end(old) {
      const version = versions.get(old)
      if (version) registry.forget(version)
      await venues.remove(old)
      if (old.host) await hosts.close([old.host])
      versions.delete(old)
    },
  }
}
