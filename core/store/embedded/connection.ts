import { statSync } from 'node:fs'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import Libsql from 'libsql'
import { EmbeddedFault, embeddedFaults } from './faults.ts'

/** How many prepared statements are cached. Only lists of many different lengths need more. */
const maxStatements = 300

/**
 * The one connection to the file. SQLite may end a transaction by itself (a full disk). Its remaining statements must not then run
 * outside of any transaction, so each of them is checked.
 */
export function embeddedConnection(file: string): SqliteDatabase {
  const database = openFile(file)
  const inodes = new Map<string, string>()
  const statements = new Map<string, SqliteStatement>()
  let isInTransaction = false

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
    prepare(source) {
      if (source === 'begin') isInTransaction = true
      else if (source === 'rollback') {
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

/** For a rollback that SQLite has done already. */
const noStatement: SqliteStatement = {
  reader: true,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [].values(),
}

/** @throws EmbeddedFault */
export function openFile(file: string) {
  try {
    return new Libsql(file)
  } catch (cause) {
    // The one error that comes without its code.
    throw new EmbeddedFault('SQLITE_CANTOPEN', cause)
  }
}

/**
 * Runs work in sequence, in the order of the calls. Kysely would wake all waiters each time the connection is free, which is quadratic work.
 */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
