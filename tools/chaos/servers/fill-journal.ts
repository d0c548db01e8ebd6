// A program: fills the journal of a store that no server uses up to a number of entries. Its arguments are the folder of the store and the number.
import path from 'node:path'
import Database from 'libsql'
import { pack } from '../../../core/store/compact.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { isFinal, queueName, railOf, signerOf, type Entry } from '../../../core/transactions/entry.ts'
import { entryRow, hashRows } from '../../../core/transactions/journal/entry-rows.ts'
import { sqlJournal } from '../../../core/transactions/journal/sql-journal.ts'
import { longAgo, walletOfLongAgo, walletsOfLongAgo } from './journal.ts'

/** In one statement. SQLite takes 32,766 parameters: https://www.sqlite.org/limits.html */
const rowsAtOnce = 200

/** The entries are written as the journal writes them, past its checks, since a million would take it an hour. */
async function fillJournal(dataDir: string, count: number): Promise<void> {
  const silent = { info: () => {}, warn: () => {} }
  const store = await openStore({ dataDir, serverName: 'long journal', log: silent })
  const { entries } = await sqlJournal(store).list({ limit: 500 })
  await store.close()
  const models = entries.filter((entry) => isFinal(entry) && entry.attempts.length > 0)
  if (models.length === 0) throw new Error('There is no transaction to copy.')

  const db = new Database(path.join(dataDir, 'sluice.db'))
  try {
    // Nothing is lost that could not be made again.
    for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -200000']) db.prepare(`pragma ${pragma}`).all()
    const indexes = db
      .prepare(
        "select name, sql from sqlite_master where type = 'index' and sql is not null and tbl_name in ('entries', 'hashes', 'requests')",
      )
      .all()
      .map((row) => ({ name: String(Reflect.get(Object(row), 'name')), sql: String(Reflect.get(Object(row), 'sql')) }))
    for (const { name } of indexes) db.exec(`drop index ${name}`)
    db.exec('begin')
    const [entryRows, hashes, requests] = [createWriter(db, 'entries'), createWriter(db, 'hashes'), createWriter(db, 'requests')]
    for (let index = 0; index < count; index += 1) {
      const model = models[index % models.length]
      if (!model) break
      const entry = copyOf(model, index, count)
      entryRows.write({ ...entryRow(entry, queueName(railOf(entry), signerOf(entry))), ended_at: 0 })
      for (const row of hashRows([entry])) hashes.write(row)
      requests.write(requestRow(entry))
    }
    for (const each of [entryRows, hashes, requests]) each.end()
    db.exec('commit')
    for (const { sql } of indexes) db.exec(sql)
  } finally {
    db.close()
  }
}

/** From a month ago on. */
function copyOf(model: Entry, index: number, count: number): Entry {
  const unique = index.toString(16).padStart(12, '0')
  const createdAt = model.createdAt - 30 * 86_400_000 + Math.floor((index / count) * 20 * 86_400_000)
  const hashOf = (id: string) => `0x${unique}${id.slice(14)}`
  return {
    ...model,
    key: `${createdAt.toString(36).padStart(9, '0')}${index.toString(36).padStart(8, '0')}`,
    address: walletOfLongAgo(index),
    client: longAgo,
    requestId: `long-ago-${index}`,
    idempotencyKey: `long-ago-${index}`,
    createdAt,
    updatedAt: createdAt + 30_000,
    nonce: Math.floor(index / walletsOfLongAgo),
    attempts: model.attempts.map((attempt) => ({ ...attempt, id: hashOf(attempt.id) })),
    ...(model.landed && { landed: { ...model.landed, id: hashOf(model.landed.id) } }),
  }
}

/** Nobody asks for the answer again, so all have the same. */
const answer = pack(
  JSON.stringify({ network: 'local', latency: 12, base: 'ETH', quote: 'USDC', amount: '1', txHash: `0x${'1'.repeat(64)}` }),
)

const requestRow = (entry: Entry) => ({
  client: entry.client,
  path: '/amm/trade',
  key: entry.idempotencyKey,
  fingerprint: entry.attempts[0]?.id ?? '',
  claim: 1,
  server: '',
  request_id: entry.requestId,
  created_at: entry.createdAt,
  ages_from: null,
  tag: '',
  status: 200,
  body: answer,
})

function createWriter(db: Database.Database, table: string) {
  let values: unknown[] = []
  let rows = 0
  let columns: readonly string[] = []
  let full: Database.Statement | undefined

  const statement = (count: number) => {
    const row = `(${columns.map(() => '?').join()})`
    return db.prepare(`insert into ${table} (${columns.join()}) values ${Array.from({ length: count }, () => row).join()}`)
  }
  return {
    write(row: object): void {
      if (columns.length === 0) columns = Object.keys(row)
      for (const column of columns) values.push(Reflect.get(row, column))
      rows += 1
      if (rows < rowsAtOnce) return
      full ??= statement(rowsAtOnce)
      full.run(values)
      values = []
      rows = 0
    },
    end(): void {
      if (rows > 0) statement(rows).run(values)
    },
  }
}

const [dataDir = '', count = ''] = process.argv.slice(2)
await fillJournal(dataDir, Number(count))
