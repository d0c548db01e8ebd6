import { randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'

const abandonedAfterMs = 60 * 60 * 1000

/** The state in `folder` for these inputs, if any. It may be damaged: gzip's checksum shows that to whoever unpacks it. */
export async function readKeptState(folder: string, inputs: string): Promise<Buffer | undefined> {
  return readFile(stateFile(folder, inputs)).catch(() => undefined)
}

/** Keeps a state in place of those of other inputs. Whoever is killed in between leaves nothing that is taken for one. */
export async function keepState(folder: string, inputs: string, state: Buffer): Promise<void> {
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
