// Loads Sluice's own plugins and copies of one of them: a process can register the loader's hook only once.
import { once } from 'node:events'
import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { findPlugins } from '../../../core/plugins/discover/find.ts'
import { pluginOptions, loadPlugins } from '../../../core/plugins/load.ts'
import { loadSettings } from '../../../core/config/settings.ts'
import { createLog } from '../../../core/config/log.ts'
import { serve } from '../child.ts'
import { makeHome } from '../home.ts'

const plugins = fileURLToPath(new URL('../../../plugins', import.meta.url))
const model = 'sushiswap'

export type PluginsProcess = typeof handlers
const handlers = serve({ load, emptyThread })

/** Milliseconds from the call to all plugins being created, with this many copies of a connector besides the checkout's. */
async function load(copies: number): Promise<{ ms: number; plugins: number }> {
  const home = await makeHome()
  const { folder, confDir } = home
  try {
    for (let index = 0; index < copies; index += 1) await copyPlugin(path.join(folder, 'plugins'), `${model}-${index}`)
    const settings = loadSettings({
      confDir,
      env: {},
      flags: {
        'log.level': 'silent',
        'plugins.folders': [plugins, path.join(folder, 'plugins')].slice(0, copies > 0 ? 2 : 1),
        'data.dir': path.join(folder, 'data'),
      },
    })
    const options = pluginOptions({
      settings,
      plugins: findPlugins(settings.plugins.folders, []),
      log: createLog({ settings }),
      devnetUrl: undefined,
      // What is measured is trials.
      hosts: 'here',
    })
    const startedAt = performance.now()
    const { loaded, refused } = await loadPlugins(options)
    const ms = performance.now() - startedAt
    if (refused[0]) throw new Error(`${refused[0].name} was refused: ${refused[0].reason}`)
    return { ms, plugins: loaded.length }
  } finally {
    await home.remove()
  }
}

async function copyPlugin(parent: string, name: string): Promise<void> {
  const folder = path.join(parent, name)
  await cp(path.join(plugins, model), folder, { recursive: true })
  const entry = path.join(folder, 'index.ts')
  await writeFile(entry, (await readFile(entry, 'utf8')).replace(`name: '${model}'`, `name: '${name}', version: '0.1.0'`))
}

/** Milliseconds that a thread takes that does nothing: what trials cannot go below when each has its own. */
async function emptyThread(): Promise<number> {
  const startedAt = performance.now()
  await once(new Worker('', { eval: true }), 'exit')
  return performance.now() - startedAt
}
