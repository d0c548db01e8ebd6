import { sql, type RawBuilder } from 'kysely'
import type { Store } from '../store/store.ts'
import { noticeChannel, writeNotice } from './lease-notices.ts'
import { serverLives } from './server-lives.ts'

/** Who owns which lane, in the store. @throws StoreUnavailable */
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

  return {
    take: (lane) =>
      store.write(async (tx) => {
        // The fence rises with the owner only: nobody else can have written while we were.
        const { rows } = await sql<{ fence: number }>`
          insert into lanes (lane, server, fence) values (${lane}, ${serverId}, 1)
          on conflict (lane) do update set
            server = excluded.server,
            fence = lanes.fence + case when lanes.server = excluded.server then 0 else 1 end,
            wanted_by = case when lanes.wanted_by = excluded.server then null else lanes.wanted_by end
          where lanes.server = excluded.server or not ${lives(sql`lanes.server`)}
          returning fence`.execute(tx)
        return rows[0]?.fence
      }),
    wish: (lane) =>
      store.write(async (tx) => {
        // Who waits already is before us.
        await sql`
          update lanes set wanted_by = ${serverId}
          where lane = ${lane} and server <> ${serverId} and (wanted_by is null or not ${lives(sql`lanes.wanted_by`)})`.execute(tx)
        const found = await tx.selectFrom('lanes').select('server').where('lane', '=', lane).executeTakeFirst()
        if (found) await sql`select pg_notify(${noticeChannel}, ${writeNotice({ is: 'wish', server: found.server, lane })})`.execute(tx)
      }),
    give: (lane) =>
      store.write(async (tx) => {
        const { rows } = await sql<{ server: string }>`
          update lanes set server = wanted_by, fence = fence + 1, wanted_by = null
          where lane = ${lane} and server = ${serverId} and ${lives(sql`lanes.wanted_by`)}
          returning server`.execute(tx)
        const [given] = rows
        if (given) await sql`select pg_notify(${noticeChannel}, ${writeNotice({ is: 'given', server: given.server, lane })})`.execute(tx)
        return given !== undefined
      }),
  }
}
