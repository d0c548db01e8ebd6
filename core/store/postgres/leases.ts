import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../contracts/index.ts'
import { StoreUnavailable } from '../store-unavailable.ts'
import { beliefFor } from '../../transactions/leases/lease-belief.ts'
import { leaseConnection } from '../../transactions/leases/lease-connection.ts'
import { noticeChannel, readNotice, writeNotice } from '../../transactions/leases/lease-notices.ts'
import type { LeaseNews, LeaseSession } from '../../transactions/leases/lease-session.ts'
import { sessionMs } from '../../transactions/leases/server-lives.ts'
import { Superseded } from '../../transactions/journal/superseded.ts'

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
export function databaseSession({ url, serverId, serverName, log }: SessionParts, news: LeaseNews): LeaseSession {
  const belief = beliefFor(sessionMs - marginMs)
  const connection = leaseConnection(url, noticeChannel, hear)
  const closing = new AbortController()
  let term = 0
  let beating: Promise<void> | undefined
  let wasInTrouble = false
  const ended = run()

  function hear(text: string): void {
    const notice = readNotice(text)
    if (notice?.is === 'gone') news.freed()
    else if (notice?.server === serverId) news[notice.is === 'wish' ? 'wished' : 'given'](notice.lane)
  }

  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      const pauseMs = await beat().then(wentWell, wentWrong)
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
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
    news.ours(
      rows.map(({ lane, fence, wished }) => ({ lane: String(lane), fence: Number(fence), wished: wished === true })),
      askedAt,
    )
  }

  return {
    lives: () => belief.holds(),
    term: () => term,
    async revive() {
      // One that was under way may have begun long ago, before this process stood still.
      for (let tries = 0; tries < 3; tries += 1) {
        if (belief.holds()) return
        if (closing.signal.aborted) throw new Superseded('The server is stopping.')
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
