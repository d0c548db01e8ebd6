import path from 'node:path'
import { folderUrl } from './folder-url.ts'

export interface PluginFolder {
  readonly name: string
  readonly folder: string
}

/** The plugin in whose folder a stack (or a script's URL) lies, its own packages included. */
export function pluginOfStack(stack: string, plugins: readonly PluginFolder[]): string | undefined {
  return plugins.find(({ folder }) => stack.includes(folderUrl(folder)) || stack.includes(folder + path.sep))?.name
}
