import { Kysely, PostgresDialect, sql } from 'kysely'
import { postgresFaults } from '../store/postgres/faults.ts'
import { postgresPool } from '../store/postgres/pool.ts'
import type { Finding } from './finding.ts'

const part = 'store'
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

/** Whether the database can be written by this user, and keeps what it acknowledges. */
export async function examinePostgres(url: string): Promise<Finding[]> {
  const db = new Kysely<object>({
    dialect: new PostgresDialect({ pool: postgresPool({ url, serverName: 'doctor', log: { info: () => {}, warn: () => {} } }) }),
  })
  try {
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
    const reason = postgresFaults.of(error)?.reason
    // Its own words may hold parts of the URL.
    const what = `PostgreSQL cannot be used: ${reason ?? 'store.url is not understood'}.`
    return [{ part, state: 'bad', what, cure: 'Start the database, or correct store.url; see docs/operations.md.' }]
  } finally {
    await db.destroy()
  }
}

function findingsOf({ version, isStandby, mayCreate, fsync, fullPageWrites, synchronousCommit, skewSeconds }: Facts): Finding[] {
  const major = Math.floor(version / 10_000)
  const findings: Finding[] = []
  const found = (state: 'warn' | 'bad', what: string, cure: string) => void findings.push({ part, state, what, cure })
  if (major < oldestMajor) found('bad', `PostgreSQL ${major} is too old.`, `Use ${oldestMajor} or newer.`)
  if (isStandby) found('bad', 'It is a standby, and may only be read.', 'Name the primary in store.url.')
  else if (!mayCreate) found('bad', 'The user may not make tables.', 'Make the database belong to it: alter database … owner to ….')
  for (const [name, value] of [
    ['fsync', fsync],
    ['full_page_writes', fullPageWrites],
    ['synchronous_commit', synchronousCommit],
  ] as const)
    if (value === 'off')
      found('bad', `${name} is off: after a power cut it forgets what it acknowledged.`, 'Turn it on in postgresql.conf.')
  if (Math.abs(skewSeconds) > mostSkewSeconds)
    found(
      'warn',
      `The database's clock is ${Math.abs(Math.round(skewSeconds))} s ${skewSeconds > 0 ? 'ahead of' : 'behind'} this machine's.`,
      'Turn on time synchronisation (NTP) on both.',
    )
  return findings.length > 0 ? findings : [{ part, state: 'good', what: `PostgreSQL ${major} answers, and keeps what it acknowledges.` }]
}
