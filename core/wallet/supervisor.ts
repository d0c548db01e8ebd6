import type { ChildProcess } from 'node:child_process'
import { forkBeside } from './signer/fork-beside.ts'

const firstBackoffMs = 100
const longestBackoffMs = 10_000
/** A process that ran this long was well: the next restart is quick again. */
const wellAfterMs = 30_000

export interface KeptProcess {
  /** Messages to a process that is not there are dropped: `onDown` was or will be called. */
  send(message: object): void
  /** Ends the process (it must end when its channel closes; after the grace it is killed) and waits for it. */
  stop(graceMs: number): Promise<void>
}

export interface KeepRunning {
  /** A file of this folder, without its extension. */
  module: string
  onMessage(message: unknown): void
  /** The process ended by itself; it will be started again. */
  onDown(reason: string): void
  /** It was started again. */
  onAgain(): void
}

/** Forks a process and starts it again, with growing pauses, whenever it ends. */
export function keepRunning({ module, onMessage, onDown, onAgain }: KeepRunning): KeptProcess {
  let child: ChildProcess | undefined
  let stopping = false
  let ended = Promise.resolve()
  let restart: NodeJS.Timeout | undefined
  let backoffMs = firstBackoffMs

  const launch = (): void => {
    const startedAtMs = performance.now()
    const launched = forkBeside(module)
    child = launched
    launched.on('message', onMessage)
    ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        if (child !== launched) return
        child = undefined
        resolve()
        if (stopping) return
        if (performance.now() - startedAtMs > wellAfterMs) backoffMs = firstBackoffMs
        restart = setTimeout(relaunch, backoffMs)
        backoffMs = Math.min(backoffMs * 2, longestBackoffMs)
        onDown(reason)
      }
      launched.once('exit', (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code}`))
      // Without a pid it never started and there will be no exit; other errors here are messages that were not delivered.
      launched.on('error', (error) => {
        if (launched.pid === undefined) end(error.message)
      })
    })
  }
  const relaunch = (): void => {
    launch()
    onAgain()
  }

  launch()
  return {
    send(message) {
      child?.send(message, () => {})
    },
    async stop(graceMs) {
      stopping = true
      clearTimeout(restart)
      const last = child
      if (last?.connected) last.disconnect()
      const kill = setTimeout(() => last?.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(kill)
    },
  }
}
