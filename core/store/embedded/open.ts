import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Kysely, SqliteAdapter, SqliteDialect } from 'kysely'
import { migrate } from '../migrations.ts'
import type { Store } from '../store.ts'
import { StoreError } from '../store-error.ts'
import { storeOn } from '../sql-store.ts'
import type { Tables } from '../tables.ts'
import { embeddedConnection } from './connection.ts'
import { embeddedFaults } from './faults.ts'
import { holdStore } from './hold.ts'
import { makePrivate } from './make-private.ts'
import { createTurns } from './turns.ts'

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
      return storeOn({ kind: 'embedded', db, faults: embeddedFaults, inTurn: createTurns(), ballast, closed: () => hold.release() })
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
