import { type ChildProcess, spawn } from 'node:child_process'
import inspector from 'node:inspector'
import { fileURLToPath } from 'node:url'
import { isStoppedProcess } from '../base/blocked-loop.ts'
import { refuseCoreFiles, withoutCoreFiles } from '../base/core-files.ts'
import { programUrl } from '../base/layout.ts'
import { giveSecret } from '../keys/passphrase.ts'

const firstBackoffMs = 100
const maxBackoffMs = 10_000
/** The backoff starts anew after a process that ran this long. */
const stableAfterMs = 30_000

/**
 * A process is asked for a sign of life at every beat. What counts are beats without one, not seconds: when the machine sleeps or this
 * process is stopped, the beats stop too. A process that was stopped (SIGSTOP, a debugger) does nothing by itself any more. One that runs
 * may be slow, because the machine is: it gets longer, and after each kill twice as long, so that a busy machine kills none in a loop.
 */
const beatMs = 250
const stoppedAfterBeats = 6
const silentAfterBeats = 20
const firstPatienceBeats = 60
const maxPatienceBeats = 240

interface SupervisedProcess {
  /**
   * Drops the message while the process is down: `onExit` was or will be called.
   * @param secret goes before it, by a pipe of its own
   * @param onWritten the secret may be wiped: it is in the pipe, or never will be
   */
  send(message: object, secret?: Uint8Array, onWritten?: () => void): void
  /** Closes the channel, at which the process must end, and waits for that. After the grace period it is killed. */
  stop(graceMs: number): Promise<void>
}

interface SuperviseOptions {
  /** A file of this folder, without its extension. */
  module: string
  /** Names of further variables of the environment that it inherits: those that its sources of keys declare. */
  variables?: readonly string[]
  /** What to do with a process that was stopped, but did not end. The keeper has what nobody else has, so it is continued. */
  whenStopped: 'kill' | 'continue'
  onMessage(message: unknown): void
  /** The process gives no sign of life. It answers again (`onAnswering`), or it is killed (`onExit`). */
  onSilent(): void
  onAnswering(): void
  /** The process ended, by itself or because it hung. It will be started again. No message of it comes any more. */
  onExit(reason: string): void
  onRestart(): void
}

