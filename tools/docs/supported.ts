import { readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from '../../core/contracts/index.ts'

const folder = fileURLToPath(new URL('../../plugins', import.meta.url))
const localNetwork = 'local'

/** The exchanges and chains of the built-in plugins, by their manifests. */
export async function supportedTable(): Promise<string> {
  const plugins = await loadPlugins()
  const chains = plugins.filter(({ kind }) => kind === 'chain').map(({ manifest }) => manifest.name)
  const rows = plugins
    .filter(({ kind }) => kind === 'connector')
    .map(({ manifest: { name, trading_type: types, available_networks: networks } }) => {
      const outside = networks.filter((each) => each.networks.some((network) => network !== localNetwork))
      return `| ${name} | ${types.join(', ')} | ${outside.map(({ chain }) => chain).join(', ')} |`
    })
  return ['| exchange | interfaces | chains |', '|---|---|---|', ...rows, '', `Chains: ${chains.join(', ')}.`].join('\n')
}

async function loadPlugins(): Promise<Plugin[]> {
  const names = readdirSync(folder).toSorted()
  const modules = await Promise.all(names.map((name) => import(pathToFileURL(path.join(folder, name, 'index.ts')).href)))
  return modules.map(({ default: plugin }) => plugin as Plugin)
}
