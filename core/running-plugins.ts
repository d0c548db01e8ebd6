import { withTimeout } from './async.ts'
import type { GrowingRegistry } from './handlers/registry.ts'
import type { Hosts } from './loader/host/hosts.ts'
import type { LoadedConnector, LoadedPlugin } from './loader/loaded-plugin.ts'
import type { Refusal } from './loader/refusal.ts'
import type { Venues } from './loader/start-venue.ts'
import type { LateResult } from './late-plugins.ts'
import { registryEntries, transactionTargets } from './registry.ts'
import type { TransactionTarget } from './transactions/submit-request.ts'

/** The plugins of a server while it runs: what was loaded and refused, and where each change of that has to be known. */
export interface RunningPlugins {
  readonly loaded: readonly LoadedPlugin[]
  readonly refused: readonly Refusal[]
  /** Adds plugins, and puts refusals in place of what was known of their folders. */
  add(result: LateResult): void
  /** Puts a connector in the place of another version of it. Requests from now on find the new one; those under way end on the old one. */
  replace(old: LoadedConnector, now: LoadedConnector): Promise<void>
  /** Takes a connector out: requests from now on do not find it. */
  remove(old: LoadedConnector): void
  /** Ends a version that was replaced or removed, which nobody uses any more. */
  end(old: LoadedConnector): Promise<void>
}

interface Parts {
  loaded: readonly LoadedPlugin[]
  refused: readonly Refusal[]
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

export function createRunningPlugins({ venues, registry, hosts, onTarget, onReplaced, ...first }: Parts): RunningPlugins {
  let { loaded, refused } = first

  const entriesOf = (now: readonly LoadedPlugin[], { refused: some = [] }: { refused?: readonly Refusal[] } = {}) =>
    registryEntries({ loaded: now, refused: some, running: venues.running, before: loaded })

  return {
    get loaded() {
      return loaded
    },
    get refused() {
      return refused
    },
    add(more) {
      const replaced = new Set([...more.loaded.map(({ origin }) => origin), ...more.refused.map(({ folder }) => folder)])
      refused = [...refused.filter(({ folder }) => !replaced.has(folder)), ...more.refused]
      if (more.loaded.length > 0) venues.add(more.loaded)
      registry.add(entriesOf(more.loaded, more))
      loaded = [...loaded, ...more.loaded]
      for (const target of transactionTargets(registry)) onTarget(target)
    },
    async replace(old, now) {
      venues.add([now])
      const wasReady = old.venues.some((venue) => venues.running.get(venue)?.state === 'ready')
      const waking = Promise.all(now.venues.map(async (venue) => venues.running.get(venue)?.wake()))
      if (wasReady) await withTimeout(waking, maxWakeMs, () => {})
      loaded = [...loaded.filter((each) => each !== old), now]
      refused = refused.filter(({ folder }) => folder !== now.origin)
      registry.replace(old.name, entriesOf([now]))
      onReplaced(old.name)
    },
    remove(old) {
      loaded = loaded.filter((each) => each !== old)
      const { plugins } = entriesOf([old])
      registry.replace(old.name, { plugins: plugins.map((each) => ({ ...each, state: 'leaving' as const })), networks: [], venues: [] })
      onReplaced(old.name)
    },
    async end(old) {
      registry.forget(old.name, old)
      await venues.remove(old)
      if (old.host) await hosts.close([old.host])
    },
  }
}
