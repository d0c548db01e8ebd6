import type { Logger } from 'pino'
import { createBackoff, pause } from './async.ts'
import { requiredNetworks } from './config/plugin-config.ts'
import { devnetNetwork, type Settings } from './config/settings.ts'
import type { FoundPlugin } from './loader/find.ts'
import type { LoadResult } from './loader/load.ts'

const firstPauseMs = 5_000
const maxPauseMs = 600_000

/**
 * Tries plugins again that were refused for lack of time, while the server runs: the machine may have been busy at the start. A trial that goes
 * on for ever uses its budget each time, so the pauses grow.
 */
export function loadLater(
  { refused, again }: LoadResult,
  log: Pick<Logger, 'info' | 'error'>,
  onLoaded: (result: Awaited<ReturnType<LoadResult['again']>>) => Promise<void>,
): { stop(): void } {
  const stopping = new AbortController()
  const backoff = createBackoff(firstPauseMs, maxPauseMs)

  async function run(): Promise<void> {
    let left = refused
    while (left.some(({ temporary }) => temporary)) {
      backoff.failed()
      await pause(backoff.pauseMs, stopping.signal, { ref: false })
      if (stopping.signal.aborted) return
      const result = await again(left)
      // A trial may outlast the server.
      if (stopping.signal.aborted) return
      left = result.refused
      if (result.loaded.length > 0) await onLoaded(result)
      for (const { name, kind } of result.loaded) log.info({ plugin: name, kind }, 'plugin loaded, which was refused before')
      for (const { name, temporary, step, reason } of left)
        if (temporary) log.error({ plugin: name, step }, `plugin still refused, tried again later: ${reason}`)
    }
  }
  run().catch((error: unknown) => log.error({ err: error }, 'refused plugins are not tried again: restart the server'))
  return { stop: () => stopping.abort() }
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
