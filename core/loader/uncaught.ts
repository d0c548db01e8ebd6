import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import type { Metrics } from '../http/metrics.ts'
import type { LoadedPlugin } from './loaded-plugin.ts'

interface BackgroundFailure {
  /** Undefined where nothing says whose it is. */
  readonly plugin: string | undefined
  readonly what: 'rejection' | 'exception'
  readonly thrown: unknown
}

interface BackgroundOptions {
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

/**
 * What nobody catches: a plugin's is logged, counted and survived; one of our own is logged and ends the process.
 * Plugins end no process.
 */
export function backgroundFailures(
  { log, metrics }: { log: Logger; metrics: Metrics },
  plugins: () => readonly LoadedPlugin[],
): () => void {
  const allowExit = blockProcessExit(plugins)
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

/**
 * Makes `process.exit` throw where a plugin or one of its packages calls it: it would take every other plugin's requests
 * and the server with it, and with 0 no supervisor would start it again.
 * @returns a function that gives the old one back
 */
export function blockProcessExit(plugins: () => readonly PluginFolder[]): () => void {
  const { exit } = process
  process.exit = (code) => {
    const plugin = pluginOfStack(new Error('process.exit').stack ?? '', plugins())
    if (plugin === undefined) return exit.call(process, code)
    throw new Error(`The plugin '${plugin}' called process.exit(${code ?? ''}): a plugin throws when it cannot go on.`)
  }
  return () => {
    process.exit = exit
  }
}

export interface PluginFolder {
  readonly name: string
  readonly folder: string
}

/** The plugin in whose folder a stack (or a script's URL) lies, its own packages included. */
export function pluginOfStack(stack: string, plugins: readonly PluginFolder[]): string | undefined {
  return plugins.find(({ folder }) => stack.includes(folderUrl(folder)) || stack.includes(folder + path.sep))?.name
}

/** The folder's URL, ending with a slash. */
export function folderUrl(folder: string): string {
  return `${pathToFileURL(folder).href}/`
}
