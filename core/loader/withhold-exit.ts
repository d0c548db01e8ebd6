import { pluginOfStack, type PluginFolder } from './plugin-of-stack.ts'

/**
 * Makes `process.exit` throw where a plugin or one of its packages calls it: it would take every other plugin's requests
 * and the server with it, and with 0 no supervisor would start it again.
 * @returns a function that gives the old one back
 */
export function withholdExit(plugins: () => readonly PluginFolder[]): () => void {
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
