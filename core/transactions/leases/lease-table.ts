import { sql, type RawBuilder } from 'kysely'
import type { Store } from '../../store/store.ts'
import { noticeChannel, type Notice } from './lease-notices.ts'
import { serverLives } from './server-lives.ts'

/** Who owns which lane, in the store. Each is one statement. @throws StoreUnavailable */
export interface LeaseTable {
  /** The lane's fence where its owner is we, dead or nobody, and then it is ours. */
  take(lane: string): Promise<number | undefined>
  /** Tells the lane's owner that we wait for it. */
  wish(lane: string): Promise<void>
  /** Gives the lane to who waits for it; whether it was ours and somebody did. */
  give(lane: string): Promise<boolean>
}

export function leaseTable(store: Store, serverId: string): LeaseTable {
  const lives = (server: RawBuilder<unknown>) => serverLives(store, server)
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
    async wish(lane) {
      // Who waits already is before us; its owner is told all the same, lest it has not heard.
      const asked = sql`
        with asked as (
          update lanes set wanted_by = ${serverId}
          where lane = ${lane} and server <> ${serverId} and (wanted_by is null or not ${lives(sql`lanes.wanted_by`)})
        )
        select ${notify('wish')} from lanes where lane = ${lane}`
      await store.writeOnce((db) => asked.execute(db))
    },
    async give(lane) {
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
