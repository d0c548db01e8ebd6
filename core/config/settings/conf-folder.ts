import { readdirSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { nearest } from '../checks/nearest.ts'

const files = ['server.yml', 'ssl.yml', 'clients.yml']
const folders = ['chains', 'connectors', 'tokens']

/** A warning for whatever lies in the conf folder as if it set something, and is not read. */
export function confFolderWarnings(folder: string): string[] {
  const entries = entriesOf(folder)
  if (entries === undefined) {
    return [
      `There is no folder ${folder}: everything has its default. Go to Sluice's folder, or name the conf folder by --conf or SLUICE_CONF.`,
    ]
  }
  return entries
    .filter((entry) => !files.includes(entry.name) && !folders.includes(entry.name))
    .flatMap((entry) => {
      const near = nearest(entry.name, entry.isDirectory() ? folders : files)
      const looksRead = entry.isDirectory() ? near !== undefined : /\.(ya?ml|json)$/i.test(entry.name)
      if (!looksRead || entry.name.startsWith('.')) return []
      return [notRead(join(folder, entry.name), near)]
    })
}

/** A warning for each file of `chains/` and `connectors/` that belongs to no plugin: its name is probably misspelt. */
export function pluginFileWarnings(confDir: string, plugins: { chains: readonly string[]; connectors: readonly string[] }): string[] {
  return (['chains', 'connectors'] as const).flatMap((folder) =>
    (entriesOf(join(confDir, folder)) ?? [])
      .filter(({ name }) => /\.(ya?ml|json)$/i.test(name) && !plugins[folder].some((plugin) => name === `${plugin}.yml`))
      .map(({ name }) =>
        notRead(
          join(confDir, folder, name),
          nearest(
            name,
            plugins[folder].map((plugin) => `${plugin}.yml`),
          ),
        ),
      ),
  )
}

function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return undefined
  }
}

function notRead(path: string, near: string | undefined): string {
  return `${path} is not read.${near === undefined ? '' : ` Did you mean ${near}?`}`
}
