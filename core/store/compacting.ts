// Migration 008: from JSON as text, every event with all of its transaction, to packed rows of what cannot be derived.
import { sql, type Generated, type Kysely, type Migration } from 'kysely'
import { isObject } from '../json.ts'
import { digest, hashBytes, pack, walletNumber } from './compact.ts'
import type { ColumnTypes } from './migrations.ts'
import type { StoreLog } from './store.ts'

/** The tables as they are with this migration, while the old ones are beside them. */
type NewTables = {
  entries_new: Omit<EntryBefore, 'body' | 'client' | 'created_at'> & { wallet: number; body: Uint8Array }
  hashes_new: Omit<HashBefore, 'hash'> & { hash: Uint8Array }
  requests_new: Omit<RequestBefore, 'body'> & { body: Uint8Array | null }
  archived_new: Omit<ArchivedBefore, 'body'> & { body: Uint8Array }
  events_new: { id: Generated<number>; entry_key: string; wallet: number; change: string }
}
type Db = Kysely<NewTables>

interface EntryBefore {
  key: string
  version: number
  lane: string
  chain: string
  network: string
  address: string
  state: string
  final: number
  nonce: number
  client: string
  request_id: string
  idempotency_key: string | null
  created_at: number
  shown: string
  body: string
  via: string | null
  signer: string | null
  ended_at: number | null
}

interface ArchivedBefore {
  key: string
  chain: string
  network: string
  address: string
  request_id: string
  idempotency_key: string | null
  body: string
}

interface HashBefore {
  hash: string
  chain: string
  network: string
  entry_key: string
}

interface RequestBefore {
  client: string
  path: string
  key: string
  fingerprint: string
  claim: number
  server: string
  request_id: string
  created_at: number
  status: number | null
  body: string | null
  tag: string
  ages_from: number | null
}

interface EventBefore {
  id: number
  entry_key: string
  address: string
  body: string
}

/** Rows that are in memory at a time. */
const pageSize = 200
const logEveryMs = 10_000

/**
 * Writes new tables beside the old ones, in the one transaction that every migration is: whatever interrupts it, the next start finds the old
 * tables and begins again. Rows that cannot be read are taken over as they are, and whoever reads them is told.
 */
export const compactRows = (types: ColumnTypes, log: StoreLog): Migration => ({
  async up(before: Kysely<unknown>) {
    const db = before.withTables<NewTables>()
    const report = createReport(log)
    await createTables(db, types)
    await copyEntries(db, report)
    await copyArchived(db, report)
    await copyHashes(db, report)
    await copyRequests(db, report)
    await copyEvents(db, report)
    for (const table of ['entries', 'archived', 'hashes', 'requests']) {
      await db.schema.dropTable(table).execute()
      await db.schema.alterTable(`${table}_new`).renameTo(table).execute()
    }
    await types.replaceSerial(before, 'events', 'events_new')
    // Servers of earlier versions have no such column to fill, so they cannot register here, and own nothing.
    await db.schema.dropTable('servers').execute()
    await sql`create table servers (id text primary key, name text not null, alive_until bigint not null, migration text not null)`.execute(
      db,
    )
    await createIndexes(db)
  },
})

