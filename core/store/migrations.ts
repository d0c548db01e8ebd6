import { Migrator, sql, type Kysely, type Migration, type RawBuilder } from 'kysely'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import { unpack } from './compact.ts'
import { filtersOf, type EntryFilters } from './entry-filters.ts'
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
  /** Called before tables are changed, in the same transaction. @throws StoreError while a server runs on them */
  refuseInUse?(db: Kysely<unknown>): Promise<void>
}

/** What a server of this version knows: whoever has a newer one in the same store is not of this version. */
export const newestMigration = '022-list-indexes'

/** All migrations in order. A released one is never edited: the next change is a new one. */
const migrationsFor = (types: ColumnTypes, isNew: boolean): Readonly<Record<string, Migration>> => ({
  '001-tables': tables(types),
  '002-stops': stops(types),
  '003-kept-thin': keptThin(types, isNew),
  '004-budgets': budgets(types),
  '005-server-limits': serverLimits(),
  '006-approvals': approvals(types),
  '007-refundable': refundable(types),
  '008-entry-filters': entryFilters(),
  '009-checkpoints': checkpoints(types),
  '010-order-fills': orderFills(),
  '011-deliveries': deliveries(types),
  '012-lost-answers': lostAnswers(),
  '013-preferences': preferences(types),
  '014-checkpoint-nonces': checkpointNonces(),
  '015-bodies-in-two': bodiesInTwo,
  '016-alerts': alerts(types),
  '017-alerts-found': alertsFound(),
  '018-key-leads': keyLeads(),
  '019-market-samples': marketSamples(types),
  '020-reported-answers': reportedAnswers(),
  '021-refused-positions': refusedPositions(types),
  [newestMigration]: listIndexes(),
})

/** Those of versions before 0.2.0, whose stores are not read. No new one has such a name. */
const migrationsBefore = [
  '001-transactions',
  '002-orders',
  '003-request-tags',
  '004-key-ages',
  '005-overtaken',
  '006-entry-filters',
  '007-archive',
  '008-compact',
  '009-shorter-texts',
  '010-outstanding-permits',
  '011-breaches',
]

/**
 * Brings the tables up to this version. If several servers start at once, one does it while the others wait.
 * @param later migrations after this version's: tests bring a store to a next version
 * @throws StoreError if a newer version of Sluice made the store, or one before 0.2.0
 */
export async function migrate(
  db: Kysely<Tables>,
  types: ColumnTypes,
  log: StoreLog,
  later: Readonly<Record<string, Migration>> = {},
): Promise<void> {
  const executed = await executedMigrations(db)
  const isNew = executed.length === 0
  const migrations = { ...migrationsFor(types, isNew), ...later }
  if (executed.some((name) => migrationsBefore.includes(name)))
    throw new StoreError(
      `The store was made by a version of Sluice before 0.2.0, which this version does not read. Nothing was changed. To finish its open transactions, start version 0.1.0 on it until \`${command} tx list --open\` lists none; the files of its archive stay readable. Then move the store away (sluice.db in data.dir), or name another store.url, and start this version.`,
    )
  const unknown = executed.filter((name) => !(name in migrations))
  if (unknown.length > 0)
    throw new StoreError(
      `The store was made by a newer version of Sluice (it has ${unknown.join(', ')}). Start that version, or name another store.`,
    )
  const missing = Object.keys(migrations).filter((name) => !executed.includes(name))
  if (missing.length === 0) return
  if (executed.length > 0) log.info({ migrations: missing }, 'bringing the store to this version; minutes for a million transactions')
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
  const all = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!all.some(({ name }) => name === 'kysely_migration')) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/** What runs each of them, in order. */
const statements = (...all: readonly RawBuilder<unknown>[]): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const each of all) await each.execute(db)
  },
})

const index = (name: string, on: string): RawBuilder<unknown> => sql`create index ${sql.ref(name)} on ${sql.raw(on)}`

