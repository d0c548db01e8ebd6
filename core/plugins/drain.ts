// A connector that was removed or is to be replaced takes no request any more, ends those that it has, and reads what those of its transactions bring
// that nobody else can read. Then it ends: two versions never serve side by side.
import type { Logger } from 'pino'
import { pause } from '../base/async.ts'
import type { Settings } from '../config/settings.ts'
import type { Entry } from '../transactions/entry.ts'
import type { Journal } from '../transactions/journal/journal.ts'
import type { KeptCopies } from './discover/kept-copies.ts'
import type { LoadedConnector } from './loaded-plugin.ts'
import { pluginVersionOf, type GrowingRegistry } from './registry.ts'
import type { RunningPlugins } from './running.ts'

export interface Drain {
  /** By name. */
  readonly now: ReadonlyMap<string, { readonly plugin: LoadedConnector; readonly since: number }>
  /** @param isReplaced whether another version waits for it */
  begin(plugin: LoadedConnector, isReplaced: boolean): void
  /** Puts a version in the place of another one, once nobody waits for that any more. @throws the signal's reason */
  replace(old: LoadedConnector, now: LoadedConnector): Promise<void>
  /** Ends one that was removed, when its transactions are final. */
  endDrained(plugin: LoadedConnector, since: number): Promise<void>
}

interface DrainOptions {
  readonly settings: Settings
  readonly plugins: RunningPlugins
  readonly registry: Pick<GrowingRegistry, 'isAsked' | 'forget'>
  readonly journal: Pick<Journal, 'unfinished'>
  /** Whether nobody but the plugin that planned a transaction can read what it brings. */
  isReadByPlugin(entry: Entry): boolean
  readonly copies: Pick<KeptCopies, 'drop'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly pauses: { readonly drainLookMs: number; readonly maxDrainMs: number }
  readonly signal: AbortSignal
}

/** After the longest time that a request takes. */
const afterRequestsMs = 1_000

export function createDrain({
  settings,
  plugins,
  registry,
  journal,
  isReadByPlugin,
  copies,
  log,
  pauses: { drainLookMs, maxDrainMs },
  signal,
}: DrainOptions): Drain {
  const draining = new Map<string, { readonly plugin: LoadedConnector; readonly since: number }>()

  function begin(plugin: LoadedConnector, isReplaced: boolean): void {
    plugins.leave(plugin, isReplaced)
    draining.set(plugin.name, { plugin, since: draining.get(plugin.name)?.since ?? performance.now() })
  }

  /** Whether it has requests that it took. */
  function isAsked({ name }: LoadedConnector, since: number): boolean {
    const maxRequestMs = settings.server.requestTimeoutSeconds * 1000 + afterRequestsMs
    return registry.isAsked(name) && performance.now() - since < maxRequestMs
  }

  /** Transactions that it planned and nobody else can read the outcome of, and that are not final. */
  async function countOpen({ name, venues, sha256 }: LoadedConnector): Promise<number> {
    const version = sha256 === undefined ? undefined : pluginVersionOf(sha256)
    const open = await Promise.all(venues.map(({ chain, network }) => journal.unfinished({ chain, network })))
    return open.flat().filter((entry) => entry.connector === name && entry.plugin === version && isReadByPlugin(entry)).length
  }

  async function replace(old: LoadedConnector, now: LoadedConnector): Promise<void> {
    begin(old, true)
    const began = performance.now()
    for (;;) {
      // Where the store does not tell, there may be some.
      const open = await countOpen(old).catch(() => 1)
      if (!isAsked(old, began) && (open === 0 || performance.now() - began >= maxDrainMs)) {
        signal.throwIfAborted()
        if (open > 0)
          log.warn(
            { plugin: old.name, sha256: old.sha256 },
            'plugin updated before transactions of it were final: what they bring is not read',
          )
        break
      }
      await pause(drainLookMs, signal, { ref: false })
      signal.throwIfAborted()
    }
    await plugins.end(old)
    draining.delete(old.name)
    plugins.add({ loaded: [now], refused: [] })
    await copies.drop(old)
  }

  async function endDrained(plugin: LoadedConnector, since: number): Promise<void> {
    if (isAsked(plugin, since) || (await countOpen(plugin)) > 0) return
    signal.throwIfAborted()
    registry.forget(plugin.name)
    await plugins.end(plugin)
    draining.delete(plugin.name)
    await copies.drop(plugin)
    log.info({ plugin: plugin.name, sha256: plugin.sha256 }, 'plugin that was removed has ended: its transactions are final')
  }

  return { now: draining, begin, replace, endDrained }
}
