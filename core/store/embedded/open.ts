import { mkdirSync, readFileSync, rmSync, writeFileSync, chmodSync, closeSync, openSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { Kysely, SqliteAdapter, SqliteDialect } from 'kysely'
import Libsql from 'libsql'
import { migrate } from '../migrations.ts'
import { createSqlStore } from '../sql-store.ts'
import { type Store, StoreError } from '../store.ts'
import type { Tables } from '../tables.ts'
import { embeddedConnection, createTurns, openFile } from './connection.ts'
import { embeddedFaults } from './faults.ts'

/** A disk with less room than a few transactions take is full. */
const ballast = '-'.repeat(64 * 1024)

/** A migration that is killed half way is undone. */
class EmbeddedDialect extends SqliteDialect {
  override createAdapter() {
    return new (class extends SqliteAdapter {
      override get supportsTransactionalDdl() {
        return true
      }
    })()
  }
}

/** @throws StoreError */
export async function openEmbedded({ dataDir, serverName }: { dataDir: string; serverName: string }): Promise<Store> {
  const file = path.join(dataDir, 'sluice.db')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const hold = holdStore(dataDir, serverName)
    try {
      makePrivate(file)
      const connection = embeddedConnection(file)
      const pragma = (source: string) => connection.prepare(`pragma ${source}`).all([])
      pragma('locking_mode = exclusive')
      pragma('journal_mode = wal')
      pragma('synchronous = full')
      // What a process before wrote and could not make durable lies in the log alone.
      pragma('wal_checkpoint(truncate)')
      const db = new Kysely<Tables>({ dialect: new EmbeddedDialect({ database: connection }) })
      await migrate(db, 'embedded')
      return createSqlStore({ kind: 'embedded', db, faults: embeddedFaults, inTurn: createTurns(), ballast, closed: () => hold.release() })
    } catch (error) {
      hold.release()
      throw error
    }
  } catch (error) {
    if (error instanceof StoreError) throw error
    const reason = embeddedFaults.of(error)?.reason ?? systemReason(error)
    if (reason === undefined) throw error
    throw new StoreError(`The store ${file} cannot be opened: ${reason}.`, { cause: error })
  }
}

function systemReason(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error ? error.message : undefined
}

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

/**
 * Creates the file where it is not there, for its owner alone. One that is there is not opened: as this process closed it again,
 * the system would take every lock that the process has on it.
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    chmodSync(file, 0o600)
  }
}
