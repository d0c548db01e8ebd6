import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const firstBackoffMs = 100
const longestBackoffMs = 10_000
/** A process that ran this long was well: the next restart is quick again. */
const wellAfterMs = 30_000

interface SupervisedProcess {
  /** Messages to a process that is not there are dropped: `onDown` was or will be called. */
  send(message: object): void
  /** Ends the process (it must end when its channel closes; after the grace it is killed) and waits for it. */
  stop(graceMs: number): Promise<void>
}

interface SuperviseOptions {
  /** A file of this folder, without its extension. */
  module: string
  onMessage(message: unknown): void
  /** The process ended by itself; it will be started again. */
  onExit(reason: string): void
  /** It was started again. */
  onRestart(): void
}

/** Forks a process and starts it again, with growing pauses, whenever it ends. */
export function supervise({ module, onMessage, onExit: onDown, onRestart: onAgain }: SuperviseOptions): SupervisedProcess {
  let child: ChildProcess | undefined
  let stopping = false
  let ended = Promise.resolve()
  let restart: NodeJS.Timeout | undefined
  let backoffMs = firstBackoffMs

  const launch = (): void => {
    const startedAtMs = performance.now()
    const launched = forkModule(module)
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

/** All that a child gets of the environment: no secret of the server's, no NODE_OPTIONS. The last is how coverage is measured. */
const passedOn = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'TZ', 'NODE_V8_COVERAGE']

/** Forks a module of this folder as a process of its own, in the form that this one runs in: source (through tsx) or compiled. */
export function forkModule(module: string): ChildProcess {
  const extension = path.extname(fileURLToPath(import.meta.url))
  const entry = fileURLToPath(new URL(`./${module}${extension}`, import.meta.url))
  return fork(entry, [], {
    execArgv: extension === '.ts' ? ['--import', import.meta.resolve('tsx/esm')] : [],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => passedOn.includes(name))),
    serialization: 'advanced',
    // A debugger or a heap dump that the server was started with must not reach the keys: flags are not inherited either.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

/**
 * How the processes beside the server behave: they end when the server does and on nothing else that is polite.
 * Ctrl-C and a service manager's SIGTERM go to the whole group; the server still needs its signer while it drains.
 * SIGUSR1 would open Node's debugger, through which any process of the same user could read the keys.
 */
export function exitWithParent(onServerGone: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  process.on('disconnect', onServerGone)
  // It may have ended while this process was still loading its modules: nobody heard that event.
  if (!process.connected) onServerGone()
}

/** To the process that forked this one. When it is gone there is nobody to tell: `disconnect` follows. */
export function tellParent(message: object): void {
  process.send?.(message, undefined, undefined, () => {})
}
