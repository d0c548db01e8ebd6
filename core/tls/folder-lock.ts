import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CertificateError } from './certificate-error.ts'
import { hasCode } from './has-code.ts'

const patienceMs = 15_000
// What is done under the lock takes well under a second; a holder that is older and cannot be asked is gone.
const longestWorkMs = 60_000
// A lock has its holder's name moments after it is made: one that has none for longer is of a process that was killed right then.
const longestNamelessMs = 2_000

/**
 * Runs `work` while no other process writes in `folder`: two `sluice certs revoke` at once must not lose one of the
 * revocations. The lock of a process that was killed is taken over.
 */
export async function withFolderLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = path.join(folder, '.lock')
  await acquire(lock)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function acquire(lock: string): Promise<void> {
  const deadline = Date.now() + patienceMs
  for (;;) {
    try {
      return await writeFile(lock, `${process.pid}@${hostname()}\n`, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (hasCode(error, 'ENOENT'))
        throw new CertificateError(
          `There is no folder ${path.dirname(lock)}: make the certificates first, with "sluice certs init" or "npm start".`,
          { cause: error },
        )
      if (!hasCode(error, 'EEXIST')) throw error
    }
    if (await isAbandoned(lock)) await clearAway(lock)
    else if (Date.now() > deadline) {
      throw new CertificateError(`Another command is writing certificates (${lock}). Try again; if none is running, delete that file.`)
    } else await sleep(20)
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lock, 'utf8'), stat(lock)])
    const [, pid, host] = /^(\d+)@(.*)\n$/.exec(holder) ?? []
    // Only a process of this machine can be asked whether it lives: a container sees other process ids.
    if (pid !== undefined && host === hostname() && !isAlive(Number(pid))) return true
    return Date.now() - mtimeMs > (holder === '' ? longestNamelessMs : longestWorkMs)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/** Of several that find the lock abandoned, renaming lets only one take it away. */
async function clearAway(lock: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`
  try {
    await rename(lock, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { force: true })
}
