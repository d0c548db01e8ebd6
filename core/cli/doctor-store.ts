// What `sluice doctor` finds of the disk and of the store.
import { existsSync, constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import path from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import type { Settings } from '../config/settings.ts'
import { command } from '../base/layout.ts'
import { embeddedConnection, embeddedFaults, lockStore } from '../store/embedded.ts'
import { postgresFaults, saysIn } from '../store/postgres/faults.ts'
import { postgresPool, requireSessions } from '../store/postgres/connection.ts'
import { StoreError } from '../store/store.ts'
import type { Finding } from './output.ts'
import { reasonOf } from '../base/errors.ts'

const enoughBytes = 500_000_000

export async function examineDisk({ data: { dir } }: Settings): Promise<Finding[]> {
  try {
    // Only a start makes it.
    let there = dir
    while (!existsSync(there)) there = path.dirname(there)
    // With the separator a file is refused.
    await access(there + path.sep, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = await statfs(there)
    const free = bavail * bsize
    const shown = `${(free / 1e9).toFixed(1)} GB free in ${dir}`
    if (free < enoughBytes)
      return [
        {
          part: 'disk',
          state: 'warn',
          what: `Only ${shown}.`,
          remedy: 'Make room, or move data.dir (conf/server.yml) to a larger disk.',
        },
      ]
    return [{ part: 'disk', state: 'good', what: `${shown}.` }]
  } catch (error) {
    return [
      {
        part: 'disk',
        state: 'bad',
        what: `${dir} cannot be written: ${reasonOf(error)}.`,
        remedy: 'Make it belong to the user that Sluice runs as, or correct data.dir in conf/server.yml.',
      },
    ]
  }
}

/** Checks that transactions can be stored. It creates no file and changes no table: that is done by a start. */
export async function examineStore({ store: { url }, data: { dir } }: Settings): Promise<Finding[]> {
  return url === undefined ? [examineEmbedded(dir)] : examinePostgres(url)
}

function examineEmbedded(dataDir: string): Finding {
  const file = path.join(dataDir, 'sluice.db')
  if (!existsSync(file)) return { part: 'store', state: 'good', what: 'None yet: the first start creates it.' }
  try {
    const lock = lockStore(dataDir, 'sluice doctor')
    try {
      return examineFile(file)
    } finally {
      lock.release()
    }
  } catch (error) {
    const reason = embeddedFaults.of(error)?.reason
    if (error instanceof StoreError)
      return { part: 'store', state: 'good', what: `A server runs on it; \`${command} health --ready\` says whether it can be written.` }
    if (reason === undefined) throw error
    return {
      part: 'store',
      state: 'bad',
      what: `${file} cannot be used: ${reason}.`,
      remedy: 'docs/operators/failures.md says what to do without it.',
    }
  }
}

function examineFile(file: string): Finding {
  const connection = embeddedConnection(file)
  try {
    const [result] = connection.prepare('pragma quick_check(1)').all([])
    if (JSON.stringify(result) !== '{"quick_check":"ok"}')
      return {
        part: 'store',
        state: 'bad',
        what: `${file} is damaged: ${JSON.stringify(result)}.`,
        remedy: 'docs/operators/failures.md says what to do without it.',
      }
    connection.prepare('begin immediate').run([])
    connection.prepare('rollback').run([])
    return { part: 'store', state: 'good', what: `${file} is whole and can be written.` }
  } finally {
    connection.close()
  }
}

const oldestMajor = 13
const mostSkewSeconds = 5

interface Facts {
  version: number
  isStandby: boolean
  mayCreate: boolean
  fsync: string
  fullPageWrites: string
  synchronousCommit: string
  skewSeconds: number
}

/** Checks that this user can write to the database, and that the database keeps what it acknowledges. */
async function examinePostgres(url: string): Promise<Finding[]> {
  const options = { url, serverName: 'doctor', log: { info: () => {}, warn: () => {} } }
  const db = new Kysely<object>({ dialect: new PostgresDialect({ pool: postgresPool(options) }) })
  try {
    await requireSessions(options)
    const { rows } = await sql<Facts>`
      select current_setting('server_version_num')::int as "version",
             pg_is_in_recovery() as "isStandby",
             has_schema_privilege(current_schema(), 'create') as "mayCreate",
             current_setting('fsync') as "fsync",
             current_setting('full_page_writes') as "fullPageWrites",
             current_setting('synchronous_commit') as "synchronousCommit",
             extract(epoch from clock_timestamp())::float8 - ${Date.now() / 1000}::float8 as "skewSeconds"`.execute(db)
    return rows.flatMap(findingsOf)
  } catch (error) {
    const fault = postgresFaults.of(error)
    const what = fault
      ? `PostgreSQL cannot be used: ${fault.reason}.${saysIn(fault)}`
      : // The driver's message may hold parts of the URL.
        'PostgreSQL cannot be used: store.url is not understood.'
    return [{ part: 'store', state: 'bad', what, remedy: 'Start the database, or correct store.url; see docs/operators/operations.md.' }]
  } finally {
    await db.destroy()
  }
}

function findingsOf({ version, isStandby, mayCreate, fsync, fullPageWrites, synchronousCommit, skewSeconds }: Facts): Finding[] {
  const major = Math.floor(version / 10_000)
  const findings: Finding[] = []
  const found = (state: 'warn' | 'bad', what: string, remedy: string) => void findings.push({ part: 'store', state, what, remedy })
  if (major < oldestMajor) found('bad', `PostgreSQL ${major} is too old.`, `Use ${oldestMajor} or newer.`)
  if (isStandby) found('bad', 'It is a standby, which is read-only.', 'Name the primary in store.url.')
  else if (!mayCreate)
    found('bad', 'The user may not create tables.', 'Make the user the owner of the database: alter database … owner to ….')
  for (const [name, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPageWrites],
    ['synchronous_commit', synchronousCommit],
  ] as const)
    if (value === 'off')
      found('bad', `${name} is off: after a power failure it loses what it acknowledged.`, 'Turn it on in postgresql.conf.')
  if (Math.abs(skewSeconds) > mostSkewSeconds)
    found(
      'warn',
      `The database's clock is ${Math.abs(Math.round(skewSeconds))} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} this machine's.`,
      'Turn on time synchronisation (NTP) on both.',
    )
  return findings.length > 0
    ? findings
    : [{ part: 'store', state: 'good', what: `PostgreSQL ${major} answers, and keeps what it acknowledges.` }]
}
