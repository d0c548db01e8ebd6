import type { Kysely, Migration } from 'kysely'

/** What a request with an Idempotency-Key is called for as long as its key is kept: what it made is known by it when it is repeated. */
export const requestTags: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('requests')
      .addColumn('tag', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
