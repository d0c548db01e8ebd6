import { sql, type RawBuilder } from 'kysely'
import { Client } from 'pg'
import { pause, withTimeout } from '../../base/async.ts'
import { newestMigration } from '../migrations.ts'
import { takeLease } from '../sql-store.ts'
import { StoreUnavailable, type LeaseEvents, type ServerIdentity, type ServerLeases, type Store } from '../store.ts'
import { reasonOf } from '../../base/errors.ts'
import { saidBy } from './faults.ts'

/** A server counts as dead this long after its last heartbeat. */
const sessionMs = 5_000
const heartbeatMs = 1_000
const heartbeatAfterErrorMs = 300
/**
 * By our clock the session ends this much earlier than by the database's, because clocks run at different speeds and work may have just
 * begun.
 */
const marginMs = 1_000
/** Rows of servers that were killed are deleted after this time. A server without a row counts as dead as well. */
const deadServerMs = 3_600_000

/** Always the database's own clock: the servers' clocks differ. */
const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
const renewSql = `update servers set alive_until = ${now} + $2 where id = $1 and alive_until > ${now} returning id`
/** Nothing where a newer version has changed the tables while this server was not alive. */
const beginSql = `insert into servers (id, name, alive_until, migration) select $1, $3, ${now} + $2, $4
  where not exists (select 1 from kysely_migration where name collate "C" > $4)
  on conflict (id) do update set alive_until = excluded.alive_until returning id`
const deleteDeadSql = `delete from servers where alive_until < ${now} - $1::bigint`
const ownedSql = `select lane, fence,
  exists (select 1 from servers where servers.id = lanes.wanted_by and servers.alive_until between ${now} and ${now} + ${2 * sessionMs}) as wished
  from lanes where server = $1`
const endSql = 'with ended as (delete from servers where id = $1) select pg_notify($2, $3)'

/** The time of the statement, which is also that of its snapshot: while it waits for a row, other servers renew their sessions unseen. */
const statementNow = sql`extract(epoch from statement_timestamp()) * 1000`

/**
 * SQL: whether the server is alive. A session that ends too far in the future was renewed before the database's clock was set back, so it
 * proves nothing.
 */
export const isServerAlive = (serverId: RawBuilder<unknown>) => sql<boolean>`exists (select 1 from servers where servers.id = ${serverId}
    and servers.alive_until > ${statementNow} and servers.alive_until < ${statementNow} + ${2 * sessionMs})`

interface LeaseParts extends ServerIdentity {
  store: Store
  url: string
}

/** Leases among several servers: rows in `lanes`, a heartbeat in `servers`, and notices between the servers. */
export function postgresLeases({ store, url, serverId, serverName, log }: LeaseParts, events: LeaseEvents): ServerLeases {
  const localExpiry = createLocalExpiry(sessionMs - marginMs)
  const connection = createConnection(url, onNotice)
  const closing = new AbortController()
  let term = 0
  let beating: Promise<void> | undefined
  let isFailing = false
  const ended = run()

  /** A missed notice is harmless: the next heartbeat reads the table. */
  function onNotice(text: string): void {
    const notice = readNotice(text)
    if (notice?.is === 'gone') events.freed()
    else if (notice?.server === serverId) events[notice.is === 'wish' ? 'requested' : 'granted'](notice.queue)
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const pauseMs = await heartbeat().then(onSuccess, onError)
      await pause(pauseMs, closing.signal)
    }
  }

  function onSuccess(): number {
    if (isFailing) log.info({}, 'leases are renewed again')
    isFailing = false
    return heartbeatMs
  }

  function onError(error: unknown): number {
    const { cause } = error instanceof Error ? error : {}
    if (!isFailing)
      log.warn(
        { reason: error instanceof StoreUnavailable ? error.reason : reasonOf(error), says: saidBy(cause) },
        'leases cannot be renewed',
      )
    isFailing = true
    return heartbeatAfterErrorMs
  }

  function heartbeat(): Promise<void> {
    beating ??= renew().finally(() => (beating = undefined))
    return beating
  }

  async function renew(): Promise<void> {
    await events.beforeRenewal?.()
    let extend = localExpiry.start()
    const renewed = await connection.query(renewSql, [serverId, sessionMs])
    // If the session expired in between, by our clock or the database's, its leases may have had other owners.
    if (renewed.length === 0 || !localExpiry.isAlive()) term += 1
    if (renewed.length === 0) {
      // By the database's clock it has ended: nothing may be taken before the next one has begun.
      localExpiry.end()
      extend = localExpiry.start()
      const begun = await connection.query(beginSql, [serverId, sessionMs, serverName, newestMigration])
      if (begun.length === 0)
        throw new StoreUnavailable('a newer version of Sluice has changed its tables: stop this server, and start that version')
      await connection.query(deleteDeadSql, [deadServerMs])
    }
    if (closing.signal.aborted) return
    extend()
    const askedAt = performance.now()
    const rows = await connection.query(ownedSql, [serverId])
    events.owned(
      rows.map(({ lane, fence, wished }) => ({ queue: String(lane), fencingToken: Number(fence), requested: wished === true })),
      askedAt,
    )
  }

  return {
    take: (queue) => takeLease(store, queue, serverId),
    async request(queue) {
      // An earlier request stays first. The owner is notified all the same, in case it missed the first notice.
      const request = sql`
        with asked as (
          update lanes set wanted_by = ${serverId}
          where lane = ${queue} and server <> ${serverId} and (wanted_by is null or not ${isServerAlive(sql`lanes.wanted_by`)})
        )
        select ${notify('wish')} from lanes where lane = ${queue}`
      await store.writeOnce((db) => request.execute(db))
    },
    async handOver(queue) {
      const handOver = sql`
        with given as (
          update lanes set server = wanted_by, fence = fence + 1, wanted_by = null
          where lane = ${queue} and server = ${serverId} and ${isServerAlive(sql`lanes.wanted_by`)}
          returning lane, server
        )
        select ${notify('given')} from given`
      const { rows } = await store.writeOnce((db) => handOver.execute(db))
      return rows.length > 0
    },
    isAlive: () => localExpiry.isAlive(),
    term: () => term,
    async revive() {
      // A heartbeat in progress may have begun long ago, before this process was suspended.
      for (let tries = 0; tries < 3; tries += 1) {
        if (localExpiry.isAlive()) return
        if (closing.signal.aborted) throw new StoreUnavailable('the server is stopping')
        await heartbeat()
      }
      throw new StoreUnavailable('the database is too slow')
    },
    async stop() {
      closing.abort()
      await ended
      await beating?.catch(() => {})
      const wasAlive = localExpiry.isAlive()
      localExpiry.end()
      try {
        if (wasAlive) await connection.query(endSql, [serverId, channel, `gone ${serverId} `])
      } catch {
        log.warn({}, 'leases could not be released: other servers take them over in a few seconds')
      }
      await connection.close().catch(() => {})
    },
  }
}

