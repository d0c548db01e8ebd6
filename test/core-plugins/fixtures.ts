import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadPluginConfigBy } from '../../core/config/plugin-config.ts'
import type { Log } from '../../core/contracts/index.ts'
import { findPlugins } from '../../core/plugins/discover/find.ts'
import { loadPlugins, type LoadResult } from '../../core/plugins/load.ts'
import { type LoadOptions } from '../../core/plugins/loaded-plugin.ts'

export const fixtures = fileURLToPath(new URL('../fixtures/plugins', import.meta.url))
export const goodPlugins = path.join(fixtures, 'good')
export const brokenPlugins = path.join(fixtures, 'broken')

export interface LogLine {
  level: 'info' | 'warn'
  plugin?: string
  fields: object
  message: string | undefined
}

/** A log that can be read afterwards. */
export function keptLog(plugin?: string): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = []
  const write = (level: 'info' | 'warn') => (fields: object, message?: string) =>
    void lines.push({ level, fields, message, ...(plugin !== undefined && { plugin }) })
  return { log: { info: write('info'), warn: write('warn') }, lines }
}

/** Loads these folders as the server does, with a conf folder that may be empty. Without hosts they are trusted. */
export function load(
  folders: readonly string[],
  options: Partial<LoadOptions> & { confDir?: string; disabled?: readonly string[] } = {},
): Promise<LoadResult> {
  const { confDir = path.join(fixtures, 'no-conf'), disabled = [], hosts = 'here', ...rest } = options
  const plugins = findPlugins(folders, disabled)
  const found = plugins.found.map((plugin) => (plugin.builtIn || hosts !== 'here' ? plugin : { ...plugin, tier: 'trusted' as const }))
  return loadPlugins({
    plugins: { ...plugins, found },
    hosts,
    holders: {},
    budget: { processorMs: 20_000, clockMs: 60_000 },
    configOf: ({ folder, ...plugin }, judge) => loadPluginConfigBy(judge, { ...plugin, pluginFolder: folder, confDir, env: {} }),
    tokensOf: () => [],
    logOf: (name) => keptLog(name).log,
    log: keptLog().log,
    ...rest,
  })
}
