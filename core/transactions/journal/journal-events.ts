import { sql } from 'kysely'
import type { Store } from '../../store/store.ts'
import { readBody } from './entry-rows.ts'
import type { Journal, JournalEvent } from './journal.ts'

/** The letters of "Sluice": no other program's. */
const lockId = sql.lit(0x53_6c_75_69_63_65)

/**
 * In PostgreSQL ids are given before a commit, so a lower one may become visible after a higher one. Who adds events holds the lock
 * shared, from before it is given ids until it has committed; who reads waits for all of these once, and then reads up to the
 * last id that was given by then. Writers do not wait for one another.
 */
export const eventBarrier = {
  enter: sql`pg_advisory_xact_lock_shared(${lockId})`,
  pass: sql<{ last: number }>`select last_value as last, pg_advisory_xact_lock(${lockId}) from events_id_seq`,
}

type EventReader = Pick<Journal, 'eventsAfter' | 'lastEventId'>

/** @param damaged told of an event that cannot be read: the others are */
export function journalEvents(store: Store, damaged: (error: unknown) => void): EventReader {
  /** No event up to it can still appear. */
  async function settledUpTo(): Promise<number> {
    if (store.kind === 'embedded') return Number.MAX_SAFE_INTEGER
    const { rows } = await store.read((db) => eventBarrier.pass.execute(db))
    return rows[0]?.last ?? 0
  }

  return {
    async eventsAfter(id, { addresses, chain, network, limit }) {
      const after = (upTo: number, most: number) =>
        store.read((db) => {
          let query = db.selectFrom('events').select(['id', 'entry_key', 'body']).where('id', '>', id).where('id', '<=', upTo)
          if (addresses) query = query.where('address', 'in', [...addresses])
          if (chain !== undefined) query = query.where('chain', '=', chain)
          if (network !== undefined) query = query.where('network', '=', network)
          return query.orderBy('id').limit(most).execute()
        })
      if (addresses?.size === 0) return []
      // Most of the time there is nothing new, and nobody has to be waited for.
      if (store.kind === 'postgres' && (await after(Number.MAX_SAFE_INTEGER, 1)).length === 0) return []
      const rows = await after(await settledUpTo(), limit)
      return rows.flatMap(({ id, entry_key, body }): JournalEvent[] => {
        try {
          return [{ id, entry: readBody(entry_key, body) }]
        } catch (error) {
          damaged(error)
          return []
        }
      })
    },
    async lastEventId() {
      const upTo = await settledUpTo()
      const newest = await store.read((db) =>
        db
          .selectFrom('events')
          .select(({ fn }) => fn.max('id').as('id'))
          .where('id', '<=', upTo)
          .executeTakeFirst(),
      )
      return newest?.id ?? 0
    },
  }
}
