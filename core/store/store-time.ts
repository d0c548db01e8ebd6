import { sql } from 'kysely'
import type { Store } from './store.ts'

/**
 * The store's time: the milliseconds for which servers were seen to run on it. Ages that decide what is deleted count by it. It comes from
 * steady clocks (`performance.now`), which nobody sets, and never from the time of day: that of this machine, of another server's machine or
 * of the database's may be wrong, or jump. It stands still while no server runs, so it is never ahead of what has passed.
 */
export const storeTime = sql<number>`(select elapsed from store_time)`

/** SQL, of a row that has both. A clock that is set back lengthens nothing, and a store that stood still neither. */
export const unexpired = (nowMs: number) => sql<boolean>`(expires_elapsed > ${storeTime} and expires_at > ${nowMs})`

/** Counted this often. What passes between the last count and the end of a server is lost. */
export const countEveryMs = 60_000
/** Whatever a steady clock shows, one count adds no more than this. */
const maxCountMs = 2 * countEveryMs

/**
 * Counts the store's time. Several servers share it: what passed counts only if no other server has counted meanwhile, so that no moment
 * counts twice.
 * @param steadyMs a clock that is never set
 */
export function createStoreTime(store: Store, steadyMs = () => performance.now()): { count(): Promise<void> } {
  let last: { elapsed: number; atMs: number } | undefined
  return {
    /** @throws StoreUnavailable */
    async count() {
      const before = last
      // Where the commit is unknown, counting begins anew.
      last = undefined
      const passedMs = before ? Math.floor(Math.min(Math.max(0, steadyMs() - before.atMs), maxCountMs)) : 0
      const { rows } = await store.writeOnce((db) =>
        sql<{ elapsed: number }>`
          update store_time set elapsed = elapsed + case when elapsed = ${before?.elapsed ?? -1} then ${passedMs} else 0 end
          returning elapsed`.execute(db),
      )
      const [row] = rows
      if (!row) throw new Error('The store has lost its time.')
      last = { elapsed: row.elapsed, atMs: steadyMs() }
    },
  }
}
