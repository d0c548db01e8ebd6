// Tells of saves in a plugin's folder.
import { lstatSync, readdirSync, readFileSync, watch, type FSWatcher } from 'node:fs'
import path from 'node:path'

export interface SourceChange {
  /** Relative to the folder. */
  readonly files: readonly string[]
  /** The folder is not there any more. */
  readonly isGone: boolean
}

/** Editors write one save in several steps, and a save of everything writes several files. */
const settleMs = 60
/** Some file systems, such as volumes, do not tell of changes. */
const lookMs = 1_000

/** Calls back when files of the folder were changed; not for those of packages, tests, and what begins with a dot. */
export function watchSources(folder: string, onChange: (change: SourceChange) => void): { stop(): void } {
  const watchers = new Map<string, FSWatcher>()
  let known = stampsOf(folder)
  let settling: NodeJS.Timeout | undefined

  const soon = (): void => {
    clearTimeout(settling)
    settling = setTimeout(look, settleMs)
  }

  function look(): void {
    const now = stampsOf(folder)
    watchFolders(now)
    const before = known
    known = now
    if (now === undefined) {
      if (before !== undefined) onChange({ files: [], isGone: true })
      return
    }
    const names = new Set([...(before?.files.keys() ?? []), ...now.files.keys()])
    const files = [...names].filter((file) => before?.files.get(file) !== now.files.get(file))
    if (files.length > 0) onChange({ files: files.toSorted(), isGone: false })
  }

  /** By each folder: a file that an editor puts in the place of another one is seen, and packages are not looked into. */
  function watchFolders(stamps: Stamps | undefined): void {
    const wanted = new Set(stamps?.folders)
    for (const [each, watcher] of watchers) {
      if (wanted.has(each)) continue
      watcher.close()
      watchers.delete(each)
    }
    for (const each of wanted) {
      if (watchers.has(each)) continue
      try {
        const watcher = watch(each, soon)
        const forget = (): void => {
          watcher.close()
          if (watchers.get(each) === watcher) watchers.delete(each)
        }
        // A folder that goes away; the system's limit. It is looked at all the same.
        watcher.on('error', forget)
        watchers.set(each, watcher)
      } catch {
        // The same.
      }
    }
  }

  watchFolders(known)
  const looking = setInterval(look, lookMs)
  return {
    stop() {
      clearInterval(looking)
      clearTimeout(settling)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

interface Stamps {
  readonly files: ReadonlyMap<string, string>
  readonly folders: readonly string[]
}

function stampsOf(folder: string): Stamps | undefined {
  const files = new Map<string, string>()
  const folders: string[] = []
  const addFolder = (place: string): void => {
    folders.push(place)
    for (const entry of readdirSync(place, { withFileTypes: true })) {
      const file = path.join(place, entry.name)
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) addFolder(file)
      } else if (isSource(entry.name)) addFile(file)
    }
  }
  const addFile = (file: string): void => {
    try {
      const { size, mtimeMs, ino } = lstatSync(file)
      files.set(path.relative(folder, file), `${size} ${mtimeMs} ${ino}`)
    } catch {
      // It went away meanwhile.
    }
  }
  try {
    addFolder(folder)
    return { files, folders }
  } catch {
    return undefined
  }
}

const isSource = (name: string): boolean => /\.(m?[jt]s|json|ya?ml)$/.test(name) && !name.startsWith('.') && !name.includes('.test.')

/** What the plugin deploys on the devnet: the text of `devnet.ts` and of what it imports, artifacts, and what data says of it. */
export function devnetParts(folder: string): string {
  const parts = new Map<string, string>()
  const follow = (file: string): void => {
    const text = parts.has(file) ? '' : readIfThere(path.join(folder, file))
    if (text === '') return
    parts.set(file, text)
    for (const [, target = ''] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g))
      follow(path.join(path.dirname(file), target))
  }
  for (const each of ['devnet.ts', 'devnet.js']) follow(each)
  const artifacts = [...(stampsOf(path.join(folder, 'artifacts'))?.files ?? [])]
  return JSON.stringify([[...parts], artifacts, /^devnet:.*(?:\n(?![a-zA-Z]).*)*/m.exec(readIfThere(path.join(folder, 'plugin.yml')))?.[0]])
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
