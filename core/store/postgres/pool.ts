import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import { Pool, TypeOverrides, type PoolClient, type QueryResult } from 'pg'
import type { StoreLog } from '../open-store.ts'
import { breaksConnection, ConnectionFault, isOfConnection, NotConnected, RolledBack } from './faults.ts'

/** How long each may take until it is a definite error. Together they are less than a caller waits. */
const connectMs = 3_000
const statementMs = 3_000
/** For a database or a network that says nothing at all, a little longer than the database's own limits. */
const answerMs = 4_000
/** What a server that was stopped within a transaction has locked is free again after this. */
const idleInTransactionMs = 3_000

const migrationMs = 60_000

const int8 = 20

/** Numbers of 64 bits are ours: versions, nonces, milliseconds. */
function exactNumber(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is more than a number holds exactly`)
  return value
}

/** Those of others stay as they are. */
const ownTypes = new TypeOverrides()
ownTypes.setTypeParser(int8, exactNumber)

interface PoolOptions {
  url: string
  /** For people who look at the database's connections. */
  serverName: string
  log: StoreLog
  /** Migrations wait for one another. */
  isPatient?: boolean
}

/** Connections that give up in time, and that are not used again once that is in doubt. */
export function postgresPool({ url, serverName, log, isPatient = false }: PoolOptions): PostgresPool {
  const pool = new Pool({
    connectionString: url,
    application_name: `sluice ${serverName}`.slice(0, 63),
    types: ownTypes,
    keepAlive: true,
    max: isPatient ? 1 : 10,
    connectionTimeoutMillis: connectMs,
    statement_timeout: isPatient ? migrationMs : statementMs,
    lock_timeout: isPatient ? migrationMs : statementMs,
    query_timeout: isPatient ? migrationMs + 1_000 : answerMs,
    idle_in_transaction_session_timeout: isPatient ? migrationMs : idleInTransactionMs,
  })
  pool.on('error', () => log.warn({}, 'an idle connection to the store was lost; the next one is made when it is needed'))
  // One that breaks between two statements of a transaction says so by the next.
  pool.on('connect', (client) => void client.on('error', () => {}))
  const nameOf = createStatementNames()
  return {
    async connect() {
      try {
        return pooled(nameOf, await pool.connect())
      } catch (error) {
        throw new NotConnected('there is no connection', { cause: asFault(error) })
      }
    },
    end: () => pool.end(),
  }
}

function pooled(nameOf: (text: string) => string | undefined, client: PoolClient): PostgresPoolClient {
  let isBroken = false
  async function answered(text: string, values: readonly unknown[]): Promise<QueryResult> {
    const name = values.length > 0 ? nameOf(text) : undefined
    const result = await client.query({ text, values: [...values], ...(name !== undefined && { name }) })
    if (text === 'commit' && result.command === 'ROLLBACK') throw new RolledBack('a statement of the transaction had failed')
    return result
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>
  function query(text: unknown, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') throw new TypeError('Rows are not streamed.')
    return answered(text, values).catch((error: unknown) => {
      isBroken ||= breaksConnection(error)
      throw asFault(error)
    })
  }
  return { query, release: () => client.release(isBroken) }
}

const asFault = (error: unknown) => (isOfConnection(error) ? new ConnectionFault(error) : error)

/** What a connection keeps planned takes memory there; lists come in many lengths. */
const mostNamed = 200

/** A name for each of the first statements, by which the database keeps its plan: reading and planning one takes longer than doing it. */
function createStatementNames(): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= mostNamed) return known
    const name = `sluice-${names.size}`
    names.set(text, name)
    return name
  }
}
