import { randomUUID, createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { anvilBinary } from './anvil.ts'

const abandonedAfterMs = 60 * 60 * 1000

/** The state in `folder` for these inputs, if any. It may be damaged: gzip's checksum shows that to whoever unpacks it. */
export async function readSavedState(folder: string, inputs: string): Promise<Buffer | undefined> {
  return readFile(stateFile(folder, inputs)).catch(() => undefined)
}

/** Keeps a state in place of those of other inputs. Whoever is killed in between leaves nothing that is taken for one. */
export async function saveState(folder: string, inputs: string, state: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true })
  const unfinished = path.join(folder, `${inputs}.${randomUUID()}.tmp`)
  await writeFile(unfinished, state)
  await rename(unfinished, stateFile(folder, inputs))
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    const outdated = name.endsWith('.json.gz') && file !== stateFile(folder, inputs)
    if (outdated || (name.endsWith('.tmp') && (await isAbandoned(file)))) await rm(file, { force: true })
  }
}

function stateFile(folder: string, inputs: string): string {
  return path.join(folder, `${inputs}.json.gz`)
}

/** Of a server that was killed while it wrote; another one's may still be on the way. */
async function isAbandoned(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs
}

const ownFolder = fileURLToPath(new URL('.', import.meta.url))
// Those of this folder that what is deployed follows from; the others only run it.
const builders = ['anvil', 'build-state']
const kitsFolder = fileURLToPath(new URL('../../kits/', import.meta.url))

/** A name for everything that the deployed state follows from: the plugins' and kits' devnet files, what builds with them, anvil. */
export async function inputsHash(devnetFiles: readonly string[]): Promise<string> {
  const kits = (await readdir(kitsFolder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== 'artifacts')
    .map((entry) => path.join(entry.parentPath, entry.name))
  const pluginFolders = [...new Set(devnetFiles.map((file) => path.dirname(file)))]
  const parts = await Promise.all([
    hashOf(ownFolder, (name) => builders.includes(path.parse(name).name)),
    ...devnetFiles.map((file) => hashOf(file)),
    ...[...kits, ...pluginFolders].map((folder) => hashOf(folder, isDevnetPart)),
  ])
  return digest(anvilBinary().version, ...parts.toSorted())
}

function isDevnetPart(name: string): boolean {
  return name.startsWith('devnet') || name === 'artifacts'
}

/** Of a file's content, or of a folder's names and contents, whatever the folder itself is called. */
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
