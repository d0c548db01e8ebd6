import { type ChildProcess, fork } from 'node:child_process'
import inspector from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { inSource, moduleUrl } from '../layout.ts'

const firstBackoffMs = 100
const maxBackoffMs = 10_000
/** The backoff starts anew after a process that ran this long. */
const stableAfterMs = 30_000

interface SupervisedProcess {
  /** Drops the message while the process is down: `onExit` was or will be called. */
  send(message: object): void
  /** Closes the channel, at which the process must end, and waits for that. After the grace period it is killed. */
  stop(graceMs: number): Promise<void>
}

interface SuperviseOptions {
  /** A file of this folder, without its extension. */
  module: string
  onMessage(message: unknown): void
  /** The process ended by itself. It will be started again. */
  onExit(reason: string): void
  onRestart(): void
}

/** Forks a process and starts it again, with growing pauses, whenever it ends. */
export function supervise({ module, onMessage, onExit, onRestart }: SuperviseOptions): SupervisedProcess {
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
        if (performance.now() - startedAtMs > stableAfterMs) backoffMs = firstBackoffMs
        restart = setTimeout(() => {
          launch()
          onRestart()
        }, backoffMs)
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
        onExit(reason)
      }
      launched.once('exit', (code, signal) => end(signal ? `signal ${signal}` : `exit code ${code}`))
      // Without a pid the process never started and emits no exit. Other errors here are messages that were not delivered.
      launched.on('error', (error) => {
        if (launched.pid === undefined) end(error.message)
      })
    })
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

/** The variables that a child inherits: no secret of the server, no NODE_OPTIONS. The last one is for measuring coverage. */
const inheritedVariables = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'TZ', 'NODE_V8_COVERAGE']

/** SIGUSR1 opens no debugger, from the first instant where this Node has the option, and else from before the process loads its modules. */
const withoutDebugger = process.allowedNodeEnvironmentFlags.has('--disable-sigusr1')
  ? ['--disable-sigusr1']
  : ['--import', `data:text/javascript,process.on('SIGUSR1',()=>{})`]

/** Forks a module of this folder as a process, in the form that this one runs in: source (through tsx) or bundled. */
export function forkModule(module: string): ChildProcess {
  return fork(fileURLToPath(moduleUrl(`core/wallet/${module}`)), [], {
    execArgv: [...withoutDebugger, ...(inSource ? ['--import', import.meta.resolve('tsx/esm')] : [])],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => inheritedVariables.includes(name))),
    serialization: 'advanced',
    // Node's flags are not inherited either: a debugger or heap dump of the server must not reach the keys.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}

/**
 * Makes this process end when its parent does, and ignore signals. Ctrl-C and a service manager's SIGTERM go to the whole process
 * group, but the server still needs its signer while it drains. SIGUSR1 would open Node's debugger, through which any process of the
 * same user could read the keys.
 */
export function exitWithParent(onParentGone: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  // One that was opened before this process could ignore the signal.
  if (inspector.url() !== undefined) inspector.close()
  process.on('disconnect', onParentGone)
  // The parent may have ended while this process was loading its modules. Then nobody heard the event.
  if (!process.connected) onParentGone()
}

/** Sends to the process that forked this one. Errors are ignored: when the parent is gone, `disconnect` follows. */
export function tellParent(message: object): void {
  process.send?.(message, undefined, undefined, () => {})
}
