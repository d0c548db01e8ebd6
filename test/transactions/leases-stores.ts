import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import type { Store } from '../../core/store/store.ts'
import { transactions } from '../../core/store/migrations/001-transactions.ts'
import type { Tables } from '../../core/store/tables.ts'

export async function openStore({ url }: { url: string }): Promise<Store> {
  const pool = new Pool({
    connectionString: url,
    types: { getTypeParser: (oid: number) => (oid === 20 ? Number : (t: string) => t) } as never,
    statement_timeout: 3000,
    idle_in_transaction_session_timeout: 3000,
  })
  pool.on('error', () => {})
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  await transactions('postgres')
    .up(db as never)
    .catch(() => {})
  return {
    kind: 'postgres',
    read: (work) => work(db),
    write: (work) => db.transaction().execute(work),
    failing: async () => undefined,
    close: () => db.destroy(),
  }
}
