// Callers are not shown where on its machine the server lies: a path within its folders is shown from there on.
import { homedir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Settings } from './settings.ts'
import { codeRoot } from '../base/layout.ts'

type Folders = Pick<Settings, 'home' | 'confDir' | 'data'> & {
  ssl: Pick<Settings['ssl'], 'certsDir'>
  plugins: Pick<Settings['plugins'], 'folders'>
}

/** Not within a longer path or a URL, and a whole name. */
const alone = (folder: string) => `(?<![\\w./:~-])${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w.-])`

/**
 * Makes a function that takes these folders out of a text, such as the JSON of an answer: `/srv/sluice/data/archive` becomes `data/archive`. Other
 * paths stay: messages are made of what the server itself reads and writes.
 */
export function pathsHider({ home, confDir, data, ssl, plugins }: Folders): (text: string) => string {
  const named = new Map([
    ...[homedir(), fileURLToPath(codeRoot), home].map((folder): [string, string] => [path.resolve(folder), '.']),
    ...plugins.folders.map((folder): [string, string] => [path.resolve(folder), path.basename(folder)]),
    [path.resolve(ssl.certsDir), 'certs'],
    [path.resolve(confDir), 'conf'],
    [path.resolve(data.dir), 'data'],
  ])
  // The root itself is everybody's.
  const known = [...named].filter(([folder]) => path.dirname(folder) !== folder).toSorted(([one], [other]) => other.length - one.length)
  const patterns = known.map(([folder, name]) => ({
    folder,
    name,
    pattern: new RegExp(alone(folder), 'g'),
    within: new RegExp(`${alone(folder)}/`, 'g'),
  }))
  return (text) => {
    let shown = text
    for (const { folder, name, pattern, within } of patterns)
      if (shown.includes(folder)) shown = shown.replace(within, name === '.' ? '' : `${name}/`).replace(pattern, name)
    return shown
  }
}