/** What an operator has stopped. A row stays when it is lifted. */
const stops = ({ serialKey, sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table stops (id ${serialKey}, set_at bigint not null, lifted_at bigint, mode text not null, scope text not null,
      subject ${sortedText} not null, set_by text not null, request_id text not null, reason text, lifted_by text)`,
    // The same one is set once, however many set it at the same moment.
    sql`create unique index stops_in_force on stops (scope, subject, mode) where lifted_at is null`,
  )

/** Clients that have traded before there was the permission thin. The row without a name: a server has yet to list them. */
const keptThin = ({ sortedText }: ColumnTypes, isNew: boolean): Migration => ({
  async up(db: Kysely<unknown>) {
    await sql`create table kept_thin (client ${sortedText} primary key)`.execute(db)
    if (!isNew) await sql`insert into kept_thin (client) values ('')`.execute(db)
  },
})

/** What clients with limits have spent, and what their open transactions hold. */
const budgets = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table budgets (owner ${sortedText} primary key, body text not null)`,
    sql`create table reservations (entry_key ${sortedText} primary key, owner ${sortedText} not null, nonce ${sortedText} not null,
      body text not null)`,
    index('reservations_of_nonce', 'reservations (nonce)'),
  )

/** Which answers reached their callers, of requests without an Idempotency-Key. */
const deliveries = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table deliveries (id ${sortedText} primary key, interface text not null, client ${sortedText} not null,
      fingerprint ${sortedText} not null, server text not null, state text not null, asked_at bigint not null, stale_ms bigint not null,
      collect_ms bigint not null, joins integer not null, losses integer not null,
      prepared text not null)`,
    index('deliveries_open', "deliveries (client, fingerprint) where state in ('open', 'lost')"),
  )

/** Since when answers are lost, and indexes of those that were and of those that are deleted. */
const lostAnswers = (): Migration =>
  statements(
    sql`alter table deliveries add column lost_at bigint not null default 0`,
    index('deliveries_lost', 'deliveries (asked_at) where losses > 0'),
    index('deliveries_done', "deliveries (asked_at) where state = 'delivered' and losses = 0"),
  )

/** By what `sluice proxy` names answers in its reports. */
const reportedAnswers = (): Migration =>
  statements(
    sql`alter table deliveries add column answer_id text not null default ''`,
    index('deliveries_reported', "deliveries (answer_id) where answer_id <> ''"),
  )

/** Positions whose clients were refused what they asked of them. */
const refusedPositions = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table refused_positions (refused_at bigint not null, client ${sortedText} not null, chain text not null, network text not null,
      connector text not null, version text not null, token_id ${sortedText} not null, asked text not null, error text,
      primary key (client, chain, network, connector, version, token_id))`,
  )

/** An index for each condition that lists look through, which ends with the key. Wallets were found by a number of 32 bits that stood for their address. */
const listIndexes = (): Migration =>
  statements(
    ...['entries_in_state', 'entries_of_wallet', 'entries_of_wallet_in_state'].map((name) => sql`drop index ${sql.ref(name)}`),
    sql`alter table entries drop column wallet`,
    index('entries_of_address', 'entries (address, key)'),
    index('entries_of_address_on_network', 'entries (address, chain, network, key)'),
    index('entries_of_address_and_pair', 'entries (address, pair, key) where pair is not null'),
    index('entries_on_network', 'entries (chain, network, key)'),
    // Most are confirmed.
    index('entries_of_state', "entries (state, key) where state <> 'CONFIRMED'"),
    index('archived_of_address', 'archived (address, key)'),
  )

/** What clients have set for themselves by interfaces of plugins. */
const preferences = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table preferences (interface ${sortedText} not null, client ${sortedText} not null, name ${sortedText} not null,
      value text not null, primary key (interface, client, name))`,
  )

/** What is known of the fills of each order. */
const orderFills = (): Migration => statements(sql`alter table orders add column fills text`)

/** The limits of clients that each running server has. */
const serverLimits = (): Migration => statements(sql`alter table servers add column limits text`)

/** Requests that wait, or waited, for a second person. */
const approvals = ({ serialKey, sortedText, bytes }: ColumnTypes): Migration =>
  statements(
    sql`create table approvals (id ${serialKey}, made_at bigint not null, expires_at bigint not null, expires_elapsed bigint not null,
      decided_at bigint, client ${sortedText} not null, path text not null, "key" text not null, certificate text not null,
      endpoint text not null, address text not null, fingerprint text not null, request_id text not null, state text not null, decided_by text,
      body ${bytes} not null)`,
    sql`create unique index approvals_of_key on approvals (client, path, "key")`,
    index('approvals_waiting', "approvals (client) where state = 'waiting'"),
    index('approvals_age', 'approvals (expires_elapsed)'),
  )

/** What was counted for clients with limits, and may come back: by revoking, by a cancel. */
const refundable = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table refundable (name ${sortedText} primary key, owner ${sortedText} not null, counted_at bigint not null,
      body text not null)`,
    index('refundable_age', 'refundable (owner, counted_at)'),
  )

