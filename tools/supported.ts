// `npm run supported`: writes the table of exchanges and chains in README.md, from the manifests of the plugins. A test compares it.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from '../core/contracts/index.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = path.join(root, 'README.md')
const [begin, end] = ['<!-- supported: written by npm run supported -->', '<!-- /supported -->']
const localNetwork = 'local'

/** The page with the table of today's plugins between its two marks. */
export async function withSupported(markdown: string): Promise<string> {
  const [before, after] = [markdown.indexOf(begin), markdown.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`README.md has no "${begin}" followed by "${end}".`)
  return `${markdown.slice(0, before + begin.length)}\n\n${supportedTable(await loadManifests())}\n\n${markdown.slice(after)}`
}

function supportedTable(plugins: readonly Plugin[]): string {
  const chains = plugins.filter(({ kind }) => kind === 'chain').map(({ manifest }) => manifest.name)
  const rows = plugins
    .filter(({ kind }) => kind === 'connector')
    .map(({ manifest: { name, trading_type: types, available_networks: networks } }) => {
      const outside = networks.filter((each) => each.networks.some((network) => network !== localNetwork))
      return `| ${name} | ${types.join(', ')} | ${outside.map(({ chain }) => chain).join(', ')} |`
    })
  return ['| exchange | interfaces | chains |', '|---|---|---|', ...rows, '', `Chains: ${chains.join(', ')}.`].join('\n')
}

async function loadManifests(): Promise<Plugin[]> {
  const folders = readdirSync(path.join(root, 'plugins')).toSorted()
  const modules = await Promise.all(folders.map((name) => import(pathToFileURL(path.join(root, 'plugins', name, 'index.ts')).href)))
  return modules.map(({ default: plugin }) => plugin as Plugin)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(page, await withSupported(readFileSync(page, 'utf8')))
