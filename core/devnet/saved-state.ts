import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeRoot, devnetRoot } from '../base/layout.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { anvilBinary } from './anvil.ts'

/** Left by a server that was killed while it wrote; a newer file may still be written by another server. */
const abandonedAfterMs = 60 * 60 * 1000

/** The state in `folder` for these inputs, if any. It may be damaged, which gzip's checksum shows when it is unpacked. */
export async function readSavedState(folder: string, inputs: string): Promise<Buffer | undefined> {
  const file = stateFile(folder, inputs)
  const state = await readFile(file).catch(() => undefined)
  // What is used stays: the one that most servers load may be the oldest. Another server may have removed it meanwhile.
  const now = new Date()
  if (state) await utimes(file, now, now).catch(() => {})
  return state
}

/** So many states are kept: servers of several versions, or with several plugins, may share a folder. */
const keptStates = 3

/** Saves a state and removes all but those that were saved or loaded last. A process that is killed meanwhile leaves no incomplete state. */
export async function saveState(folder: string, inputs: string, state: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeWholeFile(stateFile(folder, inputs), state)
  const files = (await readdir(folder)).map((name) => path.join(folder, name))
  for (const file of files) if (file.endsWith('.tmp') && (await ageMs(file)) > abandonedAfterMs) await rm(file, { force: true })
  const states = files.filter((file) => file.endsWith('.json.gz'))
  const ages = new Map(await Promise.all(states.map(async (file) => [file, await ageMs(file)] as const)))
  for (const file of states.toSorted((a, b) => (ages.get(a) ?? 0) - (ages.get(b) ?? 0)).slice(keptStates)) await rm(file, { force: true })
}

function stateFile(folder: string, inputs: string): string {
  return path.join(folder, `${inputs}.json.gz`)
}

/** 0 for a file that is gone meanwhile. */
async function ageMs(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  return found === undefined ? 0 : Date.now() - found.mtimeMs
}

// The files of this folder that determine what is deployed; the others only run it.
const builders = ['anvil', 'build-state']

/** A hash of everything that determines the deployed state: the devnet files of plugins and kits, the code that builds the state, anvil. */
export async function inputsHash(devnetFiles: readonly string[]): Promise<string> {
  const root = fileURLToPath(devnetRoot() ?? codeRoot)
  const kits = (await readdir(path.join(root, 'kits'), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== 'artifacts')
    .map((entry) => path.join(entry.parentPath, entry.name))
  const pluginFolders = [...new Set(devnetFiles.map((file) => path.dirname(file)))]
  const parts = await Promise.all([
    hashOf(path.join(root, 'core', 'devnet'), (name) => builders.includes(path.parse(name).name)),
    ...devnetFiles.map((file) => hashOf(file)),
    ...[...kits, ...pluginFolders].map((folder) => hashOf(folder, isDevnetPart)),
  ])
  return digest(anvilBinary().version, ...parts.toSorted())
}

function isDevnetPart(name: string): boolean {
  return name.startsWith('devnet') || name === 'artifacts'
}

/** The hash of a file's content, or of a folder's names and contents without the folder's own name. */
async function hashOf(place: string, wanted: (name: string) => boolean = () => true): Promise<string> {
  if (!(await stat(place)).isDirectory()) return digest(await readFile(place))
  const names = (await readdir(place)).filter(wanted).toSorted()
  const contents = await Promise.all(names.map((name) => hashOf(path.join(place, name))))
  return digest(...names, ...contents)
}

/** The lengths keep ['ab', 'c'] and ['a', 'bc'] apart. */
function digest(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:`).update(part)
  return hash.digest('hex').slice(0, 32)
}
