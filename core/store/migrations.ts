import { Migrator, sql, type ColumnDefinitionBuilder, type Kysely, type Migration, type RawBuilder } from 'kysely'
import { isObject } from '../json.ts'
import { compactRows } from './compacting.ts'
import { StoreError, type StoreLog } from './store.ts'
import type { Tables } from './tables.ts'

/** Column types that differ between databases. */
export interface ColumnTypes {
  /** Text that sorts byte by byte. A database's default collation may ignore hyphens. */
  sortedText: RawBuilder<unknown>
  /** A primary key that is never reused, even after the newest rows are deleted: clients remember it. */
  serialKey: RawBuilder<unknown>
  bytes: RawBuilder<unknown>
  /** After a table's columns: its rows lie in its primary key, where the database can do that. */
  clustered: RawBuilder<unknown>
  /** Puts a table with a serial key in another's place. Its key goes on where the other's has been. */
  replaceSerial(db: Kysely<unknown>, table: string, by: string): Promise<void>
  /** Called before tables are changed, in the same transaction. @throws StoreError while a server runs on them */
  refuseInUse?(db: Kysely<unknown>): Promise<void>
}

/**
 * Brings the tables up to this version. If several servers start at once, one does it while the others wait.
 * @throws StoreError if a newer version of Sluice made the store
 */
