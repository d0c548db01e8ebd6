import type { Logger } from 'pino'
import { abortable, pause } from '../base/async.ts'
import { requiredNetworks } from '../config/plugin-config.ts'
import { devnetNetwork, type Settings } from '../config/settings.ts'
import type { FoundPlugin } from './discover/find.ts'
import type { LoadResult } from './load.ts'
import type { LoadedPlugin } from './loaded-plugin.ts'
import type { Refusal } from './refusal.ts'

/** The first that wait for the server to be ready are answered before processes start. */
const quietMs = 250

/** What became of plugins that were not there at the start. */
export interface LateResult {
  readonly loaded: readonly LoadedPlugin[]
  /** Of those that were tried, or are still refused. */
  readonly refused: readonly Refusal[]
}

interface LateOptions {
  readonly plugins: LoadResult
  /** The plugins that are pending wait for it: what is built in is ready first. */
  readonly after: Promise<unknown>
  readonly log: Pick<Logger, 'info' | 'error'>
  /** Deploys what a plugin that can be loaded brings for the devnet. */
  deploy(plugin: FoundPlugin): Promise<void>
  /** One after the other. */
  onResult(result: LateResult): Promise<void>
}

export interface LateLoad {
  /** Settles when none is pending any more, or the server stops. Never rejects. */
  readonly done: Promise<void>
  stop(): void
}

/**
 * Loads those that run in hosts, once the server is ready: each by itself, so that none waits for another one. What comes after that is taken up
 * by `hot-reload.ts`.
 */
export function loadLater({
  plugins: { refused, pending, loadPending, retryRefused },
  after,
  log,
  deploy,
  onResult,
}: LateOptions): LateLoad {
  const stopping = new AbortController()
  let telling: Promise<void> = Promise.resolve()

  const tell = (result: LateResult): Promise<void> => {
    const told = telling.then(async () => {
      if (stopping.signal.aborted) return
      await onResult(result)
      for (const { name, kind } of result.loaded) log.info({ plugin: name, kind }, 'plugin loaded')
    })
    telling = told.catch(() => {})
    return told
  }

  async function loadAll(): Promise<void> {
    await abortable(after, stopping.signal)
    if (pending.length > 0) await pause(quietMs, stopping.signal, { ref: false })
    stopping.signal.throwIfAborted()
    // Of a plugin that nobody allowed it is not known whether it is a chain: others may be for it.
    const lacksChain = ({ step }: Refusal) => step === 'networks'
    const held: Refusal[] = []
    const results = await Promise.all(
      pending.map(async (plugin) => {
        const result = await loadPending([plugin])
        if (result.loaded.length > 0) await abortable(deploy(plugin), stopping.signal)
        held.push(...result.refused.filter(lacksChain))
        const now = { ...result, refused: result.refused.filter((each) => !lacksChain(each)) }
        await tell(now)
        return now
      }),
    )
    const isThereAChain = results.some(({ loaded }) => loaded.some(({ kind }) => kind === 'chain'))
    await tell(isThereAChain ? await retryRefused([...refused.filter(lacksChain), ...held]) : { loaded: [], refused: held })
  }

  const done = loadAll().catch((error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'plugins in hosts could not be loaded: restart the server')
  })
  return { done, stop: () => stopping.abort() }
}

/** The networks that this server needs to be ready, whether or not their plugins were loaded; of those that were not allowed only what conf says. Who disables a plugin does not need it. */
export function requiredHere(
  { confDir, plugins }: Settings,
  found: readonly FoundPlugin[],
  hasDevnet: boolean,
): readonly { chain: string; network: string }[] {
  return requiredNetworks(confDir, found).filter(
    ({ chain, network }) =>
      !plugins.disabled.includes(chain) && (hasDevnet || chain !== devnetNetwork.chain || network !== devnetNetwork.network),
  )
}
