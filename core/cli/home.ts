import { existsSync, readdirSync } from 'node:fs'
import { access, chmod, constants, cp, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { refuseUnusablePort } from '../http/server.ts'
import { defaultConf } from '../base/layout.ts'
import { refuseHeldStore } from '../store/open-store.ts'
import { StoreError } from '../store/store.ts'

// The home is the folder with conf, certs and data. A start makes what is missing there, and first looks for all that would refuse it, so
// that nothing is half made.

/** @throws StartError */
export async function refuseBeforeStart(settings: Settings): Promise<void> {
  const { data, store, server, devnet, ssl } = settings
  refuseHeld(data.dir, store.url)
  await refuseUnusablePort(server)
  if (devnet.enabled) {
    const { refuseWithoutDevnet } = await import('../devnet/start-devnet.ts')
    await refuseWithoutDevnet(devnet.port)
  }
  await refuseReadOnly(data.dir)
  // Certificates that are there may be mounted read-only.
  if (!holdsFiles(ssl.certsDir)) await refuseReadOnly(ssl.certsDir)
}

/**
 * Takes the folder's permissions from all users but its owner's and group's. It was made with those of the umask once, and in a folder that all may
 * write to, anybody can put another journal or keystore in place of the server's. @returns whether it did
 */
export async function closeToOthers(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined || (found.mode & 0o002) === 0) return false
  return chmod(folder, found.mode & 0o770).then(
    () => true,
    // Another user's: a container's volume.
    () => false,
  )
}

/** Copies the default configuration into a home that has no folder conf. @returns whether it did */
export async function makeConf({ confDir }: Pick<Settings, 'confDir'>): Promise<boolean> {
  // A checkout has its own, which may hold secrets: only a package brings one.
  if (existsSync(confDir) || !existsSync(defaultConf)) return false
  const unfinished = `${confDir}.${process.pid}.tmp`
  try {
    await cp(defaultConf, unfinished, { recursive: true })
    await rename(unfinished, confDir)
    return true
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    // Certificates and data may lie elsewhere: then the defaults do, and the summary says that there is no such folder.
    if (error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))) return false
    throw error
  }
}

function refuseHeld(dataDir: string, url: string | undefined): void {
  try {
    refuseHeldStore({ dataDir, url })
  } catch (error) {
    throw error instanceof StoreError ? new StartError(error.message) : error
  }
}

/** @throws StartError where neither the folder nor, if it is not there, the nearest one above it may be written to */
async function refuseReadOnly(folder: string): Promise<void> {
  let there = folder
  while (!existsSync(there)) there = path.dirname(there)
  const remedy = 'Start in a folder of your own, or name one with --home <folder> (environment: SLUICE_HOME).'
  if (!(await stat(there)).isDirectory()) throw new StartError(`${there} is not a folder, and ${folder} belongs there. ${remedy}`)
  try {
    await access(there, constants.W_OK | constants.X_OK)
  } catch {
    throw new StartError(`This user may not write to ${there}${there === folder ? '' : `, where ${folder} is to be made`}. ${remedy}`)
  }
}

function holdsFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0
  } catch {
    return false
  }
}
