import { readdirSync } from 'node:fs'
import { nearest } from './nearest.ts'

const files = ['server.yml', 'ssl.yml', 'clients.yml']
const folders = ['chains', 'connectors', 'tokens']

/** A warning for whatever lies in the conf folder as if it set something, and is not read. */
export function confFolderWarnings(folder: string): string[] {
  let entries
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch {
    return [`There is no folder ${folder}: everything has its default. Go to Sluice's folder, or name the conf folder by --conf or SLUICE_CONF.`]
  }
  return entries
    .filter((entry) => !files.includes(entry.name) && !folders.includes(entry.name))
    .flatMap((entry) => {
      const near = nearest(entry.name, entry.isDirectory() ? folders : files)
      if (near === undefined && !/\.(ya?ml|json)$/i.test(entry.name)) return []
      return [`${folder}/${entry.name} is not read.${near === undefined ? '' : ` Did you mean ${near}?`}`]
    })
}
