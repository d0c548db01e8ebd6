import { pause, withTimeout } from '../../async.ts'
import { sql, type RawBuilder } from 'kysely'
import { Client } from 'pg'
import type { Log } from '../../contracts/index.ts'
import { OwnershipLost } from '../../transactions/journal/journal.ts'
import { type Store, StoreUnavailable, type LeaseEvents, type LeaseSession } from '../store.ts'

/** A server is dead so long after its last renewal. */
const sessionMs = 5_000

/** By the statement's own moment, at which it sees the sessions too: while it waits for a row, others go on renewing theirs. */
const nowOfServerLives = sql`extract(epoch from statement_timestamp()) * 1000`

/**
 * Whether another server that a row names is alive. In a store of this process alone nobody else is. A session that ends later than
 * any can was renewed before the database's clock was set back: it says nothing.
 */
export function isServerAlive({ kind }: Pick<Store, 'kind'>, server: RawBuilder<unknown>): RawBuilder<boolean> {
  if (kind === 'embedded') return sql<boolean>`1 = 0`
  return sql<boolean>`exists (select 1 from servers where servers.id = ${server}
    and servers.alive_until > ${nowOfServerLives} and servers.alive_until < ${nowOfServerLives} + ${2 * sessionMs})`
}

const beatMs = 1_000
const beatAfterTroubleMs = 300
/** What our belief ends before the database's, against clocks of different speed and work that was begun just before. */
const marginMs = 1_000
/** Rows of servers that ended without a farewell; whoever is named by none is as dead. */
const keptMs = 3_600_000

/** Always the database's own clock: those of servers differ. */
const now = '(extract(epoch from clock_timestamp()) * 1000)::bigint'
const renew = `update servers set alive_until = ${now} + $2 where id = $1 and alive_until > ${now} returning id`
const begin = `insert into servers (id, name, alive_until) values ($1, $3, ${now} + $2)
  on conflict (id) do update set alive_until = excluded.alive_until`
const sweep = `delete from servers where alive_until < ${now} - $1::bigint`
const owned = `select lane, fence,
  exists (select 1 from servers where servers.id = lanes.wanted_by and servers.alive_until between ${now} and ${now} + ${2 * sessionMs}) as wished
  from lanes where server = $1`
const end = 'with ended as (delete from servers where id = $1) select pg_notify($2, $3)'

interface SessionParts {
  url: string
  serverId: string
  serverName: string
  log: Log
}

/** A server's row in PostgreSQL, renewed for as long as this process gets round to it. */
export function postgresSession({ url, serverId, serverName, log }: SessionParts, news: LeaseEvents): LeaseSession {
  const belief = createLocalExpiry(sessionMs - marginMs)
  const connection = leaseConnection(url, noticeChannel, hear)
  const closing = new AbortController()
  let term = 0
  let beating: Promise<void> | undefined
  let wasInTrouble = false
  const ended = run()

  function hear(text: string): void {
    const notice = readNotice(text)
    if (notice?.is === 'gone') news.freed()
    else if (notice?.server === serverId) news[notice.is === 'wish' ? 'requested' : 'granted'](notice.lane)
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const pauseMs = await beat().then(wentWell, wentWrong)
      await pause(pauseMs, closing.signal)
    }
  }

  function wentWell(): number {
    if (wasInTrouble) log.info({}, 'the hold on the lanes is renewed again')
    wasInTrouble = false
    return beatMs
  }

  function wentWrong(error: unknown): number {
    const { cause = error } = error instanceof Error ? error : {}
    if (!wasInTrouble) log.warn({ reason: cause instanceof Error ? cause.message : 'unknown' }, 'the hold on the lanes cannot be renewed')
    wasInTrouble = true
    return beatAfterTroubleMs
  }

  function beat(): Promise<void> {
    beating ??= renewOnce().finally(() => (beating = undefined))
    return beating
  }

  async function renewOnce(): Promise<void> {
    let granted = belief.renewing()
    const renewed = await connection.query(renew, [serverId, sessionMs])
    // What ended in between, for us or for the database, may have had another owner.
    if (renewed.length === 0 || !belief.holds()) term += 1
    if (renewed.length === 0) {
      granted = belief.renewing()
      await connection.query(begin, [serverId, sessionMs, serverName])
      await connection.query(sweep, [keptMs])
    }
    if (closing.signal.aborted) return
    granted()
    const askedAt = performance.now()
    const rows = await connection.query(owned, [serverId])
    news.owned(
      rows.map(({ lane, fence, wished }) => ({ queue: String(lane), fencingToken: Number(fence), requested: wished === true })),
      askedAt,
    )
  }

  return {
    isAlive: () => belief.holds(),
    term: () => term,
    async revive() {
      // One that was under way may have begun long ago, before this process stood still.
      for (let tries = 0; tries < 3; tries += 1) {
        if (belief.holds()) return
        if (closing.signal.aborted) throw new OwnershipLost('The server is stopping.')
        await beat()
      }
      throw new StoreUnavailable('the database is too slow')
    },
    async stop() {
      closing.abort()
      await ended
      await beating?.catch(() => {})
      const owes = belief.holds()
      belief.end()
      try {
        if (owes) await connection.query(end, [serverId, noticeChannel, writeNotice({ is: 'gone', server: serverId, lane: '' })])
      } catch {
        log.warn({}, 'the lanes could not be given back: other servers take them over in a few seconds')
      }
      await connection.close().catch(() => {})
    },
  }
}

