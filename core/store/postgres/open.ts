import { pause } from '../../async.ts'
import { Kysely, PostgresDialect } from 'kysely'
import { migrate } from '../migrations.ts'
import type { StoreLog } from '../open-store.ts'
import { type Store, StoreError } from '../store.ts'
import { createSqlStore } from '../sql-store.ts'
import type { Tables } from '../tables.ts'
import { isRefusal, postgresFaults } from './faults.ts'
import { postgresPool } from './pool.ts'

/** A database that is started together with the server is waited for. */
const startMs = 15_000
const pauseMs = 500

/** @throws StoreError */
export async function openPostgres({ url, serverName, log }: { url: string; serverName: string; log: StoreLog }): Promise<Store> {
  checkUrl(url)
  const database = (isPatient: boolean) =>
    new Kysely<Tables>({ dialect: new PostgresDialect({ pool: postgresPool({ url, serverName, log, isPatient }) }) })

  const until = performance.now() + startMs
  for (let tries = 1; ; tries += 1) {
    const db = database(true)
    try {
      await migrate(db, 'postgres')
      return createSqlStore({ kind: 'postgres', db: database(false), faults: postgresFaults })
    } catch (error) {
      const fault = postgresFaults.of(error)
      if (!fault) throw error
      if (isRefusal(error) || performance.now() > until)
        throw new StoreError(`The store in PostgreSQL cannot be opened: ${fault.reason}. Look at store.url.`, { cause: error })
      if (tries === 1) log.warn({ reason: fault.reason }, 'the store in PostgreSQL cannot be opened yet')
      await pause(pauseMs)
    } finally {
      await db.destroy()
    }
  }
}

/** What is wrong with it is not shown: a password may be in it. */
function checkUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  if (protocol !== 'postgres:' && protocol !== 'postgresql:')
    throw new StoreError('store.url is not the address of a PostgreSQL: write postgres://user:password@host:5432/database.')
}
