import type { Logger } from 'pino'
import { abortable, createBackoff, pause } from './async.ts'
import { requiredNetworks } from './config/plugin-config.ts'
import { devnetNetwork, type Settings } from './config/settings.ts'
import type { FoundPlugin } from './loader/find.ts'
import type { LoadResult } from './loader/load.ts'
import type { LoadedPlugin } from './loader/loaded-plugin.ts'
import type { Refusal } from './loader/refusal.ts'

const firstPauseMs = 5_000
const maxPauseMs = 600_000
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
  /** One after the other. */
  onResult(result: LateResult): Promise<void>
}

/**
 * Loads plugins while the server runs. First those that run in hosts: each by itself, so that none waits for another one. Then again and
 * again those that were refused for lack of time, since the machine may have been busy. A trial that goes on for ever uses its budget each
 * time, so the pauses grow.
 * @returns `done` settles when none is pending any more, or the server stops
 */
export function loadLater({ plugins: { refused, pending, more, again }, after, log, onResult }: LateOptions): {
  done: Promise<void>
  stop(): void
} {
  const stopping = new AbortController()
  const backoff = createBackoff(firstPauseMs, maxPauseMs)
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

  /** @returns the refused ones */
  async function loadPending(): Promise<readonly Refusal[]> {
    await abortable(after, stopping.signal)
    if (pending.length > 0) await pause(quietMs, stopping.signal, { ref: false })
    stopping.signal.throwIfAborted()
    // Of a plugin that nobody allowed it is not known whether it is a chain: others may be for it.
    const lacksChain = ({ step }: Refusal) => step === 'networks'
    const held: Refusal[] = []
    const results = await Promise.all(
      pending.map(async (plugin) => {
        const result = await more([plugin])
        const waits = result.refused.filter(lacksChain)
        held.push(...waits)
        const now = { ...result, refused: result.refused.filter((each) => !lacksChain(each)) }
        await tell(now)
        return now
      }),
    )
    const isThereAChain = results.some(({ loaded }) => loaded.some(({ kind }) => kind === 'chain'))
    const last = isThereAChain ? await again([...refused.filter(lacksChain), ...held]) : { loaded: [], refused: held }
    await tell(last)
    return [...refused.filter((each) => !(isThereAChain && lacksChain(each))), ...results.flatMap((each) => each.refused), ...last.refused]
  }

  async function retry(first: readonly Refusal[]): Promise<void> {
    let left = first
    while (left.some(({ temporary }) => temporary)) {
      backoff.failed()
      await pause(backoff.pauseMs, stopping.signal, { ref: false })
      if (stopping.signal.aborted) return
      const result = await again(left)
      left = result.refused
      await tell(result)
      for (const { name, temporary, step, reason } of left)
        if (temporary) log.error({ plugin: name, step }, `plugin still refused, tried again later: ${reason}`)
    }
  }

  const unlessStopped = (error: unknown) => {
    if (!stopping.signal.aborted) log.error({ err: error }, 'plugins are not loaded any more: restart the server')
  }
  const first = loadPending()
  first.then(retry).catch(unlessStopped)
  return {
    done: first.then(
      () => {},
      () => {},
    ),
    stop: () => stopping.abort(),
  }
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