export async function migrate(db: Kysely<Tables>, types: ColumnTypes, log: StoreLog): Promise<void> {
  const migrations = migrationsFor(types, log)
  const executed = await executedMigrations(db)
  const unknown = executed.filter((name) => !(name in migrations))
  if (unknown.length > 0)
    throw new StoreError(
      `The store was made by a newer version of Sluice (it has ${unknown.join(', ')}). Start that version, or name another store.`,
    )
  const missing = Object.keys(migrations).filter((name) => !executed.includes(name))
  if (missing.length === 0) return
  if (executed.length > 0) log.info({ migrations: missing }, 'bringing the store to this version; minutes for a million transactions')
  const isNew = executed.length === 0
  const guard = ({ up }: Migration): Migration => ({
    async up(of: Kysely<unknown>) {
      if (!isNew) await types.refuseInUse?.(of)
      await up(of)
    },
  })
  const guarded = Object.fromEntries(Object.entries(migrations).map(([name, migration]) => [name, guard(migration)]))
  const migrator = new Migrator({ db, provider: { getMigrations: async () => guarded } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
}

async function executedMigrations(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === 'kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/** All migrations in order. A released one is never edited: the next change is a new one. */
const migrationsFor = (types: ColumnTypes, log: StoreLog): Readonly<Record<string, Migration>> => ({
  '001-transactions': transactions(types),
  '002-orders': orders(types),
  '003-request-tags': requestTags,
  '004-key-ages': keyAges,
  '005-overtaken': overtaken,
  '006-entry-filters': entryFilters,
  '007-archive': archive(types),
  '008-compact': compactRows(types, log),
  '009-shorter-texts': shorterTexts,
  '010-outstanding-permits': outstandingPermits,
  [newestMigration]: breaches(types),
})

/** What a server of this version knows: whoever has a newer one in the same store is not of this version. */
export const newestMigration = '011-breaches'

const notNull = (column: ColumnDefinitionBuilder) => column.notNull()

/** The journal, answers under Idempotency-Keys, running servers, leases, events. */
function transactions({ sortedText, serialKey }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('entries')
        .addColumn('key', sortedText, (column) => column.primaryKey())
        .addColumn('version', 'bigint', notNull)
        .addColumn('lane', 'text', notNull)
        .addColumn('chain', 'text', notNull)
        .addColumn('network', 'text', notNull)
        .addColumn('address', 'text', notNull)
        .addColumn('state', 'text', notNull)
        .addColumn('final', 'bigint', notNull)
        .addColumn('nonce', 'bigint', notNull)
        .addColumn('client', 'text', notNull)
        .addColumn('request_id', 'text', notNull)
        .addColumn('idempotency_key', 'text')
        .addColumn('created_at', 'bigint', notNull)
        .addColumn('shown', 'text', notNull)
        .addColumn('body', 'text', notNull)
        .execute()
      await db.schema.createIndex('entries_unfinished').on('entries').columns(['final', 'chain', 'network', 'key']).execute()
      await sql`create index entries_idempotency_key on entries (idempotency_key, key) where idempotency_key is not null`.execute(db)
      for (const column of ['address', 'state', 'client', 'request_id'])
        await db.schema.createIndex(`entries_${column}`).on('entries').columns([column, 'key']).execute()
      await db.schema.createIndex('entries_network').on('entries').columns(['chain', 'network', 'key']).execute()
      await db.schema.createIndex('entries_nonce').on('entries').columns(['nonce', 'key']).execute()

      await db.schema
        .createTable('hashes')
        .addColumn('hash', 'text', notNull)
        .addColumn('chain', 'text', notNull)
        .addColumn('network', 'text', notNull)
        .addColumn('entry_key', sortedText, notNull)
        .addPrimaryKeyConstraint('hashes_pk', ['hash', 'chain', 'network'])
        .execute()

      await db.schema
        .createTable('requests')
        .addColumn('client', 'text', notNull)
        .addColumn('path', 'text', notNull)
        .addColumn('key', 'text', notNull)
        .addColumn('fingerprint', 'text', notNull)
        .addColumn('claim', 'bigint', notNull)
        .addColumn('server', 'text', notNull)
        .addColumn('request_id', 'text', notNull)
        .addColumn('created_at', 'bigint', notNull)
        .addColumn('status', 'bigint')
        .addColumn('body', 'text')
        .addPrimaryKeyConstraint('requests_pk', ['client', 'path', 'key'])
        .execute()
      await db.schema.createIndex('requests_created_at').on('requests').column('created_at').execute()

      await db.schema
        .createTable('servers')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', notNull)
        .addColumn('alive_until', 'bigint', notNull)
        .execute()

      await db.schema
        .createTable('lanes')
        .addColumn('lane', 'text', (column) => column.primaryKey())
        .addColumn('server', 'text', notNull)
        .addColumn('fence', 'bigint', notNull)
        .addColumn('wanted_by', 'text')
        .execute()
      await db.schema.createIndex('lanes_server').on('lanes').column('server').execute()

      await sql`create table events (id ${serialKey}, entry_key text not null, chain text not null, network text not null,
        address text not null, at bigint not null, body text not null)`.execute(db)
      await db.schema.createIndex('events_address').on('events').columns(['address', 'id']).execute()

      await db.schema
        .createTable('probes')
        .addColumn('id', 'bigint', (column) => column.primaryKey())
        .addColumn('tries', 'bigint', notNull)
        .addColumn('ballast', 'text', notNull)
        .execute()
      await sql`insert into probes (id, tries, ballast) values (1, 0, '')`.execute(db)
    },
  }
}

/** Orders of books by their client order ids, and transactions on an exchange's own rail. */
function orders({ sortedText }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('entries').addColumn('via', 'text').execute()
      await db.schema.alterTable('entries').addColumn('signer', 'text').execute()
      await sql`create index entries_signer on entries (signer, key) where signer is not null`.execute(db)

      await db.schema
        .createTable('orders')
        .addColumn('chain', 'text', notNull)
        .addColumn('network', 'text', notNull)
        .addColumn('connector', 'text', notNull)
        .addColumn('wallet', 'text', notNull)
        .addColumn('client_order_id', 'text', notNull)
        .addColumn('key', sortedText, notNull)
        .addColumn('type', 'text', notNull)
        .addColumn('market', 'text', notNull)
        .addColumn('entry_key', sortedText, notNull)
        .addColumn('place', 'bigint', notNull)
        .addColumn('about', 'text', notNull)
        .addColumn('standing', 'text', notNull)
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

/** A name of the request, stable while its Idempotency-Key is recorded: repeating the request finds what it made by this name. */
const requestTags: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('requests')
      .addColumn('tag', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}

/**
 * Idempotency-Keys live as long as what was made under them, and the others age by the store's time. Keys whose transaction is in the journal
 * while their own row is gone, since earlier versions deleted rows by a machine's clock, get a row back: without path, fingerprint and answer,
 * but so that they are not used again.
 */
const keyAges: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('requests').addColumn('ages_from', 'bigint').execute()
    await db.schema.dropIndex('requests_created_at').execute()
    await sql`create index requests_ages_from on requests (ages_from) where ages_from is not null`.execute(db)
    await db.schema
      .createTable('store_time')
      .addColumn('id', 'bigint', (column) => column.primaryKey())
      .addColumn('elapsed', 'bigint', notNull)
      .execute()
    await sql`insert into store_time (id, elapsed) values (1, 0)`.execute(db)
    await sql`update requests set ages_from = 0
      where status is null and claim = 1 and not exists (select 1 from entries where entries.request_id = requests.request_id)`.execute(db)
    await sql`insert into requests (client, path, key, fingerprint, claim, server, request_id, created_at, tag)
      select client, '', idempotency_key, '', 0, '', min(request_id), min(created_at), '' from entries
      where idempotency_key is not null and (client, idempotency_key) not in (select client, key from requests)
        and key in (select entry_key from hashes)
      group by client, idempotency_key`.execute(db)
  },
}

/** Entries that one migration reads at a time. */
const pageSize = 200

