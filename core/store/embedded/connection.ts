import { statSync } from 'node:fs'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import Libsql from 'libsql'
import { EmbeddedFault, embeddedFaults } from './faults.ts'

/** More are only made by lists in many lengths. */
const mostStatements = 300

/**
 * The one connection to the file. What SQLite ends a transaction over (a full disk) must not let the rest of it run on its
 * own, so every statement of a transaction is held against that.
 */
export function embeddedConnection(file: string): SqliteDatabase {
  const database = openFile(file)
  const places = new Map<string, string>()
  const statements = new Map<string, SqliteStatement>()
  let isInside = false

  function statement(sql: string): SqliteStatement {
    const known = statements.get(sql)
    if (known) return known
    const made = database.prepare(sql)
    if (statements.size >= mostStatements) statements.clear()
    statements.set(sql, made)
    return made
  }

  /** Writes to a file that nobody can find any more would be acknowledged and lost. */
  function checkPlaces(): void {
    for (const each of [file, `${file}-wal`]) {
      const found = statSync(each, { throwIfNoEntry: false })
      const place = `${found?.dev}/${found?.ino}`
      if (place !== (places.get(each) ?? place)) throw new EmbeddedFault('SLUICE_MOVED')
      places.set(each, place)
    }
  }

  return {
    prepare(sql) {
      if (sql === 'begin') isInside = true
      else if (sql === 'rollback') {
        isInside = false
        if (!database.inTransaction) return nothing
      } else if (isInside) {
        if (!database.inTransaction) throw new EmbeddedFault('SLUICE_ENDED')
        if (sql === 'commit') {
          checkPlaces()
          isInside = false
        }
      }
      return statement(sql)
    },
    close() {
      statements.clear()
      try {
        // Statements that await the garbage collector keep the file open, so its lock is given back before.
        for (const sql of ['pragma journal_mode = delete', 'pragma locking_mode = normal', 'select 1 from sqlite_master'])
          database.prepare(sql).all()
      } catch (error) {
        // A disk in trouble: what is in the log stays there, for who opens it next.
        if (!embeddedFaults.of(error)) throw error
      }
      database.close()
    },
  }
}

/** SQLite has rolled back already. */
const nothing: SqliteStatement = {
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
 * One after another, first come first served. Kysely wakes all who wait for the one connection whenever it is free, which is work that
 * grows with the square of a crowd.
 */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => {})
    return mine
  }
}
