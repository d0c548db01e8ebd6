import { sql, type Kysely, type Migration } from 'kysely'
import type { Store } from '../store.ts'

/** Orders of books by their client order ids, and transactions that go by an exchange's own rail. */
export function orders(kind: Store['kind']): Migration {
  // Keys sort byte by byte everywhere; a database's own order may pass over hyphens.
  const sorted = kind === 'postgres' ? sql`text collate "C"` : 'text'
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('entries').addColumn('via', 'text').execute()
      await db.schema.alterTable('entries').addColumn('signer', 'text').execute()
      await sql`create index entries_signer on entries (signer, key) where signer is not null`.execute(db)

      await db.schema
        .createTable('orders')
        .addColumn('chain', 'text', (column) => column.notNull())
        .addColumn('network', 'text', (column) => column.notNull())
        .addColumn('connector', 'text', (column) => column.notNull())
        .addColumn('wallet', 'text', (column) => column.notNull())
        .addColumn('client_order_id', 'text', (column) => column.notNull())
        .addColumn('key', sorted, (column) => column.notNull())
        .addColumn('type', 'text', (column) => column.notNull())
        .addColumn('market', 'text', (column) => column.notNull())
        .addColumn('entry_key', sorted, (column) => column.notNull())
        .addColumn('place', 'bigint', (column) => column.notNull())
        .addColumn('about', 'text', (column) => column.notNull())
        .addColumn('standing', 'text', (column) => column.notNull())
        .addColumn('order_id', 'text')
        .addColumn('said_at', 'bigint')
        .addColumn('said', 'text')
        .addPrimaryKeyConstraint('orders_pk', ['chain', 'network', 'connector', 'wallet', 'client_order_id'])
        .execute()
      await db.schema.createIndex('orders_wallet').on('orders').columns(['wallet', 'key']).execute()
      await sql`create index orders_open on orders (wallet, key) where standing = 'open'`.execute(db)
      await sql`create index orders_order_id on orders (order_id, key) where order_id is not null`.execute(db)
      await db.schema.createIndex('orders_entry').on('orders').column('entry_key').execute()
    },
  }
}
