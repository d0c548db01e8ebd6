import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { threadUrl } from '../../base/layout.ts'
import type { PluginFolder } from './uncaught.ts'

export interface WatchdogData {
  /** Heartbeats of the main thread, then whether a debugger is attached. */
  shared: Int32Array
  beatMs: number
  beatsPerStall: number
  stallSeconds: number
  /** It says which function loops, and leaves the process to whoever watches it. */
  saysOnly: boolean
}

interface Watchdog {
  /** Tells the watchdog which plugins may be at fault. */
  watch(plugins: readonly PluginFolder[]): void
  stop(): Promise<void>
}

const beatsPerStall = 20

/** How a line begins that says which function loops. */
export const loopWords = 'endless loop in '

/** Which function a process said to loop in, last. */
export const loopIn = (said: string): string | undefined =>
  said
    .split('\n')
    .findLast((line) => line.startsWith(loopWords))
    ?.slice(loopWords.length, 300)

/**
 * Starts a thread that ends the process when the event loop has been blocked for `stallSeconds`, for the supervisor to start it again:
 * nothing else helps against an endless loop in a plugin. The thread logs one line first, with the plugin and the function that were
 * running. An attached debugger switches the watchdog off.
 */
export function startWatchdog({ stallSeconds, saysOnly = false }: { stallSeconds: number; saysOnly?: boolean }): Watchdog {
  const beatMs = Math.max(20, (stallSeconds * 1000) / beatsPerStall)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const data: WatchdogData = { shared, beatMs, beatsPerStall, stallSeconds, saysOnly }
  const worker = new Worker(threadUrl('core/plugins/code/watchdog-thread'), { workerData: data, execArgv: [] })
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
