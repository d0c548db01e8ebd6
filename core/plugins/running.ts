import path from 'node:path'
import type { FoundPlugin } from './discover/find.ts'
import type { GrowingRegistry } from './registry.ts'
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
   * A connector takes no request any more, and reads what its transactions bring until its end.
   * @param isReplaced whether requests wait for another version of it
   */
  leave(connector: LoadedConnector, isReplaced: boolean): void
  /** Forgets that a plugin was refused, which nobody allows any more, or which is not there any more. */
  dropRefused(name: string): void
  /** Ends the venues and the process of a connector that left. */
  end(connector: LoadedConnector): Promise<void>
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
  /** Told that a connector takes no request any more. */
  onLeft(connector: string): void
}

export function createRunningPlugins({ venues, registry, hosts, onTarget, onLeft, interfaces = [], ...first }: Parts): RunningPlugins {
  let { loaded, refused } = first

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
      if (fresh.length > 0) venues.add(fresh)
      refused = [...refused.filter(({ folder }) => !replaced.has(folder)), ...refusals]
      registry.add(registryEntries({ loaded: fresh, refused: refusals, running: venues.running, before: loaded }))
      loaded = [...loaded, ...fresh]
      for (const target of transactionTargets(registry)) onTarget(target)
    },
    leave(connector, isReplaced) {
      loaded = loaded.filter((each) => each !== connector)
      registry.leave(connector.name, isReplaced)
      onLeft(connector.name)
    },
    dropRefused(name) {
      const gone = refused.filter(({ folder }) => path.basename(folder) === name).map(({ folder }) => folder)
      refused = refused.filter(({ folder }) => !gone.includes(folder))
      if (gone.length > 0) registry.dropRefused(gone)
    },
    async end(connector) {
      await venues.remove(connector)
      if (connector.host) await hosts.close([connector.host])
    },
  }
}