/** What wallets held at blocks, kept from day to day. */
const checkpoints = ({ sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table checkpoints (block bigint not null, block_time bigint not null, chain text not null, network text not null,
      wallet ${sortedText} not null, token ${sortedText} not null, balance text not null,
      primary key (chain, network, wallet, block, token))`,
  )

/** Beside each balance of a block how many transactions the wallet had sent by then: that was a row like those of tokens. */
const checkpointNonces = (): Migration =>
  statements(
    sql`alter table checkpoints add column nonce bigint`,
    sql`update checkpoints set nonce = (
      select cast(counted.balance as bigint) from checkpoints as counted where counted.chain = checkpoints.chain and counted.network = checkpoints.network
        and counted.wallet = checkpoints.wallet and counted.block = checkpoints.block and counted.token = 'nonce')`,
    sql`delete from checkpoints where token = 'nonce'`,
  )

/** Bodies that are written from now on are in two parts, which an earlier version cannot read. Those that are there stay as they are. */
const bodiesInTwo: Migration = { up: async () => {} }

/** What people are told of, the messages to them, and what they do not want to be told of for a while. */
const alerts = ({ serialKey, sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table alerts (raised_at bigint not null, told_at bigint, resolved_at bigint, rule ${sortedText} not null,
      subject ${sortedText} not null, severity text not null, server text not null, words text not null, primary key (rule, subject))`,
    index('alerts_untold', 'alerts (rule) where told_at is null or resolved_at is not null'),
    sql`create table alert_messages (id ${serialKey}, made_at bigint not null, next_at bigint not null, claimed_until bigint not null,
      ended_at bigint, tries integer not null, channel ${sortedText} not null, rule ${sortedText} not null, state text not null, server text,
      reason text, body text not null)`,
    index('alert_messages_waiting', "alert_messages (channel, id) where state = 'waiting'"),
    index('alert_messages_of_rule', 'alert_messages (rule, made_at)'),
    index('alert_messages_ended', 'alert_messages (ended_at) where ended_at is not null'),
    sql`create table alert_silences (until bigint not null, rule ${sortedText} not null, subject ${sortedText} not null, set_by text not null,
      reason text, primary key (rule, subject))`,
  )

/** When each was found last: some count for days, whichever server looks then. */
const alertsFound = (): Migration =>
  statements(sql`alter table alerts add column found_at bigint not null default 0`, sql`update alerts set found_at = raised_at`)

/** Where keys are ahead of the clock from now on: what is journaled already stays in the days of its keys. */
const keyLeads = (): Migration => statements(sql`create table key_leads (key_ms bigint not null primary key, created_ms bigint not null)`)

/** What markets were read to be worth in the last minutes. */
const marketSamples = ({ clustered, sortedText }: ColumnTypes): Migration =>
  statements(
    sql`create table market_samples (chain text not null, network text not null, series ${sortedText} not null, at bigint not null,
      terms text not null, clock bigint not null, elapsed bigint not null, block_number bigint not null, block_hash text not null,
      block_time bigint not null, body text not null, primary key (chain, network, series, at)) ${clustered}`,
  )

/** By what transactions are found besides. What is journaled already is read once for it. */
const entryFilters = (): Migration => ({
  async up(db: Kysely<unknown>) {
    for (const table of ['entries', 'archived'] as const) {
      for (const column of ['client', 'kind'])
        await sql`alter table ${sql.ref(table)} add column ${sql.ref(column)} text not null default ''`.execute(db)
      for (const column of ['connector', 'pair']) await sql`alter table ${sql.ref(table)} add column ${sql.ref(column)} text`.execute(db)
      for (let after = ''; ;) {
        const { rows } = await sql<{ key: string; body: Uint8Array }>`
          select key, body from ${sql.ref(table)} where key > ${after} order by key limit ${sql.lit(filledAtOnce)}`.execute(db)
        const last = rows.at(-1)
        if (!last) break
        const filled = rows.flatMap(({ key, body }) => {
          const filters = storedFilters(body)
          return filters ? [sql`(${key}, ${filters.client}, ${filters.kind}, ${filters.connector}, ${filters.pair})`] : []
        })
        if (filled.length > 0)
          await sql`with filled(key, client, kind, connector, pair) as (values ${sql.join(filled)})
            update ${sql.ref(table)} set client = filled.client, kind = filled.kind, connector = filled.connector, pair = filled.pair
            from filled where ${sql.ref(table)}.key = filled.key`.execute(db)
        after = last.key
      }
      await index(`${table}_of_client`, `${table} (client, key)`).execute(db)
      await index(`${table}_of_pair`, `${table} (pair, key) where pair is not null`).execute(db)
      await index(`${table}_of_connector`, `${table} (connector, key) where connector is not null`).execute(db)
      // Most are trades.
      await index(`${table}_of_kind`, `${table} (kind, key) where kind <> 'trade'`).execute(db)
    }
  },
})

const filledAtOnce = 500

/** Undefined where the row is damaged: it stays as it is, and is found by nothing of it. */
function storedFilters(body: Uint8Array): EntryFilters | undefined {
  try {
    const entry: unknown = JSON.parse(unpack(body))
    return isObject(entry) ? filtersOf(entry) : undefined
  } catch {
    return undefined
  }
}

/** All of `Tables` at the first version of them. Numbers stand before texts, which differ in length. */
const tables = (types: ColumnTypes): Migration =>
  statements(
    ...journalTables(types),
    ...requestTables(types),
    ...serverTables(),
    ...orderTables(types),
    ...breachTables(types),
    ...timeTables(),
  )

/** Transactions, the hashes by which they are found, their changes, and what stays of them in the archive. */
const journalTables = ({ sortedText, serialKey, bytes, clustered }: ColumnTypes): readonly RawBuilder<unknown>[] => [
  sql`create table entries (nonce bigint not null, ended_at bigint, version integer not null, wallet integer not null, final integer not null,
    "key" ${sortedText} primary key, lane text not null, chain text not null, network text not null, address text not null, via text,
    signer text, state text not null, request_id text not null, idempotency_key text, shown text not null, body ${bytes} not null)`,
  index('entries_open', 'entries (chain, network, key) where final = 0'),
  // Final ones that signed a permit which may still be used.
  index('entries_outstanding', "entries (chain, network, key) where final = 1 and lane <> ''"),
  index('entries_in_state', 'entries (chain, network, state, key)'),
  index('entries_of_wallet', 'entries (wallet, key)'),
  index('entries_of_wallet_in_state', 'entries (wallet, state, key)'),
  index('entries_signer', 'entries (signer, key) where signer is not null'),
  index('entries_nonce', 'entries (nonce, key)'),
  index('entries_request_id', 'entries (request_id, key)'),
  index('entries_idempotency_key', 'entries (idempotency_key, key) where idempotency_key is not null'),
  index('entries_ended', 'entries (ended_at, key) where final = 1'),
  sql`create table hashes (hash ${bytes} not null, chain text not null, network text not null, entry_key ${sortedText} not null,
    primary key (hash, chain, network)) ${clustered}`,
  sql`create table events (id ${serialKey}, wallet integer not null, entry_key ${sortedText} not null, change text not null)`,
  sql`create table archived ("key" ${sortedText} primary key, chain text not null, network text not null, address text not null,
    request_id text not null, idempotency_key text, body ${bytes} not null)`,
  index('archived_request_id', 'archived (request_id, key)'),
  index('archived_idempotency_key', 'archived (idempotency_key, key) where idempotency_key is not null'),
]

/** Answers under Idempotency-Keys. */
const requestTables = ({ bytes }: ColumnTypes): readonly RawBuilder<unknown>[] => [
  sql`create table requests (created_at bigint not null, ages_from bigint, claim integer not null, status integer, client text not null,
    path text not null, "key" text not null, fingerprint text not null, server text not null, request_id text not null, tag text not null,
    body ${bytes}, constraint requests_pk primary key (client, path, "key"))`,
  index('requests_ages_from', 'requests (ages_from) where ages_from is not null'),
]

/** Running servers and their leases. */
const serverTables = (): readonly RawBuilder<unknown>[] => [
  sql`create table servers (id text primary key, name text not null, alive_until bigint not null, migration text not null)`,
  sql`create table lanes (lane text primary key, server text not null, fence bigint not null, wanted_by text)`,
  index('lanes_server', 'lanes (server)'),
]

/** Orders of books by their client order ids. */
const orderTables = ({ sortedText }: ColumnTypes): readonly RawBuilder<unknown>[] => [
  sql`create table orders (chain text not null, network text not null, connector text not null, wallet text not null,
    client_order_id text not null, "key" ${sortedText} not null, type text not null, market text not null, entry_key ${sortedText} not null,
    place bigint not null, about text not null, standing text not null, order_id text, said_at bigint, said text,
    constraint orders_pk primary key (chain, network, connector, wallet, client_order_id))`,
  index('orders_wallet', 'orders (wallet, key)'),
  index('orders_open', "orders (wallet, key) where standing = 'open'"),
  index('orders_order_id', 'orders (order_id, key) where order_id is not null'),
  index('orders_entry', 'orders (entry_key)'),
]

/** Plugins whose transactions did more to a wallet than their plans were allowed. */
const breachTables = ({ sortedText }: ColumnTypes): readonly RawBuilder<unknown>[] => [
  sql`create table breaches (entry_key ${sortedText} primary key, plugin text not null, at bigint not null, body text not null, lifted_at bigint)`,
  index('breaches_in_force', 'breaches (plugin) where lifted_at is null'),
]

/** The store's time, which events were there at moments of it, and the row that is written to find out whether the store can be written. */
const timeTables = (): readonly RawBuilder<unknown>[] => [
  sql`create table store_time (id bigint primary key, elapsed bigint not null)`,
  sql`insert into store_time (id, elapsed) values (1, 0)`,
  sql`create table event_marks (id bigint primary key, elapsed bigint not null)`,
  sql`create table probes (id bigint primary key, tries bigint not null, ballast text not null)`,
  sql`insert into probes (id, tries, ballast) values (1, 0, '')`,
]
