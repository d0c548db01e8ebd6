import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, TypeOverrides } from 'pg'
import type { PoolClient, QueryResult } from 'pg'
import type { StoreLog } from '../store.ts'
import { breaksConnection, ConnectionFault, isOfConnection, NotConnectedError, RolledBackError } from './faults.ts'

/** After these times the operation has failed. Together they are shorter than a request's timeout. */
const connectMs = 3_000
const statementMs = 3_000
/** If the database or the network does not respond at all: a little longer than the database's own limits. */
const answerMs = 4_000
/** The database releases the locks of a server that was stopped within a transaction after this time. */
const idleInTransactionMs = 3_000
const migrationMs = 60_000

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
  const pool = new Pool({
    connectionString: url,
    application_name: `sluice ${serverName}`.slice(0, 63),
    types: ownTypes,
    keepAlive: true,
    max: forMigrations ? 1 : 10,
    connectionTimeoutMillis: connectMs,
    statement_timeout: forMigrations ? migrationMs : statementMs,
    lock_timeout: forMigrations ? migrationMs : statementMs,
    query_timeout: forMigrations ? migrationMs + 1_000 : answerMs,
    idle_in_transaction_session_timeout: forMigrations ? migrationMs : idleInTransactionMs,
  })
  pool.on('error', () => log.warn({}, 'an idle connection to the store was lost; the next one is made when it is needed'))
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
