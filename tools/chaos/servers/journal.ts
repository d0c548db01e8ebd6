import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Database from 'libsql'
import { Client } from 'pg'
import { readStored } from '../../../core/transactions/journal/entry-rows.ts'
import type { EntryRow } from '../../../core/store/tables.ts'
import type { JournalEntry } from '../history.ts'
import type { Home } from './home.ts'

/** The client of the entries that are made here, and how their requests begin: no bot of a run. */
export const longAgo = 'long-ago'
/** So many wallets share them. */
export const walletsOfLongAgo = 200
export const walletOfLongAgo = (index: number): string => `0x${(index % walletsOfLongAgo).toString(16).padStart(40, '0')}`

const program = fileURLToPath(new URL('fill-journal.ts', import.meta.url))

/**
 * Fills the journal of a store that no server uses up to a number of entries: copies of those that are there and final, each with a key, a
 * hash, a request and an Idempotency-Key of its own, as old as a million trades are. In a process of its own: SQLite's work of many seconds
 * would let the calls to the chain that are under way in this one run into their time limits.
 */
export async function lengthenJournal(dataDir: string, count: number): Promise<void> {
  await promisify(execFile)(process.execPath, ['--import', import.meta.resolve('tsx/esm'), program, dataDir, String(count)])
}

/** The journal as it lies in the store, past everything that the server says of it. The embedded one is read when its server is gone. */
export async function dumpJournal({ dataDir, flags }: Home): Promise<JournalEntry[]> {
  const url = flags['store.url']
  const rows = typeof url === 'string' ? await ofPostgres(url) : ofFile(dataDir)
  return rows.map(readEntry)
}

type Row = Pick<EntryRow, 'key' | 'request_id' | 'idempotency_key' | 'body'>

/** Without those that were there before the run (`lengthenJournal`). */
const query = `select key, request_id, idempotency_key, body from entries where request_id not like '${longAgo}-%' order by key`
/** A larger file is not read as a whole. */
const maxCheckedBytes = 100_000_000

function ofFile(dataDir: string): Row[] {
  if (!existsSync(path.join(dataDir, 'sluice.db'))) return []
  // SQLite reads links itself, and misreads those into another process's file system (`SmallDisk`).
  const isElsewhere = dataDir.startsWith('/proc/')
  const folder = isElsewhere ? mkdtempSync(path.join(tmpdir(), 'sluice-dump-')) : dataDir
  if (isElsewhere) cpSync(dataDir, folder, { recursive: true })
  const file = path.join(folder, 'sluice.db')
  const db = new Database(file)
  try {
    const damage = statSync(file).size > maxCheckedBytes ? [] : db.prepare('pragma integrity_check').pluck().all()
    if (damage.some((each) => each !== 'ok')) throw new Error(`The journal is damaged: ${JSON.stringify(damage)}`)
    return db
      .prepare(query)
      .all()
      .map((row): Row => Object(row))
  } finally {
    db.close()
    if (isElsewhere) rmSync(folder, { recursive: true })
  }
}

async function ofPostgres(connectionString: string): Promise<Row[]> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<Row>(query)
    return rows
  } finally {
    await client.end()
  }
}

function readEntry({ key, request_id: requestId, idempotency_key: idempotencyKey, body }: Row): JournalEntry {
  const entry: Omit<JournalEntry, 'attempts'> & { attempts: { id: string; raw?: string }[] } = Object(readStored(body))
  return {
    ...entry,
    key,
    requestId,
    ...(idempotencyKey !== null && { idempotencyKey }),
    attempts: entry.attempts.map(({ id, raw }) => ({ txHash: id, ...(raw !== undefined && { raw: `0x${raw}` }) })),
  }
}
