import { createHash } from 'node:crypto'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { anvilBinary } from './anvil-binary.ts'

const ownFolder = fileURLToPath(new URL('.', import.meta.url))
// Those of this folder that what is deployed follows from; the others only run it.
const builders = ['build-state', 'deployer', 'devnet-site', 'trading-wallets']
const kitsFolder = fileURLToPath(new URL('../kits/', import.meta.url))

/** A name for everything that the deployed state follows from: the plugins' and kits' devnet files, what builds with them, anvil. */
export async function inputsHash(devnetFiles: readonly string[]): Promise<string> {
  const kits = (await readdir(kitsFolder)).map((kit) => path.join(kitsFolder, kit))
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
