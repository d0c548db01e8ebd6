// Which file imports which, and which room may import which: for `npm run measure` and test/architecture/imports.test.ts.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('..', import.meta.url))

/**
 * The rooms of the server, from the lowest level to the highest. A room imports its own files and rooms of lower levels. Rooms of one level do
 * not import each other.
 */
const levels: readonly (readonly string[])[] = [
  ['core/base'],
  ['core/api'],
  ['core/contracts'],
  ['core/keys'],
  ['core/config'],
  ['core/tls', 'core/wallet', 'core/store', 'core/live-state'],
  ['core/transactions'],
  ['core/plugins', 'core/limits'],
  ['core/market'],
  ['core/books'],
  ['core/alerts'],
  ['core/handlers'],
  ['core/events'],
  ['core/http'],
  ['core/devnet'],
  ['core/parts'],
  ['core/kernel.ts'],
  ['core/cli'],
  ['core/main.ts'],
]

/** Rooms that others import by these files alone. */
const doors: Readonly<Record<string, readonly string[]>> = {
  // The plugin-host service is a program of its own, and loads nothing else of the room.
  'core/alerts': ['core/alerts/index.ts'],
  'core/plugins': ['core/plugins/index.ts', 'core/plugins/isolate/service.ts'],
}

/** Every TypeScript file below the folder, or those with other endings, by its path from the root. */
export function filesIn(folder: string, from: string = root, endings: readonly string[] = ['.ts']): string[] {
  if (!existsSync(path.join(from, folder))) return []
  return readdirSync(path.join(from, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.includes(path.extname(entry.name)))
    .map((entry) => path.relative(from, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('node_modules'))
}

/** What the file imports, as it is written there. Imports of types count. */
export function specifiersOf(file: string, from: string = root): string[] {
  const text = readFileSync(path.join(from, file), 'utf8')
  return [...text.matchAll(/(?:\bfrom|\bimport\(|^import) ?'([^']+)'/gm)].map(([, specifier = '']) => specifier)
}

/** The files of the project that the file imports, by their paths from the root. */
export function importsOf(file: string, from: string = root): string[] {
  return specifiersOf(file, from)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => path.normalize(path.join(path.dirname(file), specifier)))
}

/** What is loaded with these files: the project's files, and packages by their names. What is imported when it is needed is not. */
export function loadedWith(files: readonly string[], from: string = root): ReadonlySet<string> {
  const loaded = new Set(files)
  for (const file of loaded) {
    if (path.extname(file) !== '.ts') continue
    const text = readFileSync(path.join(from, file), 'utf8')
    for (const [, specifier = ''] of text.matchAll(/^(?:(?:import|export)\s(?!type\b)[^'"]*?\bfrom|import) '([^']+)'/gm))
      loaded.add(specifier.startsWith('.') ? path.normalize(path.join(path.dirname(file), specifier)) : specifier)
  }
  return loaded
}

/** `core/http/app.ts` → `core/http`, `core/kernel.ts` → itself, `kits/evm/rail.ts` → `kits`. */
export function roomOf(file: string): string {
  const [first = '', second = ''] = file.split(path.sep)
  return first === 'core' ? `core/${second}` : first
}

const levelOf = (room: string): number => levels.findIndex((level) => level.includes(room))

/** Whether a file of one room may import a file of another one. */
export function mayImport(from: string, to: string): boolean {
  if (from === to) return true
  switch (from) {
    case 'plugins': // they import packages and public entry points, which are no relative imports
      return false
    case 'kits':
      return levelOf(to) >= 0 && levelOf(to) <= levelOf('core/contracts')
    case 'client':
      return to === 'core/api'
    case 'dashboard': // types alone
      return to === 'core/api' || to === 'client'
    case 'testkit':
      return to !== 'tools' && to !== 'test'
    case 'tools':
    case 'test':
      return true
  }
  if (levelOf(from) < 0 || levelOf(to) < 0) return false
  return levelOf(to) < levelOf(from)
}

/** `file → imported file` for every import of a room of core by another file than its doors. */
export function importsPastDoors(files: readonly string[], from: string = root): string[] {
  return files.flatMap((file) =>
    importsOf(file, from)
      .filter((target) => roomOf(target) !== roomOf(file) && doors[roomOf(target)]?.includes(target) === false)
      .map((target) => `${file} → ${target}`),
  )
}

/** `file → imported file` for every import that runs upward. */
export function upwardImports(files: readonly string[], from: string = root): string[] {
  return files.flatMap((file) =>
    importsOf(file, from)
      .filter((target) => !mayImport(roomOf(file), roomOf(target)))
      .map((target) => `${file} → ${target}`),
  )
}

/** How many imports close a circle, types counted: on a walk along the imports, those that lead back to a file on the way. */
export function circularImports(files: readonly string[], from: string = root): string[] {
  const known = new Set(files)
  const state = new Map<string, 'on the way' | 'done'>()
  const circular: string[] = []
  const visit = (file: string): void => {
    state.set(file, 'on the way')
    for (const target of new Set(importsOf(file, from).filter((each) => known.has(each)))) {
      if (state.get(target) === 'on the way') circular.push(`${file} → ${target}`)
      else if (!state.has(target)) visit(target)
    }
    state.set(file, 'done')
  }
  for (const file of files) if (!state.has(file)) visit(file)
  return circular
}
