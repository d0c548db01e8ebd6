import { pluginOfStack, type PluginFolder } from './plugin-of-stack.ts'

export interface BackgroundFailure {
  /** Undefined where nothing says whose it is. */
  readonly plugin: string | undefined
  readonly what: 'rejection' | 'exception'
  readonly thrown: unknown
}

export interface BackgroundOptions {
  /** Asked each time: plugins are loaded after this is set up. */
  plugins(): readonly PluginFolder[]
  /** Logs and counts what was survived. */
  survived(failure: BackgroundFailure): void
  /** The server's own defect: logs it and ends the process. */
  fatal(thrown: unknown): void
}

/** Outgoing connections: what the owner of a socket without an 'error' listener is killed by. */
const connectionCalls = new Set(['connect', 'read', 'write', 'getaddrinfo', 'shutdown'])

/**
 * Takes what nobody catches. A rejection is never fatal. An exception is survived when a plugin is to blame: its
 * folder is in the stack; or what was thrown is no Error, which this server never throws; or it is the error of a
 * connection with none of the server's frames, which has one listener too few. Any other is fatal.
 * @returns a function that takes the listeners away again
 */
export function watchBackgroundFailures(options: BackgroundOptions): () => void {
  const onRejection = (thrown: unknown) => options.survived({ plugin: blamed(thrown, options.plugins()), what: 'rejection', thrown })
  const onException = (thrown: unknown) => {
    const plugin = blamed(thrown, options.plugins())
    if (plugin !== undefined || isForeign(thrown)) options.survived({ plugin, what: 'exception', thrown })
    else options.fatal(thrown)
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

function blamed(thrown: unknown, plugins: readonly PluginFolder[]): string | undefined {
  return thrown instanceof Error && typeof thrown.stack === 'string' ? pluginOfStack(thrown.stack, plugins) : undefined
}

function isForeign(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return true
  const isConnection = 'syscall' in thrown && typeof thrown.syscall === 'string' && connectionCalls.has(thrown.syscall)
  return isConnection && !/(file:|[(\s]\/)/.test((thrown.stack ?? '').split('\n').slice(1).join('\n'))
}
