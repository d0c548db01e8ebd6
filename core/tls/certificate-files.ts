import { randomUUID } from 'node:crypto'
import { readFile, mkdir, readdir, rename, rm, rmdir, writeFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { pause } from '../async.ts'

/** The files of a certs directory. `issued.pem` holds every client certificate ever made, so that all of them can be listed and revoked. */
export function certificateFiles(certsDir: string) {
  return {
    caCert: path.join(certsDir, 'ca_cert.pem'),
    caKey: path.join(certsDir, 'ca_key.pem'),
    serverCert: path.join(certsDir, 'server_cert.pem'),
    serverKey: path.join(certsDir, 'server_key.pem'),
    clientCert: path.join(certsDir, 'client_cert.pem'),
    clientKey: path.join(certsDir, 'client_key.pem'),
    revoked: path.join(certsDir, 'revoked.pem'),
    issued: path.join(certsDir, 'issued.pem'),
  }
}

/** The files of one certificate: `server`, `client` (the one made in set-up) or a further client's name. */
export function pairFiles(certsDir: string, name: string): { certFile: string; keyFile: string } {
  return { certFile: path.join(certsDir, `${name}_cert.pem`), keyFile: path.join(certsDir, `${name}_key.pem`) }
}

const clientName = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/
// Compared without letter case: on some file systems `Server_key.pem` is `server_key.pem`.
const reservedNames = new Set(['ca', 'server', 'client'])

/** Throws unless `name` can be a further client's name: it becomes a file name and a common name. */
export function checkClientName(name: string): void {
  if (!clientName.test(name)) {
    throw new CertificateError(
      `"${name}" cannot be a client's name: use 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit.`,
    )
  }
  if (reservedNames.has(name.toLowerCase())) {
    throw new CertificateError(`"${name}" is the name of a certificate made in set-up: choose another name for the new client.`)
  }
}

/** Reads a file of a certs directory that has to be there. */
export async function readCertificateFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (!hasErrorCode(cause, 'ENOENT')) throw new CertificateError(`${file} cannot be read: run this as the user who owns it.`, { cause })
    const cure = file.endsWith('ca_key.pem')
      ? "it signs certificates and the list of revoked ones: run this where the CA's key is kept, or put it back"
      : 'make the certificates with "sluice certs init" or "npm start", or correct certsDir in conf/ssl.yml'
    throw new CertificateError(`${file} is not there: ${cure}.`, { cause })
  }
}

/** Something is wrong with the certificates that the operator can put right; the message says how. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

const beingMade = '.staged-incomplete'
const complete = '.staged'

/**
 * Replaces several files of a folder as one: killed at any moment, either none of them is written, or all are as soon as
 * `finishWriting` runs again. Call it under the folder's lock. Files named `*_key.pem` are readable by their owner only.
 */
export async function writeAtomically(folder: string, contents: Readonly<Record<string, string>>): Promise<void> {
  await finishStagedWrite(folder)
  const making = path.join(folder, beingMade)
  await mkdir(making, { mode: 0o700 })
  for (const [name, content] of Object.entries(contents)) {
    await writeFile(path.join(making, name), content, { mode: name.endsWith('_key.pem') ? 0o600 : 0o644, flush: true })
  }
  // From this rename on, the new files count.
  await rename(making, path.join(folder, complete))
  await finishStagedWrite(folder)
}

/** Carries on what a killed `writeTogether` left. */
export async function finishStagedWrite(folder: string): Promise<void> {
  await rm(path.join(folder, beingMade), { recursive: true, force: true })
  const staged = path.join(folder, complete)
  for (const name of await namesInFolder(staged)) await rename(path.join(staged, name), path.join(folder, name))
  await rmdir(staged).catch((error: unknown) => {
    if (!hasErrorCode(error, 'ENOENT')) throw error
  })
}

/** Whether a killed `writeTogether` waits to be carried on. */
export async function hasStagedWrite(folder: string): Promise<boolean> {
  return (await namesInFolder(folder)).includes(complete)
}

/** The names in a folder; none when it does not exist. */
export async function namesInFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

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
      if (hasErrorCode(error, 'ENOENT'))
        throw new CertificateError(
          `There is no folder ${path.dirname(lock)}: make the certificates first, with "sluice certs init" or "npm start".`,
          { cause: error },
        )
      if (!hasErrorCode(error, 'EEXIST')) throw error
    }
    if (await isAbandoned(lock)) await clearAway(lock)
    else if (Date.now() > deadline) {
      throw new CertificateError(`Another command is writing certificates (${lock}). Try again; if none is running, delete that file.`)
    } else await pause(20)
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
    if (hasErrorCode(error, 'ENOENT')) return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}

/** Of several that find the lock abandoned, renaming lets only one take it away. */
async function clearAway(lock: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`
  try {
    await rename(lock, aside)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { force: true })
}

/** Whether an error carries this code, as those of the file system do (`ENOENT`). */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
