// The embedded store: SQLite in a file of the data folder, for one server alone.
import { mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { Kysely, SqliteAdapter, SqliteDialect, sql, type SqliteDatabase, type SqliteStatement } from 'kysely'
import Libsql from 'libsql'
import { createTurns } from '../base/async.ts'
import { quoted } from '../base/printable.ts'
import { createPrivate, HeldFolderError, holderOf, lockFolder, type FolderLock } from '../base/folder-lock.ts'
import { migrate, type ColumnTypes } from './migrations.ts'
import { createSqlStore, takeLease } from './sql-store.ts'
import { StoreError, type Store, type StoreLog, type Fault, type Faults, type ServerLeases } from './store.ts'
import type { Tables } from './tables.ts'

/** A disk with less free space than this, a few transactions, counts as full. */
const ballast = '-'.repeat(64 * 1024)

const columnTypes: ColumnTypes = {
  sortedText: sql`text`,
  serialKey: sql`integer primary key autoincrement`,
  bytes: sql`blob`,
  clustered: sql`without rowid`,
}

/** Opens the SQLite database in a folder, for this process alone. @throws StoreError */
export async function openEmbedded({ dataDir, serverName, log }: { dataDir: string; serverName: string; log: StoreLog }): Promise<Store> {
  const file = path.join(dataDir, 'sluice.db')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const lock = lockStore(dataDir, serverName)
    try {
      createPrivate(file)
      const connection = embeddedConnection(file)
      const db = new Kysely<Tables>({ dialect: new EmbeddedDialect({ database: connection }) })
      const pragma = (source: string) => connection.prepare(`pragma ${source}`).all([])
      try {
        pragma('locking_mode = exclusive')
        pragma('synchronous = full')
        connection.startLog()
        // What an earlier process wrote and could not flush is only in the log. On a full disk it stays there, and is read from there.
        unlessFull(() => pragma('wal_checkpoint(truncate)'))
        await migrate(db, columnTypes, log)
      } catch (error) {
        connection.close()
        throw error
      }
      return createSqlStore({
        kind: 'embedded',
        db,
        log,
        faults: embeddedFaults,
        // Kysely would wake all waiters each time the connection is free, which is quadratic work.
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

/** Keeps other processes out of the folder's store while this one lives. @throws StoreError that names the holder */
export function lockStore(dataDir: string, serverName: string): FolderLock {
  try {
    return lockFolder(dataDir, serverName, openFile)
  } catch (error) {
    throw error instanceof HeldFolderError ? heldStore(dataDir, error.holder) : error
  }
}

/** Asks without taking the lock, and makes nothing. Whatever else is wrong with it is said when it is opened. @throws StoreError that names the holder */
export function refuseHeldEmbedded(dataDir: string): void {
  const holder = holderOf(dataDir, openFile)
  if (holder !== undefined) throw heldStore(dataDir, holder)
}

const heldStore = (dataDir: string, holder: string): StoreError =>
  new StoreError(
    `The store in ${dataDir} is in use by ${holder}. Stop that one first, or give this server a data.dir of its own; several servers share a store in PostgreSQL (store.url).`,
  )

function systemReason(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error ? error.message : undefined
}

/** How many prepared statements are cached. Only lists of many different lengths need more. */
const maxStatements = 300

/**
 * The one connection to the file. SQLite may end a transaction by itself (a full disk). Its remaining statements must not then run
 * outside of any transaction, so each of them is checked.
 */
export function embeddedConnection(file: string): SqliteDatabase & { startLog(): void } {
  const database = openFile(file)
  const inodes = new Map<string, string>()
  const statements = new Map<string, SqliteStatement>()
  let isInTransaction = false
  let hasLog = false

  /** Writes go to a write-ahead log. On a full disk they stay with the rollback journal, which the file has when it is closed, until there is room. */
  function startLog(): void {
    hasLog = unlessFull(() => database.prepare('pragma journal_mode = wal').all())
  }

  function prepared(source: string): SqliteStatement {
    const cached = statements.get(source)
    if (cached) return cached
    const statement = database.prepare(source)
    if (statements.size >= maxStatements) statements.clear()
    statements.set(source, statement)
    return statement
  }

  /** Writes to a deleted or moved file would be acknowledged and lost. */
  function checkFiles(): void {
    for (const each of [file, `${file}-wal`]) {
      const stat = statSync(each, { throwIfNoEntry: false })
      const inode = `${stat?.dev}/${stat?.ino}`
      if (inode !== (inodes.get(each) ?? inode)) throw new EmbeddedFault('SLUICE_MOVED')
      inodes.set(each, inode)
    }
  }

  return {
    startLog,
    prepare(source) {
      if (source === 'begin') {
        if (!hasLog) startLog()
        isInTransaction = true
      } else if (source === 'rollback') {
        isInTransaction = false
        if (!database.inTransaction) return noStatement
      } else if (isInTransaction) {
        if (!database.inTransaction) throw new EmbeddedFault('SLUICE_ENDED')
        if (source === 'commit') {
          checkFiles()
          isInTransaction = false
        }
      }
      return prepared(source)
    },
    close() {
      statements.clear()
      try {
        // Statements that await garbage collection keep the file open, so its lock is released first.
        for (const source of ['pragma journal_mode = delete', 'pragma locking_mode = normal', 'select 1 from sqlite_master'])
          database.prepare(source).all()
      } catch (error) {
        // With a failing disk the log keeps what is in it, for the next process.
        if (!embeddedFaults.of(error)) throw error
      }
      database.close()
    },
  }
}

/** @returns whether the disk had room for it */
function unlessFull(work: () => unknown): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (codeOf(error) !== 'FULL') throw error
    return false
  }
}

/** For a rollback that SQLite has done already. */
const noStatement: SqliteStatement = {
  reader: true,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
}

/** @throws EmbeddedFault */
function openFile(file: string): InstanceType<typeof Libsql> {
  try {
    return new Libsql(file)
  } catch (cause) {
    // The one error that comes without its code.
    throw new EmbeddedFault('SQLITE_CANTOPEN', cause)
  }
}

/** Faults that we detect ourselves. */
class EmbeddedFault extends Error {
  readonly code: 'SQLITE_CANTOPEN' | 'SLUICE_MOVED' | 'SLUICE_ENDED'

  constructor(code: EmbeddedFault['code'], cause?: unknown) {
    super(code, { cause })
    this.code = code
  }
}

/** By primary result code: https://www.sqlite.org/rescode.html. Misuse and violated constraints are absent: the statement is at fault. */
const reasons: Readonly<Record<string, string>> = {
  FULL: 'the disk is full',
  IOERR: 'the disk refuses to read or write (a fault, a quota or a limit)',
  READONLY: 'its file may only be read',
  CANTOPEN: 'its file cannot be opened',
  PERM: 'its file may not be opened',
  AUTH: 'its file may not be opened',
  CORRUPT: 'its file is damaged: move sluice.db away and start anew (docs/operators/failures.md)',
  NOTADB: 'its file is damaged: move sluice.db away and start anew (docs/operators/failures.md)',
  BUSY: 'another program has locked its file',
  LOCKED: 'another program has locked its file',
  PROTOCOL: 'another program has locked its file',
  NOMEM: 'the memory is full',
  NOLFS: 'its disk does not support large files',
  TOOBIG: 'the data is too large',
  MOVED: 'its file was moved or removed while in use: put it back, or restart the server',
  ENDED: 'the database rolled the transaction back',
}

const maxSaid = 200

export const embeddedFaults: Faults = {
  of(error): Fault | undefined {
    const code = codeOf(error)
    const reason = reasons[code]
    if (reason === undefined) return undefined
    // A full disk refused the commit's last record, and without it there is no commit. After a failed fsync that record is in the file:
    // if the process dies before the next write overwrites it, the commit is found there.
    const says = error instanceof Error && error.message !== '' ? quoted(error.message, maxSaid) : undefined
    return { reason, says, leavesCommitOpen: code !== 'FULL' && code !== 'MOVED' && code !== 'ENDED' }
  },
  /** There is only one connection. */
  isCollision: () => false,
}

/** SQLITE_IOERR_FSYNC → IOERR */
function codeOf(error: unknown): string {
  if (!(error instanceof Libsql.SqliteError || error instanceof EmbeddedFault)) return ''
  return /^(?:SQLITE|SLUICE)_([A-Z]+)/.exec(error.code)?.[1] ?? ''
}

/** SQL: this process has the database to itself, so any other server that a row names is dead. */
const noOtherServer = () => sql<boolean>`1 = 0`

/** Leases where no other server can exist: every one is free, none is requested, and this server never counts as dead. */
function embeddedLeases(store: Store, serverId: string): ServerLeases {
  return {
    take: (queue) => takeLease(store, queue, serverId),
    request: async () => {},
    handOver: async () => false,
    isAlive: () => true,
    term: () => 1,
    revive: async () => {},
    stop: async () => {},
  }
}