/** Who owns which lane, in the store. Each is one statement. @throws StoreUnavailable */
export interface LeaseTable {
  /** The lane's fence where its owner is we, dead or nobody, and then it is ours. */
  take(lane: string): Promise<number | undefined>
  /** Tells the lane's owner that we wait for it. */
  request(lane: string): Promise<void>
  /** Gives the lane to who waits for it; whether it was ours and somebody did. */
  handOver(lane: string): Promise<boolean>
}

export function leaseTable(store: Store, serverId: string): LeaseTable {
  const lives = (server: RawBuilder<unknown>) => isServerAlive(store, server)
  /** To the server that a row names; what a `Notice` is, as text. */
  const notify = (is: Notice['is']) => sql`pg_notify(${noticeChannel}, ${is} || ' ' || server || ' ' || lane)`

  return {
    take: (lane) =>
      store.writeOnce(async (db) => {
        // The fence rises with the owner only: nobody else can have written while we were.
        const { rows } = await sql<{ fence: number }>`
          insert into lanes (lane, server, fence) values (${lane}, ${serverId}, 1)
          on conflict (lane) do update set
            server = excluded.server,
            fence = lanes.fence + case when lanes.server = excluded.server then 0 else 1 end,
            wanted_by = case when lanes.wanted_by = excluded.server then null else lanes.wanted_by end
          where lanes.server = excluded.server or not ${lives(sql`lanes.server`)}
          returning fence`.execute(db)
        return rows[0]?.fence
      }),
    async request(lane) {
      // Who waits already is before us; its owner is told all the same, lest it has not heard.
      const asked = sql`
        with asked as (
          update lanes set wanted_by = ${serverId}
          where lane = ${lane} and server <> ${serverId} and (wanted_by is null or not ${lives(sql`lanes.wanted_by`)})
        )
        select ${notify('wish')} from lanes where lane = ${lane}`
      await store.writeOnce((db) => asked.execute(db))
    },
    async handOver(lane) {
      const given = sql`
        with given as (
          update lanes set server = wanted_by, fence = fence + 1, wanted_by = null
          where lane = ${lane} and server = ${serverId} and ${lives(sql`lanes.wanted_by`)}
          returning lane, server
        )
        select ${notify('given')} from given`
      const { rows } = await store.writeOnce((db) => given.execute(db))
      return rows.length > 0
    },
  }
}

/** Where servers on one PostgreSQL tell each other what happens to lanes. Whoever misses one finds out by asking, a little later. */
const noticeChannel = 'sluice_lanes'

interface Notice {
  /** `wish`: somebody asks for the lane. `given`: it has a new owner. `gone`: what the server owned is free. */
  is: 'wish' | 'given' | 'gone'
  /** Whom it concerns: the owner, the new one, the one that ended. */
  server: string
  lane: string
}

const writeNotice = ({ is, server, lane }: Notice): string => `${is} ${server} ${lane}`

/** Undefined for what is none: anybody may speak on a channel. */
function readNotice(text: string): Notice | undefined {
  const [, is, server, lane] = /^(wish|given|gone) (\S+) (.*)$/.exec(text) ?? []
  if (server === undefined || lane === undefined) return undefined
  return is === 'wish' || is === 'given' || is === 'gone' ? { is, server, lane } : undefined
}

/**
 * Until when this server may believe that its session lives. Reckoned from before the renewal was sent, so that it ends before the
 * database's own reckoning does, and by two clocks: one stands still while the machine sleeps, the other can be set back.
 */
interface LocalExpiry {
  /** Looked at whenever it matters, and by no timer: a process that was stopped must not act on it when it wakes up. */
  holds(): boolean
  /** To be called before a renewal is sent; what it gives, once it was granted. */
  renewing(): () => void
  end(): void
}

function createLocalExpiry(milliseconds: number): LocalExpiry {
  const none = { steady: -Infinity, wall: -Infinity }
  let until = none
  return {
    holds: () => performance.now() < until.steady && Date.now() < until.wall,
    renewing() {
      const renewed = { steady: performance.now() + milliseconds, wall: Date.now() + milliseconds }
      return () => {
        until = renewed
      }
    },
    end() {
      until = none
    },
  }
}

/** Longer than a working database takes, and shorter than a session lives. */
const patienceMs = 2_000

/** A connection of its own: what a session needs must not stand in a queue behind the work of hundreds of requests. */
interface LeaseConnection {
  /** Connects where it has to. @throws StoreUnavailable */
  query(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

/** @param heard told what others say on the channel */
function leaseConnection(url: string, channel: string, heard: (text: string) => void): LeaseConnection {
  let current: Promise<Client> | undefined
  let newest: Client | undefined

  async function connect(): Promise<Client> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
      keepAlive: true,
      application_name: 'sluice lanes',
    })
    newest = client
    // An idle connection that broke: the next question makes another.
    client.on('error', () => drop(client))
    client.on('notification', ({ payload }) => heard(payload ?? ''))
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
    // Of one that was given up before, news may come late.
    if (client === newest) current = undefined
    // A database that hangs answers no farewell either.
    client.end().catch(() => {})
  }

  return {
    async query(text, values) {
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
    async close() {
      const client = await current?.catch(() => undefined)
      current = undefined
      // A database that hangs would never see it off.
      if (client) await withTimeout(client.end(), patienceMs, () => {})
    },
  }
}
