// Versions of connectors that were replaced or removed: each goes on until nobody can use it any more and its transactions are final.
import { readdirSync, statSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { pluginVersionOf } from './registry.ts'
import type { LoadResult } from './load.ts'
import type { LoadedConnector, LoadedPlugin } from './loaded-plugin.ts'
import { inspectPlugin, isDeclared, type FoundPlugin } from './discover/find.ts'
import { command } from '../base/layout.ts'
import { isKept, keptFolder, sumOfKept } from './discover/plugin-files.ts'
import type { RunningPlugins } from './running.ts'
import type { Journal } from '../transactions/journal/journal.ts'

export interface FormerVersions {
  /** A version that was replaced or removed a moment ago. */
  add(plugin: LoadedConnector): void
  /**
   * After a start: starts those that planned transactions which are still open, from the copies that were kept of them, and deletes the copies
   * that nobody needs any more.
   */
  resume(): Promise<void>
  /** Ends those that nobody uses any more. */
  endUnused(): Promise<void>
}

interface Options {
  settings: Settings
  plugins: Pick<RunningPlugins, 'loaded' | 'addFormer' | 'end'>
  loadPending: LoadResult['loadPending']
  journal: Pick<Journal, 'openQueues' | 'unfinished'>
  /** The hash that sluice.lock has of a plugin now. */
  allowed(name: string): string | undefined
  log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Why nothing contains plugins here; undefined where they are contained. */
  whyNotContained(): Promise<Error | undefined>
  signal: AbortSignal
}

/** After the longest time that a request takes. */
const afterRequestsMs = 1_000
/** `sluice plugin allow` asks a person between the copy and the record. */
const askingMs = 3_600_000

export function createFormerVersions({
  settings,
  plugins,
  loadPending,
  journal,
  allowed,
  log,
  whyNotContained,
  signal,
}: Options): FormerVersions {
  const former: { readonly plugin: LoadedConnector; readonly since: number; failure?: string }[] = []
  /** Of which somebody runs the bytes. */
  const all = (): LoadedPlugin[] => [...plugins.loaded, ...former.map(({ plugin }) => plugin)]

  /** Transactions that it planned and nobody else can read the outcome of, and that are not final. */
  async function openOf(plugin: LoadedConnector): Promise<number> {
    const { name, venues, sha256 } = plugin
    const isIt = (each: LoadedPlugin) => each !== plugin && each.name === name && each.sha256 === sha256
    if (all().some(isIt)) return 0
    const version = sha256 === undefined ? undefined : pluginVersionOf(sha256)
    const open = await Promise.all(venues.map(({ chain, network }) => journal.unfinished({ chain, network })))
    return open.flat().filter((entry) => entry.connector === name && entry.plugin === version).length
  }

  async function endUnused(): Promise<void> {
    const maxRequestMs = settings.server.requestTimeoutSeconds * 1000 + afterRequestsMs
    for (const each of former.filter(({ since }) => performance.now() - since > maxRequestMs)) {
      try {
        if ((await openOf(each.plugin)) > 0) continue
        signal.throwIfAborted()
        await plugins.end(each.plugin)
        former.splice(former.indexOf(each), 1)
        const { name, sha256, folder } = each.plugin
        log.info({ plugin: name, sha256 }, 'earlier version of a plugin ended: its transactions are final')
        // One that was only tried ran from a copy, too.
        const copied = sha256 ?? sumOfKept(settings.data.dir, folder)
        if (copied !== undefined) await dropCopy({ name, sha256: copied, folder })
      } catch (error) {
        if (signal.aborted) return
        // It is tried again; one that fails keeps no other one.
        const failure = error instanceof Error ? error.message : 'unknown'
        if (failure !== each.failure)
          log.error({ plugin: each.plugin.name, err: error }, 'earlier version of a plugin could not be ended; tried again')
        each.failure = failure
      }
    }
  }

  /** The bytes that it ran from, unless somebody runs them or they are allowed. */
  async function dropCopy({ name, sha256, folder }: { name: string; sha256: string; folder: string }): Promise<void> {
    if (folder !== keptFolder(settings.data.dir, sha256, path.basename(folder))) return
    if (allowed(name) === sha256 || all().some((each) => each.folder === folder)) return
    try {
      await rm(folder, { recursive: true, force: true })
      await rmdir(path.dirname(folder))
    } catch (error) {
      log.warn({ plugin: name, folder, err: error }, 'copy of an earlier version of a plugin could not be removed')
    }
  }

  async function resume(): Promise<void> {
    const open = await openVersions()
    const copies = keptCopies(settings.data.dir)
    const isHere = ({ connector, plugin }: { connector: string; plugin: string }) =>
      [...copies, ...all(), { name: connector, sha256: allowed(connector) }].some(
        ({ name, sha256 }) => name === connector && sha256 !== undefined && pluginVersionOf(sha256) === plugin,
      )
    const missing = [...open.values()].filter((each) => !isHere(each))
    if (settings.store.url !== undefined && missing.length > 0)
      log.warn(
        { versions: missing, remedy: 'Where no server has them, restore data/plugins of the one that had.' },
        'versions of plugins that planned open transactions are not on this server: a server of the same store that has them reads what these bring',
      )
    else
      for (const { connector, plugin } of missing)
        log.error(
          { plugin: connector, version: plugin, remedy: 'Restore data/plugins from a copy.' },
          'earlier version of a plugin is not there for its open transactions: there is no copy of its files',
        )
    for (const copy of copies) {
      signal.throwIfAborted()
      const isRunning = all().some(({ folder }) => folder === copy.folder)
      if (isRunning || allowed(copy.name) === copy.sha256) continue
      if (open.has(versionKey(copy.name, pluginVersionOf(copy.sha256)))) await start(copy)
      // One that `sluice plugin allow` makes now has no record yet.
      else if (copy.madeAt < Date.now() - askingMs) await dropCopy(copy)
    }
  }

  /** Of transactions that are not final. */
  async function openVersions(): Promise<ReadonlyMap<string, { connector: string; plugin: string }>> {
    const rails = new Map((await journal.openQueues()).map(({ chain, network }) => [`${chain}/${network}`, { chain, network }]))
    const open = await Promise.all([...rails.values()].map((rail) => journal.unfinished(rail)))
    const versions = open.flat().flatMap(({ connector, plugin }) => (connector && plugin ? [{ connector, plugin }] : []))
    return new Map(versions.map((each) => [versionKey(each.connector, each.plugin), each]))
  }

  /** For requests it is not there: it reads what its transactions bring, in a host and without the web, whatever it was allowed before. */
  async function start({ name, sha256, folder }: KeptCopy): Promise<void> {
    const failed = (reason: string, remedy: string) =>
      log.error({ plugin: name, sha256, remedy }, `earlier version of a plugin is not there for its open transactions: ${reason}`)
    try {
      if (!isKept(folder, sha256)) return failed('the kept copy of its files was changed', 'Restore it from a copy.')
      const found: FoundPlugin = { ...inspectPlugin(folder), sha256, allowedBy: 'operator', hosts: [] }
      // Somebody removed it: it is not run with this user's rights, whatever is accepted of those that are allowed.
      if (allowed(name) === undefined && !isDeclared(found) && (await whyNotContained()))
        return failed(
          'it was removed, and nothing contains plugins here',
          `Allow it again until they are final: ${command} plugin allow ${name}`,
        )
      const { loaded, refused } = await loadPending([found])
      const [now] = loaded
      if (now?.kind !== 'connector') return failed(refused[0]?.reason ?? 'it is no connector', refused[0]?.remedy ?? '')
      signal.throwIfAborted()
      plugins.addFormer(now)
      former.push({ plugin: now, since: performance.now() })
      log.info({ plugin: name, sha256 }, 'earlier version of a plugin reads what its open transactions bring')
    } catch (error) {
      if (!signal.aborted) failed(error instanceof Error ? error.message : 'unknown', 'See the reason.')
    }
  }

  return { add: (plugin) => void former.push({ plugin, since: performance.now() }), resume, endUnused }
}

const versionKey = (connector: string, version: string): string => `${connector} ${version}`

interface KeptCopy {
  readonly name: string
  readonly sha256: string
  readonly folder: string
  readonly madeAt: number
}

function keptCopies(dataDir: string): KeptCopy[] {
  const copies = path.join(dataDir, 'plugins')
  return foldersIn(copies)
    .filter((sha256) => /^[0-9a-f]{64}$/.test(sha256))
    .flatMap((sha256) =>
      foldersIn(path.join(copies, sha256)).map((name) => {
        const folder = keptFolder(dataDir, sha256, name)
        return { name, sha256, folder, madeAt: statSync(path.dirname(folder)).mtimeMs }
      }),
    )
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
