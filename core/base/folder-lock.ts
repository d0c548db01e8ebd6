// A lock on a folder of one process: the operating system releases it however the process ends.
import { chmodSync, closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import Libsql from 'libsql'

/** Another process has the lock. */
export class HeldFolderError extends Error {
  override readonly name = 'HeldFolderError'
  /** For people: "process 7 on host, since …". */
  readonly holder: string

  constructor(holder: string) {
    super(`it is in use by ${holder}`)
    this.holder = holder
  }
}

type Opener = (file: string) => InstanceType<typeof Libsql>
const openPlain: Opener = (file) => new Libsql(file)

export interface FolderLock {
  release(): void
}

const lockFileOf = (folder: string): string => path.join(folder, 'sluice.lock')
const noteOf = (folder: string): string => path.join(folder, 'sluice.holder')

/**
 * Keeps other processes out while this one lives. Only the lock decides, also between containers that share the folder. The note beside it tells
 * people who holds it.
 * @throws HeldFolderError; the error of the file system
 */
export function lockFolder(folder: string, server: string, openDatabase: Opener = openPlain): FolderLock {
  const note = noteOf(folder)
  createPrivate(lockFileOf(folder))
  const lock = openDatabase(lockFileOf(folder))
  try {
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    lock.close()
    throw isBusy(error) ? new HeldFolderError(readHolder(folder)) : error
  }
  rmSync(note, { force: true })
  const since = new Date().toISOString()
  try {
    writeFileSync(note, JSON.stringify({ pid: process.pid, host: hostname(), since, server }), { mode: 0o600 })
  } catch (error) {
    // On a full disk people are not told who holds it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
  return {
    release() {
      rmSync(note, { force: true })
      lock.exec('rollback')
      lock.close()
    },
  }
}

/** Who has the lock, for people. Asks without taking it, and makes nothing. Undefined: nobody, or it cannot be told. */
export function holderOf(folder: string, openDatabase: Opener = openPlain): string | undefined {
  if (!existsSync(lockFileOf(folder))) return undefined
  let lock: InstanceType<typeof Libsql> | undefined
  try {
    lock = openDatabase(lockFileOf(folder))
    lock.prepare('select 1 from sqlite_master').all()
  } catch (error) {
    if (isBusy(error)) return readHolder(folder)
  } finally {
    lock?.close()
  }
  return undefined
}

const isBusy = (error: unknown): boolean => error instanceof Libsql.SqliteError && error.code === 'SQLITE_BUSY'

function readHolder(folder: string): string {
  try {
    const { pid, host, since }: Record<string, unknown> = JSON.parse(readFileSync(noteOf(folder), 'utf8'))
    return `process ${String(pid)} on ${String(host)}, since ${String(since)}`
  } catch {
    return 'another process'
  }
}

/**
 * Creates the file for its owner alone. An existing file is not opened: closing it again would release every lock that this process
 * holds on it (POSIX).
 */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    chmodSync(file, 0o600)
  }
}
