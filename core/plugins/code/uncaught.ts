import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { placeInStack } from './source-places.ts'
import { fieldOf, isError, readableError } from './thrown.ts'

interface UncaughtOptions {
  /** Asked each time: plugins are loaded after this is set up. */
  plugins(): readonly PluginFolder[]
  log: { error(fields: object, message: string): void; fatal(fields: object, message: string): void }
  /** Counts a fault of a plugin: `unknown` where nothing says whose fault it is. */
  onPluginFault(plugin: string): void
}

/** System calls of outgoing connections: the errors that end a process where a socket has no 'error' listener. */
const connectionCalls = new Set(['connect', 'read', 'write', 'getaddrinfo', 'shutdown'])

/**
 * Handles rejections and exceptions that nobody catches. A rejection never ends the process. An exception does not end it where a plugin is
 * to blame: the plugin's folder is in the stack; or the thrown value is not an Error, which this server never throws; or it is the error of
 * a connection without one of the server's frames, so that a listener is missing. Any other exception is a defect of the server: it is
 * logged, and the process ends for its supervisor to start it again.
 * @returns a function that removes the handlers
 */
export function handleUncaught({ plugins, log, onPluginFault }: UncaughtOptions): () => void {
  const onRejection = (thrown: unknown) => survive(blamedPlugin(thrown, plugins()), 'rejection', thrown)
  const onException = (thrown: unknown) => {
    const plugin = blamedPlugin(thrown, plugins())
    if (plugin !== undefined || isForeign(thrown)) return survive(plugin, 'exception', thrown)
    log.fatal({ err: thrown }, 'uncaught exception of the server, the process ends')
    process.exit(1)
  }
  function survive(plugin = 'unknown', what: 'rejection' | 'exception', thrown: unknown): void {
    onPluginFault(plugin)
    log.error({ plugin, err: readableError(thrown) }, `unhandled ${what} in the background`)
  }
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  return () => {
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

const blamedPlugin = (thrown: unknown, plugins: readonly PluginFolder[]): string | undefined =>
  isError(thrown) ? pluginOfStack(readableError(thrown).stack ?? '', plugins) : undefined

function isForeign(thrown: unknown): boolean {
  if (!isError(thrown)) return true
  const call = fieldOf(thrown, 'syscall')
  const isConnection = typeof call === 'string' && connectionCalls.has(call)
  return isConnection && !/(file:|[(\s]\/)/.test((readableError(thrown).stack ?? '').split('\n').slice(1).join('\n'))
}

/**
 * Writes Node's warnings, such as MaxListenersExceededWarning, into the log, with the plugin that is to blame where the stack tells: as Node prints
 * them they are no lines of JSON.
 * @returns a function that has Node print them again
 */
export function logWarnings({
  plugins,
  log,
}: {
  plugins(): readonly PluginFolder[]
  log: { warn(fields: object, message: string): void }
}): () => void {
  const onWarning = (warning: Error & { readonly code?: string }) => {
    const stack = readableError(warning).stack ?? ''
    const plugin = plugins().find(({ name }) => name === pluginOfStack(stack, plugins()))
    const at = plugin && placeInStack(stack, plugin.folder)
    const { name, code, message } = warning
    log.warn(
      { warning: name, ...(code !== undefined && { code }), ...(plugin && { plugin: plugin.name }), ...(at !== undefined && { at }) },
      message,
    )
  }
  const printing = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', onWarning)
  return () => {
    process.off('warning', onWarning)
    for (const each of printing) process.on('warning', each)
  }
}

/**
 * Makes `process.exit` throw where a plugin or one of its packages calls it: it would end the requests of all other plugins, and after an
 * exit with 0 no supervisor would start the server again.
 * @returns a function that restores `process.exit`
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

/** The plugin whose folder appears in a stack or in a script's URL; its own packages count as the plugin. */
export function pluginOfStack(stack: string, plugins: readonly PluginFolder[]): string | undefined {
  return plugins.find(({ folder }) => stack.includes(folderUrl(folder)) || stack.includes(folder + path.sep))?.name
}

/** The folder's URL, ending with a slash. */
export function folderUrl(folder: string): string {
  return `${pathToFileURL(folder).href}/`
}
