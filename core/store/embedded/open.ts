import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { Kysely, SqliteAdapter, SqliteDialect, sql } from 'kysely'
import Libsql from 'libsql'
import { migrate } from '../migrations.ts'
import { createSqlStore } from '../sql-store.ts'
import { StoreError, type Store } from '../store.ts'
import type { Tables } from '../tables.ts'
import { createTurns, embeddedConnection, openFile } from './connection.ts'
import { embeddedFaults } from './faults.ts'
import { embeddedLeases, noOtherServer } from './leases.ts'

/** A disk with less free space than this, a few transactions, counts as full. */
const ballast = '-'.repeat(64 * 1024)

const columnTypes = { sortedText: 'text', serialKey: sql`integer primary key autoincrement` } as const

/** Opens the SQLite database in a folder, for this process alone. @throws StoreError */
export async function openEmbedded({ dataDir, serverName }: { dataDir: string; serverName: string }): Promise<Store> {
  const file = path.join(dataDir, 'sluice.db')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const lock = lockStore(dataDir, serverName)
    try {
      createPrivate(file)
      const connection = embeddedConnection(file)
      const pragma = (source: string) => connection.prepare(`pragma ${source}`).all([])
      pragma('locking_mode = exclusive')
      pragma('journal_mode = wal')
      pragma('synchronous = full')
      // What an earlier process wrote and could not flush is only in the log.
      pragma('wal_checkpoint(truncate)')
      const db = new Kysely<Tables>({ dialect: new EmbeddedDialect({ database: connection }) })
      await migrate(db, columnTypes)
      return createSqlStore({
        kind: 'embedded',
        db,
        faults: embeddedFaults,
        inTurn: createTurns(),
        ballast,
        closed: () => lock.release(),
        isServerAlive: noOtherServer,
        openLeases: (store, { serverId }) => embeddedLeases(store, serverId),
      })
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    if (error instanceof StoreError) throw error
    const reason = embeddedFaults.of(error)?.reason ?? systemReason(error)
    if (reason === undefined) throw error
    throw new StoreError(`The store ${file} cannot be opened: ${reason}.`, { cause: error })
  }
}

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

/**
 * Keeps other processes out of the folder's store while this one lives. Only the lock decides: the operating system releases it however
 * the process ends. The note beside it tells people who holds it.
 * @throws StoreError that names the holder
 */
export function lockStore(dataDir: string, serverName: string): { release(): void } {
  const note = path.join(dataDir, 'sluice.holder')
  const file = path.join(dataDir, 'sluice.lock')
  createPrivate(file)
  const lock = openFile(file)
  try {
    lock.exec('pragma journal_mode = off; begin exclusive')
  } catch (error) {
    lock.close()
    if (!(error instanceof Libsql.SqliteError) || error.code !== 'SQLITE_BUSY') throw error
    throw new StoreError(
      `The store in ${dataDir} is in use by ${readHolder(note)}. Stop that one first, or give this server a data.dir of its own; several servers share a store in PostgreSQL (store.url).`,
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

function readHolder(note: string): string {
  try {
    const { pid, host, since }: Record<string, unknown> = JSON.parse(readFileSync(note, 'utf8'))
    return `process ${String(pid)} on ${String(host)}, since ${String(since)}`
  } catch {
    return 'another process'
  }
}

/**
 * Creates the file for its owner alone. An existing file is not opened: closing it again would release every lock that this process
 * holds on it (POSIX).
 */
function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    chmodSync(file, 0o600)
  }
}

function systemReason(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error ? error.message : undefined
}
