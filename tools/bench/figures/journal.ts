import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { openStore } from '../../../core/store/open-store.ts'
import type { Store } from '../../../core/store/store.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { isPostgresInstalled, startPostgres } from '../../../test/store/postgres.ts'
import { attempt, giveLease, newEntry, next } from '../../../test/transactions/journal/entries.ts'
import { journalTrades } from '../../../test/transactions/journal/grown-journal.ts'
import { ms, times, percentile, type Row } from '../measuring.ts'

const transactions = 500
const atOnce = 16
const silent = { info() {}, warn() {} }
/** As long as a swap's. */
const callData = `0x${'38ed1739'.repeat(65)}`
const signedBytes = new Uint8Array(380).fill(7)

/** What keeping a transaction adds to it before it is sent: once before it is signed, once with its signed bytes. */
export async function journaling(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const postgres = isPostgresInstalled ? await startPostgres() : undefined
  try {
    const fixture = percentile(await flushes(path.join(folder, 'floor')), 0.5) * 2
    const embedded = await openStore({ dataDir: folder, serverName: 'bench', log: silent })
    const rows = await rowsOf('embedded', embedded, fixture)
    await embedded.close()
    if (!postgres) return rows
    const database = await openStore({ dataDir: folder, url: await postgres.database(), serverName: 'bench', log: silent })
    rows.push(...(await rowsOf('PostgreSQL beside it', database, fixture)))
    await database.close()
    return rows
  } finally {
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function rowsOf(name: string, store: Store, fixture: number): Promise<Row[]> {
  const journal = sqlJournal(store)
  const guard = await giveLease(store)
  const one = async () => {
    const startedAt = performance.now()
    const entry = newEntry({ step: { to: '0x', data: callData } })
    await journal.open([entry], guard)
    await journal.write([next(entry, { state: 'SIGNED', attempts: [attempt(`0x${entry.key}`, { raw: signedBytes })] })], guard)
    return performance.now() - startedAt
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  const alone: number[] = []
  for (let count = 0; count < transactions; count += 1) alone.push(await one())
  const startedAt = performance.now()
  const lanes = Array.from({ length: atOnce }, async () => {
    for (let count = 0; count < transactions / atOnce; count += 1) await one()
  })
  await Promise.all(lanes)
  const together = (performance.now() - startedAt) / transactions
  const row = (what: string, value: number): Row => ({
    name: `${name}: ${what}`,
    value: ms(value),
    reference: ms(fixture),
    ratio: times(value, fixture),
  })
  return [row('p50', percentile(alone, 0.5)), row('p99', percentile(alone, 0.99)), row(`each of ${atOnce} at once`, together)]
}

/** What the disk itself takes for a page that is there to stay. */
async function flushes(file: string): Promise<number[]> {
  const handle = await open(file, 'w')
  try {
    const page = Buffer.alloc(4096, 1)
    const taken: number[] = []
    for (let count = 0; count < transactions; count += 1) {
      const startedAt = performance.now()
      await handle.write(page)
      await handle.datasync()
      taken.push(performance.now() - startedAt)
    }
    return taken
  } finally {
    await handle.close()
  }
}

const journaled = 1_000

/** What a finished trade takes: one attempt, two hops, five events, the answer under its key, all indexes. */
export async function journalSize(): Promise<Row[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const postgres = isPostgresInstalled ? await startPostgres() : undefined
  try {
    const embedded = await openStore({ dataDir: folder, serverName: 'bench', log: silent })
    const rows = await sizesOf('embedded', embedded, () => embeddedSizes(embedded))
    await embedded.close()
    if (!postgres) return rows
    const url = await postgres.database()
    const database = await openStore({ dataDir: folder, url, serverName: 'bench', log: silent })
    rows.push(
      ...(await sizesOf('PostgreSQL', database, async () => {
        // As it is where autovacuum keeps up: dead versions of rows are not counted.
        await postgres.query('vacuum full', url)
        return sizes(await postgres.query(postgresSizes, url))
      })),
    )
    await database.close()
    return rows
  } finally {
    await postgres?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function sizesOf(name: string, store: Store, read: () => Promise<ReadonlyMap<string, number>>): Promise<Row[]> {
  const before = await read()
  await journalTrades(store, journaled)
  const after = await read()
  const each = [...after]
    .map(([table, bytes]): [string, number] => [table, (bytes - (before.get(table) ?? 0)) / journaled])
    .filter(([, bytes]) => bytes >= 10)
  const total = each.reduce((sum, [, bytes]) => sum + bytes, 0)
  const row = (what: string, bytes: number): Row => ({ name: `${name}: ${what}`, value: `${Math.round(bytes)} bytes` })
  return [row('a trade', total), ...each.map(([table, bytes]) => row(`  ${table}`, bytes))]
}

const sizes = (rows: readonly Record<string, unknown>[]) =>
  new Map(rows.map(({ name, bytes }): [string, number] => [String(name), Number(bytes)]))

/** A table with all of its indexes. */
async function embeddedSizes(store: Store): Promise<ReadonlyMap<string, number>> {
  const { rows } = await store.read((db) =>
    sql<{ name: string; bytes: number }>`select tbl_name || case when type = 'index' then ': indexes' else '' end as name,
      sum(pgsize) as bytes from dbstat join sqlite_schema using (name) group by 1 order by 2 desc`.execute(db),
  )
  return sizes([...rows])
}

const postgresSizes = `select relname as name, pg_table_size(oid) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace
  union all select relname || ': indexes', pg_indexes_size(oid) from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace order by 2 desc`
