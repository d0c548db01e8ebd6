// What there is of a file that is being exported. It is beside the file, and the same command finds it again.
import { createHash } from 'node:crypto'
import { open, readdir, rename } from 'node:fs/promises'
import path from 'node:path'

/** As long as this process writes it. */
export interface Part {
  readonly file: string
  /** Gives it the name under which the next run finds it. Returns that. */
  release(): Promise<string>
}

/** @param of what makes its content: with anything else in it another file is begun */
export const partOf = (file: string, of: unknown): string =>
  `${file}.${createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 8)}.part`

/**
 * Takes what an earlier run left, or begins. Two commands never write one file: while one writes it, it has the number of its process in its name.
 * @throws the error of the file system
 */
export async function ownPart(part: string): Promise<Part> {
  const file = `${part}.${process.pid}`
  for (const name of [path.basename(part), ...(await leftByDead(part))]) {
    const isTaken = await rename(path.join(path.dirname(part), name), file).then(
      () => true,
      () => false,
    )
    if (isTaken) return owned(file, part)
  }
  await (await open(file, 'w', 0o600)).close()
  return owned(file, part)
}

const owned = (file: string, part: string): Part => ({
  file,
  async release() {
    await rename(file, part)
    return part
  },
})

/** Of processes that were killed. */
async function leftByDead(part: string): Promise<readonly string[]> {
  const prefix = `${path.basename(part)}.`
  const names = await readdir(path.dirname(part))
  return names.filter(
    (name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)) && !isAlive(Number(name.slice(prefix.length))),
  )
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
