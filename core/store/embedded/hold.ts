import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import Libsql from 'libsql'
import { StoreError } from '../store-error.ts'
import { openFile } from './connection.ts'
import { makePrivate } from './make-private.ts'

/**
 * Keeps every other process out of the folder's store, for as long as this one lives. Only the lock decides, which the system takes
 * back however a process ends; the note beside it tells people who has it.
 * @throws StoreError naming who has it
 */
export function holdStore(dataDir: string, serverName: string): { release(): void } {
  const note = path.join(dataDir, 'sluice.holder')
  const file = path.join(dataDir, 'sluice.lock')
  makePrivate(file)
  const lock = openFile(file)
  try {
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    lock.close()
    if (!(error instanceof Libsql.SqliteError) || error.code !== 'SQLITE_BUSY') throw error
    throw new StoreError(
      `The store in ${dataDir} is in use by ${holderOf(note)}. Stop that one first, or give this server a data.dir of its own; several servers share a store in PostgreSQL (store.url).`,
    )
  }
  rmSync(note, { force: true })
  const since = new Date().toISOString()
  writeFileSync(note, JSON.stringify({ pid: process.pid, host: hostname(), since, server: serverName }), { mode: 0o600 })
  return {
    release() {
      rmSync(note, { force: true })
      lock.exec('rollback')
      lock.close()
    },
  }
}

function holderOf(note: string): string {
  try {
    const { pid, host, since }: Record<string, unknown> = JSON.parse(readFileSync(note, 'utf8'))
    return `process ${String(pid)} on ${String(host)}, since ${String(since)}`
  } catch {
    return 'another process'
  }
}
