import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Database from 'libsql'
import { Client } from 'pg'
import { unpack } from '../../core/store/compact.ts'
import type { StoredBytes } from '../../core/store/tables.ts'
import type { Journaled } from './history.ts'
import type { Home } from './servers/home.ts'

/** The journal as it lies in the store, past everything that the server says of it. The embedded one is read when its server is gone. */
export async function dumpJournal({ dataDir, flags }: Home): Promise<Journaled[]> {
  const url = flags['store.url']
  const bodies = typeof url === 'string' ? await ofPostgres(url) : ofFile(dataDir)
  return bodies.map((body) => readEntry(unpack(body)))
}

const query = 'select body from entries order by key'

function ofFile(dataDir: string): StoredBytes[] {
  if (!existsSync(path.join(dataDir, 'sluice.db'))) return []
  // SQLite reads links itself, and misreads those into another process's file system (`SmallDisk`).
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-dump-'))
  cpSync(dataDir, folder, { recursive: true })
  const db = new Database(path.join(folder, 'sluice.db'))
  try {
    const damage = db.prepare('pragma integrity_check').all()
    if (JSON.stringify(damage) !== '[{"integrity_check":"ok"}]') throw new Error(`The journal is damaged: ${JSON.stringify(damage)}`)
    return db
      .prepare(query)
      .all()
      .map((row): ArrayBuffer => Reflect.get(Object(row), 'body'))
  } finally {
    db.close()
    rmSync(folder, { recursive: true })
  }
}

async function ofPostgres(connectionString: string): Promise<StoredBytes[]> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<{ body: Buffer }>(query)
    return rows.map(({ body }) => body)
  } finally {
    await client.end()
  }
}

function readEntry(body: string): Journaled {
  const entry: Omit<Journaled, 'attempts'> & { attempts: { id: string; raw?: string }[] } = JSON.parse(body)
  return { ...entry, attempts: entry.attempts.map(({ id, raw }) => ({ txHash: id, ...(raw !== undefined && { raw: `0x${raw}` }) })) }
}