/** Forks a process and starts it again, with growing pauses, whenever it ends. One that hangs is killed, and then started again. */
export function supervise({
  module,
  variables = [],
  whenStopped,
  onMessage,
  onSilent,
  onAnswering,
  onExit,
  onRestart,
}: SuperviseOptions): SupervisedProcess {
  let child: ChildProcess | undefined
  let stopping = false
  let ended = Promise.resolve()
  let restart: NodeJS.Timeout | undefined
  let backoffMs = firstBackoffMs
  let patienceBeats = firstPatienceBeats

  const launch = (): void => {
    const startedAtMs = performance.now()
    const launched = forkModule(module, variables)
    child = launched
    let hung: string | undefined
    const heartbeat = watchHeartbeat(launched, {
      whenStopped,
      patienceBeats,
      onSilent,
      onAnswering,
      onHung(seconds) {
        hung = `it gave no answer for ${seconds} s and was killed`
        patienceBeats = Math.min(patienceBeats * 2, maxPatienceBeats)
      },
    })
    launched.on('message', (message) => {
      // What one that ended had still written is of no use to anybody.
      if (child === launched && !heartbeat.heard(message)) onMessage(message)
    })
    ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        if (child !== launched) return
        child = undefined
        heartbeat.stop()
        resolve()
        if (stopping) return
        if (performance.now() - startedAtMs > stableAfterMs) {
          backoffMs = firstBackoffMs
          if (hung === undefined) patienceBeats = firstPatienceBeats
        }
        restart = setTimeout(() => {
          launch()
          onRestart()
        }, backoffMs)
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
        onExit(hung ?? reason)
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
    send(message, secret, onWritten) {
      if (child && secret) giveSecret(child, secret, onWritten)
      else onWritten?.()
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

interface HeartbeatOptions extends Pick<SuperviseOptions, 'whenStopped' | 'onSilent' | 'onAnswering'> {
  patienceBeats: number
  /** It is killed now. */
  onHung(seconds: number): void
}

interface PingMessage {
  readonly type: 'ping'
  /** A debugger is attached to who sends it, and may pause it for as long as somebody thinks. */
  readonly beingDebugged?: true
}

const ping = (): PingMessage => ({ type: 'ping', ...(inspector.url() !== undefined && { beingDebugged: true }) })
const pong = { type: 'pong' }

const isPing = (message: unknown): message is PingMessage => isOf(message, 'ping')

const isOf = (message: unknown, type: string): boolean => message instanceof Object && 'type' in message && message.type === type

/** Asks a process for signs of life, and kills it when it gives none. Until its first one it is loading its modules. */
function watchHeartbeat(launched: ChildProcess, { whenStopped, patienceBeats, onSilent, onAnswering, onHung }: HeartbeatOptions) {
  /** Since its last sign of life. */
  let beats = 0
  let isSilent = false
  let hasAnswered = false

  const beat = (): void => {
    if (!launched.connected || launched.pid === undefined) return
    if (beats === 0) launched.send(ping(), () => {})
    beats += 1
    if (beats < stoppedAfterBeats) return
    const isStopped = isStoppedProcess(launched.pid)
    if (!isSilent && hasAnswered && (isStopped || beats >= silentAfterBeats)) {
      isSilent = true
      onSilent()
    }
    if (isStopped && whenStopped === 'continue') launched.kill('SIGCONT')
    if ((isStopped && whenStopped === 'kill') || beats >= (hasAnswered ? patienceBeats : maxPatienceBeats)) {
      stop()
      onHung((beats * beatMs) / 1000)
      launched.kill('SIGKILL')
    }
  }
  const timer = setInterval(beat, beatMs).unref()
  const stop = () => clearInterval(timer)

  return {
    /** Any message is a sign of life. @returns whether it was nothing else */
    heard(message: unknown): boolean {
      beats = 0
      hasAnswered = true
      if (isSilent) onAnswering()
      isSilent = false
      return isOf(message, pong.type)
    },
    stop,
  }
}

/** The variables that a child inherits: no secret of the server, no NODE_OPTIONS. The last one is for measuring coverage. */
const inheritedVariables = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'TZ', 'NODE_V8_COVERAGE']

/** SIGUSR1 opens no debugger, from the first instant where this Node has the option, and else from before the process loads its modules. */
const withoutDebugger = process.allowedNodeEnvironmentFlags.has('--disable-sigusr1')
  ? ['--disable-sigusr1']
  : ['--import', `data:text/javascript,process.on('SIGUSR1',()=>{})`]

/**
 * Forks a module of this folder as a process, in the form that this one runs in: source (through tsx) or bundled. A crash of it leaves no core file.
 * @param variables names of what it inherits beside the usual ones. They are its arguments, so that it can hand them on
 */
export function forkModule(module: string, variables: readonly string[] = []): ChildProcess {
  const { url, flags } = programUrl(`core/wallet/${module}`)
  const [program, args] = withoutCoreFiles(process.execPath, [...withoutDebugger, ...flags, fileURLToPath(url), ...variables])
  return spawn(program, args, {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => inheritedVariables.includes(name) || variables.includes(name))),
    serialization: 'advanced',
    // Node's flags are not inherited either: a debugger or heap dump of the server must not reach the keys.
    // The last is the pipe for what must not be in a message: `secretDescriptor`.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'],
  })
}

interface ServeOptions {
  /** All but the heartbeat, which comes four times a second and needs no check. */
  onMessage(message: unknown): void
  /** The parent gave a sign of life. */
  onPing?(beingDebugged: boolean): void
  onParentGone(): void
}

/**
 * Makes this process answer its parent's heartbeat, end when its parent does, and ignore signals. Ctrl-C and a service manager's SIGTERM go to the whole process
 * group, but the server still needs its signer while it drains. SIGUSR1 would open Node's debugger, through which any process of the
 * same user could read the keys.
 */
export function serveParent({ onMessage, onPing, onParentGone }: ServeOptions): void {
  refuseCoreFiles()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {})
  // One that was opened before this process could ignore the signal.
  if (inspector.url() !== undefined) inspector.close()
  process.on('message', (message) => {
    if (!isPing(message)) return onMessage(message)
    tellParent(pong)
    onPing?.(message.beingDebugged === true)
  })
  process.on('disconnect', onParentGone)
  // The parent may have ended while this process was loading its modules. Then nobody heard the event.
  if (!process.connected) onParentGone()
}

/** Sends to the process that forked this one. Errors are ignored: when the parent is gone, `disconnect` follows. */
export function tellParent(message: object): void {
  process.send?.(message, undefined, undefined, () => {})
}