/** What lost its nonce to the transaction that it was to replace was `DROPPED`, as what lost it to other software. */
const overtaken: Migration = {
  async up(db: Kysely<unknown>) {
    for (let after = ''; ;) {
      const { rows } = await sql<DroppedRow>`select key, lane, nonce, shown, body from entries
        where state = 'DROPPED' and key > ${after} order by key limit ${pageSize}`.execute(db)
      for (const row of rows) await renameOvertaken(db, row)
      const last = rows.at(-1)
      if (!last) return
      after = last.key
    }
  },
}

interface DroppedRow {
  key: string
  lane: string
  nonce: number
  shown: string
  body: string
}

async function renameOvertaken(db: Kysely<unknown>, { key, lane, nonce, shown, body }: DroppedRow): Promise<void> {
  const [entry, seen] = [parse(body), parse(shown)]
  // A damaged row stays as it is: whoever reads it is told.
  if (!isObject(entry) || !Array.isArray(seen)) return
  const { rows } = await sql<{ body: string }>`select body from entries
    where nonce = ${nonce} and lane = ${lane} and state in ('CONFIRMED', 'REVERTED')`.execute(db)
  const isOvertaken = rows.map((row) => parse(row.body)).some((other) => isObject(other) && Number(other['rank']) < Number(entry['rank']))
  if (!isOvertaken) return
  const state = 'OVERTAKEN'
  const [written, shownNow] = [JSON.stringify({ ...entry, state }), JSON.stringify([state, ...seen.slice(1)])]
  await sql`update entries set state = ${state}, shown = ${shownNow}, body = ${written} where key = ${key}`.execute(db)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An index for each combination of what lists are filtered by, in the order in which lists show entries. */
const entryFilters: Migration = {
  async up(db: Kysely<unknown>) {
    const index = (name: string, columns: string[]) =>
      db.schema
        .createIndex(name)
        .on('entries')
        .columns(['chain', 'network', ...columns, 'key'])
        .execute()
    await index('entries_of_wallet', ['address'])
    await index('entries_in_state', ['state'])
    await index('entries_of_wallet_in_state', ['address', 'state'])
    // Lists read each network by itself.
    for (const unused of ['entries_address', 'entries_state']) await db.schema.dropIndex(unused).execute()
  },
}

/**
 * When entries became final, by the store's time, and what stays of archived ones. Entries that are final already count from now on: none
 * of them is archived too early.
 */
function archive({ sortedText }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const { rows } = await sql<{ elapsed: number }>`select elapsed from store_time`.execute(db)
      await sql`alter table entries add column ended_at bigint default ${sql.lit(rows[0]?.elapsed ?? 0)}`.execute(db)
      await sql`create index entries_ended on entries (ended_at, key) where final = 1`.execute(db)
      await db.schema
        .createTable('archived')
        .addColumn('key', sortedText, (column) => column.primaryKey())
        .addColumn('chain', 'text', notNull)
        .addColumn('network', 'text', notNull)
        .addColumn('address', 'text', notNull)
        .addColumn('request_id', 'text', notNull)
        .addColumn('idempotency_key', 'text')
        .addColumn('body', 'text', notNull)
        .execute()
      await db.schema.createIndex('archived_request_id').on('archived').columns(['request_id', 'key']).execute()
      await sql`create index archived_idempotency_key on archived (idempotency_key, key) where idempotency_key is not null`.execute(db)
      await db.schema
        .createTable('event_marks')
        .addColumn('id', 'bigint', (column) => column.primaryKey())
        .addColumn('elapsed', 'bigint', notNull)
        .execute()
    },
  }
}

/**
 * Changes no table. From now on texts are packed with another dictionary, and events have their state as a number: servers of earlier versions
 * cannot read that, so they must not start on this store.
 */
const shorterTexts: Migration = { up: async () => {} }

/**
 * Finds final entries that signed a permit which may still be used: they keep the name of their queue. Servers of earlier versions would take that
 * away from them, so they must not start on this store.
 */
const outstandingPermits: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`create index entries_outstanding on entries (chain, network, key) where final = 1 and lane <> ''`.execute(db)
  },
}

/** Plugins whose transactions did more to a wallet than their plans were allowed. A server of an earlier version would go on signing for them. */
function breaches({ sortedText }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('breaches')
        .addColumn('entry_key', sortedText, (column) => column.primaryKey())
        .addColumn('plugin', 'text', notNull)
        .addColumn('at', 'bigint', notNull)
        .addColumn('body', 'text', notNull)
        .addColumn('lifted_at', 'bigint')
        .execute()
      await sql`create index breaches_in_force on breaches (plugin) where lifted_at is null`.execute(db)
    },
  }
}
