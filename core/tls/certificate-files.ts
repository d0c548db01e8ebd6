import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readFile, mkdir, readdir, rename, rm, rmdir, writeFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import path from 'node:path'
import { pause } from '../base/async.ts'
import { reservedFor } from '../config/clients.ts'

/** A problem with the certificates that the operator can solve. The message says how. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

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

/** The files of one certificate: of `server`, of `client` (the one made in set-up) or of another client by its name. */
export function pairFiles(certsDir: string, name: string): { certFile: string; keyFile: string } {
  return { certFile: path.join(certsDir, `${name}_cert.pem`), keyFile: path.join(certsDir, `${name}_key.pem`) }
}

const clientName = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$/
// Compared without letter case: on some file systems `Server_key.pem` and `server_key.pem` are the same file.
const reservedNames = new Set(['ca', 'server', 'client'])

/** Checks the name of a new client, which becomes a file name and a common name. @throws CertificateError */
export function checkClientName(name: string): void {
  if (!clientName.test(name)) {
    throw new CertificateError(
      `"${name}" cannot be a client's name: use 1 to 63 letters, digits, dots, dashes or underscores, beginning with a letter or digit.`,
    )
  }
  if (reservedNames.has(name.toLowerCase())) {
    throw new CertificateError(`"${name}" is the name of a certificate made in set-up: choose another name for the new client.`)
  }
  const use = reservedFor(name.toLowerCase())
  if (use !== undefined) throw new CertificateError(`"${name}" stands for ${use}: choose another name for the new client.`)
}

/** Reads a file of a certs directory. @throws CertificateError where it is missing or unreadable */
export async function readCertificateFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (!hasErrorCode(cause, 'ENOENT')) throw new CertificateError(`${file} cannot be read: run this as the user who owns it.`, { cause })
    // Where the CA's certificate is, its key may be kept elsewhere. Where neither is, nothing was made yet.
    const isElsewhere = file.endsWith('ca_key.pem') && existsSync(certificateFiles(path.dirname(file)).caCert)
    const remedy = isElsewhere
      ? "it signs certificates and the list of revoked ones: run this where the CA's key is kept, or put it back"
      : `make the certificates with "${command} certs init" or "${command} start", or correct certsDir in conf/ssl.yml`
    throw new CertificateError(`${file} is not there: ${remedy}.`, { cause })
  }
}

const incompleteFolder = '.staged-incomplete'
const stagedFolder = '.staged'

/**
 * Replaces several files of a folder together. If the process is killed, either no file changes, or all do as soon as `finishStagedWrite`
 * runs again. Call it under the folder's lock. Files named `*_key.pem` are readable by their owner only.
 */
export async function writeAtomically(folder: string, contents: Readonly<Record<string, string>>): Promise<void> {
  await finishStagedWrite(folder)
  const incomplete = path.join(folder, incompleteFolder)
  await mkdir(incomplete, { mode: 0o700 })
  try {
    for (const [name, content] of Object.entries(contents))
      await writeFile(path.join(incomplete, name), content, { mode: name.endsWith('_key.pem') ? 0o600 : 0o644, flush: true })
  } catch (error) {
    await rm(incomplete, { recursive: true, force: true })
    throw error
  }
  // From this rename on the new files are valid.
  await rename(incomplete, path.join(folder, stagedFolder))
  await finishStagedWrite(folder)
}

/** Finishes a write that was interrupted after its files were complete, and removes the files of one that was interrupted before. */
export async function finishStagedWrite(folder: string): Promise<void> {
  await rm(path.join(folder, incompleteFolder), { recursive: true, force: true })
  const staged = path.join(folder, stagedFolder)
  for (const name of await namesInFolder(staged)) await rename(path.join(staged, name), path.join(folder, name))
  await rmdir(staged).catch((error: unknown) => {
    if (!hasErrorCode(error, 'ENOENT')) throw error
  })
}

/** Whether an interrupted write waits to be finished. */
export async function hasStagedWrite(folder: string): Promise<boolean> {
  return (await namesInFolder(folder)).includes(stagedFolder)
}

/** The names in a folder. Empty when the folder does not exist. */
export async function namesInFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

const lockTimeoutMs = 15_000
// Work under the lock takes well under a second. An older lock whose holder cannot be checked is abandoned.
const abandonedAfterMs = 60_000
// A holder writes its name moments after it makes the lock. If the name is missing for longer, the process was killed in between.
const namelessAfterMs = 2_000

/**
 * Runs `work` while no other process writes in `folder`: two `sluice certs revoke` at once must not lose one of the
 * revocations. The lock of a killed process is taken over.
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
  const deadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return await createLock(lock)
    } catch (error) {
      if (hasErrorCode(error, 'ENOENT'))
        throw new CertificateError(
          `There is no folder ${path.dirname(lock)}: make the certificates first, with "${command} certs init" or "${command} start".`,
          { cause: error },
        )
      if (!hasErrorCode(error, 'EEXIST')) throw error
    }
    if (await isAbandoned(lock)) await removeAbandoned(lock)
    else if (performance.now() > deadline) {
      throw new CertificateError(`Another command is writing certificates (${lock}). Try again; if none is running, delete that file.`)
    } else await pause(20)
  }
}

async function createLock(lock: string): Promise<void> {
  const handle = await open(lock, 'wx', 0o600)
  try {
    await handle.writeFile(`${process.pid}@${hostname()}\n`)
  } catch (error) {
    // A full disk: nobody is to wait for who could not write its name.
    await rm(lock, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lock, 'utf8'), stat(lock)])
    const [, pid, host] = /^(\d+)@(.*)\n$/.exec(holder) ?? []
    // Only a process of this machine can be checked: a container sees other process ids.
    if (pid !== undefined && host === hostname() && !isAlive(Number(pid))) return true
    return Date.now() - mtimeMs > (holder === '' ? namelessAfterMs : abandonedAfterMs)
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

/** Renames the lock first, so that only one of several processes that find it abandoned removes it. */
async function removeAbandoned(lock: string): Promise<void> {
  const aside = `${lock}.${randomUUID()}`
  try {
    await rename(lock, aside)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return
    throw error
  }
  await rm(aside, { force: true })
}

/** Whether an error has this code, as errors of the file system do (`ENOENT`). */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
import { command } from '../base/layout.ts'
