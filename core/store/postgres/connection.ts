import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, TypeOverrides } from 'pg'
import type { ClientBase, PoolClient, QueryResult } from 'pg'
import type { StoreLog } from '../store.ts'
import {
  breaksConnection,
  ConnectionFault,
  isOfConnection,
  NotConnectedError,
  RolledBackError,
  saidBy,
  TransactionPoolingError,
} from './faults.ts'

/** After these times the operation has failed. Together they are shorter than a request's timeout. */
const connectMs = 3_000
const statementMs = 3_000
/** If the database or the network does not respond at all: a little longer than the database's own limits. */
const answerMs = 4_000
/** The database releases the locks of a server that was stopped within a transaction after this time. */
const idleInTransactionMs = 3_000
const migrationMs = 60_000

/** Not as parameters of the connection's start, which PgBouncer refuses. */
const boundSession = `select set_config('statement_timeout', $1, false), set_config('lock_timeout', $2, false),
  set_config('idle_in_transaction_session_timeout', $3, false)`

/** Named statements per connection. Each costs memory in the database, and lists come in many lengths. */
const maxNamedStatements = 200

/** PostgreSQL's type id of bigint: pg_type.dat. */
const int8 = 20

/** The 64-bit numbers in our tables are versions, nonces and milliseconds. */
function exactNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is more than a number holds exactly`)
  return value
}

/** For our connections only: pg's global parsers stay as they are. */
const ownTypes = new TypeOverrides()
ownTypes.setTypeParser(int8, exactNumber)

export interface PoolOptions {
  url: string
  /** For people who look at the database's connections. */
  serverName: string
  log: StoreLog
  /** For migrations, which wait for one another. */
  forMigrations?: boolean
}

/** Connections with timeouts. A connection whose state is in doubt is not used again. */
export function postgresPool({ url, serverName, log, forMigrations = false }: PoolOptions): PostgresPool {
  const limits = forMigrations ? [migrationMs, migrationMs, migrationMs] : [statementMs, statementMs, idleInTransactionMs]
  const pool = new Pool({
    connectionString: url,
    application_name: `sluice ${serverName}`.slice(0, 63),
    types: ownTypes,
    keepAlive: true,
    max: forMigrations ? 1 : 10,
    connectionTimeoutMillis: connectMs,
    query_timeout: forMigrations ? migrationMs + 1_000 : answerMs,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: async (client: ClientBase) => void (await client.query(boundSession, limits)),
  })
  pool.on('error', (error) =>
    log.warn({ says: saidBy(error) }, 'an idle connection to the store was lost; the next one is made when it is needed'),
  )
  // A connection that breaks between two statements of a transaction reports it at the next one.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const nameOf = createStatementNames()
  return {
    async connect() {
      try {
        return pooled(nameOf, await pool.connect())
      } catch (error) {
        throw new NotConnectedError('there is no connection', { cause: asFault(error) })
      }
    },
    end: () => pool.end(),
  }
}

/**
 * Two connections are two sessions of the database, each for as long as the connection lasts. A pooler in transaction mode gives a connection the
 * session that was released first or last: in one of two rounds it gets the session of the other connection.
 * @throws TransactionPoolingError, or the fault of a connection
 */
export async function requireSessions(options: PoolOptions): Promise<void> {
  const pool = postgresPool(options)
  const run = async (client: PostgresPoolClient, text: string) => (await client.query<{ pid: number }>(text, [])).rows[0]?.pid
  const begin = async (client: PostgresPoolClient) => {
    await run(client, 'begin')
    return run(client, 'select pg_backend_pid() as pid')
  }
  try {
    const one = await pool.connect()
    const other = await pool.connect()
    try {
      for (const releasesFirst of [one, other]) {
        const before = [await begin(one), await begin(other)]
        await run(releasesFirst, 'commit')
        await run(releasesFirst === one ? other : one, 'commit')
        const ofOther = await begin(other)
        const after = [await begin(one), ofOther]
        await run(other, 'commit')
        await run(one, 'commit')
        if (before.some((pid, index) => pid !== after[index])) throw new TransactionPoolingError()
      }
    } finally {
      one.release()
      other.release()
    }
  } finally {
    await pool.end()
  }
}

function pooled(nameOf: (text: string) => string | undefined, client: PoolClient): PostgresPoolClient {
  let isBroken = false
  async function run(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const name = values.length > 0 ? nameOf(text) : undefined
    const result = await client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    if (text === 'commit' && result.command === 'ROLLBACK') throw new RolledBackError('a statement of the transaction had failed')
    return result
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('Rows are not streamed.')
    return run(text, values).catch((error: unknown) => {
      isBroken ||= breaksConnection(error)
      throw asFault(error)
    })
  }
  return { query, release: () => client.release(isBroken) }
}

const asFault = (error: unknown) => (isOfConnection(error) ? new ConnectionFault(error) : error)

/** Names for the first statements. The database caches the plan of a named statement: planning one takes longer than running it. */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const cached = names.get(text)
    if (cached !== undefined || names.size >= maxNamedStatements) return cached
    const name = `sluice-${names.size}`
    names.set(text, name)
    return name
  }
}
