import type { Log } from '../../contracts/index.ts'
import type { Store } from '../../store/store.ts'
import { embeddedWriter } from './embedded.ts'
import type { Entry } from '../entry.ts'
import { readBody } from './entry-rows.ts'
import { journalEvents } from './journal-events.ts'
import { listRows } from './journal-list.ts'
import { canonicalHash } from '../canonical-hash.ts'
import { railName } from '../lanes/lane-name.ts'
import { sqlOrders } from '../orders/sql-orders.ts'
import { onLane } from './on-lane.ts'
import type { Journal } from './journal.ts'
import { postgresWriter } from './postgres.ts'

/**
 * The journal in the store's tables.
 * @param log told of rows that cannot be read: one of them ends no list, but whoever asks for it alone gets the error
 */
export function sqlJournal(store: Store, log?: Pick<Log, 'warn'>): Journal {
  const damaged = (error: unknown) =>
    log?.warn({ reason: error instanceof Error ? error.message : 'unknown' }, 'a row of the journal is damaged')
  const orders = sqlOrders(store, damaged)
  const { open, write } = store.kind === 'embedded' ? embeddedWriter(store) : postgresWriter(store, orders)

  return {
    open: (entries, guard, claim, placed = []) => open(entries, guard, claim, placed),
    write: (entries, guard, answer) => write(entries, guard, answer),
    async read(key) {
      const row = await store.read((db) => db.selectFrom('entries').select('body').where('key', '=', key).executeTakeFirst())
      return row && readBody(key, row.body)
    },
    async find(chain, network, txHash) {
      const row = await store.read((db) =>
        db
          .selectFrom('hashes')
          .innerJoin('entries', 'entries.key', 'hashes.entry_key')
          .select(['entries.key', 'entries.body'])
          .where('hashes.hash', '=', canonicalHash(txHash))
          .where('hashes.chain', '=', chain)
          .where('hashes.network', '=', network)
          .executeTakeFirst(),
      )
      return row && readBody(row.key, row.body)
    },
    // None is left out that cannot be read: its nonce would be given to another.
    async unfinished({ chain, network, ...lane }) {
      const rows = await store.read((db) =>
        db
          .selectFrom('entries')
          .select(['key', 'body'])
          .where('final', '=', 0)
          .where('chain', '=', chain)
          .where('network', '=', network)
          .where(onLane(lane))
          .orderBy('key')
          .execute(),
      )
      return rows.map(({ key, body }) => readBody(key, body))
    },
    // No body is read: one that is damaged keeps its own wallet from being taken up, and no other.
    async openLanes() {
      const rows = await store.read((db) =>
        db.selectFrom('entries').select(['chain', 'network', 'via', 'lane']).distinct().where('final', '=', 0).execute(),
      )
      return rows.map(({ chain, network, via, lane }) => {
        const place = { chain, network, ...(via !== null && { connector: via }) }
        return { ...place, address: lane.slice(railName(place).length + 1) }
      })
    },
    async list(filter) {
      const { rows, nextCursor } = await listRows(store, filter)
      const entries = rows.flatMap(({ key, body }): Entry[] => {
        try {
          return [readBody(key, body)]
        } catch (error) {
          damaged(error)
          return []
        }
      })
      return nextCursor === undefined ? { entries } : { entries, nextCursor }
    },
    orders,
    ...journalEvents(store, damaged),
  }
}
