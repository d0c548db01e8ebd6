// What there is of a file that is being exported. It is beside the file, and the same command finds it again.
import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'

/** As long as this process writes it. */
export interface Part {
  readonly file: string
  /** Nothing that was requested later is in it: it began then, in milliseconds since the Unix epoch. */
  readonly begunMs: number
  /** Begins it anew, as an empty file. */
  renew(): Promise<void>
  /** Gives it the name under which the next run finds it. Returns that. */
  release(): Promise<string>
}

/** What was left longer ago is of another occasion: its rows are as transactions were then, and open ones have ended since. */
const maxAgeMs = 3_600_000

/** @param of what makes its content: with anything else in it another file is begun */
export const partOf = (file: string, of: unknown): string =>
  `${file}.${createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 8)}.part`

/**
 * Takes what an earlier run left, or begins: also where it was left more than an hour ago.
 * Two commands never write one file: while one writes it, it has the number of its process in its name.
 * @throws the error of the file system
 */
export async function ownPart(part: string): Promise<Part> {
  const file = `${part}.${process.pid}`
  for (const name of [path.basename(part), ...(await leftByDead(part))]) {
    const isTaken = await rename(path.join(path.dirname(part), name), file).then(
      () => true,
      () => false,
    )
    if (!isTaken) continue
    const { birthtimeMs, mtimeMs } = await stat(file)
    // Some file systems do not know when a file was made, and a copy is made later.
    const begunMs = birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs
    const own = owned(file, part, begunMs)
    if (Date.now() - mtimeMs > maxAgeMs) await own.renew()
    return own
  }
  const own = owned(file, part, Date.now())
  await own.renew()
  return own
}

const owned = (file: string, part: string, begunMs: number): Part => ({
  file,
  begunMs,
  async renew() {
    await rm(file, { force: true })
    await (await open(file, 'wx', 0o600)).close()
  },
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
