import { Migrator, sql } from 'kysely'
import type { Kysely } from 'kysely'
import { migrationsFor } from './migrations/index.ts'
import type { Store } from './store.ts'
import { StoreError } from './store-error.ts'
import type { Tables } from './tables.ts'

/**
 * Brings the tables up to this version. Of several servers that start at once, one does it while the others wait.
 * @throws StoreError where a newer version has made the store
 */
export async function migrate(db: Kysely<Tables>, kind: Store['kind']): Promise<void> {
  const migrations = migrationsFor(kind)
  const done = await executed(db)
  const unknown = done.filter((name) => !(name in migrations))
  if (unknown.length > 0)
    throw new StoreError(
      `The store was made by a newer version of Sluice (it has ${unknown.join(', ')}). Start that version, or name another store.`,
    )
  if (Object.keys(migrations).every((name) => done.includes(name))) return
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

async function executed(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}
