import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { threadHere } from './code-layout.ts'
import type { PluginFolder } from './uncaught.ts'
import type { WatchdogData } from './watchdog-thread.ts'

interface Watchdog {
  /** The plugins that may be found to be at fault. */
  watch(plugins: readonly PluginFolder[]): void
  stop(): Promise<void>
}

const beatsPerStall = 20

/**
 * A thread that ends the process when the event loop has stood still for that long, for the supervisor to start it
 * again: nothing else helps against a plugin's endless loop. It writes one line of log first, with the plugin and the
 * function that were running. A debugger that is attached switches it off.
 */
export function startWatchdog({ stallSeconds }: { stallSeconds: number }): Watchdog {
  const beatMs = Math.max(20, (stallSeconds * 1000) / beatsPerStall)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const data: WatchdogData = { shared, beatMs, beatsPerStall, stallSeconds }
  const worker = new Worker(threadHere('watchdog-thread'), { workerData: data, execArgv: [] })
  worker.unref()
  const beat = setInterval(() => {
    Atomics.add(shared, 0, 1)
    Atomics.store(shared, 1, inspector.url() === undefined ? 0 : 1)
  }, beatMs)
  beat.unref()
  return {
    watch: (plugins) => worker.postMessage(plugins.map(({ name, folder }) => ({ name, folder }))),
    stop: async () => {
      clearInterval(beat)
      await worker.terminate()
    },
  }
}
