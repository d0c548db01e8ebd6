import type { Logger } from 'pino'
import type { Metrics } from '../http/metrics.ts'
import { watchBackgroundFailures } from '../loader/uncaught.ts'
import { withholdExit } from '../loader/withhold-exit.ts'
import { type LoadedPlugin } from '../loader/loaded-plugin.ts'

/**
 * What nobody catches: a plugin's is logged, counted and survived; one of our own is logged and ends the process.
 * Plugins end no process.
 */
export function backgroundFailures(
  { log, metrics }: { log: Logger; metrics: Metrics },
  plugins: () => readonly LoadedPlugin[],
): () => void {
  const allowExit = withholdExit(plugins)
  const stopWatching = watchBackgroundFailures({
    plugins,
    survived({ plugin = 'unknown', what, thrown }) {
      metrics.pluginFaults.inc({ plugin })
      log.error({ plugin, err: thrown }, `nobody handled this ${what} in the background`)
    },
    fatal(thrown) {
      log.fatal({ err: thrown }, 'a defect of the server; it ends so that it is started again')
      process.exit(1)
    },
  })
  return () => {
    stopWatching()
    allowExit()
  }
}
