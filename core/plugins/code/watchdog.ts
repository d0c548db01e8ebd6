import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { threadUrl } from '../../base/layout.ts'

export interface WatchdogData {
  /** Heartbeats of the main thread, then whether a debugger is attached. */
  shared: Int32Array
  beatMs: number
  stallSeconds: number
  /** What runs in the process. */
  running: string
}

const beatsPerStall = 20

/**
 * Starts a thread that ends the process when the event loop has been blocked for `stallSeconds`, for the supervisor to start it again: nothing else
 * helps against an endless loop. It is for servers that no keeper of a signer watches (core/wallet/server-watch.ts), and takes 7 MB. An attached
 * debugger switches it off.
 */
export function startWatchdog({ stallSeconds, running }: Pick<WatchdogData, 'stallSeconds' | 'running'>): { stop(): Promise<void> } {
  const beatMs = Math.max(20, (stallSeconds * 1000) / beatsPerStall)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const data: WatchdogData = { shared, beatMs, stallSeconds, running }
  const worker = new Worker(threadUrl('core/plugins/code/watchdog-thread'), { workerData: data, execArgv: [] })
  worker.unref()
  const beat = setInterval(() => {
    Atomics.add(shared, 0, 1)
    Atomics.store(shared, 1, inspector.url() === undefined ? 0 : 1)
  }, beatMs)
  beat.unref()
  return {
    stop: async () => {
      clearInterval(beat)
      await worker.terminate()
    },
  }
}