async function createTables(db: Db, { sortedText, serialKey, bytes, clustered }: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('entries_new')
    .addColumn('nonce', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull())
    .addColumn('wallet', 'integer', (column) => column.notNull())
    .addColumn('final', 'integer', (column) => column.notNull())
    .addColumn('key', sortedText, (column) => column.primaryKey())
    .addColumn('lane', 'text', (column) => column.notNull())
    .addColumn('chain', 'text', (column) => column.notNull())
    .addColumn('network', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('via', 'text')
    .addColumn('signer', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('shown', 'text', (column) => column.notNull())
    .addColumn('body', bytes, (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('archived_new')
    .addColumn('key', sortedText, (column) => column.primaryKey())
    .addColumn('chain', 'text', (column) => column.notNull())
    .addColumn('network', 'text', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('idempotency_key', 'text')
    .addColumn('body', bytes, (column) => column.notNull())
    .execute()
  await sql`create table hashes_new (hash ${bytes} not null, chain text not null, network text not null, entry_key ${sortedText} not null,
    primary key (hash, chain, network)) ${clustered}`.execute(db)
  await db.schema
    .createTable('requests_new')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('ages_from', 'bigint')
    .addColumn('claim', 'integer', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('path', 'text', (column) => column.notNull())
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('tag', 'text', (column) => column.notNull())
    .addColumn('body', bytes)
    .addPrimaryKeyConstraint('requests_new_pk', ['client', 'path', 'key'])
    .execute()
  await sql`create table events_new (id ${serialKey}, wallet integer not null, entry_key ${sortedText} not null, change text not null)`.execute(
    db,
  )
}

/** After the rows are there: sorted once, an index is made faster and is smaller. */
async function createIndexes(db: Db): Promise<void> {
  const index = async (name: string, columns: string) => sql`create index ${sql.ref(name)} on ${sql.raw(columns)}`.execute(db)
  await index('entries_open', 'entries (chain, network, key) where final = 0')
  await index('entries_in_state', 'entries (chain, network, state, key)')
  await index('entries_of_wallet', 'entries (wallet, key)')
  await index('entries_of_wallet_in_state', 'entries (wallet, state, key)')
  await index('entries_signer', 'entries (signer, key) where signer is not null')
  await index('entries_nonce', 'entries (nonce, key)')
  await index('entries_request_id', 'entries (request_id, key)')
  await index('entries_idempotency_key', 'entries (idempotency_key, key) where idempotency_key is not null')
  await index('entries_ended', 'entries (ended_at, key) where final = 1')
  await index('archived_request_id', 'archived (request_id, key)')
  await index('archived_idempotency_key', 'archived (idempotency_key, key) where idempotency_key is not null')
  await index('requests_ages_from', 'requests (ages_from) where ages_from is not null')
}

async function copyEntries(db: Db, report: Report): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await sql<EntryBefore>`select * from entries where key > ${after} order by key limit ${pageSize}`.execute(db)
    if (rows.length === 0) return
    await db
      .insertInto('entries_new')
      .values(
        rows.map(({ client: _client, created_at: _createdAt, ...row }) => ({
          ...row,
          lane: row.final === 1 ? '' : row.lane,
          wallet: walletNumber(row.address, row),
          shown: digest(row.shown),
          body: pack(bodyOf(row)),
        })),
      )
      .execute()
    after = rows.at(-1)?.key ?? after
    report('transactions', rows.length)
  }
}

async function copyArchived(db: Db, report: Report): Promise<void> {
  for (let after = ''; ;) {
    const { rows } = await sql<ArchivedBefore>`select * from archived where key > ${after} order by key limit ${pageSize}`.execute(db)
    if (rows.length === 0) return
    await db
      .insertInto('archived_new')
      .values(rows.map((row) => ({ ...row, body: pack(JSON.stringify(withoutIds(parse(row.body)))) })))
      .execute()
    after = rows.at(-1)?.key ?? after
    report('archived', rows.length)
  }
}

/** Without what the row has. Of a final one the signed bytes go, and the calls where a chain has them. */
function bodyOf({ body, final, signer }: Pick<EntryBefore, 'body' | 'final' | 'signer'>): string {
  const entry = withoutIds(parse(body))
  if (!isObject(entry) || !Array.isArray(entry['attempts'])) return body
  if (final !== 1) return JSON.stringify(entry)
  const attempts = entry['attempts'].map((each: unknown) => {
    const { raw: _raw, ...rest } = isObject(each) ? each : {}
    return rest
  })
  return JSON.stringify({ ...entry, ...(signer === null && { step: null }), attempts })
}

function withoutIds(entry: unknown): unknown {
  if (!isObject(entry)) return entry
  const { key: _key, requestId: _requestId, idempotencyKey: _idempotencyKey, ...rest } = entry
  return rest
}

async function copyHashes(db: Db, report: Report): Promise<void> {
  let last: HashBefore = { hash: '', chain: '', network: '', entry_key: '' }
  for (;;) {
    const { rows } = await sql<HashBefore>`select hash, chain, network, entry_key from hashes
      where (hash, chain, network) > (${last.hash}, ${last.chain}, ${last.network}) order by hash, chain, network limit ${pageSize}`.execute(
      db,
    )
    if (rows.length === 0) return
    await db
      .insertInto('hashes_new')
      .values(rows.map((row) => ({ ...row, hash: hashBytes(row.hash) })))
      .execute()
    last = rows.at(-1) ?? last
    report('hashes', rows.length)
  }
}

async function copyRequests(db: Db, report: Report): Promise<void> {
  let last = { client: '', path: '', key: '' }
  for (;;) {
    const { rows } = await sql<RequestBefore>`select * from requests
      where (client, path, "key") > (${last.client}, ${last.path}, ${last.key}) order by client, path, "key" limit ${pageSize}`.execute(db)
    if (rows.length === 0) return
    await db
      .insertInto('requests_new')
      .values(
        rows.map((row) => ({
          ...row,
          server: row.status === null ? row.server : '',
          tag: row.status === null ? row.tag : '',
          fingerprint: Buffer.from(row.fingerprint, 'hex').toString('base64'),
          body: row.body === null ? null : pack(row.body),
        })),
      )
      .execute()
    last = rows.at(-1) ?? last
    report('answers', rows.length)
  }
}

async function copyEvents(db: Db, report: Report): Promise<void> {
  for (let after = 0; ;) {
    const { rows } =
      await sql<EventBefore>`select id, entry_key, address, body from events where id > ${after} order by id limit ${pageSize}`.execute(db)
    if (rows.length === 0) return
    await db
      .insertInto('events_new')
      .values(rows.map(({ id, entry_key, address, body }) => ({ id, entry_key, wallet: walletNumber(address), change: changeOf(body) })))
      .execute()
    after = rows.at(-1)?.id ?? after
    report('events', rows.length)
  }
}

/** What an event has of its own: `Change` in `transactions/entry.ts`, as it is with this migration. */
function changeOf(body: string): string {
  const entry = parse(body)
  if (!isObject(entry) || !Array.isArray(entry['attempts'])) return body
  const { version, createdAt, updatedAt, state, seen = null, landed, replacedBy = null, reason = null } = entry
  const attempts = entry['attempts'].filter(isObject)
  const index = isObject(landed) ? attempts.findIndex((each) => each['id'] === landed['id']) : -1
  const block = isObject(landed) ? [index === -1 ? landed['id'] : index, landed['ok'] === true ? 1 : 0, landed['blockNumber']] : null
  const sends = attempts.map((each) => each['sends'])
  const change = [version, Number(updatedAt) - Number(createdAt), state, sends, seen, block, replacedBy, reason]
  while (change.at(-1) === null) change.pop()
  return JSON.stringify(change)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Report = (what: string, rows: number) => void

/** Says how far it is, so that an operator sees that it goes on. */
function createReport(log: StoreLog): Report {
  const counts: Record<string, number> = {}
  let saidAt = performance.now()
  return (what, rows) => {
    counts[what] = (counts[what] ?? 0) + rows
    if (performance.now() - saidAt < logEveryMs) return
    saidAt = performance.now()
    log.info({ ...counts }, 'bringing the store to this version')
  }
}