/** Where servers on one PostgreSQL tell each other what happens to leases. */
const channel = 'sluice_lanes'

interface Notice {
  /** `wish`: a server asks for the lease. `given`: the lease has a new owner. `gone`: the leases of a server are free. */
  is: 'wish' | 'given' | 'gone'
  /** The owner, the new owner, or the server that ended. */
  server: string
  queue: string
}

/** SQL: a notice to the server of the row. */
const notify = (is: Notice['is']) => sql`pg_notify(${channel}, ${is} || ' ' || server || ' ' || lane)`

/** Undefined for any other text, because every client of the database may write to the channel. */
function readNotice(text: string): Notice | undefined {
  const [, is, server, queue] = /^(wish|given|gone) (\S+) (.*)$/.exec(text) ?? []
  if (server === undefined || queue === undefined) return undefined
  return is === 'wish' || is === 'given' || is === 'gone' ? { is, server, queue } : undefined
}

/**
 * Until when this server may count itself as alive. The time runs from before the heartbeat was sent, so it ends before the database's
 * does. Two clocks are compared: the monotonic one stands still while the machine sleeps, the other one can be set back. No timer: a
 * suspended process must not act on an old answer when it wakes up.
 */
function createLocalExpiry(milliseconds: number) {
  const never = { steady: -Infinity, wall: -Infinity }
  let until = never
  return {
    isAlive: () => performance.now() < until.steady && Date.now() < until.wall,
    /** Call before the heartbeat is sent. Call the returned function once the database granted it. */
    start() {
      const renewed = { steady: performance.now() + milliseconds, wall: Date.now() + milliseconds }
      return () => {
        until = renewed
      }
    },
    end() {
      until = never
    },
  }
}

/** Longer than a working database takes, shorter than a session. */
const timeoutMs = 2_000

/** A connection of its own: a heartbeat must not wait in the pool behind hundreds of requests. Connects when it has to. */
function createConnection(url: string, onNotice: (text: string) => void) {
  let current: Promise<Client> | undefined
  let newest: Client | undefined

  async function connect(): Promise<Client> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
      application_name: 'sluice lanes',
    })
    newest = client
    // An idle connection broke: the next query makes another.
    client.on('error', () => drop(client))
    client.on('notification', ({ payload }) => onNotice(payload ?? ''))
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      return client
    } catch (error) {
      drop(client)
      throw error
    }
  }

  function drop(client: Client): void {
    // An event of a connection that was dropped before may come late.
    if (client === newest) current = undefined
    // A database that hangs does not answer this either.
    client.end().catch(() => {})
  }

  return {
    /** @throws StoreUnavailable */
    async query(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
      let client: Client | undefined
      try {
        client = await (current ??= connect())
        const { rows }: { rows: Record<string, unknown>[] } = await client.query(text, [...values])
        return rows
      } catch (cause) {
        if (client) drop(client)
        throw new StoreUnavailable('the database does not answer', { cause })
      }
    },
    async close(): Promise<void> {
      const client = await current?.catch(() => undefined)
      current = undefined
      if (client) await withTimeout(client.end(), timeoutMs, () => {})
    },
  }
}
